"""W3C trace context: which trace a request belongs to, and our own part of it."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

HEADER = "traceparent"
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_LAST_VERSION = "ff"
_SAMPLED = 0x01


@dataclass(frozen=True, slots=True)
class Trace:
    """One request within a trace."""

    trace_id: str
    """32 hex digits; the caller's, or a new one."""
    span_id: str
    """16 hex digits that name this request."""
    parent_id: str | None = None
    """The caller's part of the trace; None where it sent none that can be read."""
    is_sampled: bool = False

    @property
    def header(self) -> str:
        """What is sent on as ``traceparent``."""
        return f"00-{self.trace_id}-{self.span_id}-{int(self.is_sampled):02x}"


def trace_of(sent: Sequence[str]) -> Trace:
    """Go on with a caller's trace, or begin one.

    Parameters
    ----------
    sent
        The values of every ``traceparent`` header.

    Notes
    -----
    Source: W3C Trace Context, recommendation of 23 November 2021, section 3.2: a header that
    cannot be read, or that comes twice, begins a new trace; of a later version the first four
    fields are read.
    """
    span_id = secrets.token_hex(8)
    found = _FORM.fullmatch(sent[0].strip()) if len(sent) == 1 else None
    if found is None or not _is_usable(found):
        return Trace(secrets.token_hex(16), span_id)
    is_sampled = bool(int(found[4], 16) & _SAMPLED)
    return Trace(found[2], span_id, found[3], is_sampled)


def _is_usable(found: re.Match[str]) -> bool:
    version, trace_id, parent_id, _, rest = found.groups()
    is_known_form = version != _LAST_VERSION and (version != "00" or rest is None)
    return is_known_form and int(trace_id, 16) != 0 and int(parent_id, 16) != 0
