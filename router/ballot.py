"""Ballot: the typed questions asked about one message, in System One form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.message import InboundMessage

NONE_OF_THESE = "none_of_these"
AGENT = "agent"
AGENT_REVERSED = "agent_reversed"
RISK = "risk"

AGENT_INSTRUCTIONS = "Which agent should handle the request in `message`?"
RISK_INSTRUCTIONS = (
    "How much harm could follow if the request in `message` were carried out wrongly?"
)
NONE_DESCRIPTION = "No agent above covers the request, or the request is unclear."
RISK_CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        Risk.LOW: "Read-only or trivially reversible; no money, credentials or data loss.",
        Risk.MEDIUM: "Changes something that can be undone, or reaches other people.",
        Risk.HIGH: (
            "Irreversible or destructive, moves money, or exposes credentials or private data."
        ),
    }
)


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """Ask for one of several named options."""

    instructions: str
    criteria: Mapping[str, str]
    """Option name to description, in the order shown to the model."""


@dataclass(frozen=True, slots=True)
class ScoreQuestion:
    """Ask for a level on a scale."""

    instructions: str
    criteria: tuple[str, ...]
    """2 to 10 level descriptions, lowest first."""


@dataclass(frozen=True, slots=True)
class NoulQuestion:
    """Ask whether something is so."""

    instructions: str
    criteria: Mapping[str, str] | None = None
    """What ``true`` and ``false`` mean, or None."""


Question = ChoiceQuestion | ScoreQuestion | NoulQuestion


@dataclass(frozen=True, slots=True)
class Ballot:
    """Typed questions about one message, and the agents they are about."""

    questions: Mapping[str, Question]
    """Question id to question; answers come back under the same ids."""
    agents: tuple[AgentSpec, ...] = ()
    """The eligible agents in canonical order; empty for questions that are not about a fleet."""


def fleet_ballot(roster: Roster, message: InboundMessage) -> Ballot:
    """Ask which eligible agent should get the message, and how risky it is.

    ``none_of_these`` is always an option, last in the forward order. With two agents or more the
    same choice is also asked in reversed order, so that a model's order bias can be seen.

    Parameters
    ----------
    roster
        The fleet; hard filters (bindings, tags) are applied here.
    message
        Only its origin and labels are read, never its text.
    """
    agents = roster.eligible(
        channel=message.channel,
        account=message.account,
        conversation=message.conversation,
        required_tags=message.required_tags,
    )
    options = {agent.id: _option_text(agent) for agent in agents}
    options[NONE_OF_THESE] = NONE_DESCRIPTION
    forward = ChoiceQuestion(AGENT_INSTRUCTIONS, MappingProxyType(options))
    questions: dict[str, Question] = {AGENT: forward}
    if len(agents) > 1:
        questions[AGENT_REVERSED] = reversed_question(forward)
    questions[RISK] = ChoiceQuestion(RISK_INSTRUCTIONS, RISK_CRITERIA)
    return Ballot(MappingProxyType(questions), agents)


def reversed_question(question: ChoiceQuestion) -> ChoiceQuestion:
    """Ask the same with the options in the opposite order."""
    backwards = dict(reversed(list(question.criteria.items())))
    return ChoiceQuestion(question.instructions, MappingProxyType(backwards))


def narrowed(question: ChoiceQuestion, options: Iterable[str]) -> ChoiceQuestion:
    """Ask the same about some of the options and ``none_of_these``, in the question's order.

    Parameters
    ----------
    question
        A choice with ``none_of_these`` among its options.
    options
        Names out of its criteria; their own order plays no part.
    """
    kept = {*options, NONE_OF_THESE}
    criteria = {name: text for name, text in question.criteria.items() if name in kept}
    return ChoiceQuestion(question.instructions, MappingProxyType(criteria))


def _option_text(agent: AgentSpec) -> str:
    parts = [agent.description.strip()]
    if agent.not_for:
        parts.append("Not for: " + "; ".join(agent.not_for) + ".")
    if agent.examples:
        parts.append("For example: " + " | ".join(agent.examples[:5]))
    return " ".join(parts)
