"""The fleet as callers see it: the agents, and what is wrong with a roster text."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmarshal.api.problems import faults_of
from clawmarshal.errors import RosterError, RosterSchemaError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.check import check_roster
from clawmarshal.roster.loader import load_roster, parse_roster
from clawmarshal.roster.roster import Roster

if TYPE_CHECKING:
    from clawmarshal.router.fleet_check import ModelWarning


def agents_view(roster: Roster, live: frozenset[str] | None) -> dict[str, Any]:
    """List the agents of a roster.

    Parameters
    ----------
    roster
        The fleet.
    live
        The ids that the live OpenClaw knows; None means unknown, never empty.
    """
    return {
        "name": roster.name,
        "digest": roster.digest,
        "fleet": "unknown" if live is None else "known",
        "agents": [_agent_view(agent, live) for agent in roster],
    }


def _agent_view(agent: AgentSpec, live: frozenset[str] | None) -> dict[str, Any]:
    return {
        "id": agent.id,
        "name": agent.label,
        "description": agent.description,
        "enabled": agent.enabled,
        "live": None if live is None else agent.id in live,
        "tags": list(agent.tags),
        "capabilities": [str(capability) for capability in agent.capabilities],
        "max_risk": str(agent.risk_limit),
        "digest": agent.digest,
    }


def check_text(raw: bytes, *, source: str = "roster") -> dict[str, Any]:
    """Check the text of a roster file: every fault, or what it comes to.

    Returns
    -------
    dict
        ``ok``, ``faults`` (message, line, column), ``warnings`` (remits that make a ballot
        unroutable), ``agents`` (how many), ``digest``.
    """
    return _checked(lambda: parse_roster(raw, source=source))


def check_file(path: Path) -> dict[str, Any]:
    """Check a roster file; see `check_text`."""
    return _checked(lambda: load_roster(path))


def check_file_with(
    path: Path, model: str | None, *, data: Path | None = None, config: Path | None = None
) -> list[dict[str, Any]]:
    """Ask a model about the remits of a roster file, and about messages; return its warnings.

    Parameters
    ----------
    path
        A roster that can be used.
    model
        Its name, as for ``--model``.
    data
        Lines of ``{id, text}``, with ``agent`` where it is known.
    config
        Whose thresholds count, and where a server is named.

    Raises
    ------
    MessageError, SettingsError
        The lines cannot be read, or there is no such model.
    """
    # Here, since a service that only lists agents needs none of it.
    from clawmarshal.api.choosing import chosen_model, terms_of
    from clawmarshal.api.files import read_lines
    from clawmarshal.router.evaluation import read_rows
    from clawmarshal.router.fleet_check import check_with_model
    from clawmarshal.router.labels import read_labels
    from clawmarshal.router.models.closing import closing

    roster, lines = load_roster(path), [] if data is None else read_lines(data)
    rows = read_rows(lines)
    labels = read_labels(lines, agents={agent.id for agent in roster})
    terms = terms_of(config, roster)
    asked = chosen_model(model, terms=terms)

    async def check() -> "Sequence[ModelWarning]":
        async with closing(asked):
            return await check_with_model(
                asked, roster, rows=rows, labels=labels, policy=terms.policy
            )

    found = asyncio.run(check())
    return [
        {
            "code": str(warning.code),
            "agents": list(warning.agents),
            "message": warning.message,
            "messages": list(warning.messages),
        }
        for warning in found
    ]


def _checked(load: Callable[[], Roster]) -> dict[str, Any]:
    nothing: dict[str, Any] = {"ok": False, "warnings": [], "agents": None, "digest": None}
    try:
        roster = load()
    except RosterSchemaError as error:
        return nothing | {"faults": faults_of(error)}
    except RosterError as error:
        fault = {"message": str(error), "line": None, "column": None}
        return nothing | {"faults": [fault]}
    return {
        "ok": True,
        "faults": [],
        "warnings": [
            {"code": str(w.code), "agents": list(w.agents), "message": w.message}
            for w in check_roster(roster)
        ],
        "agents": len(roster),
        "digest": roster.digest,
    }
