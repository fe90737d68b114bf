"""Encoders from a path, on models that the test makes."""

import json
from importlib import resources
from pathlib import Path

import model2vec
import numpy as np
import onnx
import pytest
import tokenizers

from clawmarshal.api.cli import main
from clawmarshal.api.models import load_model
from clawmarshal.errors import DecisionInvalidError, SettingsError
from clawmarshal.router.models.encoder_rows import CheckedEncoder
from clawmarshal.router.models.encoder_source import open_encoder
from tests.support.labelled import labelled, write
from tests.support.service import ROSTER

WORDS = {"[UNK]": 0, "invoice": 1, "tax": 2, "breach": 3, "up": 4}


class Rows:
    name = "rows"

    def __init__(self, rows: object) -> None:
        self.rows = rows

    def encode(self, texts: object) -> np.ndarray:
        return np.array(self.rows)


def tokenizer() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made


def table() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(len(WORDS), 8)).astype(np.float32)


def save_onnx(folder: Path, weights: np.ndarray) -> Path:
    kinds = onnx.TensorProto
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [onnx.helper.make_tensor_value_info("input_ids", kinds.INT64, ["batch", "tokens"])],
        [onnx.helper.make_tensor_value_info("last_hidden_state", kinds.FLOAT, ["b", "t", 8])],
        [onnx.numpy_helper.from_array(weights, "table")],
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    path = folder / "tiny.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    tokenizer().save(str(folder / "tokenizer.json"))
    return path


def unit(row: np.ndarray) -> np.ndarray:
    found: np.ndarray = row / np.linalg.norm(row)
    return found


def test_an_onnx_file_gives_the_mean_of_its_tokens(tmp_path: Path) -> None:
    encoder = open_encoder(save_onnx(tmp_path, table()))
    rows = encoder.encode(["invoice tax", "breach"])
    assert rows[0] == pytest.approx(unit(table()[[1, 2]].mean(0)), abs=1e-5)
    assert rows[1] == pytest.approx(unit(table()[3]), abs=1e-5)


def test_nothing_of_a_long_text_is_cut_off(tmp_path: Path) -> None:
    encoder = open_encoder(save_onnx(tmp_path, table()))
    row = encoder.encode([" ".join(["tax"] * 300 + ["breach"] * 300)])[0]
    assert row == pytest.approx(unit(table()[[2, 3]].mean(0)), abs=1e-4)


def test_the_name_changes_with_the_files(tmp_path: Path) -> None:
    first = open_encoder(save_onnx(tmp_path, table())).name
    assert open_encoder(tmp_path / "tiny.onnx").name == first
    assert open_encoder(save_onnx(tmp_path, table() + 1)).name != first


def test_a_model2vec_folder_is_read(tmp_path: Path) -> None:
    model2vec.StaticModel(table(), tokenizer(), normalize=True).save_pretrained(tmp_path / "tiny")
    encoder = open_encoder(tmp_path / "tiny")
    assert encoder.name.startswith("model2vec-tiny-")
    assert encoder.encode(["invoice"])[0] == pytest.approx(unit(table()[1]), abs=1e-5)


def test_an_onnx_file_of_zeros_is_refused(tmp_path: Path) -> None:
    path = save_onnx(tmp_path, np.zeros_like(table()))
    with pytest.raises(SettingsError, match="cannot be used"):
        open_encoder(path)


def test_an_onnx_file_needs_its_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(b"x")
    with pytest.raises(SettingsError, match=r"tokenizer\.json beside it"):
        open_encoder(tmp_path / "x.onnx")


@pytest.mark.parametrize("config", [None, "{", json.dumps({"model_type": "bert"}), "[]"])
def test_what_is_no_encoder_is_refused(tmp_path: Path, config: str | None) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(SettingsError, match="is no encoder"):
        open_encoder(tmp_path)


@pytest.mark.parametrize(
    "rows",
    [[1.0, 0.0], [[1.0, 0.0]] * 3, [[float("nan"), 1.0]] * 2, [[1.0, 0.0], [0.0, 0.0]], [[], []]],
    ids=["one row", "a row too many", "NaN", "zeros", "no columns"],
)
def test_wrong_rows_are_refused(rows: object) -> None:
    with pytest.raises(DecisionInvalidError) as raised:
        CheckedEncoder(Rows(rows), "x").encode(["a", "b"])
    assert raised.value.code == "encoder-rows"


def test_rows_come_out_of_length_1() -> None:
    found = CheckedEncoder(Rows([[3.0, 4.0]]), "x").encode(["a"])
    assert found.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]


def test_an_encoder_without_a_fit_of_its_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="the fit is for the encoder"):
        load_model("offline", encoder=save_onnx(tmp_path, table()))


def test_a_fit_of_another_encoder_is_refused(tmp_path: Path) -> None:
    source = resources.files("clawmarshal.router.models").joinpath("routing.head.json")
    document = json.loads(source.read_text("utf-8")) | {"encoder": "another-1"}
    head = tmp_path / "another.head.json"
    head.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(SettingsError, match="another-1"):
        load_model("offline", head=head)
    assert load_model("lexical", head=head).name


def test_a_fit_of_the_encoder_is_used(tmp_path: Path) -> None:
    encoder = save_onnx(tmp_path, table())
    source = resources.files("clawmarshal.router.models").joinpath("routing.head.json")
    document = json.loads(source.read_text("utf-8"))
    fit = document | {"encoder": open_encoder(encoder).name, "background": []}
    head = tmp_path / "own.head.json"
    head.write_text(json.dumps(fit), encoding="utf-8")
    assert load_model("offline", head=head, encoder=encoder).name


def test_words_alone_take_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"decision\.encoder is for offline"):
        load_model("lexical", encoder=tmp_path)


def test_calibrate_writes_a_fit_that_the_encoder_takes(tmp_path: Path) -> None:
    encoder, out = save_onnx(tmp_path, table()), tmp_path / "own.head.json"
    fleet, data = tmp_path / "fleet.yaml", tmp_path / "labelled.jsonl"
    fleet.write_text(ROSTER, encoding="utf-8")
    write(data, labelled("finance", "security", "none"))
    given = ("--roster", str(fleet), "--data", str(data), "--out", str(out))
    assert main(("calibrate", *given, "--encoder", str(encoder))) == 0
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["encoder"] == open_encoder(encoder).name
    assert load_model("offline", head=out, encoder=encoder).name.endswith(document["version"])
