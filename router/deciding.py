"""Deciding: every accepted message is decided and recorded, if need be again and again."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor

from clawmarshal.errors import LedgerError, UnknownAgentError
from clawmarshal.router.challenging import Challenging
from clawmarshal.router.conversation import kept_agent, seen_by_models
from clawmarshal.router.decider import Decider
from clawmarshal.router.explanation import explanation
from clawmarshal.router.fleet import FleetWatch
from clawmarshal.router.ledger.binding import LaunchTerms
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import ConversationView, RouteRecord, Submission
from clawmarshal.router.policy import Circumstances
from clawmarshal.router.rounds import keep_on
from clawmarshal.router.route import Route, route_json
from clawmarshal.router.threads import in_thread

LOG = logging.getLogger("clawmarshal")

ABANDONED_S = 30.0
"""A message that nobody decided for so long was left by a service that died."""
AT_ONCE = 8
"""How many of the messages that were left are decided beside each other."""


class Deciding:
    """Decide what is accepted, and keep at what could not be decided yet.

    Parameters
    ----------
    decider
        Returns the one in force; asked once for each decision.
    terms
        Says what a launch of an agent would mean now.
    pool
        Where the ledger's blocking calls run.
    is_shadow
        True: what follows from a decision is left out.
    every_s
        Seconds between two looks at what is accepted and not decided.
    challenging
        Asks a second model about what is decided.
    """

    def __init__(
        self,
        decider: Callable[[], Decider],
        ledger: Ledger,
        *,
        fleet: FleetWatch,
        terms: Callable[[str], LaunchTerms],
        pool: Executor,
        is_shadow: bool,
        every_s: float,
        challenging: Challenging | None = None,
    ) -> None:
        self._decider = decider
        self._ledger = ledger
        self._fleet = fleet
        self._terms = terms
        self._pool = pool
        self._is_shadow = is_shadow
        self._every_s = every_s
        self._challenging = challenging
        self._under_way: dict[str, asyncio.Task[RouteRecord | None]] = {}
        self._left: set[str] = set()

    @property
    def left(self) -> frozenset[str]:
        """Routes that are accepted and could not be decided; they are tried again and again."""
        return frozenset(self._left)

    def under_way(self, route_id: str) -> asyncio.Task[RouteRecord | None] | None:
        """Return the decision of a route that is being made, or None."""
        return self._under_way.get(route_id)

    def start(
        self, route_id: str, submission: Submission | None = None
    ) -> asyncio.Task[RouteRecord | None]:
        """Begin to decide a route; the task never raises.

        Parameters
        ----------
        submission
            What was accepted; read from the ledger where None.

        Returns
        -------
        asyncio.Task
            Of the route as it stands then; None where it could not be decided yet.
        """
        task = asyncio.create_task(self._decide(route_id, submission), name=f"decide-{route_id}")
        self._under_way[route_id] = task
        task.add_done_callback(lambda _: self._under_way.pop(route_id, None))
        return task

    async def take_over(self) -> None:
        """Note what a dead service left; it is decided in the background, since others wait.

        Raises
        ------
        LedgerUnavailableError
            Nothing was noted. Retryable.
        """
        self._left |= set(await in_thread(self._pool, self._ledger.undecided))

    async def keep_on(self) -> None:
        """Decide what is left, round after round, until cancelled."""
        await keep_on(self._decide_left, every_s=self._every_s, what="housekeeping")

    async def close(self) -> None:
        """Finish the decisions under way, and what is asked beside them."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        if self._challenging is not None:
            await self._challenging.close()

    async def rehearse(self, submission: Submission) -> Mapping[str, object]:
        """Decide without leaving a row, as if nothing had been said before."""
        circumstances = self._circumstances(submission, ConversationView())
        route, _ = await self._decider().decide(submission.message, circumstances=circumstances)
        return route_json(route)

    async def _decide(self, route_id: str, submission: Submission | None) -> RouteRecord | None:
        """Decide and record; what cannot be done now is said, kept and tried again."""
        try:
            record = await self._decide_once(route_id, submission)
        except LedgerError as error:
            LOG.warning("route %s is accepted and not decided yet: %s", route_id, error.code)
        except Exception:  # the task's outer edge: it is accepted, so it must not be forgotten
            LOG.exception("route %s is accepted and cannot be decided", route_id)
        else:
            self._left.discard(route_id)
            return record
        self._left.add(route_id)
        return None

    async def _decide_once(self, route_id: str, submission: Submission | None) -> RouteRecord:
        if submission is None:
            submission = await in_thread(self._pool, self._ledger.submission, route_id)
        decider = self._decider()
        policy = decider.policy
        view = await in_thread(
            self._pool,
            self._ledger.conversation,
            route_id,
            window_s=policy.rate_window_s,
            repeat_window_s=policy.loop_window_s,
        )
        route, evidence = await decider.decide(
            submission.message,
            circumstances=self._circumstances(submission, view),
            route_id=route_id,
            past=view.past,
        )
        try:
            terms = self._terms_of(route)
        except UnknownAgentError:  # it left the roster in the meantime
            return await self._decide_once(route_id, submission)
        record = await in_thread(
            self._pool,
            self._ledger.record,
            route_id,
            route,
            explanation=explanation(evidence, policy=decider.policy_for(evidence.decision)),
            terms=terms,
            is_shadow=self._is_shadow,
        )
        if self._challenging is not None:
            seen = seen_by_models(submission.message, view.past)
            self._challenging.start(route_id, seen, evidence)
        return record

    def _terms_of(self, route: Route) -> LaunchTerms | None:
        return self._terms(route.agent) if route.agent else None

    def _circumstances(self, submission: Submission, view: ConversationView) -> Circumstances:
        return Circumstances(
            pin=submission.pin,
            conversation_agent=kept_agent(view.agent, submission.message),
            repeats=view.repeats,
            in_conversation=view.in_conversation,
            from_sender=view.from_sender,
            live_agents=self._fleet.agents,
            unasked=self._fleet.unasked,
            on_uncertain=submission.on_uncertain,
        )

    async def _decide_left(self) -> None:
        """Decide what we could not decide before, and what a service that died has left."""
        old = await in_thread(self._pool, self._ledger.undecided, min_age_s=ABANDONED_S)
        left = sorted({*self._left, *old} - set(self._under_way))  # ids grow with the time
        for first in range(0, len(left), AT_ONCE):
            tasks = [self.start(route_id) for route_id in left[first : first + AT_ONCE]]
            await asyncio.gather(*(asyncio.shield(task) for task in tasks))
