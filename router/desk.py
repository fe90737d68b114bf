"""RoutingDesk: the durable flow of a service, from acceptance to the reply."""

from collections.abc import Mapping

from clawmarshal.router.ledger.records import (
    HoldRecord,
    Principal,
    RouteRecord,
    Submission,
)


class RoutingDesk:
    """Accept, decide, record, wait, and carry out what reviewers answer."""

    async def submit(
        self, submission: Submission, *, wait_s: float = 0.0
    ) -> tuple[RouteRecord, str | None]:
        """Accept a message durably, decide it, and wait for its end at most ``wait_s``.

        Returns
        -------
        tuple
            The route as it stands, and ``key`` or ``message_id`` for a repeat, else None.

        Raises
        ------
        MessageError, UnknownAgentError, ConflictError
            Nothing was accepted. ``idempotency-mismatch``: the key was used with another body.
        LedgerUnavailableError
            Nothing was accepted. Retryable.
        """
        raise NotImplementedError

    async def dry_run(self, submission: Submission) -> Mapping[str, object]:
        """Decide without leaving a row."""
        raise NotImplementedError

    async def wait(self, route_id: str, *, wait_s: float, owner: str | None = None) -> RouteRecord:
        """Return the route once it rests or after ``wait_s``; ``owner`` None sees all."""
        raise NotImplementedError

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

        Raises
        ------
        NotFoundError, ExpiredError
            ``not-found``, ``hold-expired``.
        ConflictError
            ``hold-decided`` with the winner, ``gates-changed`` or ``digest-changed`` with the
            gates and the new digest, ``agent-required`` (422) where the hold has none.
        UnknownAgentError
            ``agent`` is not in the roster.
        """
        raise NotImplementedError

    async def reject(self, hold_id: str, principal: Principal, *, reason: str) -> HoldRecord:
        """Answer a hold with no."""
        raise NotImplementedError

    async def cancel(self, route_id: str, principal: Principal) -> RouteRecord:
        """Cancel what can still be cancelled; a running turn is asked to stop."""
        raise NotImplementedError

    async def resolve(
        self, route_id: str, principal: Principal, *, answer: str, note: str | None = None
    ) -> RouteRecord:
        """Say what became of an ``unknown``: ``ran``, ``not_run``, ``rerun`` or ``leave``."""
        raise NotImplementedError
