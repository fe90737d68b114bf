"""Challenging: what the challenger says of live messages, recorded beside their decisions."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Executor
from enum import StrEnum

from clawmarshal.errors import DecisionError, LedgerError
from clawmarshal.router.challenger import STOPPED, Challenger
from clawmarshal.router.decision import Decision
from clawmarshal.router.explanation import Evidence, decision_json
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.threads import in_thread

LOG = logging.getLogger("clawmarshal")
LAST_WORDS_S = 1.0
"""How long a stop waits for answers that are on their way."""


class Said(StrEnum):
    """How a challenger's answer stands to the acting one."""

    AGREES = "agrees"
    DIFFERS = "differs"
    ALONE = "alone"
    """The acting model had no usable answer."""
    FAILED = "failed"


class Challenging:
    """Ask the challenger once a decision is recorded, and record what it says.

    A message is decided, and on its way, before the challenger is asked: it can neither delay nor
    change anything.

    Parameters
    ----------
    pool
        Where the ledger's blocking calls run.
    """

    def __init__(self, challenger: Challenger, ledger: Ledger, *, pool: Executor) -> None:
        self._challenger = challenger
        self._ledger = ledger
        self._pool = pool
        self._tasks: set[asyncio.Task[None]] = set()
        self._counts: Counter[Said] = Counter({said: 0 for said in Said})
        self._is_failing = False

    @property
    def counts(self) -> Mapping[Said, int]:
        """How many answers stood how, since the start."""
        return dict(self._counts)

    def start(self, route_id: str, message: InboundMessage, evidence: Evidence) -> None:
        """Begin to ask about a message that is decided; what it comes to raises nothing.

        Parameters
        ----------
        message
            As the acting model saw it, with what came before.
        evidence
            What the route was decided on.
        """
        task = asyncio.create_task(self._ask(route_id, message, evidence), name="challenge")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait a moment for answers on their way; what is still asked then is recorded so."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_WORDS_S)
        await self._challenger.close()
        left = set(self._tasks)
        if left:
            await asyncio.wait(left, timeout=LAST_WORDS_S)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _ask(self, route_id: str, message: InboundMessage, evidence: Evidence) -> None:
        try:
            answer = await self._challenger.answer(evidence.ballot, message)
            said = _standing(answer, evidence.decision)
            self._count(said, answer)
            await in_thread(
                self._pool,
                self._ledger.challenged,
                route_id,
                decision_json(answer),
                facts=_facts(answer, said),
            )
        except LedgerError as error:
            LOG.warning("route %s: the challenger's answer is lost: %s", route_id, error.code)
        except Exception:  # the task's outer edge: nobody waits for it
            LOG.exception("route %s: the challenger's answer is lost", route_id)

    def _count(self, said: Said, answer: Decision | DecisionError) -> None:
        """Count, and say when it begins to fail and when it answers again."""
        self._counts[said] += 1
        is_failing = isinstance(answer, DecisionError) and answer.code != STOPPED
        if is_failing and not self._is_failing and isinstance(answer, DecisionError):
            LOG.warning("the challenger gives no usable answer: %s", answer.code)
        if not is_failing and self._is_failing:
            LOG.info("the challenger answers again")
        self._is_failing = is_failing


def _standing(answer: Decision | DecisionError, acting: Decision | DecisionError) -> Said:
    if not isinstance(answer, Decision):
        return Said.FAILED
    if not isinstance(acting, Decision):
        return Said.ALONE
    return Said.AGREES if answer.agent.option == acting.agent.option else Said.DIFFERS


def _facts(answer: Decision | DecisionError, said: Said) -> Mapping[str, object]:
    if not isinstance(answer, Decision):
        return {"said": said, "error": answer.code}
    return {"said": said, "agent": answer.agent.option, "model": answer.model}
