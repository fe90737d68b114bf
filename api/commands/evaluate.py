"""``evaluate``: decide many messages, and say how right it was where labels are there."""

import asyncio
import json as codec
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.attacking import Asked, Attacks, Beside, Every, under_attack
from clawmarshal.api.commands.options import Encoder, Head, Json, Model, RosterFile, TermsFile
from clawmarshal.api.commands.predicting import predicted
from clawmarshal.api.commands.terminal import note, say, say_json, usage
from clawmarshal.api.files import check_writable, read_lines, write_whole

if TYPE_CHECKING:
    from clawmarshal.roster.roster import Roster
    from clawmarshal.router.labels import Label
    from clawmarshal.router.report import Report


@dataclass(frozen=True, slots=True)
class Outputs:
    """What is written where."""

    predictions: Path | None
    on_terminal: bool
    as_json: Path | None
    as_page: Path | None

    @property
    def has_report(self) -> bool:
        """Tell whether labels are needed."""
        return self.on_terminal or self.as_json is not None or self.as_page is not None


Data = Annotated[
    Path,
    typer.Option(
        "--data",
        help="Lines of {id, text}; a report also reads agent, risk, lang, outcome, reason.",
    ),
]
Predictions = Annotated[
    Path | None, typer.Option("--predictions", help="Where the lines of answers go.")
]
OnTerminal = Annotated[bool, typer.Option("--report", help="Say how right it was.")]
AsJson = Annotated[
    Path | None, typer.Option("--report-json", help="Write the report as JSON.", metavar="FILE")
]
AsPage = Annotated[
    Path | None, typer.Option("--report-html", help="Write the report as one page.", metavar="FILE")
]


def evaluate(
    *,
    roster: RosterFile,
    data: Data,
    predictions: Predictions = None,
    report: OnTerminal = False,
    report_json: AsJson = None,
    report_html: AsPage = None,
    model: Model = None,
    config: TermsFile = None,
    head: Head = None,
    encoder: Encoder = None,
    attacks: Attacks = False,
    every: Every = None,
    beside: Beside = None,
    json: Json = False,
) -> None:
    """Decide many messages from a file and write what gates 7 and 8 leave of each.

    With labels in the file, a report says how right that was. It holds no message text. With
    --attacks it says too what texts that try to steer a router change, by kind and model.

    Example: clawmarshal evaluate --roster fleet.yaml --data labelled.jsonl --report
    """
    outputs = Outputs(predictions, report, report_json, report_html)
    _check(outputs, attacks=attacks, is_about_attacks=bool(every or beside))
    from clawmarshal.api.choosing import chosen_model, named_model, terms_of
    from clawmarshal.roster.loader import load_roster
    from clawmarshal.router.evaluation import read_rows
    from clawmarshal.router.report import report_of

    fleet, lines = load_roster(roster), read_lines(data)
    rows = read_rows(lines)
    labels = _labels(lines, fleet, data.name) if outputs.has_report else ()
    terms = terms_of(config, fleet)
    decider = chosen_model(model, terms=terms, head=head, encoder=encoder)
    asked = []
    if attacks:
        again = chosen_model(model, terms=terms, head=head, encoder=encoder)
        others = ((Path(name).name, named_model(name, terms=terms)) for name in beside or ())
        asked = [Asked(model or decider.name, again), *(Asked(*other) for other in others)]
    begin = time.monotonic()
    found = asyncio.run(predicted(decider, fleet, rows=rows, terms=terms))
    seconds = time.monotonic() - begin
    if predictions is not None:
        text = "".join(codec.dumps(answer.as_json()) + "\n" for answer in found)
        write_whole(predictions, text)
    if outputs.has_report:
        told = report_of(found, labels, roster=fleet, model=decider.name)
        if attacks:
            flipped = under_attack(asked, fleet, rows, terms=terms, every=every)
            told = replace(told, attacks=flipped)
        _tell(told, outputs, source=data.name, is_json=json)
    _say_done(outputs, count=len(rows), seconds=seconds, is_json=json)


def _check(outputs: Outputs, *, attacks: bool, is_about_attacks: bool) -> None:
    """Refuse what makes no sense, before anything is decided."""
    if outputs.predictions is None and not outputs.has_report:
        usage("say what to write: --predictions, --report, --report-json or --report-html")
    if attacks and not outputs.has_report:
        usage("--attacks is told in a report: add --report, --report-json or --report-html")
    if is_about_attacks and not attacks:
        usage("--every and --beside are about --attacks")
    check_writable((outputs.predictions, outputs.as_json, outputs.as_page))


def _labels(lines: "Sequence[bytes]", fleet: "Roster", source: str) -> "Sequence[Label]":
    from clawmarshal.router.labels import read_labels

    labels = read_labels(lines, agents={agent.id for agent in fleet})
    if not any(label.agent for label in labels):
        usage(f"{source} holds no label: give rows an agent, or leave the report out")
    return labels


def _tell(report: "Report", outputs: Outputs, *, source: str, is_json: bool) -> None:
    from datetime import UTC, datetime

    from clawmarshal.api.report_page import report_page
    from clawmarshal.api.report_text import report_lines

    if outputs.as_json is not None:
        write_whole(outputs.as_json, codec.dumps(report.as_json(), indent=1) + "\n")
    if outputs.as_page is not None:
        write_whole(outputs.as_page, report_page(report, made_at=datetime.now(UTC), source=source))
    if outputs.on_terminal and not is_json:
        for line in report_lines(report):
            say(line)


def _say_done(outputs: Outputs, *, count: int, seconds: float, is_json: bool) -> None:
    files = {
        "predictions": outputs.predictions,
        "report_json": outputs.as_json,
        "report_html": outputs.as_page,
    }
    written = {name: str(path) for name, path in files.items() if path is not None}
    if is_json:
        say_json({"rows": count, "seconds": round(seconds, 3), **written})
    else:
        where = f", written to {', '.join(written.values())}" if written else ""
        note(f"{count} rows in {seconds:.1f} s{where}")
