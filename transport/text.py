"""Text from outside made safe to show: no control, escape, direction or hidden characters; pure."""

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC: titles, links
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
)
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_EMOJI = "\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
_JOINED_EMOJI = re.compile(f"(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])")
_HIDDEN = (
    "\x00-\x08\x0e-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_HIDDEN}]")
_UNSEEN = re.compile(f"[{_HIDDEN}\x0b-\x0d\u2028\u2029\ufe00-\ufe0f\ud800-\udfff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_KEPT_JOINER = "\ue000"


def clean_text(text: str, *, limit: int | None = None) -> str:
    r"""Return `text` without anything that could deceive or drive a screen.

    Escape sequences go as a whole; C0 and C1 controls but ``\n`` and ``\t``, direction controls,
    zero-width, tag and other invisible characters go; every kind of line end becomes ``\n``; a
    joiner between two emoji stays; a lone surrogate becomes U+FFFD.

    Parameters
    ----------
    limit
        Characters kept, counted after cleaning; a cut is marked with ``…``, which counts.
    """
    text = _ESCAPES.sub("", text)
    text = _LINE_ENDS.sub("\n", text)
    text = _SURROGATES.sub("\ufffd", text)
    text = _INVISIBLE.sub("", _JOINED_EMOJI.sub(_KEPT_JOINER, text.replace(_KEPT_JOINER, "\ufffd")))
    text = text.replace(_KEPT_JOINER, "\u200d")
    if limit is not None and len(text) > limit:
        return text[: limit - 1] + "…"
    return text


def visible_text(text: str, *, limit: int) -> str:
    r"""Return `text` in one line, with everything that draws nothing or steers shown as a code.

    For texts that are looked at because of what they hide: ``⟨200B⟩`` stands for U+200B, ``↵`` for
    a line end, ``⇥`` for a tab.

    Parameters
    ----------
    limit
        Characters of `text` that are shown; a cut is marked with ``…``.
    """
    shown = text[:limit].replace("\r\n", "\n").replace("\n", "↵").replace("\t", "⇥")
    shown = _UNSEEN.sub(lambda match: f"⟨{ord(match.group()):04X}⟩", shown)
    return shown + ("…" if len(text) > limit else "")


def storable_text(text: str) -> str:
    """Return `text` as it is but for what no store keeps: NUL and lone surrogates become U+FFFD."""
    return _SURROGATES.sub("\ufffd", text).replace("\0", "\ufffd")
