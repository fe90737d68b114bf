"""The threshold of a model that has no weights of ours."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from clawmarshal.errors import DecisionUnavailableError, MessageError
from clawmarshal.router.asking import ask
from clawmarshal.router.ballot import Ballot, fleet_ballot
from clawmarshal.router.decision import Answers, Decision
from clawmarshal.router.evaluation import Row
from clawmarshal.router.labels import Label
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import scripted_answers
from clawmarshal.router.threshold_fit import (
    Labelled,
    ThresholdFit,
    _asked,
    fit_threshold,
    labelled_rows,
)
from tests.support.deciding import FLEET

Share = Callable[[int], tuple[str, float]]


class Played:
    """Answer message ``n …`` with an agent and its share."""

    name = "played"

    def __init__(self, share: Share, **changes: Any) -> None:
        self._share = share
        self._changes = changes

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        number = int(message.text.split()[0])
        if number in self._changes.get("away", ()):
            raise DecisionUnavailableError("away", code="away")
        agent, share = self._share(number)
        given = scripted_answers(ballot, agent={agent: share}, risk={"low": 1.0})
        notes = ("model-mismatch",) if number in self._changes.get("others", ()) else ()
        return Answers(given, "played-1", truncated=False, latency_ms=1.0, notes=notes)


def messages(*agents: str, text: str = "{} of it") -> list[Labelled]:
    return [Labelled(InboundMessage(text.format(n)), agent) for n, agent in enumerate(agents)]


def fitted(model: Played, labelled: list[Labelled], **more: Any) -> ThresholdFit:
    return asyncio.run(fit_threshold(model, FLEET, labelled=labelled, **more))


def test_the_threshold_parts_what_is_right_from_what_is_not() -> None:
    # Two of three are right and sure; the third is wrong and less sure.
    model = Played(lambda n: ("finance", 0.9 if n % 3 else 0.6))
    told = fitted(model, messages(*(["security", "finance", "finance"] * 30)))
    assert (told.rows, told.nobody, told.model) == (90, 0, "played-1")
    assert told.min_probability == pytest.approx(0.9, abs=1e-3)
    assert told.right == pytest.approx(2 / 3, abs=1e-3)
    assert told.held_out_precision == 1.0
    assert told.held_out_coverage == pytest.approx(2 / 3, abs=1e-3)


def test_none_keeps_the_precision_where_probabilities_say_nothing() -> None:
    told = fitted(Played(lambda _: ("finance", 0.9)), messages(*(["security", "finance"] * 40)))
    assert told.min_probability is None
    assert (told.held_out_precision, told.held_out_coverage) == (None, 0.0)


def test_what_is_nobodys_counts_and_is_never_routed() -> None:
    model = Played(lambda n: ("none_of_these", 0.8) if n % 2 else ("finance", 0.8))
    told = fitted(model, messages(*(["finance", "none"] * 40)))
    assert (told.nobody, told.right, told.held_out_coverage) == (40, 1.0, 0.5)


def test_what_gets_no_usable_answer_is_counted_by_code() -> None:
    model = Played(lambda _: ("finance", 0.9), away=range(5), others=range(5, 8))
    told = fitted(model, messages(*["finance"] * 60))
    assert told.errors == {"away": 5, "model-mismatch": 3}
    assert told.rows == 52


def test_too_few_answers_are_refused_with_their_codes() -> None:
    model = Played(lambda _: ("finance", 0.9), away=range(11))
    with pytest.raises(MessageError, match=r"49 of 60 .* 50 are needed \(away 11\)") as caught:
        fitted(model, messages(*["finance"] * 60))
    assert caught.value.code == "too-few-labels"


def test_too_few_labels_are_refused_before_anybody_is_asked() -> None:
    with pytest.raises(MessageError, match="49 labelled messages"):
        fitted(Played(lambda _: ("finance", 0.9), away=range(99)), messages(*["finance"] * 49))


def test_equal_texts_are_never_on_both_sides() -> None:
    async def fold(text: str) -> int:
        one = Labelled(InboundMessage(text), "finance")
        ballot, model = fleet_ballot(FLEET, one.message), Played(lambda _: ("finance", 0.9))
        decision = await ask(model, ballot, one.message, deadline_s=5)
        assert isinstance(decision, Decision)
        return _asked(one, decision).fold

    texts = ("7 of it", "7  OF it", "7 of\nit")
    assert len({asyncio.run(fold(text)) for text in texts}) == 1


def test_progress_is_told() -> None:
    steps: list[int] = []
    fitted(Played(lambda _: ("finance", 0.9)), messages(*["finance"] * 50), step=steps.append)
    assert steps == list(range(1, 51))


def test_rows_without_a_label_or_a_message_are_left_out() -> None:
    rows = [Row("a", "hello"), Row("b", "  "), Row("c", "hi"), Row("d", "ho"), Row("e", "x")]
    labels = [Label("a", "finance"), Label("b", "finance"), Label("c", None), Label("d", "none")]
    found = labelled_rows(rows, [*labels, Label("e", "gone")], FLEET)
    assert [(one.message.text, one.agent) for one in found] == [
        ("hello", "finance"),
        ("ho", "none"),
    ]
