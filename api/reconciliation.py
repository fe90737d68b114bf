"""Look for traces of lost turns beside a running service."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from clawmarshal.api.opening import opened_ledger
from clawmarshal.api.settings import load_settings, person_of_process
from clawmarshal.api.transports import asking
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Principal
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.reconciling import look_up
from clawmarshal.transport.evidence import Evidence

PAGE = 100


async def reconcile_routes(
    config: Path, route_id: str | None, *, person: str | None = None
) -> list[dict[str, Any]]:
    """Look up one route, or every one that is unknown, and append what was found.

    Returns
    -------
    list
        For each ``route``, ``state`` and ``evidence``; the latter None where it is not unknown.

    Raises
    ------
    SettingsError, LedgerError
        The configuration or the ledger cannot be used, or there is no such route.
    """
    principal = Principal(person or person_of_process(), "command-line", frozenset())
    with opened_ledger(load_settings(config)) as ledger, ThreadPoolExecutor(1) as pool:
        route_ids = [route_id] if route_id is not None else _unknown(ledger)
        async with asking(config) as transport:
            return [
                _view(
                    ledger,
                    each,
                    await look_up(ledger, transport, each, pool=pool, principal=principal),
                )
                for each in route_ids
            ]


def _unknown(ledger: Ledger) -> list[str]:
    """List every unknown route, newest first."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page, cursor = ledger.routes(state=str(RouteState.UNKNOWN), limit=PAGE, cursor=cursor)
        found += [record.id for record in page]
        if cursor is None:
            return found


def _view(ledger: Ledger, route_id: str, found: Evidence | None) -> dict[str, Any]:
    evidence = None
    if found is not None:
        evidence = {
            "code": str(found.code),
            "run_id": found.run_id,
            "found_by": found.found_by,
            **found.facts,
        }
    state = RouteState.UNKNOWN if found is not None else ledger.route(route_id).state
    return {"route": route_id, "state": str(state), "evidence": evidence}
