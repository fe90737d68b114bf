"""``/review/overview``: how much comes, what becomes of it, how risky, how old, how sure."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from clawmarshal.api.review.drawing import Columns, columns
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.pages import page
from clawmarshal.api.review.session import SignedIn, door_of
from clawmarshal.router.ledger.figures import Group, Lately

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)

Window = Literal["day", "week", "month"]
WINDOWS: Mapping[str, tuple[float, int, str]] = MappingProxyType(
    {
        "day": (86_400.0, 24, "%H:%M"),
        "week": (7 * 86_400.0, 28, "%a %H:%M"),
        "month": (30 * 86_400.0, 30, "%d %b"),
    }
)
"""Seconds, columns, and how a column's begin is written."""
OUTCOMES = ("dispatch", "hold", "clarify", "decline", "undecided")
RISKS = ("high", "medium", "low")
AGES = ("5 min", "1 h", "6 h", "1 d", "older")


@endpoints.get("/review/overview")
async def show_overview(
    request: Request, reviewer: SignedIn, *, window: Annotated[Window, Query()] = "day"
) -> Response:
    """Show what came within a day, a week or a month."""
    window_s, buckets, written = WINDOWS[window]
    ledger = door_of(request).ledger
    found = await asyncio.to_thread(ledger.lately, window_s=window_s, buckets=buckets)
    return page(
        "overview",
        reviewer=reviewer,
        window=window,
        windows=list(WINDOWS),
        found=found,
        volume=_volume(found, buckets, written),
        risks=_totals(found, RISKS, lambda group: group.risk),
        states=_totals(found, None, lambda group: group.state),
        reasons=_totals(
            found, None, lambda group: group.reason if group.outcome == "hold" else None
        ),
        confidence=_confidence(found),
        ages=columns(AGES, {risk: found.ages.get(risk, (0,) * len(AGES)) for risk in RISKS}),
    )


def _volume(found: Lately, buckets: int, written: str) -> Columns:
    counts = {outcome: [0] * buckets for outcome in OUTCOMES}
    for group in found.groups:
        counts[group.outcome or "undecided"][group.bucket] += group.count
    step = timedelta(seconds=found.bucket_s)
    labels = [f"{found.since + step * number:{written}}" for number in range(buckets)]
    return columns(labels, {kind: series for kind, series in counts.items() if any(series)})


def _confidence(found: Lately) -> Columns:
    counts = {"dispatch": [0] * 10, "hold": [0] * 10, "other": [0] * 10}
    for group in found.groups:
        if group.tenth is not None:
            kind = group.outcome if group.outcome in counts else "other"
            counts[kind or "other"][group.tenth] += group.count
    labels = [f"{tenth * 10} to {tenth * 10 + 10} %" for tenth in range(10)]
    return columns(labels, {kind: series for kind, series in counts.items() if any(series)})


def _totals(
    found: Lately, known: tuple[str, ...] | None, name: Callable[[Group], str | None]
) -> dict[str, int]:
    """Count by a name, in a given order or the most frequent first."""
    counts = dict.fromkeys(known or (), 0)
    for group in found.groups:
        if (key := name(group)) is not None:
            counts[key] = counts.get(key, 0) + group.count
    if known is not None:
        return counts
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
