from dataclasses import replace
from typing import Any

import pytest

from clawmarshal.errors import (
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
)
from clawmarshal.roster.agent import Risk
from clawmarshal.router.decision import MODEL_MISMATCH, Decision
from clawmarshal.router.message import Attachment
from clawmarshal.router.route import Outcome, Reason, Via
from tests.support.scenes import (
    CALM,
    coarse,
    detail,
    failing,
    fired,
    summary,
)


def test_a_caller_that_is_gone_cancels() -> None:
    verdict = CALM.given(caller_gone=True).decide()
    assert (verdict.outcome, verdict.agent) == (Outcome.CANCELLED, None)


@pytest.mark.parametrize("odd", [None, 1, "no"], ids=repr)
def test_an_unexpected_word_about_the_caller_cancels(odd: Any) -> None:
    assert CALM.given(caller_gone=odd).decide().outcome is Outcome.CANCELLED


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DecisionUnavailableError("away"), Reason.DECISION_UNAVAILABLE),
        (DecisionError("something"), Reason.DECISION_UNAVAILABLE),
        (DecisionInvalidError("bad", code="mass-off"), Reason.DECISION_INVALID),
        (None, Reason.DECISION_INVALID),
        ({"agent": "finance"}, Reason.DECISION_INVALID),
    ],
    ids=["unavailable", "other", "invalid", "none", "mapping"],
)
def test_a_missing_answer_is_never_a_permission(error: object, reason: Reason) -> None:
    verdict = failing(error).decide()
    assert summary(verdict) == (Outcome.HOLD, reason)
    assert fired(verdict) == [2, 3]
    assert (verdict.agent, verdict.via) == (None, Via.NONE)
    assert (verdict.candidates, verdict.confidence, verdict.margin) == ((), 0.0, 0.0)
    assert (verdict.risk.top, dict(verdict.risk.probabilities)) == (Risk.HIGH, {})


def test_the_detail_of_a_missing_answer_names_its_code() -> None:
    assert "mass-off" in detail(failing(DecisionInvalidError("x", code="mass-off")).decide())


def test_a_pin_does_not_pass_gate_2() -> None:
    verdict = failing(DecisionUnavailableError("away")).given(pin="security").decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.DECISION_UNAVAILABLE)
    assert (verdict.agent, verdict.via) == ("security", Via.PIN)


@pytest.mark.parametrize(
    ("given", "agent", "via"),
    [
        ({"conversation_agent": "security"}, "security", Via.CONVERSATION),
        ({}, "personal", Via.FALLBACK),
    ],
)
def test_without_an_answer_the_conversation_or_the_fallback_is_suggested(
    given: dict[str, object], agent: str, via: Via
) -> None:
    scene = failing(DecisionUnavailableError("away")).ruled(fallback="personal").given(**given)
    verdict = scene.decide()
    assert (verdict.outcome, verdict.agent, verdict.via) == (Outcome.HOLD, agent, via)


def test_a_coarse_answer_is_shown_and_not_acted_on() -> None:
    verdict = replace(CALM, change=coarse).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.DECISION_INVALID)
    assert verdict.agent == "finance"
    assert verdict.candidates
    assert "coarse" in detail(verdict)


@pytest.mark.parametrize("given", [{}, {"pin": "finance"}], ids=repr)
def test_an_answer_by_another_model_is_shown_and_not_acted_on(given: dict[str, str]) -> None:
    def mismatched(found: Decision) -> Decision:
        return replace(found, notes=(*found.notes, MODEL_MISMATCH))

    verdict = replace(CALM, change=mismatched).given(**given).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.DECISION_INVALID)
    assert verdict.agent == "finance"
    assert verdict.candidates
    assert "Another model" in detail(verdict)


def test_an_answer_about_another_ballot_holds() -> None:
    def foreign(found: Decision) -> Decision:
        agent = replace(found.agent, probabilities={"finance": 0.9, "none_of_these": 0.1})
        return replace(found, agent=agent)

    verdict = replace(CALM, change=foreign).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.DECISION_INVALID)
    assert "options of this ballot" in detail(verdict)


@pytest.mark.parametrize("said", [True, None, 1], ids=repr)
def test_a_model_that_did_not_see_the_whole_text_holds(said: Any) -> None:
    verdict = replace(CALM, change=lambda found: replace(found, truncated=said)).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.TRUNCATED)
    assert detail(verdict) == "The model saw only a part of the text."


def test_an_attachment_that_nobody_judged_holds() -> None:
    scene = replace(CALM, attachments=(Attachment("image"), Attachment("file", "a.pdf")))
    verdict = scene.decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.TRUNCATED)
    assert "2 attachment(s)" in detail(verdict)


@pytest.mark.parametrize("text", ["/new", " \u200b/deploy prod", "please $admin do"])
def test_a_directive_holds(text: str) -> None:
    assert summary(replace(CALM, text=text).decide()) == (Outcome.HOLD, Reason.DIRECTIVE)


def test_a_directive_passes_where_the_launcher_neutralises_it() -> None:
    assert replace(CALM, text="/new").ruled(directives="neutralise").decide().gates == ()


def test_what_cannot_be_shown_holds_whatever_becomes_of_directives() -> None:
    scene = replace(CALM, text="pay \u202e$invoice")
    verdict = scene.decide()
    assert [gate.reason for gate in verdict.gates] == [Reason.DIRECTIVE, Reason.UNDISPLAYABLE]
    verdict = scene.ruled(directives="neutralise").decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.UNDISPLAYABLE)


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ({"repeats": 2}, False),
        ({"repeats": 3}, True),
        ({"in_conversation": 20}, False),
        ({"in_conversation": 21}, True),
        ({"from_sender": 20}, False),
        ({"from_sender": 21}, True),
        ({"from_sender": 0}, False),
    ],
    ids=str,
)
def test_a_loop_holds(given: dict[str, int], holds: bool) -> None:
    verdict = CALM.given(**given).decide()
    assert (verdict.reason is Reason.LOOP) is holds
    if holds:
        assert str(next(iter(given.values()))) in detail(verdict)


def test_the_limits_of_a_loop_are_settings() -> None:
    strict = CALM.ruled(loop_repeats=2, max_messages=1)
    assert strict.given(repeats=2).decide().reason is Reason.LOOP
    assert strict.given(in_conversation=2, from_sender=2).decide().reason is Reason.LOOP
