"""``compare``: two models on identical inputs."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Encoder, Json, RosterFile, TermsFile
from clawmarshal.api.commands.predicting import predicted
from clawmarshal.api.commands.terminal import say, say_json, table, usage
from clawmarshal.api.files import read_lines

if TYPE_CHECKING:
    from clawmarshal.router.comparison import Comparison, Side
    from clawmarshal.router.decision import DecisionModel
    from clawmarshal.router.scoring import Share

MAX_FLIPS = 20
ModelName = Annotated[
    str,
    typer.Argument(
        help="offline, lexical, a .head.json of `calibrate`, or package.module:name; with --config "
        "also system_one, challenger, or configured.",
        metavar="MODEL",
    ),
]


def compare(
    first: ModelName,
    second: ModelName,
    *,
    roster: RosterFile,
    data: Annotated[
        Path, typer.Option("--data", help="Lines of {id, text}; agent where known.", metavar="FILE")
    ],
    config: TermsFile = None,
    encoder: Encoder = None,
    json: Json = False,
) -> None:
    """Ask two models about the same messages: where they agree, who is right, how fast.

    Rows that they send elsewhere are listed by id, never by text. --encoder is for the fits that
    were made with it; a fit of the shipped encoder beside it keeps its own.

    Example: clawmarshal compare offline my.head.json --roster fleet.yaml --data labelled.jsonl
    """
    from clawmarshal.api.choosing import named_model, terms_of
    from clawmarshal.api.encoders import load_encoder
    from clawmarshal.roster.loader import load_roster
    from clawmarshal.router import comparison
    from clawmarshal.router.evaluation import read_rows
    from clawmarshal.router.labels import read_labels

    fleet, lines = load_roster(roster), read_lines(data)
    rows = read_rows(lines)
    labels = read_labels(lines, agents={agent.id for agent in fleet})
    terms = terms_of(config, fleet)
    used = None if encoder is None else load_encoder(encoder)
    if used is not None and used.name not in map(_encoder_of, (first, second)):
        usage(f"no fit named here was made with the encoder {used.name}")
    models = [named_model(name, terms=terms, encoder=used) for name in (first, second)]
    answers = [
        asyncio.run(
            predicted(model, fleet, rows=rows, terms=terms, what=f"decided by {model.name}")
        )
        for model in models
    ]
    names = (_named(first, models[0]), _named(second, models[1]))
    found = comparison.compare(answers[0], answers[1], labels, names=names)
    if json:
        say_json(found.as_json())
    else:
        _show(found)


def _encoder_of(name: str) -> str | None:
    from clawmarshal.api.models import read_heads

    return read_heads(Path(name)).encoder if name.endswith(".json") else None


def _named(asked: str, model: "DecisionModel") -> str:
    return model.name if asked == model.name else f"{model.name} ({Path(asked).name})"


def _show(found: "Comparison") -> None:
    table(
        [_line(side) for side in (found.first, found.second)],
        headings=(
            "model",
            "routed",
            "right",
            "best right",
            "routed right",
            "calibration",
            "p50 ms",
            "p95 ms",
            "no answer",
        ),
    )
    say()
    say(f"same answer      {_share(found.agree)} of {found.rows}")
    say(f"same best agent  {_share(found.agree_top)}")
    if found.labelled:
        say(f"only the second is right on {found.mended}, only the first on {found.broken}")
    for flip in found.flips[:MAX_FLIPS]:
        whose = "" if flip.wanted is None else f"  (it is {flip.wanted})"
        say(f"  {flip.id}: {flip.first} -> {flip.second}{whose}")
    if len(found.flips) > MAX_FLIPS:
        say(f"  … and {len(found.flips) - MAX_FLIPS} more; --json lists them")


def _line(side: "Side") -> tuple[str, ...]:
    return (
        side.model,
        *map(_share, (side.routed, side.right, side.top1, side.routed_precision)),
        _figure(side.calibration_error, 3),
        _figure(side.latency_p50_ms, 1),
        _figure(side.latency_p95_ms, 1),
        str(side.errors),
    )


def _share(found: "Share") -> str:
    return "-" if found.value is None else f"{found.value:.1%}"


def _figure(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"
