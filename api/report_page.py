"""Report -> one HTML page that needs nothing else: no script, no font, no address."""

from datetime import datetime
from functools import partial
from importlib import resources

from jinja2 import Environment, StrictUndefined

from clawmarshal.api.plots import MAX_LETTERS, coverage_plot, matrix, reliability_plot
from clawmarshal.api.report_text import MAX_ATTACK, standing_line
from clawmarshal.roster.agent import Risk
from clawmarshal.router.report import Report
from clawmarshal.router.scoring import Share
from clawmarshal.transport.text import visible_text

TEMPLATE = "templates/report.html"
MAX_LISTED = 200


def report_page(report: Report, *, made_at: datetime, source: str) -> str:
    """Write the page of a report.

    Parameters
    ----------
    report
        Its names may be anything: every text is escaped.
    made_at
        With its zone.
    source
        What the rows came from, such as the name of a file.
    """
    # Autoescape whatever the template is called: a name in the labels is foreign text.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "percent": _percent,
        "figure": _figure,
        "interval": _interval,
        "standing": standing_line,
        "visible": partial(visible_text, limit=MAX_ATTACK),
        "whole": _whole,
        "short": _short,
    }
    text = resources.files("clawmarshal.api").joinpath(TEMPLATE).read_text("utf-8")
    confused = sorted(
        (cell for cell in report.confusion if cell.wanted != cell.given),
        key=lambda cell: (-cell.count, cell.wanted, cell.given),
    )
    return environment.from_string(text).render(
        report=report,
        source=source,
        made_at=f"{made_at:%Y-%m-%d %H:%M %Z}",
        reliability=reliability_plot(report.reliability),
        coverage=coverage_plot(report.coverage, thresholds={report.min_probability, 0.7}),
        matrix=matrix(report.confusion),
        outcomes=matrix(report.outcomes),
        risk=matrix(report.risk.cells, order=tuple(Risk)) if report.risk else None,
        confused=confused[:MAX_LISTED],
        misses=report.misses[:MAX_LISTED],
    )


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _short(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1] + "…"


def _figure(value: float | None, places: int = 3) -> str:
    return "-" if value is None else f"{value:.{places}f}"


def _interval(share: Share) -> str:
    if share.low is None or share.high is None:
        return "nothing to count"
    return f"{share.hits} of {share.count}, {100 * share.low:.0f} to {share.high:.0%}"
