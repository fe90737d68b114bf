"""What a live OpenClaw said of its agents: ids that are known to be there; pure."""

import json
from collections.abc import Mapping


def agent_ids(document: object) -> frozenset[str] | None:
    """Read the ids out of what ``openclaw gateway call agents.list --json`` printed.

    Parameters
    ----------
    document
        The parsed JSON value, or its text as str or bytes.

    Returns
    -------
    frozenset[str] | None
        Lower-case ids, at least one. None means that the fleet is unknown: the document is empty,
        unreadable or not understood, in whole or in part. It never means that there are no agents.

    Notes
    -----
    OpenClaw folds the case of ids. The answers of ``agents list`` and ``config get`` (a bare list,
    a map) are not understood on purpose: they describe the caller's own configuration, not the
    Gateway's. Measured on 2026.9.6.
    """
    if isinstance(document, str | bytes):
        document = _parsed(document)
    if not isinstance(document, Mapping):
        return None
    agents = document.get("agents")
    if not isinstance(agents, list) or not agents:
        return None
    ids = [_id_of(agent) for agent in agents]
    known = frozenset(agent_id for agent_id in ids if agent_id is not None)
    return known if None not in ids else None


def _parsed(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _id_of(agent: object) -> str | None:
    if not isinstance(agent, Mapping):
        return None
    agent_id = agent.get("id")
    if not isinstance(agent_id, str) or not agent_id.strip():
        return None
    return agent_id.strip().casefold()
