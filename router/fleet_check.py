"""Fleet check: what a model makes of a roster: remits it confuses, thresholds out of reach."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from clawmarshal.errors import MessageError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.asking import ask
from clawmarshal.router.ballot import NONE_OF_THESE, fleet_ballot
from clawmarshal.router.decision import Decision, DecisionModel
from clawmarshal.router.distribution import FUZZ
from clawmarshal.router.evaluation import NOBODY, Row
from clawmarshal.router.labels import Label
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.thresholds import Policy

LEAST_CONFUSED = 2
"""So many messages make a pair worth a warning."""
CLOSE = 0.15
"""Without a label, a pair is confused where it is on top and less than this apart."""
LEAST_MISSED = 2
"""So many labelled messages, none of which is routed to its agent, are worth a warning."""
MAX_TOLD = 5


class ModelWarningCode(StrEnum):
    """What a warning is about."""

    CONFUSED_REMITS = "confused-remits"
    UNREACHABLE_THRESHOLD = "unreachable-threshold"
    NEVER_CHOSEN = "never-chosen"
    NEVER_ROUTED = "never-routed"


@dataclass(frozen=True, slots=True)
class ModelWarning:
    """One thing that makes messages go astray with this model."""

    code: ModelWarningCode
    agents: tuple[str, ...]
    message: str
    """One sentence for a person, with the mend; no message text."""
    messages: tuple[str | int, ...] = ()
    """Ids of the rows that show it."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the model said of one text."""

    shares: Mapping[str, float]
    """Of real agents, most probable first."""
    nobody: float
    row: str | int | None = None
    owner: str | None = None
    """Whose it is, where somebody said."""

    @property
    def top(self) -> str:
        """The best real agent, or none where nobody is more probable."""
        best = next(iter(self.shares))
        return best if self.shares[best] >= self.nobody else NOBODY


async def check_with_model(
    model: DecisionModel,
    roster: Roster,
    *,
    rows: Sequence[Row] = (),
    labels: Iterable[Label] = (),
    policy: Policy | None = None,
    deadline_s: float = 60.0,
) -> tuple[ModelWarning, ...]:
    """Ask a model about every remit and example, and about messages where there are some.

    Parameters
    ----------
    model
        Who is asked.
    roster
        The fleet.
    rows
        Messages such as the fleet gets.
    labels
        Whose they are, by the same ids.
    policy
        Its threshold counts where an agent has none of its own.
    deadline_s
        Seconds for one text.
    """
    owners = {label.id: label.agent for label in labels}
    own: dict[str, list[_Seen]] = {}
    for agent in roster:
        texts = [(text, None, agent.id) for text in (agent.description, *agent.examples)]
        own[agent.id] = [seen async for seen in _asked(model, roster, texts, deadline_s)]
    told = [(row.text, row.id, owners.get(row.id)) for row in rows]
    seen = [one async for one in _asked(model, roster, told, deadline_s)]
    known = policy or Policy()
    found = list(_confused(seen))
    for agent in roster:
        found += _about_one(agent, own[agent.id], seen, known)
    return tuple(sorted(found, key=lambda warning: (warning.code, warning.agents)))


async def _asked(
    model: DecisionModel,
    roster: Roster,
    texts: Iterable[tuple[str, str | int | None, str | None]],
    deadline_s: float,
) -> AsyncIterator[_Seen]:
    for text, row, owner in texts:
        try:
            message = InboundMessage(text)
        except MessageError:
            continue
        decision = await ask(model, fleet_ballot(roster, message), message, deadline_s=deadline_s)
        if isinstance(decision, Decision):
            shares = dict(decision.agent.probabilities)
            nobody = shares.pop(NONE_OF_THESE, 0.0)
            if shares:
                yield _Seen(shares, nobody, row, owner)


def _confused(seen: Iterable[_Seen]) -> Iterator[ModelWarning]:
    pairs: defaultdict[tuple[str, str], list[str | int]] = defaultdict(list)
    for one in seen:
        if one.row is not None and (pair := _pair(one)) is not None:
            pairs[pair].append(one.row)
    for pair, ids in sorted(pairs.items()):
        if len(ids) >= LEAST_CONFUSED:
            yield ModelWarning(
                ModelWarningCode.CONFUSED_REMITS,
                pair,
                f"{pair[0]} and {pair[1]} are confused on {len(ids)} messages ({_told(ids)}); say "
                "in not_for where one ends, or give examples of the difference",
                tuple(ids),
            )


def _pair(one: _Seen) -> tuple[str, str] | None:
    """Name the two that a message confuses: its owner and who is before it, or a close call."""
    if one.owner == NOBODY:
        return None
    best, *others = one.shares
    if one.owner is not None:
        first, second = sorted((one.owner, best))
        return None if one.owner == best else (first, second)
    if one.top == NOBODY or not others or one.shares[best] - one.shares[others[0]] >= CLOSE:
        return None
    first, second = sorted((best, others[0]))
    return first, second


def _about_one(
    agent: AgentSpec, own: Sequence[_Seen], seen: Sequence[_Seen], policy: Policy
) -> Iterator[ModelWarning]:
    is_own = agent.min_probability is not None
    least = agent.min_probability if agent.min_probability is not None else policy.min_probability
    asked = [*own, *seen]
    if not asked:
        return
    if not any(one.top == agent.id for one in asked):
        yield ModelWarning(
            ModelWarningCode.NEVER_CHOSEN,
            (agent.id,),
            f"{agent.id} is chosen for no text, not even for its own remit; say in concrete "
            "clauses what it alone does",
        )
        return
    most = max(one.shares.get(agent.id, 0.0) for one in asked)
    if most < least - FUZZ:
        whose = "its min_probability" if is_own else "the policy's min_probability"
        yield ModelWarning(
            ModelWarningCode.UNREACHABLE_THRESHOLD,
            (agent.id,),
            f"{agent.id} reaches {most:.2f} at most, even on its own remit and examples, and "
            f"{whose} is {least:g}: everything for it will be held",
        )
        return
    theirs = [one for one in seen if one.owner == agent.id]
    if len(theirs) >= LEAST_MISSED and not any(_is_routed(one, agent.id, least) for one in theirs):
        ids = [one.row for one in theirs if one.row is not None]
        yield ModelWarning(
            ModelWarningCode.NEVER_ROUTED,
            (agent.id,),
            f"none of the {len(theirs)} messages of {agent.id} reaches it at {least:g} "
            f"({_told(ids)}); widen its remit or give examples like them",
            tuple(ids),
        )


def _is_routed(one: _Seen, agent: str, least: float) -> bool:
    return one.top == agent and one.shares[agent] >= least - FUZZ


def _told(ids: Sequence[str | int]) -> str:
    shown = ", ".join(str(one) for one in ids[:MAX_TOLD])
    return f"{shown} and {len(ids) - MAX_TOLD} more" if len(ids) > MAX_TOLD else shown
