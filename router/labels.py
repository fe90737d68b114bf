"""Labels: what people say is right about rows of text, read from the same lines."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from clawmarshal.errors import Fault, MessageError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.evaluation import MAX_FAULTS_TOLD, NOBODY

_NOBODY_SPELT = (None, "", NOBODY)


@dataclass(frozen=True, slots=True)
class Label:
    """What is right about one row."""

    id: str | int
    agent: str | None
    """Who should get it; ``none`` for nobody; None where nobody said."""
    risk: frozenset[Risk] = frozenset()
    """Every tier that counts as right; empty where nobody said."""
    language: str | None = None
    outcome: str | None = None
    reason: str | None = None


def read_labels(lines: Iterable[str | bytes], *, agents: Collection[str]) -> tuple[Label, ...]:
    """Read the labels of lines that `read_rows` has read.

    Each line may hold ``agent`` (an id, or ``none`` or null for nobody), ``risk`` (a tier or a
    list of tiers that all count as right), ``lang``, ``outcome`` and ``reason``. A line without
    ``agent`` is not labelled about the agent.

    Parameters
    ----------
    lines
        As a file gives them; blank ones are skipped.
    agents
        The ids of the roster.

    Raises
    ------
    MessageError
        ``labels-invalid``: every bad label with its line, the first twenty of them.
    """
    labels: list[Label] = []
    faults: list[Fault] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            labels.append(_label(json.loads(line), agents))
        except ValueError as error:
            faults.append(Fault(str(error), number, 1))
    if faults:
        told = "".join(f"\n  {fault}" for fault in faults[:MAX_FAULTS_TOLD])
        raise MessageError(f"{len(faults)} label(s) cannot be used{told}", code="labels-invalid")
    return tuple(labels)


def _label(row: Mapping[str, object], agents: Collection[str]) -> Label:
    return Label(
        id=_id(row["id"]),
        agent=_agent(row, agents),
        risk=_risk(row.get("risk")),
        language=_word(row, "lang"),
        outcome=_word(row, "outcome"),
        reason=_word(row, "reason"),
    )


def _id(value: object) -> str | int:
    return value if isinstance(value, int) else str(value)


def _agent(row: Mapping[str, object], agents: Collection[str]) -> str | None:
    if "agent" not in row:
        return None
    agent = row["agent"]
    if agent in _NOBODY_SPELT:
        return NOBODY
    if not isinstance(agent, str):
        raise ValueError("agent is the id of an agent, or none")
    if agent not in agents:
        raise ValueError(f"the roster has no agent {agent[:64]!r}; mend the label or the roster")
    return agent


def _risk(value: object) -> frozenset[Risk]:
    if value is None:
        return frozenset()
    try:
        return frozenset(
            Risk(str(tier)) for tier in (value if isinstance(value, list) else [value])
        )
    except (TypeError, ValueError):
        raise ValueError(f"risk is one of {', '.join(Risk)}, or a list of them") from None


def _word(row: Mapping[str, object], name: str) -> str | None:
    value = row.get(name)
    if value is None or isinstance(value, str):
        return value
    raise ValueError(f"{name} is a text")
