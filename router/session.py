"""The session key of a conversation with one agent; ours, never the caller's text."""

import hashlib


def session_key(
    *,
    owner: str,
    channel: str | None,
    account: str | None,
    conversation: str | None,
    agent: str,
    generation: int,
) -> str:
    """Return ``cm-`` and 64 lower-case hex digits for one conversation with one agent.

    Different parts never give the same key: every part is hashed with its length, and None
    differs from the empty text.

    Parameters
    ----------
    conversation
        The channel's id of the conversation, or what `lone_conversation` gives.
    generation
        From 1; a person's "run again" starts a new one.

    Notes
    -----
    Source: GUARANTEES, "Session keys are ours". OpenClaw folds the case of session keys and gives
    names such as ``main`` a meaning of their own (measured on 2026.9.6).
    """
    parts = (owner, channel, account, conversation, agent, str(generation))
    return "cm-" + hash_parts(*parts)


def lone_conversation(route_id: str) -> str:
    """Return what stands for the conversation of a message that has none.

    The route's own id, marked with a control character, which no conversation may hold, so that
    nobody can join another message's session by naming its route.
    """
    return f"\x00{route_id}"


def hash_parts(*parts: str | None) -> str:
    """Hash texts so that no two different lists give the same digest; lower-case hex."""
    framed = []
    for part in parts:
        if part is None:
            framed.append(b"-")
        else:
            encoded = part.encode("utf-8", "surrogatepass")
            framed.append(b"%d:%b" % (len(encoded), encoded))
    return hashlib.sha256(b"".join(framed)).hexdigest()
