"""Ledger: the durable record; each method that writes is one transaction."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from sqlalchemy import insert, update

from clawmarshal.errors import ExpiredError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger import (
    acceptance,
    answers,
    checkpoints,
    claims,
    endings,
    erasing,
    evidence,
    holds,
    keys,
    launches,
    reaches,
    recording,
    resolutions,
    schema,
    sign_ins,
)
from clawmarshal.router.ledger.audit import SERVICE, Actor
from clawmarshal.router.ledger.binding import GateLike, LaunchTerms
from clawmarshal.router.ledger.clock import Clock
from clawmarshal.router.ledger.database import Moved, ReviewRules, Rules, Transaction
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.ledger.opening import open_database
from clawmarshal.router.ledger.reaches import Reach
from clawmarshal.router.ledger.reader import LedgerReader
from clawmarshal.router.ledger.records import (
    Accepted,
    Answer,
    Checkpoint,
    Claim,
    HoldRecord,
    KeyRecord,
    LaunchOrder,
    Principal,
    RouteRecord,
    Submission,
)
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.route import Route
from clawmarshal.transport.evidence import Evidence
from clawmarshal.transport.outcome import TurnResult

LOG = logging.getLogger("clawmarshal")
Listener = Callable[[str, RouteState], None]
_FOR_EVER: Mapping[Risk, float | None] = MappingProxyType({})
_NO_PRAGMAS: Mapping[str, int | str] = MappingProxyType({})
_NO_REVIEW_RULES = ReviewRules()


class Ledger(LedgerReader):
    """Keep messages, decisions, holds, launches and events; lose none, launch none twice.

    What can be asked of it stands in `LedgerReader`. Every method blocks and may be called from
    any thread; each is one transaction that is committed when it returns, and left no trace when
    it raises.

    Parameters
    ----------
    url
        ``sqlite:///relative`` or ``sqlite:////absolute``: the file is made, for its owner alone;
        its folder must exist. Or ``postgresql://…``, whose schema `upgrade_ledger` makes.
    clock
        The time, read inside each transaction; the machine's, or the PostgreSQL server's, where
        None.
    ready_max_age_s
        A route that waits longer for its launch expires.
    repeat_window_s
        How long after its first coming a key, or a channel's id, makes a repeat; None: for ever.
    hold_ttl_s
        Per risk, how long a hold waits for its answer; absent or None: for ever.
    rerun_margin_s
        Added to the time after which "run again" opens.
    held_blocks_session
        A held message holds back its successors in the same session.
    busy_timeout_s
        How long a transaction waits for others.
    pragmas
        More SQLite settings for each connection.
    review
        What is asked of reviewers.

    Raises
    ------
    LedgerUnavailableError
        The ledger cannot be opened, made or read; every method may raise it. Retryable.
    LedgerError
        ``ledger-url``, ``ledger-newer``, ``ledger-older``, ``ledger-driver``, ``ledger-unsafe``.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        ready_max_age_s: float = 86_400.0,
        hold_ttl_s: Mapping[Risk, float | None] = _FOR_EVER,
        rerun_margin_s: float = 30.0,
        held_blocks_session: bool = True,
        busy_timeout_s: float = 10.0,
        pragmas: Mapping[str, int | str] = _NO_PRAGMAS,
        repeat_window_s: float | None = None,
        review: ReviewRules = _NO_REVIEW_RULES,
    ) -> None:
        rules = Rules(
            ready_max_age_s,
            dict(hold_ttl_s),
            rerun_margin_s,
            held_blocks_session,
            repeat_window_s=repeat_window_s,
            review=review,
        )
        self._listeners: list[Listener] = []
        database = open_database(
            url,
            clock=clock,
            rules=rules,
            busy_timeout_s=busy_timeout_s,
            pragmas=pragmas,
            on_commit=self._tell,
        )
        super().__init__(database)

    @property
    def path(self) -> Path | None:
        """The ledger's file, absolute; None where it is a server's."""
        return self._database.path

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be told of every move after its commit; return what ends that.

        Parameters
        ----------
        listener
            Called with the route's id and its new state, in the thread that asked for the move;
            it must return at once and never raise.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def close(self) -> None:
        """Give up the workers' locks and close every connection."""
        self._database.close()

    def _tell(self, moved: Sequence[Moved]) -> None:
        for listener in tuple(self._listeners):
            for route_id, state in moved:
                try:
                    listener(route_id, state)
                except Exception:  # it is committed: to its writer it must not look undone
                    LOG.exception("a listener failed at route %s", route_id)

    def accept(self, submission: Submission) -> Accepted:
        """Take a message in, or find the route of its first coming.

        Raises
        ------
        ConflictError
            ``idempotency-mismatch``: the key, or the channel's id, came with another body.
        """
        return self._database.write(acceptance.Acceptance(submission))

    def keep_answer(self, route_id: str, answer: Answer) -> Answer:
        """Keep the first final answer to a message; return the one that is kept."""
        return self._database.write(lambda tx: answers.keep(tx, route_id, answer))

    def record(
        self,
        route_id: str,
        route: Route,
        *,
        explanation: Mapping[str, object],
        terms: LaunchTerms | None,
        is_shadow: bool = False,
    ) -> RouteRecord:
        """Write the decision of a ``received`` route and what follows; a repeat changes nothing.

        Parameters
        ----------
        explanation
            Whatever explains the decision later: ballot, thresholds, switches.
        terms
            What is known about ``route.agent`` now; None where there is none.
        is_shadow
            The decision is recorded and nothing follows, as with mode ``decide``.
        """
        return self._database.write(
            lambda tx: recording.record(
                tx, route_id, route, explanation=explanation, terms=terms, is_shadow=is_shadow
            )
        )

    def challenged(
        self, route_id: str, answer: Mapping[str, object], *, facts: Mapping[str, object]
    ) -> bool:
        """Keep what a challenger said beside a decision; the first answer stays.

        Parameters
        ----------
        answer
            JSON values, kept with the explanation.
        facts
            For the event; no text.

        Returns
        -------
        bool
            False where the route is not decided, or has such an answer.
        """
        return self._database.write(
            lambda tx: recording.challenged(tx, route_id, answer, facts=facts)
        )

    def release(self, route_id: str) -> RouteRecord:
        """Let a proposed route be launched; one that stands elsewhere is returned as it is."""
        return self._database.write(lambda tx: recording.release(tx, route_id))

    def approve(
        self,
        hold_id: str,
        principal: Principal,
        *,
        terms: LaunchTerms,
        digest: str | None = None,
        note: str | None = None,
        gates: Sequence[GateLike] | None = None,
    ) -> HoldRecord:
        """Answer a hold with yes, for the agent of ``terms``; the route is ``ready`` then.

        It stays ``approved`` while there is a grace delay, and the hold stays open while a second
        person's yes is needed.

        Parameters
        ----------
        digest
            What the reviewer was shown. Without it, the hold's own digest must still hold when
            the agent is the one suggested.
        gates
            The gates the answer covers; the hold's own by default.

        Raises
        ------
        NotFoundError, ExpiredError
            ``not-found``, ``hold-expired``.
        ConflictError
            ``hold-decided`` with the winner, ``hold-cancelled``, ``digest-changed`` with the new
            digest and the gates; ``self-review``, ``claim-required``, ``hold-claimed``. The same
            answer again is no conflict.
        """
        try:
            return self._database.write(
                lambda tx: holds.approve(
                    tx, hold_id, principal, terms=terms, digest=digest, note=note, gates=gates
                )
            )
        except ExpiredError:
            self.expire()
            raise

    def reject(self, hold_id: str, principal: Principal, *, reason: str) -> HoldRecord:
        """Answer a hold with no; errors as with `approve`, and ``reason-required``."""
        try:
            return self._database.write(
                lambda tx: holds.reject(tx, hold_id, principal, reason=reason)
            )
        except ExpiredError:
            self.expire()
            raise

    def claim_hold(self, hold_id: str, principal: Principal, *, lease_s: float = 900.0) -> Claim:
        """Say that somebody looks at a hold, or still does; it answers nothing and runs out.

        Raises
        ------
        NotFoundError, ExpiredError, ConflictError
            As with `approve`; ``hold-claimed`` with who has it and until when.
        """
        return self._database.write(
            lambda tx: claims.claim(tx, hold_id, principal, lease_s=lease_s)
        )

    def release_hold(self, hold_id: str, principal: Principal) -> None:
        """Give a claimed hold back; one that nobody claimed stays as it is.

        Raises
        ------
        NotFoundError, ConflictError
            ``not-found``; ``hold-claimed``: somebody else has it.
        """
        self._database.write(lambda tx: claims.release(tx, hold_id, principal))

    def cancel(self, route_id: str, principal: Principal) -> RouteRecord:
        """Cancel a route that was not launched; of one that was, note the wish and return it.

        Raises
        ------
        ConflictError
            ``not-cancellable``: it has ended, or nobody knows how.
        """
        return self._database.write(lambda tx: resolutions.cancel(tx, route_id, principal))

    def resolve(
        self, route_id: str, principal: Principal, *, answer: str, note: str | None = None
    ) -> RouteRecord:
        """Say what became of an ``unknown``.

        Parameters
        ----------
        answer
            ``ran``: done, without a reply. ``not_run``: failed. ``rerun``: ready again, in a new
            session; also for what certainly did not run. ``leave``: it stays, with a note.

        Raises
        ------
        ConflictError
            ``not-resolvable``; ``rerun-too-early`` with ``opens_at``: a worker that was paused
            could still launch, or the turn still run.
        """
        return self._database.write(
            lambda tx: resolutions.resolve(tx, route_id, principal, answer=answer, note=note)
        )

    def expire(self) -> tuple[str, ...]:
        """Expire holds and ready routes whose time is over, and end what grace approvals had.

        Returns
        -------
        tuple
            The routes concerned.
        """
        return self._database.write(
            lambda tx: holds.end_grace(tx) + holds.expire(tx) + endings.expire(tx)
        )

    def seal(self, *, every_s: float = 3600.0, key: bytes | None = None) -> Checkpoint | None:
        """Seal the events that no checkpoint covers, where the last one is older than ``every_s``.

        Parameters
        ----------
        key
            A secret that this database does not hold; the checkpoint is signed with it.

        Returns
        -------
        Checkpoint | None
            None where it is not time, nothing is settled, or another service was first.
        """
        with self._database.read() as tx:
            if not checkpoints.due(tx, every_s=every_s):
                return None
        return self._database.write(lambda tx: checkpoints.seal(tx, key=key))

    def erase(
        self, route_id: str, principal: Principal, *, reason: str | None = None
    ) -> RouteRecord:
        """Erase what a message said and who sent it, its reply and every copy of either.

        That it was there, what was decided and what was done stays, and can still be verified. A
        second erasure changes nothing.

        Parameters
        ----------
        reason
            Kept in the trail for ever: a number of the request, nothing about a person.

        Raises
        ------
        NotFoundError
            ``not-found``.
        ConflictError
            ``not-erasable``: it waits, or runs, and so still needs its text.
        """
        record = self._database.write(
            lambda tx: erasing.erase(tx, route_id, principal, reason=reason)
        )
        self._database.forget()
        return record

    def register_worker(self, name: str) -> str:
        """Return the id of a new worker that lives until `release_worker`, `close` or our death."""

        def register(tx: Transaction) -> str:
            worker = new_id("wk", now_ms=tx.now_ms)
            row = {"id": worker, "name": name, "started_at": tx.now}
            tx.connection.execute(insert(schema.workers).values(row))
            return worker

        worker = self._database.write(register)
        self._database.hold_worker(worker)
        return worker

    def seen(self, worker: str, terms: Iterable[LaunchTerms]) -> None:
        """Note that a worker lives, and what a launch of each agent that it reaches would mean."""
        self._database.write(lambda tx: reaches.seen(tx, worker, tuple(terms)))

    def release_worker(self, worker: str) -> None:
        """End a worker; what it still has open becomes ``unknown`` at the next sweep."""
        self._database.release_worker(worker)
        ended = update(schema.workers).where(schema.workers.c.id == worker)
        self._database.write(lambda tx: tx.connection.execute(ended.values(ended_at=tx.now)))

    def claim(
        self,
        worker: str,
        *,
        terms: Mapping[str, LaunchTerms],
        max_children: int,
        lease_s: float = 30.0,
        reach: Reach | None = None,
    ) -> LaunchOrder | None:
        """Take the oldest ready route whose agent and session have room.

        ``launching`` is committed when the order is returned. What may no longer be launched as
        it stands goes back to a human on the way.

        Parameters
        ----------
        terms
            Every agent of the fleet, as it stands now.
        max_children
            How many turns this worker may have under way.
        reach
            Which routes it may touch; all where None. What it may not launch as it stands, and
            another live worker may, stays for that one.
        """
        with self._database.read() as tx:
            if not launches.any_ready(tx):
                return None
        return self._database.write(
            lambda tx: launches.claim(
                tx, worker, terms=terms, max_children=max_children, lease_s=lease_s, reach=reach
            )
        )

    def started(self, order: LaunchOrder, pid: int) -> bool:
        """Note that the child runs; False when the fence is stale and the child must be stopped."""
        return self._database.write(lambda tx: endings.started(tx, order, pid))

    def renew(self, order: LaunchOrder) -> bool:
        """Lengthen the lease; False when the fence is stale and the child must be stopped."""
        return self._database.write(lambda tx: endings.renew(tx, order))

    def finish(self, order: LaunchOrder, result: TurnResult) -> bool:
        """Write what a launch came to; False when the fence is stale: then it is evidence only."""
        return self._database.write(lambda tx: endings.finish(tx, order, result))

    def sweep(self) -> tuple[str, ...]:
        """Turn launches whose lease is lost into ``unknown``; return the routes concerned.

        A lease is lost when its time is over or when its worker, a process of this machine, died.
        """
        with self._database.read() as tx:
            if not endings.any_open(tx):
                return ()
        return self._database.write(lambda tx: endings.sweep(tx, self._database.is_dead))

    def attach_evidence(
        self,
        route_id: str,
        attempt_id: str,
        found: Evidence,
        *,
        principal: Principal | None = None,
    ) -> None:
        """Append what was found of a lost turn to its route's trail; the state stays as it is.

        Parameters
        ----------
        principal
            Who had it looked up; the service itself where None.

        Raises
        ------
        NotFoundError
            There is no such attempt of this route.
        """
        actor = SERVICE if principal is None else Actor.of(principal)
        self._database.write(
            lambda tx: evidence.attach(tx, route_id, attempt_id, found, actor=actor)
        )

    def create_key(
        self, name: str, person: str, scopes: Iterable[str], *, lifetime_s: float | None = None
    ) -> str:
        """Make a key and return it; only its hash is kept.

        Parameters
        ----------
        lifetime_s
            When it ends by itself; never where None.

        Raises
        ------
        LedgerError
            ``scope-invalid``, ``key-invalid``.
        """
        granted = tuple(scopes)
        return self._database.write(
            lambda tx: keys.create(
                tx, name=name, person=person, scopes=granted, lifetime_s=lifetime_s
            )
        )

    def rotate_key(
        self, key_id: str, *, overlap_s: float, lifetime_s: float | None = None
    ) -> tuple[str, KeyRecord, KeyRecord]:
        """Put a new key in the place of another, which stays valid for a while.

        Parameters
        ----------
        overlap_s
            How long both are valid; the old one's own end is never put off.

        Returns
        -------
        tuple
            The new key, its record, and the old one's.

        Raises
        ------
        NotFoundError
            ``not-found``.
        ConflictError
            ``key-ended``: it is revoked, over or replaced, or no key at all.
        """
        return self._database.write(
            lambda tx: keys.rotate(tx, key_id, overlap_s=overlap_s, lifetime_s=lifetime_s)
        )

    def key_used(self, key_id: str, address: str | None = None) -> None:
        """Note that a key was used now; callers see to it that this is rare."""
        self._database.write(lambda tx: keys.used(tx, key_id, address))

    def meet_proxied(self, person: str, scopes: Iterable[str]) -> None:
        """Give a person whom a trusted proxy names an id; a repeat changes nothing."""
        granted = tuple(scopes)
        self._database.write(lambda tx: keys.meet(tx, person, granted))

    def sign_in_as(self, principal: Principal, *, lifetime_s: float) -> str:
        """Sign in somebody whom a trusted proxy named; return the token, kept as a hash."""
        return self._database.write(
            lambda tx: sign_ins.begin_for(tx, principal, lifetime_s=lifetime_s)
        )

    def revoke_key(self, key_id: str) -> KeyRecord:
        """End a key for good; a repeat changes nothing."""
        return self._database.write(lambda tx: keys.revoke(tx, key_id))

    def sign_in(
        self, key: str, *, scope: str, address: str | None = None, lifetime_s: float
    ) -> tuple[Principal | None, str | None]:
        """Sign in whoever stands behind a key.

        Returns
        -------
        tuple
            Who it is, None for an unknown or revoked key; and a token, None where the scope is
            missing. Only the token's hash is kept.
        """
        return self._database.write(
            lambda tx: sign_ins.begin(tx, key, scope=scope, address=address, lifetime_s=lifetime_s)
        )

    def sign_out(self, token: str, principal: Principal) -> None:
        """End a sign-in; a repeat changes nothing."""
        self._database.write(lambda tx: sign_ins.end(tx, token, principal))
