"""Encoders from a path, on models that the test makes."""

import json
from importlib import resources
from pathlib import Path

import model2vec
import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.api.encoders import load_encoder
from clawmarshal.api.models import load_model
from clawmarshal.errors import DecisionInvalidError, SettingsError
from clawmarshal.router.models.encoder_rows import UNREAD, CheckedEncoder
from clawmarshal.router.models.encoder_source import open_encoder
from clawmarshal.router.models.onnx_files import external_files
from tests.support.onnx_model import save_onnx, table, tokenizer
from tests.support.packages_on_path import not_installed, stand_in


class Rows:
    name = "rows"

    def __init__(self, rows: object) -> None:
        self.rows = rows

    def encode(self, texts: object) -> np.ndarray:
        return np.array(self.rows)


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


def test_the_name_changes_with_weights_that_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    first = open_encoder(save_onnx(tmp_path, table(), beside="weights.bin")).name
    model = (tmp_path / "tiny.onnx").read_bytes()
    assert open_encoder(tmp_path / "tiny.onnx").name == first
    save_onnx(tmp_path, table() + 1, beside="weights.bin")
    assert (tmp_path / "tiny.onnx").read_bytes() == model
    assert open_encoder(tmp_path / "tiny.onnx").name != first


def test_a_file_that_the_model_does_not_read_changes_no_name(tmp_path: Path) -> None:
    first = open_encoder(save_onnx(tmp_path, table(), beside="weights.bin")).name
    (tmp_path / "tiny.onnx.txt").write_text("notes", encoding="utf-8")
    assert open_encoder(tmp_path / "tiny.onnx").name == first


def test_weights_that_are_not_there_are_refused(tmp_path: Path) -> None:
    path = save_onnx(tmp_path, table(), beside="weights.bin")
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(SettingsError, match="cannot be used"):
        open_encoder(path)


def test_a_text_without_tokens_was_not_read(tmp_path: Path) -> None:
    with pytest.raises(DecisionInvalidError) as raised:
        open_encoder(save_onnx(tmp_path, table())).encode([" "])
    assert raised.value.code == UNREAD


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
    [[1.0, 0.0], [[1.0, 0.0]] * 3, [[float("nan"), 1.0]] * 2, [[], []]],
    ids=["one row", "a row too many", "NaN", "no columns"],
)
def test_wrong_rows_are_refused(rows: object) -> None:
    with pytest.raises(DecisionInvalidError) as raised:
        CheckedEncoder(Rows(rows), "x").encode(["a", "b"])
    assert raised.value.code == "encoder-rows"


def test_a_row_of_zeros_says_that_the_text_was_not_read() -> None:
    with pytest.raises(DecisionInvalidError) as raised:
        CheckedEncoder(Rows([[1.0, 0.0], [0.0, 0.0]]), "x").encode(["a", "b"])
    assert raised.value.code == UNREAD


def test_rows_come_out_of_length_1() -> None:
    found = CheckedEncoder(Rows([[3.0, 4.0]]), "x").encode(["a"])
    assert found.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]


def test_an_encoder_without_a_fit_of_its_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="the fit is for the encoder"):
        load_model("offline", encoder=str(save_onnx(tmp_path, table())))


def test_a_fit_of_another_encoder_is_refused(tmp_path: Path) -> None:
    source = resources.files("clawmarshal.router.models").joinpath("routing.head.json")
    document = json.loads(source.read_text("utf-8")) | {"encoder": "another-1"}
    head = tmp_path / "another.head.json"
    head.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(SettingsError, match="another-1"):
        load_model("offline", head=head)
    assert load_model("lexical", head=head).name


def test_a_fit_of_the_encoder_is_used(tmp_path: Path) -> None:
    encoder = str(save_onnx(tmp_path, table()))
    source = resources.files("clawmarshal.router.models").joinpath("routing.head.json")
    document = json.loads(source.read_text("utf-8"))
    fit = document | {"encoder": load_encoder(encoder).name, "background": []}
    head = tmp_path / "own.head.json"
    head.write_text(json.dumps(fit), encoding="utf-8")
    assert load_model("offline", head=head, encoder=encoder).name


def test_words_alone_take_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"decision\.encoder is for offline"):
        load_model("lexical", encoder=str(tmp_path))


def save_sentences(folder: Path, limit: int | None = 3) -> Path:
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.X"}]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (folder / "0_X").mkdir()
    (folder / "0_X" / "model.bin").write_bytes(b"one")
    settings = json.dumps({"max_seq_length": limit})
    (folder / "config_sentence_transformers.json").write_text(settings, encoding="utf-8")
    return folder


@pytest.mark.parametrize("limit", [3, None])
def test_a_sentence_transformers_folder_is_read_whole(tmp_path: Path, limit: int | None) -> None:
    with stand_in("sentence_transformers"):
        encoder = open_encoder(save_sentences(tmp_path, limit))
        rows = encoder.encode(["invoice", " ".join(["tax"] * 7 + ["breach"] * 7)])
        import sentence_transformers

        made = sentence_transformers.SentenceTransformer.made[-1]
    assert encoder.name.startswith(f"sentence-transformers-{tmp_path.name}-")
    assert rows[0] == pytest.approx([1, 0, 0], abs=1e-3)
    assert rows[1] == pytest.approx([0, 0.707, 0.707], abs=1e-2)
    # Nothing is fetched, and no code that came with the folder is run.
    assert made == {"device": "cpu", "local_files_only": True, "trust_remote_code": False}


def test_the_name_changes_with_files_in_the_folders_of_a_folder(tmp_path: Path) -> None:
    with stand_in("sentence_transformers"):
        first = open_encoder(save_sentences(tmp_path)).name
        (tmp_path / "0_X" / "model.bin").write_bytes(b"two")
        assert open_encoder(tmp_path).name != first


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    folder = save_sentences(tmp_path)
    with (
        not_installed("sentence_transformers"),
        pytest.raises(SettingsError, match=r"clawmarshal\[sentence-transformers\]"),
    ):
        open_encoder(folder)


def nested(weights: np.ndarray) -> bytes:
    """Put a tensor into a constant of a branch of a condition of a function."""
    kept = onnx.numpy_helper.from_array(weights, "kept")
    onnx.external_data_helper.set_external_data(kept, location="deep/in.bin")
    kept.ClearField("raw_data")
    constant = onnx.helper.make_node("Constant", [], ["c"], value=kept)
    branch = onnx.helper.make_graph([constant], "then", [], [])
    chosen = onnx.helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)
    function = onnx.helper.make_function("own", "f", ["x"], ["y"], [chosen], [])
    graph = onnx.helper.make_graph([], "g", [], [])
    made: bytes = onnx.helper.make_model(graph, functions=[function]).SerializeToString()
    return made


def test_weights_are_found_however_deep() -> None:
    assert external_files(memoryview(nested(table()))) == {"deep/in.bin"}


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_half_a_model_is_no_model(kept: int) -> None:
    with pytest.raises(ValueError, match="no ONNX model"):
        external_files(memoryview(nested(table())[:kept]))


@given(junk=st.binary(max_size=60))
def test_whatever_is_no_model_is_refused_or_names_nothing(junk: bytes) -> None:
    try:
        external_files(memoryview(junk))
    except ValueError as error:
        assert "ONNX" in str(error) or isinstance(error, UnicodeDecodeError)
