"""ReviewReader: what reviewers ask of the ledger, page by page."""

from collections.abc import Mapping, Sequence

from clawmarshal.router.ledger import binding, claims, figures, rows, searching, sign_ins, triage
from clawmarshal.router.ledger.binding import LaunchTerms, Session
from clawmarshal.router.ledger.database import Database
from clawmarshal.router.ledger.figures import AgentFigures, Lately
from clawmarshal.router.ledger.records import (
    Claim,
    FoundRoute,
    Principal,
    RouteFilter,
    SaidBefore,
)
from clawmarshal.router.ledger.triage import TriageFilter, TriagePage


class ReviewReader:
    """Answer what the review pages ask; every method is one view and may be called anywhere."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def signed_in(self, token: str, address: str | None = None) -> Principal | None:
        """Return who is signed in by a token; None when that ended or its key was revoked."""
        with self._database.read() as tx:
            return sign_ins.principal_of(tx, token, address)

    def triage(
        self, wanted: TriageFilter, *, limit: int = 50, cursor: str | None = None
    ) -> TriagePage:
        """Return a stretch of the queue, the riskiest first and of these the oldest."""
        with self._database.read() as tx:
            return triage.page(tx, wanted, limit=limit, cursor=cursor)

    def next_hold(self, hold_id: str) -> str | None:
        """Name the hold that a reviewer takes up after this one."""
        with self._database.read() as tx:
            return triage.following(tx, hold_id)

    def claims(self, hold_ids: Sequence[str]) -> Mapping[str, Claim]:
        """Return the claims that have not run out, by hold."""
        with self._database.read() as tx:
            return claims.living(tx, hold_ids)

    def said_before(self, route_id: str, *, limit: int = 20) -> tuple[SaidBefore, ...]:
        """Return what came before a route in its conversation, oldest first."""
        with self._database.read() as tx:
            return searching.said_before(tx, route_id, limit=limit)

    def find_routes(
        self, wanted: RouteFilter, *, limit: int = 50, cursor: str | None = None
    ) -> tuple[tuple[FoundRoute, ...], str | None]:
        """Return routes, newest first, and the cursor of the next page."""
        with self._database.read() as tx:
            return searching.find(tx, wanted, limit=limit, cursor=cursor)

    def session(self, route_id: str, terms: LaunchTerms) -> Session:
        """Return the session that a route would be launched in, as it stands now."""
        with self._database.read() as tx:
            return binding.session_of(tx, rows.one_route(tx, route_id), terms.agent)

    def lately(self, *, window_s: float, buckets: int) -> Lately:
        """Count what came within a window, by stretches of time and by what became of it."""
        with self._database.read() as tx:
            return figures.lately(tx, window_s=window_s, buckets=buckets)

    def agent_figures(self, *, window_s: float) -> Mapping[str, AgentFigures]:
        """Tell how each agent did within a window."""
        with self._database.read() as tx:
            return figures.agents(tx, window_s=window_s)
