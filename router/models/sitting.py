"""Sitting: one decision of a System One server, from the ballot to what was heard."""

import asyncio
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from clawmarshal.errors import DecisionInvalidError, DecisionUnavailableError
from clawmarshal.router.ballot import (
    AGENT,
    AGENT_REVERSED,
    NONE_OF_THESE,
    RISK,
    Ballot,
    ChoiceQuestion,
    Question,
    narrowed,
    reversed_question,
)
from clawmarshal.router.decision import MODEL_MISMATCH, Answers, validate_answer
from clawmarshal.router.models.exchange import Budget, Exchange, Reply
from clawmarshal.router.models.projection import (
    MAX_BODY_BYTES,
    MAX_OPTION_BYTES,
    Projection,
    fitted,
    serialised_bytes,
)
from clawmarshal.router.models.rounds import GROUP, Room, Unit, over_all, play
from clawmarshal.router.models.wire import WireRequest, wire_question

MAX_QUESTIONS = 8
"""Questions in one request."""
AT_ONCE = 4
"""Requests of one decision that are under way at a time."""
FRAME_BYTES = 1024
"""What a request holds beside its state and the options: names, instructions, the risk question."""


@dataclass(slots=True)
class Sitting:
    """One decision: what is asked, and what was heard so far."""

    exchange: Exchange
    name: str
    """The pinned model."""
    accepted: frozenset[str]
    """The ids under which it answers."""
    cap: int
    """Options in one choice, ``none_of_these`` counted."""
    is_strict: bool
    ballot: Ballot
    projection: Projection
    budget: Budget
    texts: dict[str, str] = field(default_factory=dict)
    """What is sent as each agent's description."""
    replies: list[Reply] = field(default_factory=list)
    extras: dict[str, object] = field(default_factory=dict)
    """Answers to questions that no request asked."""
    notes: list[str] = field(default_factory=list)

    async def answers(self, *, begin: float) -> Answers:
        """Ask everything, and put together what was heard; nothing is trusted yet.

        Parameters
        ----------
        begin
            When the decision began, monotonic seconds.

        Raises
        ------
        DecisionError
            As `clawmarshal.router.models.system_one.SystemOneModel.answer`.
        """
        self.notes += self.projection.notes
        self._fit_options()
        whole = self.ballot.questions.get(AGENT)
        if isinstance(whole, ChoiceQuestion):
            given = await self._fleet(whole)
        else:
            given = await self._plain()
        if self._answering() not in self.accepted:
            if self.is_strict:
                raise DecisionInvalidError("another model answered", code=MODEL_MISMATCH)
            self.notes.append(MODEL_MISMATCH)
        if self.is_strict:
            given = self._strictly(given)
        return Answers(
            {**self._extra(), **given},
            model=self._answering() or "unknown",
            truncated=self.projection.is_truncated,
            latency_ms=(time.monotonic() - begin) * 1000,
            usage=_summed([reply.response.usage for reply in self.replies]),
            request_id=self.replies[-1].request_id if self.replies else None,
            notes=(*self.notes, *self._providers()),
        )

    async def _plain(self) -> dict[str, object]:
        """Ask questions that are not about a fleet, each as it is."""
        for question in self.ballot.questions.values():
            if isinstance(question, ChoiceQuestion) and len(question.criteria) > self.cap:
                raise DecisionInvalidError(
                    "a choice has more options than the server takes", code="ballot-invalid"
                )
        return await self._ask([{name: one} for name, one in self.ballot.questions.items()])

    async def _fleet(self, whole: ChoiceQuestion) -> dict[str, object]:
        """Ask about a fleet: at once where it fits, else in rounds and a final."""
        finalists = await play(whole, room=self._room(whole), ask=self._ask, strict=self.is_strict)
        final = narrowed(whole, finalists.agents)
        asked = {AGENT: final, AGENT_REVERSED: reversed_question(final)}
        questions = {name: asked.get(name, one) for name, one in self.ballot.questions.items()}
        first = {name: one for name, one in questions.items() if name in (*asked, RISK)}
        rest = [{name: one} for name, one in questions.items() if name not in first]
        given = await self._ask([first, *rest])
        if finalists.rounds:
            self.notes += [f"rounds:{finalists.rounds + 1}", f"finalists:{len(finalists.agents)}"]
            self.notes += [f"rounds-cut:{finalists.cut}"] if finalists.cut else []
            given |= {
                name: over_all(whole, one, given[name])
                for name, one in asked.items()
                if name in given
            }
        return given

    async def _ask(self, units: Sequence[Unit]) -> dict[str, object]:
        """Ask units in as few requests as they fit, a few at a time; the first failure ends all."""
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(asked: Unit) -> dict[str, object]:
            async with slots:
                reply = await self.exchange.ask(self._body(asked), self.budget)
            self.replies.append(reply)
            heard = reply.response.answers
            self.extras |= {k: v for k, v in heard.items() if k not in self.ballot.questions}
            return {name: raw for name, raw in heard.items() if name in asked}

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(asked)) for asked in self._requests(units)]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return dict(itertools.chain.from_iterable(task.result().items() for task in tasks))

    def _requests(self, units: Sequence[Unit]) -> list[dict[str, Question]]:
        """Pack units into requests: eight questions and the byte limit each."""
        packed: list[dict[str, Question]] = []
        for unit in units:
            both = {**packed[-1], **unit} if packed else dict(unit)
            if packed and len(both) <= MAX_QUESTIONS and len(self._body(both)) <= MAX_BODY_BYTES:
                packed[-1] = both
            else:
                packed.append(dict(unit))
        if any(len(self._body(one)) > MAX_BODY_BYTES for one in packed):
            raise DecisionUnavailableError(
                "the questions are too large for one request", code="too-large", retryable=False
            )
        return packed

    def _body(self, asked: Unit) -> bytes:
        request = WireRequest.model_construct(
            model=self.name,
            state=dict(self.projection.state),
            questions={
                name: wire_question(question, texts=self.texts if self._is_fleet(name) else None)
                for name, question in asked.items()
            },
        )
        return request.body()

    def _is_fleet(self, name: str) -> bool:
        """Tell whether a question's options are agents; group questions are ours alone."""
        return name in (AGENT, AGENT_REVERSED) or name not in self.ballot.questions

    def _fit_options(self) -> None:
        """Cut descriptions that alone would take too much of a request, and say so."""
        whole = self.ballot.questions.get(AGENT)
        if not isinstance(whole, ChoiceQuestion):
            return
        for option, text in whole.criteria.items():
            self.texts[option] = fitted(text, MAX_OPTION_BYTES)
        cut = sum(self.texts[option] != text for option, text in whole.criteria.items())
        if cut:
            self.notes.append(f"remits-cut:{cut}")

    def _room(self, whole: ChoiceQuestion) -> Room:
        state = serialised_bytes(self.projection.state)
        left = (MAX_BODY_BYTES - state - 2 * FRAME_BYTES) // 2
        sizes = {
            option: serialised_bytes({option: self.texts[option]}) for option in whole.criteria
        }
        return Room(self.cap - 1, left - sizes.get(NONE_OF_THESE, 0), MappingProxyType(sizes))

    def _answering(self) -> str | None:
        """Name the model that answered; where several did, one that was not asked for."""
        named = [reply.response.model for reply in self.replies]
        return next((one for one in named if one not in self.accepted), named[0])

    def _strictly(self, given: Mapping[str, object]) -> dict[str, object]:
        """Refuse what strict mode refuses; a refused risk is left out, and counts as high."""
        kept = dict(given)
        for name, question in self.ballot.questions.items():
            if name not in kept:
                continue
            try:
                validate_answer(question, kept[name], strict=True)
            except DecisionInvalidError as error:
                if name != RISK:
                    raise
                del kept[name]
                self.notes.append(f"risk-refused:{error.code}")
        return kept

    def _extra(self) -> dict[str, object]:
        """Return what nobody asked for, so that it is counted; our group questions are asked."""
        return {k: v for k, v in self.extras.items() if not k.startswith(GROUP)}

    def _providers(self) -> list[str]:
        named = {reply.response.provider for reply in self.replies if reply.response.provider}
        return [f"provider:{one}" for one in sorted(named)]


def _summed(usages: Sequence[Mapping[str, object] | None]) -> dict[str, object] | None:
    """Add up what every reply states; what one leaves out is unknown in all."""
    known = [usage for usage in usages if usage is not None]
    if not known or len(known) < len(usages):
        return None
    names = [name for name in known[0] if all(name in usage for usage in known)]
    totals: dict[str, object] = {}
    for name in names:
        figures = [usage[name] for usage in known]
        totals[name] = sum(one for one in figures if isinstance(one, int | float))
    return totals or None
