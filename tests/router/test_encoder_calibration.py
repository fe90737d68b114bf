"""Calibration for another encoder: a background, both heads, and texts it cannot read."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from clawmarshal.errors import DecisionInvalidError, MessageError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.calibration import calibrate, head_document
from clawmarshal.router.encoder_calibration import (
    background_of,
    calibrate_encoder,
    without_examples,
)
from clawmarshal.router.models.encoder_rows import CheckedEncoder
from clawmarshal.router.models.fitting import FOLDS, Sample
from clawmarshal.router.models.head import heads_from, shipped_heads
from tests.support.labelled import labelled
from tests.support.tiny_encoder import TinyEncoder

FINANCE = AgentSpec("finance", "Invoices, tax, budget.", examples=("my invoice", "the tax again"))
SECURITY = AgentSpec("security", "Breach alerts, access.", examples=("a breach", "odd access"))
BARE = tuple(replace(agent, examples=()) for agent in (FINANCE, SECURITY))


class Forgetful(TinyEncoder):
    """Gives a row of zeros for a text with nothing but words it does not know."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = super().encode(texts)
        for place, text in enumerate(texts):
            if set(text.split()) <= {"zzz", "qqq"}:
                rows[place] = 0
        return rows


def samples(*agents: AgentSpec) -> list[Sample]:
    rows = labelled("finance", "security", "none")
    return [
        Sample(row["text"], agents, None if row["agent"] == "none" else row["agent"])
        for row in rows
    ]


def test_what_all_messages_share_is_the_mean_of_their_vectors() -> None:
    tiny, some = TinyEncoder(), samples(*BARE)
    rows = TinyEncoder().encode([sample.text for sample in some])
    assert background_of(some * 2, tiny) == pytest.approx(rows.mean(0), abs=1e-5)
    assert background_of([], tiny) == ()


def test_a_head_for_either_kind_of_ballot_is_fitted() -> None:
    some = samples(FINANCE, SECURITY)
    steps: list[int] = []
    told, heads = calibrate_encoder(some, encoder=TinyEncoder(), step=steps.append)
    start = replace(
        shipped_heads(), encoder="tiny-1", background=background_of(some, TinyEncoder())
    )
    assert told.kind == "encoder_examples"
    assert heads.background == start.background
    for kind, of in (("encoder_examples", some), ("encoder", without_examples(some))):
        assert heads.by_name[kind] == calibrate(of, encoder=TinyEncoder(), heads=start)[1]
        assert heads.by_name[kind].option.keys() == start.by_name[kind].option.keys()
    assert heads.by_name["lexical"] == start.by_name["lexical"]
    assert steps == list(range(1, 2 * FOLDS + 1))


def test_without_examples_one_fit_stands_for_both() -> None:
    told, heads = calibrate_encoder(samples(*BARE), encoder=TinyEncoder())
    assert told.kind == "encoder"
    assert heads.by_name["encoder"] == heads.by_name["encoder_examples"]


def test_the_background_takes_part() -> None:
    some = samples(FINANCE, SECURITY)
    bare = replace(shipped_heads(), encoder="tiny-1", background=())
    _, heads = calibrate_encoder(some, encoder=TinyEncoder())
    assert (
        heads.by_name["encoder_examples"] != calibrate(some, encoder=TinyEncoder(), heads=bare)[1]
    )


def test_the_document_holds_all_of_it() -> None:
    told, heads = calibrate_encoder(samples(FINANCE, SECURITY), encoder=TinyEncoder())
    head = heads.by_name[told.kind]
    found = heads_from(json.loads(json.dumps(head_document(told, head, provenance={}, own=heads))))
    assert replace(found, version=heads.version) == heads
    assert found.version.startswith(f"{heads.version}+")


def test_a_text_that_the_encoder_cannot_read_is_counted_and_left_out() -> None:
    checked = CheckedEncoder(Forgetful(), "forgetful-1")
    unread = [Sample(text, (FINANCE, SECURITY), None) for text in ("zzz", "qqq zzz")]
    told, heads = calibrate_encoder(samples(FINANCE, SECURITY) + unread, encoder=checked)
    assert (told.rows, told.left_out, told.unread) == (75, 2, 2)
    assert len(heads.background) == 64


def test_texts_that_it_cannot_read_do_not_count_towards_enough() -> None:
    checked = CheckedEncoder(Forgetful(), "forgetful-1")
    unread = [Sample(f"zzz {'qqq ' * n}", (FINANCE, SECURITY), None) for n in range(10)]
    with pytest.raises(MessageError) as raised:
        calibrate_encoder(samples(FINANCE, SECURITY)[:45] + unread, encoder=checked)
    assert raised.value.code == "too-few-labels"


def test_a_remit_that_it_cannot_read_is_named() -> None:
    checked = CheckedEncoder(Forgetful(), "forgetful-1")
    odd = AgentSpec("odd", "Invoices, zzz qqq.")
    with pytest.raises(DecisionInvalidError, match="a part of odd's remit"):
        calibrate_encoder(samples(FINANCE, odd), encoder=checked)


@pytest.mark.parametrize("broken", ["rows", "remit"])
def test_wrong_rows_are_no_text_that_was_not_read(broken: str) -> None:
    class Wrong(TinyEncoder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            is_remit = any("Invoices" in text for text in texts)
            rows = super().encode(texts)
            return rows[1:] if is_remit is (broken == "remit") else rows

    with pytest.raises(DecisionInvalidError) as raised:
        calibrate_encoder(samples(FINANCE, SECURITY), encoder=CheckedEncoder(Wrong(), "wrong-1"))
    assert raised.value.code == "encoder-rows"
