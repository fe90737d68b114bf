"""``route`` and ``evaluate``: decide without a service."""

import asyncio
import json as codec
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Json, Model, RosterFile
from clawmarshal.api.commands.terminal import Progress, fields, note, say, say_json, usage

if TYPE_CHECKING:
    from clawmarshal.router.evaluation import Prediction


def route(
    *,
    roster: RosterFile,
    text: Annotated[str | None, typer.Argument(help="The message.", show_default=False)] = None,
    text_file: Annotated[
        Path | None,
        typer.Option("--text-file", help="Read the message from a file; - for standard input."),
    ] = None,
    model: Model = "offline",
    json: Json = False,
) -> None:
    """Decide which agent should get a message, and say why; launches nothing.

    Exit 0 when decided, whatever the outcome.

    Example: clawmarshal route --roster examples/fleet18.yaml "Which invoices are unpaid?"
    """
    if (text is None) == (text_file is None):
        usage("give the message as TEXT or with --text-file, one of them")
    # Imported here and below: each takes a while, and --help needs none of it.
    from clawmarshal.api.models import load_model
    from clawmarshal.roster.loader import load_roster
    from clawmarshal.router.message import InboundMessage
    from clawmarshal.router.openclaw_router import OpenClawRouter
    from clawmarshal.router.route import route_json

    fleet = load_roster(roster)
    message = InboundMessage(text if text is not None else _read(text_file))
    with OpenClawRouter(load_model(model), fleet) as router:
        decided = router.route(message)
    if json:
        say_json(route_json(decided))
        return
    fields(
        {
            "outcome": decided.outcome,
            "agent": decided.agent,
            "reason": ", ".join(decided.reasons),
            "via": decided.via,
            "confidence": f"{decided.confidence:.2f} (margin {decided.margin:.2f})",
            "risk": decided.risk.top,
            "model": ", ".join([decided.model or "-", *decided.notes]),
        }
    )
    for gate in decided.gates:
        say(f"  gate {gate.number}: {gate.detail}")
    for candidate in decided.candidates[:5]:
        say(f"  {candidate.probability:5.2f}  {candidate.agent}")


def _read(path: Path | None) -> str:
    from clawmarshal.errors import MessageError
    from clawmarshal.router.message import DEFAULT_TEXT_BYTES, decoded_text

    if path is None or str(path) == "-":
        return decoded_text(sys.stdin.buffer.read(DEFAULT_TEXT_BYTES + 1))
    try:
        with path.open("rb") as file:
            return decoded_text(file.read(DEFAULT_TEXT_BYTES + 1))
    except OSError as error:
        mend = "name a readable file with --text-file"
        raise MessageError(f"{path} cannot be read ({error.strerror}); {mend}") from error


def evaluate(
    *,
    roster: RosterFile,
    data: Annotated[
        Path, typer.Option("--data", help="Lines of {id, text}; other keys are ignored.")
    ],
    predictions: Annotated[
        Path, typer.Option("--predictions", help="Where the lines of answers go.")
    ],
    model: Model = "offline",
    json: Json = False,
) -> None:
    """Decide many messages from a file and write what gates 7 and 8 leave of each.

    Example: clawmarshal evaluate --roster fleet.yaml --data in.jsonl --predictions out.jsonl
    """
    from clawmarshal.api.models import load_model
    from clawmarshal.errors import MessageError
    from clawmarshal.roster.loader import load_roster
    from clawmarshal.router.evaluation import predict, read_rows

    fleet = load_roster(roster)
    try:
        with data.open("rb") as file:
            rows = read_rows(file)
    except OSError as error:
        raise MessageError(f"{data} cannot be read: {error.strerror}") from error
    begin = time.monotonic()
    answers = predict(load_model(model), fleet, rows=rows)
    asyncio.run(_write(answers, predictions, total=len(rows)))
    seconds = time.monotonic() - begin
    if json:
        say_json({"rows": len(rows), "seconds": round(seconds, 3), "predictions": str(predictions)})
    else:
        note(f"{len(rows)} rows in {seconds:.1f} s, written to {predictions}")


async def _write(answers: "AsyncIterator[Prediction]", out: Path, *, total: int) -> None:
    """Write beside and move, so that an interrupted run leaves no half file that looks whole."""
    from clawmarshal.errors import MessageError

    progress, done = Progress(total, what="decided"), 0
    part = out.with_name(out.name + ".part")
    try:
        with part.open("w", encoding="utf-8") as file:
            async for answer in answers:
                file.write(codec.dumps(answer.as_json()) + "\n")
                done += 1
                progress.step(done)
        os.replace(part, out)
    except OSError as error:
        raise MessageError(f"{out} cannot be written: {error.strerror}") from error
