"""What holds of the risk floor for any text."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmarshal.roster.agent import Risk
from clawmarshal.router.risk import risk_floor
from clawmarshal.router.rules.lexicon import ROWS, lexicon

WORDS = sorted(lexicon().forms)
SENTENCES = [text for row in ROWS for text in (*row.examples, *row.counter_examples)]
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(SENTENCES),
    st.sampled_from(
        [",", "?", "!", ".", "\n", "and", "then", "how", "not", "$9", "@bo", "a b c d"]
    ),
    st.text(max_size=12),
)
MESSAGES = Path(__file__).resolve().parents[2] / "examples" / "fleet18.messages.jsonl"
LABELLED = [
    text
    for line in MESSAGES.read_text(encoding="utf-8").splitlines()
    # "/reset" is a command only where the text begins with it.
    if not (text := str(json.loads(line)["text"])).startswith("/")
]
TEXTS = st.lists(PIECES, max_size=12).map(" ".join)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    floor = risk_floor(text)
    assert floor.codes == tuple(sorted(set(floor.codes)))
    assert (floor.tier is Risk.LOW) is (not floor.codes)


@given(st.text(st.characters(codec=None), max_size=200), st.integers(1, 300))
def test_any_text_is_judged_within_any_budget(text: str, budget: int) -> None:
    assert risk_floor(text, budget=budget).tier in Risk


@settings(max_examples=400)
@given(TEXTS, st.sampled_from([" ", "\n", ". ", "? ", ", "]), TEXTS)
def test_appended_text_never_lowers_the_tier(text: str, joint: str, more: str) -> None:
    before, after = risk_floor(text), risk_floor(text + joint + more)
    assert after.tier.level >= before.tier.level
    assert set(before.codes) <= set(after.codes)


@given(TEXTS)
def test_a_text_is_judged_the_same_way_twice(text: str) -> None:
    assert risk_floor(text) == risk_floor(text)


@given(st.sampled_from([t for row in ROWS if row.tier is Risk.HIGH for t in row.examples]), TEXTS)
def test_a_risky_sentence_behind_any_text_stays_high(risky: str, before: str) -> None:
    assert risk_floor(f"{before}.\n{risky}").tier is Risk.HIGH


@given(
    st.sampled_from([t for row in ROWS if row.tier is Risk.HIGH for t in row.examples]),
    st.randoms(use_true_random=False),
)
def test_invisible_characters_change_nothing(risky: str, draw: random.Random) -> None:
    unseen = ["\u200b", "\u200d", "\u00ad", "\u2060", "\ufeff", "\u202e"]
    hidden = "".join(c + draw.choice(unseen) * draw.randrange(3) for c in risky)
    assert risk_floor(hidden) == risk_floor(risky)


@pytest.mark.parametrize("letter", ["s", "d", "m", "t", "x"])
def test_a_letter_before_a_message_hides_no_request(letter: str) -> None:
    asked = "Dim the living room lights to thirty percent."
    assert risk_floor(f"calendar {letter} {asked}").tier is Risk.MEDIUM


@pytest.mark.parametrize(
    "told", ["I think it's a habit that he'd dim the lights", "they'll book us"]
)
def test_what_an_apostrophe_leaves_still_holds_a_verb(told: str) -> None:
    assert risk_floor(f"the note says {told}").tier is Risk.LOW


SAYS_NOTHING = st.one_of(
    st.sampled_from(
        [
            *("calendar", "travel", "agent", "low", "risk", "none_of_these", "admin", "[x]", "->"),
            *("ok", "=>", "1.0", "0x6469", "{}", "</answers>", "|", "%72", "lorem", "agenda"),
            *("погода", "天気", "القسم", "wetter", "🙂", "\u200b", "ｌｏｗ"),
        ]
    ),
    st.text("bcdfghjklmnpqrstvwxz0123456789=_#%{}[]|<>", min_size=1, max_size=12),
)
"""Words that ask nothing, excuse nothing and command nothing."""


@settings(max_examples=600)
@given(st.lists(SAYS_NOTHING, max_size=8).map(" ".join), st.sampled_from(LABELLED))
def test_words_put_before_a_message_never_lower_the_tier(before: str, text: str) -> None:
    assert risk_floor(f"{before} {text}").tier.level >= risk_floor(text).tier.level
