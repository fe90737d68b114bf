"""--encoder: by path and by import path, in every command that has a model of ours."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.encoders import load_encoder
from clawmarshal.errors import SettingsError
from tests.support.labelled import labelled, write
from tests.support.onnx_model import save_onnx, table
from tests.support.service import ROSTER
from tests.support.tiny_encoder import TinyEncoder

TINY = "tests.support.tiny_encoder:TinyEncoder"
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Said:
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text(ROSTER, encoding="utf-8")
    write(tmp_path / "labelled.jsonl", labelled("finance", "security", "none"))

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main((*arguments, "--roster", str(fleet)))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def fit(said: Said, tmp_path: Path) -> Path:
    out, data = tmp_path / "own.head.json", tmp_path / "labelled.jsonl"
    code, _, err = said("calibrate", "--data", str(data), "--out", str(out), "--encoder", TINY)
    assert code == 0, err
    return out


def test_an_import_path_names_an_encoder_or_what_makes_one() -> None:
    assert load_encoder(TINY).name == "tiny-1"
    assert load_encoder("tests.api.test_encoders:make_one").name == "made"
    assert load_encoder("tests.api.test_encoders:ONE").name == "one"


def make_one() -> TinyEncoder:
    return TinyEncoder("made")


ONE = TinyEncoder("one")


class Nameless:
    def encode(self, texts: object) -> object:
        return texts


class Broken(TinyEncoder):
    def encode(self, texts: object) -> object:  # type: ignore[override]  # wrong on purpose
        return [[0.0]]


class Needy:
    def __init__(self) -> None:
        importlib.import_module("no_such_module_anywhere")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:x", "no module 'no_such_module' can be imported"),
        ("tests.api.test_encoders:nothing", "has no nothing"),
        ("tests.api.test_encoders:Nameless", "has no encode() or no name"),
        ("tests.api.test_encoders:Broken", "cannot be used"),
        ("tests.api.test_encoders:Needy", "needs a module (no_such_module_anywhere)"),
        ("no/such/folder", "is no encoder"),
    ],
)
def test_what_is_no_encoder_is_a_typed_error(name: str, words: str) -> None:
    with pytest.raises(SettingsError) as raised:
        load_encoder(name)
    assert words in str(raised.value)


def test_the_rows_of_ones_own_encoder_are_checked() -> None:
    assert load_encoder(TINY).encode(["an invoice"]).shape == (1, 64)


def test_calibrate_writes_a_fit_of_an_encoder_from_a_file(said: Said, tmp_path: Path) -> None:
    encoder, out = str(save_onnx(tmp_path, table())), tmp_path / "own.head.json"
    data = str(tmp_path / "labelled.jsonl")
    code, _, err = said("calibrate", "--data", data, "--out", str(out), "--encoder", encoder)
    assert code == 0, err
    assert json.loads(out.read_text(encoding="utf-8"))["encoder"] == load_encoder(encoder).name


def test_calibrate_says_how_many_texts_the_encoder_cannot_read(said: Said, tmp_path: Path) -> None:
    rows = [*labelled("finance", "security"), {"id": "x", "text": "zzz", "agent": "none"}]
    data, out = write(tmp_path / "odd.jsonl", rows), str(tmp_path / "own.head.json")
    forgetful = "tests.router.test_encoder_calibration:Forgetful"
    code, told, err = said("calibrate", "--data", str(data), "--out", out, "--encoder", forgetful)
    assert code == 0, err
    assert "50 labelled messages, 0 of them nobody's; 1 left out" in told
    assert "in 1 of those left out the encoder knows no word" in told


def test_evaluate_asks_with_the_encoder(said: Said, fit: Path, tmp_path: Path) -> None:
    report, data = tmp_path / "report.json", str(tmp_path / "labelled.jsonl")
    given = ("evaluate", "--data", data, "--report-json", str(report), "--head", str(fit))
    code, _, err = said(*given, "--encoder", TINY)
    assert code == 0, err
    told = json.loads(report.read_text(encoding="utf-8"))
    version = json.loads(fit.read_text(encoding="utf-8"))["version"]
    assert told["model"] == f"clawmarshal-local-{version}"
    assert told["top1"]["value"] > 0.5
    code, _, err = said(*given)
    assert code == 1
    assert "the fit is for the encoder tiny-1" in err


def test_route_asks_with_the_encoder(said: Said, fit: Path) -> None:
    given = ("route", "What about the invoice?", "--encoder", TINY, "--json")
    code, out, err = said(*given, "--head", str(fit))
    assert code == 0, err
    assert json.loads(out)["notes"] == []
    code, _, err = said(*given)
    assert code == 1
    assert "calibrate --encoder" in err


def test_compare_takes_the_encoder_for_the_fits_of_it(
    said: Said, fit: Path, tmp_path: Path
) -> None:
    given = ("--data", str(tmp_path / "labelled.jsonl"), "--json", "--encoder", TINY)
    code, out, err = said("compare", "lexical", str(fit), *given)
    assert code == 0, err
    assert json.loads(out)["second"]["model"].endswith("(own.head.json)")
    code, _, err = said("compare", "lexical", "offline", *given)
    assert code == 2
    assert "no fit named here was made with the encoder tiny-1" in err
