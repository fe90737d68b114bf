"""RoutingDesk: the durable flow of a service, from acceptance to the reply."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from clawmarshal.errors import (
    AcceptedUnreadError,
    ConflictError,
    LedgerError,
    LedgerUnavailableError,
)
from clawmarshal.roster.roster import Roster
from clawmarshal.router.approval import answered_gates
from clawmarshal.router.challenger import Challenger
from clawmarshal.router.challenging import Challenging
from clawmarshal.router.decider import Decider
from clawmarshal.router.deciding import Deciding
from clawmarshal.router.elsewhere import Elsewhere
from clawmarshal.router.fleet import FleetWatch
from clawmarshal.router.ledger.binding import LaunchTerms
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import (
    HoldRecord,
    Principal,
    RouteRecord,
    Submission,
)
from clawmarshal.router.ledger.states import HoldState, RouteState
from clawmarshal.router.preview import verdict_now
from clawmarshal.router.terms import launch_terms
from clawmarshal.router.threads import in_thread
from clawmarshal.router.waiters import Waiters
from clawmarshal.transport.outcome import Transport

LOG = logging.getLogger("clawmarshal")

HOUSEKEEPING_S = 5.0
LOOK_AGAIN_S = 1.0
"""How often the ledger is asked, for all who wait, what another process moved."""


class RoutingDesk:
    """Accept, decide, record, wait, and carry out what reviewers answer.

    Launching is the dispatcher's: the desk only tells it to look.

    Parameters
    ----------
    decider
        Who decides; the roster in force is its roster.
    ledger
        Where everything is remembered. Its calls block, so they run in threads of the desk.
    transport
        Asked what would run, so that approvals can be bound to it.
    fleet
        What is known of the live OpenClaw.
    is_shadow
        True: decide and record everything, dispatch nothing.
    default_timeout_s
        ``--timeout`` of a turn, for agents that name none.
    housekeeping_s
        Seconds between two looks at what is accepted and not decided.
    challenger
        A second model that is asked about what is decided; closed with the desk.
    elsewhere
        What other hosts say of the agents that this one does not reach; None where it reaches all.
    """

    def __init__(
        self,
        decider: Decider,
        ledger: Ledger,
        *,
        transport: Transport,
        fleet: FleetWatch,
        is_shadow: bool = False,
        default_timeout_s: int = 600,
        housekeeping_s: float = HOUSEKEEPING_S,
        challenger: Challenger | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._decider = decider
        self._ledger = ledger
        self._transport = transport
        self._fleet = fleet
        self._default_timeout_s = default_timeout_s
        self._elsewhere = elsewhere
        self._pool = ThreadPoolExecutor(8, thread_name_prefix="clawmarshal-desk")
        # Of their own, so that those who wait never keep a message from being accepted.
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="clawmarshal-waiters")
        self._waiters = Waiters()
        self._challenging = (
            None if challenger is None else Challenging(challenger, ledger, pool=self._pool)
        )
        self._deciding = Deciding(
            lambda: self._decider,
            ledger,
            fleet=fleet,
            terms=self._terms,
            pool=self._pool,
            is_shadow=is_shadow,
            every_s=housekeeping_s,
            challenging=self._challenging,
        )
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._unlisten: Callable[[], None] = lambda: None
        self._stop_turn: Callable[[str], Awaitable[object]] | None = None

    @property
    def roster(self) -> Roster:
        """The fleet in force."""
        return self._decider.roster

    @property
    def decider(self) -> Decider:
        """Who decides now."""
        return self._decider

    def use(self, decider: Decider) -> None:
        """Decide by other rules from now on; what is under way ends by those it began with."""
        self._decider = decider

    @property
    def undecided(self) -> frozenset[str]:
        """Routes that are accepted and could not be decided; they are tried again and again."""
        return self._deciding.left

    @property
    def challenged(self) -> Mapping[str, int]:
        """How many answers of the challenger stood how; empty where there is none."""
        counts = self._challenging.counts if self._challenging else {}
        return {str(said): count for said, count in counts.items()}

    def connect(self, *, on_cancel: Callable[[str], Awaitable[object]]) -> None:
        """Name who launches: ``on_cancel`` asks the running turn of a route to stop."""
        self._stop_turn = on_cancel

    async def start(self) -> None:
        """Begin to look after the ledger, first of all after what a dead service left.

        Raises
        ------
        LedgerUnavailableError
            Nothing was begun. Retryable.
        """
        loop = asyncio.get_running_loop()

        def tell(route_id: str, _state: RouteState) -> None:
            with contextlib.suppress(RuntimeError):  # the loop ended while a thread still wrote
                loop.call_soon_threadsafe(self._waiters.tell, route_id)

        await self._deciding.take_over()
        self._unlisten = self._ledger.listen(tell)
        self._tasks = (
            asyncio.create_task(self._deciding.keep_on(), name="desk-housekeeper"),
            asyncio.create_task(self._look_out(), name="desk-lookout"),
        )

    async def close(self) -> None:
        """Finish the decisions under way and let go of the threads."""
        self._unlisten()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._deciding.close()
        self._readers.shutdown(wait=True)
        self._pool.shutdown(wait=True)

    def terms(self) -> Mapping[str, LaunchTerms]:
        """Say for every agent of the roster what a launch would mean now."""
        return {agent.id: self._terms(agent.id) for agent in self.roster}

    async def submit(
        self, submission: Submission, *, wait_s: float = 0.0
    ) -> tuple[RouteRecord, str | None]:
        """Accept a message durably, decide it, and wait for its end at most ``wait_s``.

        Once accepted, it is decided even when the caller goes away.

        Returns
        -------
        tuple
            The route as it stands, and ``key`` or ``message_id`` for a repeat, else None.

        Raises
        ------
        MessageError, UnknownAgentError, ConflictError
            Nothing was accepted. ``idempotency-mismatch``: the key was used with another body.
        NotFoundError
            ``clarifies`` names no route of this owner. Nothing was accepted.
        LedgerUnavailableError
            Nothing was accepted. Retryable.
        AcceptedUnreadError
            It was accepted, and what became of it cannot be read now. Ask for the route.
        """
        if submission.pin is not None:
            self.roster[submission.pin]
        await self._check_clarifies(submission)
        accepted = await in_thread(self._pool, self._ledger.accept, submission)
        decision = self._deciding.under_way(accepted.route_id)
        if accepted.created:
            decision = self._deciding.start(accepted.route_id, submission)
        record = None if decision is None else await asyncio.shield(decision)
        if record is not None and (wait_s <= 0 or record.is_resting):
            return record, accepted.deduplicated_by
        try:
            record = await self.wait(accepted.route_id, wait_s=wait_s)
        except LedgerUnavailableError as error:
            raise AcceptedUnreadError(accepted.route_id) from error
        return record, accepted.deduplicated_by

    async def dry_run(self, submission: Submission) -> Mapping[str, object]:
        """Decide without leaving a row; what came before in the conversation is not looked at.

        Raises
        ------
        UnknownAgentError
            The pin is not in the roster.
        """
        if submission.pin is not None:
            self.roster[submission.pin]
        return await self._deciding.rehearse(submission)

    async def wait(self, route_id: str, *, wait_s: float, owner: str | None = None) -> RouteRecord:
        """Return the route once it rests or after ``wait_s``.

        Parameters
        ----------
        owner
            Only that owner's route; None sees all.

        Raises
        ------
        NotFoundError
            No such route, or not the owner's.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait_s
        with self._waiters.listen(route_id) as news:
            while True:
                news.clear()
                record = await loop.run_in_executor(
                    self._readers, partial(self._ledger.route, route_id, owner=owner)
                )
                left = deadline - loop.time()
                if left <= 0 or record.is_resting:
                    return record
                await news.wait_at_most(left if self._tasks else min(left, LOOK_AGAIN_S))

    async def approve(
        self,
        hold_id: str,
        principal: Principal,
        *,
        agent: str | None = None,
        note: str | None = None,
        digest: str | None = None,
    ) -> HoldRecord:
        """Answer a hold with yes.

        The answer covers the gates that were shown. For another agent than the suggested one,
        gates 3 to 9 are looked at again, and what was not shown must be shown first.

        Raises
        ------
        NotFoundError, ExpiredError
            ``not-found``, ``hold-expired``.
        ConflictError
            ``hold-decided`` with the winner; ``gates-changed`` or ``digest-changed`` with the
            gates and the digest that would answer them; ``not-waivable`` where the target is
            unavailable or the text cannot be shown; ``agent-required`` where the hold has none.
        UnknownAgentError
            ``agent`` is not in the roster.
        """
        hold = await in_thread(self._pool, self._ledger.hold, hold_id)
        target = agent or (hold.agent if hold.decision else None) or hold.suggestion
        if target is None:
            raise ConflictError("the hold suggests no agent; name one", code="agent-required")
        self.roster[target]
        terms = self._terms(target)
        gates = None
        if hold.state is HoldState.OPEN:
            gates = await self._gates_to_answer(hold, target, terms=terms, digest=digest)
        return await in_thread(
            self._pool,
            self._ledger.approve,
            hold_id,
            principal,
            terms=terms,
            digest=digest,
            note=note,
            gates=gates,
        )

    async def reject(self, hold_id: str, principal: Principal, *, reason: str) -> HoldRecord:
        """Answer a hold with no.

        Raises
        ------
        NotFoundError, ExpiredError, ConflictError
            As `approve`.
        LedgerError
            ``reason-required``.
        """
        return await in_thread(self._pool, self._ledger.reject, hold_id, principal, reason=reason)

    async def cancel(self, route_id: str, principal: Principal) -> RouteRecord:
        """Cancel what was not launched; a running turn is asked to stop.

        Raises
        ------
        NotFoundError, ConflictError
            ``not-found``; ``not-cancellable``: it has ended, or nobody knows how.
        """
        record = await in_thread(self._pool, self._ledger.cancel, route_id, principal)
        is_running = record.state in (RouteState.LAUNCHING, RouteState.RUNNING)
        if is_running and self._stop_turn is not None:
            await self._stop_turn(route_id)
        return record

    async def resolve(
        self, route_id: str, principal: Principal, *, answer: str, note: str | None = None
    ) -> RouteRecord:
        """Say what became of an ``unknown``: ``ran``, ``not_run``, ``rerun`` or ``leave``.

        Raises
        ------
        NotFoundError, ConflictError
            ``not-found``, ``not-resolvable``, ``rerun-too-early``.
        """
        return await in_thread(
            self._pool, self._ledger.resolve, route_id, principal, answer=answer, note=note
        )

    async def launch(self, route_id: str) -> RouteRecord:
        """Let a proposed route be launched, and return it once it rests; a repeat only waits.

        Raises
        ------
        NotFoundError
            No such route.
        """
        record = await in_thread(self._pool, self._ledger.release, route_id)
        while not record.is_resting:
            record = await self.wait(route_id, wait_s=3600.0)
        return record

    async def _check_clarifies(self, submission: Submission) -> None:
        if submission.clarifies is None:
            return
        asked = await in_thread(
            self._pool, self._ledger.route, submission.clarifies, owner=submission.owner
        )
        if asked.state is not RouteState.CLARIFY:
            raise ConflictError(
                "the route that this message clarifies asked nothing", code="not-clarifying"
            )

    async def _gates_to_answer(
        self, hold: HoldRecord, target: str, *, terms: LaunchTerms, digest: str | None
    ) -> tuple[Mapping[str, object], ...]:
        record = await in_thread(self._pool, self._ledger.route, hold.route_id)
        verdict = verdict_now(self._decider, record, agent=target, fleet=self._fleet)
        gates, is_news = answered_gates(hold, target=target, verdict=verdict)
        if is_news:
            offered = await in_thread(self._pool, self._ledger.hold_digest, hold.id, terms, gates)
            if digest != offered:
                raise ConflictError(
                    f"for {target} a gate fires that was not shown; look, and send the digest",
                    code="gates-changed",
                    detail={"agent": target, "gates": list(gates), "digest": offered},
                )
        return gates

    def _terms(self, agent_id: str) -> LaunchTerms:
        return launch_terms(
            self.roster[agent_id],
            transport=self._transport,
            directives=self._decider.policy.directives,
            live=self._fleet.agents,
            default_timeout_s=self._default_timeout_s,
            elsewhere=self._elsewhere,
        )

    async def _look_out(self) -> None:
        """Tell those who wait what another process moved: one question for all of them."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK_AGAIN_S)
            if not (names := self._waiters.names):
                continue
            try:
                look = partial(self._ledger.resting, names)
                for route_id in await loop.run_in_executor(self._readers, look):
                    self._waiters.tell(route_id)
            except LedgerError:
                continue  # asked again in a moment
            except Exception:  # the task's outer edge: who waits relies on it
                LOG.exception("a look at what others moved failed")
