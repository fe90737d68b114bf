"""Figures for Prometheus, with bounded label sets."""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from clawmarshal.router.ledger.records import RouteRecord

Figures = Callable[[], Mapping[str, float]]
"""Looks into the ledger when scraped; blocking.

``routes.STATE``, ``holds.open``, ``ready.oldest_s`` and, where there is one, ``challenger.SAID``.
"""


_KINDS = ("routes", "holds", "ready", "challenger")
_LABELLED = frozenset({"routes", "challenger"})


class Metrics:
    """Count requests and routes; each application has its own.

    Parameters
    ----------
    figures
        What the ledger counts at the time of a scrape.
    """

    def __init__(self, figures: Figures | None = None) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "clawmarshal_requests",
            "HTTP requests by declared path",
            ("method", "path", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "clawmarshal_request_seconds",
            "Seconds from request to answer, waiting included",
            ("path",),
            registry=self._registry,
        )
        self._routes = Counter(
            "clawmarshal_routes_accepted",
            "Messages accepted, by outcome and first reason",
            ("outcome", "reason"),
            registry=self._registry,
        )
        self._repeats = Counter(
            "clawmarshal_routes_deduplicated",
            "Messages that had been accepted before",
            ("by",),
            registry=self._registry,
        )
        self._decision = Histogram(
            "clawmarshal_decision_seconds",
            "Seconds from question to verdict",
            registry=self._registry,
        )
        if figures is not None:
            self._registry.register(_LedgerFigures(figures))

    def request(self, method: str, path: str, *, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(method, path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def accepted(self, record: RouteRecord, repeat: str | None) -> None:
        """Count one accepted message."""
        if repeat is not None:
            self._repeats.labels(repeat).inc()
            return
        route = record.route
        outcome = str(route.outcome) if route else "undecided"
        self._routes.labels(outcome, str(route.reason) if route else "undecided").inc()
        if route:
            self._decision.observe(route.latency_ms / 1000)

    async def answer(self) -> Response:
        """Write everything in Prometheus text form."""
        text = await asyncio.to_thread(generate_latest, self._registry)
        return Response(text, media_type=CONTENT_TYPE_LATEST)


class _LedgerFigures(Collector):
    """Read the ledger when scraped, so that a restart forgets nothing."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def describe(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        """Name what comes without looking at the ledger."""
        yield GaugeMetricFamily("clawmarshal_routes_in_state", "Routes by state", labels=["state"])
        yield GaugeMetricFamily("clawmarshal_holds_open", "Holds that wait for a person")
        yield GaugeMetricFamily(
            "clawmarshal_ready_oldest_seconds",
            "Seconds the oldest ready route waits for its launch",
        )
        yield CounterMetricFamily(
            "clawmarshal_challenger_answers",
            "What the challenger said beside the acting model",
            labels=["said"],
        )

    def collect(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        """Look now."""
        families = dict(zip(_KINDS, self.describe(), strict=True))
        for name, value in self._figures().items():
            kind, _, state = name.partition(".")
            families[kind].add_metric([state] if kind in _LABELLED else [], value)
        yield from families.values()
