"""Rounds: a fleet that is too large for one choice, in groups until the winners fit a final."""

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.router.ballot import (
    NONE_OF_THESE,
    ChoiceQuestion,
    Question,
    narrowed,
    reversed_question,
)
from clawmarshal.router.decision import Choice, validate_answer
from clawmarshal.router.distribution import FUZZ

NEAR = 0.5
"""An agent with at least this part of its group's largest share is near the best."""
KEPT_PART = 3
"""A third of a group goes on for being near, at most; who ties with the best goes on anyway."""

GROUP = "group_"
"""How the ids of the questions of a round begin."""
Unit = Mapping[str, Question]
"""Questions that belong into one request, by id."""
Asking = Callable[[Sequence[Unit]], Awaitable[Mapping[str, object]]]
"""Ask units, in as many requests as it takes, and return the raw answers by question id."""


@dataclass(frozen=True, slots=True)
class Room:
    """What fits one choice."""

    options: int
    """Agents beside ``none_of_these``, at least 1."""
    option_bytes: int
    """What the options of one order may take, serialised."""
    sizes: Mapping[str, int]
    """What each agent's option takes, serialised; none takes more than `option_bytes`."""

    def holds(self, agents: Sequence[str]) -> bool:
        """Tell whether these agents fit."""
        taken = sum(self.sizes[agent] for agent in agents)
        return len(agents) <= self.options and taken <= self.option_bytes

    def groups(self, agents: Sequence[str]) -> list[tuple[str, ...]]:
        """Split agents into as few groups as fit, of even size, in their order; each is in one."""
        least = max(1, -(-len(agents) // self.options))
        for count in range(least, max(least, len(agents)) + 1):
            cuts = [len(agents) * number // count for number in range(count + 1)]
            parts = [tuple(agents[a:b]) for a, b in itertools.pairwise(cuts)]
            if all(self.holds(part) for part in parts):
                return parts
        raise DecisionInvalidError("an option is too large for a request", code="ballot-invalid")


@dataclass(frozen=True, slots=True)
class Finalists:
    """Who is left, and how it came to that."""

    agents: tuple[str, ...]
    rounds: int
    """Rounds that were played before the final; 0 where everybody fitted at once."""
    cut: int = 0
    """Agents that were near the best of their group and did not go on."""


async def play(
    question: ChoiceQuestion, *, room: Room, ask: Asking, strict: bool = False
) -> Finalists:
    """Narrow a choice down until the agents that are left fit one final.

    Every agent is in exactly one group of a round, with ``none_of_these`` beside it, in both
    orders. Shares of different groups are not comparable, so no group is dropped: its best agent
    goes on, even where ``none_of_these`` is more probable there, and so does who is best in either
    order. Everybody with at least half of the group's largest share goes on as well: all that tie
    with the best, and of the others a third of the group at most; who is cut all the same is
    counted. A tie far below ``none_of_these`` is cut by name. A model that separates nobody is
    an error, not a guess.

    Parameters
    ----------
    question
        The agent question of a fleet ballot, in canonical order.
    room
        What fits one choice.
    ask
        Asks a round's questions.
    strict
        As in `validate_answer`.

    Raises
    ------
    DecisionInvalidError
        A group's answer is missing, refused or coarse, or ``rounds-undecided``: a round ruled
        nobody out.
    """
    left = tuple(option for option in question.criteria if option != NONE_OF_THESE)
    rounds = cut = 0
    while len(groups := room.groups(left)) > 1:
        rounds += 1
        units = [_unit(number, narrowed(question, group)) for number, group in enumerate(groups)]
        answers = await ask(units)
        results = [_result(unit, answers, strict=strict) for unit in units]
        kept = {agent for result in results for agent in result.going_on}
        if len(kept) == len(left):
            raise DecisionInvalidError(
                "the model tells the agents of no group apart", code="rounds-undecided"
            )
        left = tuple(agent for agent in left if agent in kept)
        cut += sum(result.cut for result in results)
    return Finalists(left, rounds, cut)


def over_all(question: ChoiceQuestion, final: ChoiceQuestion, raw: object) -> dict[str, object]:
    """State the final's answer over all options: whoever is not in the final has 0.

    Parameters
    ----------
    question
        The whole choice.
    final
        What was asked at last.
    raw
        Its answer.

    Raises
    ------
    DecisionInvalidError
        The answer does not hold against the final.
    """
    validate_answer(final, raw)
    if not isinstance(raw, Mapping) or not isinstance(raw["probabilities"], Mapping):
        raise DecisionInvalidError("the answer is not an object", code="answer-malformed")
    stated = raw["probabilities"]
    spread = {option: stated.get(option, 0.0) for option in question.criteria}
    return {**raw, "probabilities": spread}


def _unit(number: int, part: ChoiceQuestion) -> Unit:
    return {f"{GROUP}{number}": part, f"{GROUP}{number}_reversed": reversed_question(part)}


@dataclass(frozen=True, slots=True)
class _Result:
    """What a group came to."""

    going_on: frozenset[str]
    cut: int


def _result(unit: Unit, answers: Mapping[str, object], *, strict: bool) -> _Result:
    choices = [
        _checked(question, answers.get(name), strict=strict) for name, question in unit.items()
    ]
    options = choices[0].probabilities
    shares = {o: sum(one.probabilities[o] for one in choices) / len(choices) for o in options}
    largest = max(shares.values())
    agents = sorted(shares.keys() - {NONE_OF_THESE}, key=lambda agent: (-shares[agent], agent))
    near = [agent for agent in agents if shares[agent] >= largest * NEAR]
    tied = {agent for agent in near if shares[agent] >= shares[agents[0]] - FUZZ}
    winners = {agents[0]} | {_best_agent(one) for one in choices}
    going_on = winners | tied | set(near[: max(1, len(agents) // KEPT_PART)])
    return _Result(frozenset(going_on), len(set(near) - going_on))


def _checked(question: Question, raw: object, *, strict: bool) -> Choice:
    if raw is None:
        raise DecisionInvalidError("no answer about a group", code="answer-missing")
    choice = validate_answer(question, raw, strict=strict)
    if not isinstance(choice, Choice):
        raise DecisionInvalidError("a group is asked as a choice", code="ballot-invalid")
    if choice.is_coarse:
        raise DecisionInvalidError("the answer about a group is coarse", code="coarse")
    return choice


def _best_agent(choice: Choice) -> str:
    return next(option for option in choice.probabilities if option != NONE_OF_THESE)
