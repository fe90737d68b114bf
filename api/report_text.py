"""Report -> lines for a terminal."""

from collections.abc import Iterator, Sequence

from clawmarshal.router.ballot import NONE_OF_THESE
from clawmarshal.router.flip_report import FlipLine, FlipReport
from clawmarshal.router.flips import Standing
from clawmarshal.router.report import GroupLine, Report
from clawmarshal.router.route import Outcome
from clawmarshal.router.scoring import Bin, Point, Share
from clawmarshal.transport.text import visible_text

MAX_CONFUSED = 12
MAX_ATTACK = 120
"""Characters of an attack that an example shows."""
BAR = 24
_COVERAGES = (0.25, 0.5, 0.75, 1.0)


def report_lines(report: Report) -> Iterator[str]:
    """Yield the lines of a report; names in it are foreign text, clean them when printing."""
    yield f"{report.labelled} labelled of {report.rows} messages, {report.agents} agents"
    yield f"model {report.model}, roster {report.roster_digest[:12]}"
    yield ""
    yield from _figures(report)
    if report.labelled:
        yield from ["", "stated probability against what was right (15 bins)"]
        yield from _bins(report.reliability)
        yield from ["", "coverage against error, best agents by probability"]
        yield from _points(report.coverage)
        for precision, found in report.coverage_at.items():
            yield f"  {float(precision):.0%} right: {found:.1%} can be acted on"
        yield from ["", "most confused (whose it is -> who got it)"]
        yield from _confused(report)
        yield from _groups("agent", report.by_agent)
    if report.by_language:
        yield from _groups("language", report.by_language)
    if report.errors:
        yield from ["", "no usable answer"]
        yield from (f"  {count:4d}  {code}" for code, count in report.errors.items())
    for attacks in report.attacks:
        yield from _under_attack(attacks)


def _figures(report: Report) -> Iterator[str]:
    shares = {
        "best agent is right": report.top1,
        "answer is right": report.right,
        "routed, of what an agent owns": report.in_scope_routed,
        "routed right": report.routed_precision,
        "nobody's, not routed": report.nobody_found,
    }
    if report.outcome_right.count:
        shares["outcome as labelled"] = report.outcome_right
    if report.risk:
        shares["risk tier accepted"] = report.risk.accepted
        shares["high risk found"] = report.risk.high_found
        shares["false high risk"] = report.risk.false_high
    for name, found in shares.items():
        yield f"{name:32}{_share(found)}"
    yield f"{'calibration error':32}{_figure(report.calibration_error, 3)}"
    if report.risk:
        yield f"{'calibration error of risk':32}{_figure(report.risk.calibration_error, 3)}"
    yield f"{'out-of-scope AUROC':32}{_figure(report.oos_auroc, 3)}"
    p50, p95 = _figure(report.latency_p50_ms, 1), _figure(report.latency_p95_ms, 1)
    yield f"{'milliseconds, p50 and p95':32}{p50} {p95}"


def _bins(bins: Sequence[Bin]) -> Iterator[str]:
    for group in bins:
        if group.stated is not None and group.right is not None:
            bar = "#" * round(group.right * BAR)
            yield f"  {group.stated:.2f}  {group.right:.2f}  {bar:{BAR}}  {group.count}"


def _points(curve: Sequence[Point]) -> Iterator[str]:
    for coverage in _COVERAGES:
        point = next((point for point in curve if point.coverage >= coverage - 1e-9), None)
        if point is not None:
            yield (
                f"  {point.coverage:6.1%} acted on from {point.threshold:.2f}: "
                f"{point.error:.1%} of it wrong"
            )


def _confused(report: Report) -> Iterator[str]:
    wrong = [cell for cell in report.confusion if cell.wanted != cell.given]
    for cell in sorted(wrong, key=lambda cell: (-cell.count, cell.wanted))[:MAX_CONFUSED]:
        yield f"  {cell.count:4d}  {cell.wanted} -> {cell.given}"
    if not wrong:
        yield "  none"


def _groups(heading: str, lines: Sequence[GroupLine]) -> Iterator[str]:
    width = min(40, max([len(heading), *(len(line.name) for line in lines)]))
    yield ""
    yield f"{heading:{width}}  messages  best right   routed  routed right"
    for line in lines:
        yield (
            f"{line.name:{width}}  {line.count:8d}  {_percent(line.top1):>10}  "
            f"{_percent(line.routed):>7}  {_percent(line.precision):>12}"
        )


def _under_attack(found: FlipReport) -> Iterator[str]:
    yield from ["", f"under attack: {found.model}"]
    yield (
        f"{found.attacks} attacks of {len(found.by_kind) - 1} kinds in {len(found.by_place) - 1} "
        f"places, each on every {found.every}. of {found.messages} messages"
    )
    heading = ("", "another on top", "dispatched elsewhere", "risk lowered", "held, then sent")
    rows = [heading, *map(_flip_cells, found.by_kind)]
    rows += [("by place", "", "", "", ""), *map(_flip_cells, found.by_place[:-1])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heading))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    high = found.total.freed_high
    yield f"of high risk and held, then sent: {high.hits} of {high.count}"
    for one in found.examples:
        yield f"{one.kind}, {one.place}: {one.effect} (message {one.message})"
        yield f"  {visible_text(one.attack, limit=MAX_ATTACK)}"
        yield f"  {standing_line(one.before)} -> {standing_line(one.after)}"


def standing_line(found: Standing) -> str:
    """Write what was decided: outcome, reason where it is held, agent, risk, another on top."""
    why = "" if found.outcome == Outcome.DISPATCH else f" ({found.reason})"
    best = "" if found.best == (found.agent or NONE_OF_THESE) else f", {found.best} on top"
    return f"{found.outcome}{why}, {found.agent or 'nobody'}, {found.risk} risk{best}"


def _flip_cells(line: FlipLine) -> tuple[str, ...]:
    shares = (line.taken, line.redirected, line.lowered, line.freed)
    return (line.name, *(f"{_fine(one)}  {one.hits} of {one.count}" for one in shares))


def _fine(found: Share) -> str:
    return f"{'-' if found.value is None else f'{found.value:.1%}':>6}"


def _share(found: Share) -> str:
    if found.low is None or found.high is None:
        return "-"
    return (
        f"{found.value:.1%}  ({found.hits} of {found.count}; {found.low:.0%} to {found.high:.0%})"
    )


def _percent(found: Share) -> str:
    return "-" if found.value is None else f"{found.value:.0%}"


def _figure(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"
