"""LedgerReader: everything that can be asked of the ledger, each method one view of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import select

from clawmarshal.router.ledger import (
    acceptance,
    answers,
    audit,
    evidence,
    exporting,
    hold_feed,
    holds,
    keys,
    queue,
    reaches,
    resolutions,
    rows,
    schema,
    verification,
)
from clawmarshal.router.ledger.audit import ChainCheck
from clawmarshal.router.ledger.binding import GateLike, LaunchTerms
from clawmarshal.router.ledger.hold_feed import HoldNews
from clawmarshal.router.ledger.reaches import Reached
from clawmarshal.router.ledger.records import (
    Answer,
    ConversationView,
    Event,
    HoldFilter,
    HoldRecord,
    KeyRecord,
    LaunchOrder,
    Lost,
    Principal,
    Queue,
    RouteFilter,
    RouteRecord,
    Submission,
    WorkerRecord,
)
from clawmarshal.router.ledger.review_reader import ReviewReader
from clawmarshal.router.ledger.verification import Progress, Verification


class LedgerReader(ReviewReader):
    """Answer questions about the ledger; every method may be called from any thread.

    Every method raises `LedgerUnavailableError` when the ledger cannot be read, and
    `NotFoundError` for an id that is not there or, with ``owner``, not that owner's.
    """

    def ping(self) -> None:
        """Raise unless the ledger can be read."""
        with self._database.read() as tx:
            tx.connection.execute(select(schema.version.c.version_num)).one()

    def undecided(self, *, min_age_s: float = 0.0) -> tuple[str, ...]:
        """Return the ids of routes still ``received``, oldest first; a dead service left them."""
        with self._database.read() as tx:
            return acceptance.undecided(tx, min_age_s=min_age_s)

    def submission(self, route_id: str) -> Submission:
        """Return what was accepted, for whoever decides it."""
        with self._database.read() as tx:
            return acceptance.submission(tx, route_id)

    def conversation(
        self, route_id: str, *, window_s: float, repeat_window_s: float = 600.0
    ) -> ConversationView:
        """Say what came before a message in its conversation and from its sender.

        Without a conversation, or without a sender, only the message itself counts.
        """
        with self._database.read() as tx:
            return acceptance.conversation(
                tx, route_id, window_s=window_s, repeat_window_s=repeat_window_s
            )

    def route(self, route_id: str, *, owner: str | None = None) -> RouteRecord:
        """Return a route; with ``owner``, only that owner's."""
        with self._database.read() as tx:
            return rows.route_record(tx, route_id, owner=owner)

    def routes(
        self,
        *,
        owner: str | None = None,
        state: str | None = None,
        wanted: RouteFilter | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[tuple[RouteRecord, ...], str | None]:
        """Return routes, newest first, and the cursor of the next page.

        Parameters
        ----------
        wanted
            Stands in the place of ``state``.
        """
        asked = wanted or RouteFilter(state)
        with self._database.read() as tx:
            return rows.route_page(tx, owner=owner, wanted=asked, limit=limit, cursor=cursor)

    def kept_answer(self, route_id: str) -> Answer | None:
        """Return the final answer that was given to a message first; None before there is one."""
        with self._database.read() as tx:
            return answers.kept(tx, route_id)

    def resting(self, route_ids: Sequence[str]) -> tuple[str, ...]:
        """Return those of the routes in which nothing moves until a person or time does."""
        with self._database.read() as tx:
            return rows.resting(tx, route_ids)

    def hold(self, hold_id: str, *, owner: str | None = None) -> HoldRecord:
        """Return a hold; with ``owner``, only that owner's."""
        with self._database.read() as tx:
            return rows.one_hold(tx, hold_id, owner=owner)

    def holds(
        self,
        *,
        owner: str | None = None,
        state: str | None = "open",
        wanted: HoldFilter | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[tuple[HoldRecord, ...], str | None]:
        """Return holds, oldest first, and the cursor of the next page; ``state`` None: all.

        Parameters
        ----------
        wanted
            Stands in the place of ``state``.
        """
        asked = wanted or HoldFilter(state)
        with self._database.read() as tx:
            return rows.hold_page(tx, owner=owner, wanted=asked, limit=limit, cursor=cursor)

    def hold_digest(
        self, hold_id: str, terms: LaunchTerms, gates: Sequence[GateLike] | None = None
    ) -> str:
        """Return what an approval for this target, answering these gates, is bound to now."""
        with self._database.read() as tx:
            return holds.digest_for(tx, hold_id, terms, gates)

    def events(
        self,
        route_id: str,
        *,
        owner: str | None = None,
        after: int = 0,
        limit: int = 500,
        kind: str | None = None,
    ) -> tuple[Event, ...]:
        """Return the audit trail of a route, oldest first, from the event after ``after``."""
        with self._database.read() as tx:
            rows.one_route(tx, route_id, owner=owner)
            return audit.read(tx, route_id, after=after, limit=limit, kind=kind)

    def newest_event(self) -> int:
        """Return the number of the newest event; 0 where there is none."""
        with self._database.read() as tx:
            return hold_feed.newest(tx)

    def hold_events(
        self, *, after: int, owner: str | None = None, known: frozenset[int] = frozenset()
    ) -> HoldNews:
        """Return what happened to holds since an event, oldest first; at most a batch.

        Parameters
        ----------
        after
            The number up to which everything was read.
        owner
            Only what happened to that owner's; None: to all.
        known
            What was read of late. Where several write at once, an event may come into view after
            others of a higher number, so the last minute is looked at again.
        """
        with self._database.read() as tx:
            return hold_feed.read(tx, after=after, owner=owner, known=known)

    def lost(self, route_id: str) -> Lost | None:
        """Return the newest attempt of an unknown route; None for a route that is not unknown."""
        with self._database.read() as tx:
            return evidence.lost(tx, route_id)

    def unsearched(self, *, limit: int = 100) -> tuple[str, ...]:
        """Return unknown routes for which no evidence was looked up yet, newest first."""
        with self._database.read() as tx:
            return evidence.unsearched(tx, limit=limit)

    def is_called_off(self, order: LaunchOrder) -> bool:
        """Tell whether somebody asked for the end of a launch since it was claimed."""
        with self._database.read() as tx:
            return resolutions.is_called_off(tx, order.route_id)

    def verify_chain(self, route_id: str) -> ChainCheck:
        """Recompute the audit trail of a route."""
        with self._database.read() as tx:
            return audit.check(tx, route_id)

    def verify(
        self,
        *,
        key: bytes | None = None,
        against: str | None = None,
        progress: Progress = lambda _: None,
    ) -> Verification:
        """Recompute the whole record; see `clawmarshal.router.ledger.verification.verify`."""
        with self._database.read() as tx:
            return verification.verify(tx, key=key, against=against, progress=progress)

    def export(
        self, *, after: int = 0, through: int | None = None
    ) -> Iterator[Mapping[str, object]]:
        """Yield events as JSON objects by their number, and each checkpoint where it stands."""
        with self._database.read() as tx:
            yield from exporting.lines(tx, after=after, through=through)

    def counts(self) -> Mapping[str, float]:
        """Count routes and open holds: ``routes.STATE`` for every state, ``holds.open``.

        ``ready.oldest_s``: seconds that the oldest ready route has waited for its launch.
        """
        with self._database.read() as tx:
            return rows.figures(tx)

    def queue(self) -> Queue:
        """Tell how many wait for their launch, and for how long."""
        with self._database.read() as tx:
            return queue.look(tx)

    def reached(self) -> Mapping[str, Reached]:
        """Say per agent what the worker that was seen last with it said of it."""
        with self._database.read() as tx:
            return reaches.last_words(tx)

    def workers(self) -> tuple[WorkerRecord, ...]:
        """Return the workers that live, the newest first."""
        with self._database.read() as tx:
            return reaches.live(tx)

    def authenticate(self, key: str, address: str | None = None) -> Principal | None:
        """Return who stands behind a key; None when it is unknown, revoked or over."""
        with self._database.read() as tx:
            return keys.authenticate(tx, key, address)

    def key_is_alive(self, key_id: str) -> bool:
        """Tell whether a key lets anybody in."""
        with self._database.read() as tx:
            return keys.is_alive(tx, key_id)

    def proxied(
        self, person: str, scopes: Iterable[str], address: str | None = None
    ) -> Principal | None:
        """Return who a trusted proxy named; None where nobody met them yet, or they are barred."""
        with self._database.read() as tx:
            return keys.proxied(tx, person, scopes, address)

    def key(self, key_id: str) -> KeyRecord:
        """Return one key."""
        with self._database.read() as tx:
            return keys.one(tx, key_id)

    def list_keys(self) -> tuple[KeyRecord, ...]:
        """Return all keys, revoked ones too, oldest first."""
        with self._database.read() as tx:
            return keys.every(tx)
