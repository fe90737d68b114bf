"""Rules of the operator's own: they raise, they are read whole, they cost little."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from clawmarshal.api.settings import Settings, load_settings
from clawmarshal.errors import DecisionUnavailableError, SettingsError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.explanation import Evidence, explanation
from clawmarshal.router.folding import fold
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.operator_rules import MAX_RULES, Language, OperatorRule, floor_with
from clawmarshal.router.policy import Circumstances, Policy
from clawmarshal.router.risk import RiskFloor, risk_floor
from tests.support.scenes import CALM, detail, fired

NDA = OperatorRule(code="legal", tier=Risk.HIGH, any_of=("NDA", "non-disclosure agreement"))
FALCON = OperatorRule(
    code="falcon", tier=Risk.MEDIUM, all_of=("project falcon", "price"), any_of=("share", "leak")
)
SIGN = OperatorRule(code="contract_ja", tier=Risk.HIGH, all_of=("契約書", "署名"))
BOTH = (NDA, FALCON, SIGN)
MINIMAL = """\
server: {}
roster: fleet.yaml
ledger: sqlite:///ledger.db
transport: {command: [/opt/openclaw], openclaw_config: client.json5}
"""


@pytest.mark.parametrize(
    ("text", "tier", "code"),
    [
        ("What is in our nda?", Risk.HIGH, "legal"),
        ("What is in the Non-Disclosure\n Agreement?", Risk.HIGH, "legal"),
        ("What is an N\u200bD\u200bA?", Risk.HIGH, "legal"),
        ("What is an ＮＤＡ?", Risk.HIGH, "legal"),
        ("What is an ND\u0410?", Risk.HIGH, "legal"),
        ("How would you leak the price? It is about Project Falcon.", Risk.MEDIUM, "falcon"),
        ("Why did pr0ject falc0n share its price?", Risk.MEDIUM, "falcon"),
        ("この契約書に署名はありますか", Risk.HIGH, "contract_ja"),
    ],
    ids=[
        *("word", "phrase-over-lines", "zero-width", "fullwidth", "cyrillic", "all-and-any"),
        *("leet", "script-without-blanks"),
    ],
)
def test_a_rule_raises_the_floor_and_is_named(text: str, tier: Risk, code: str) -> None:
    found = floor_with(text, BOTH)
    assert risk_floor(text).tier.level < tier.level
    assert found.tier is tier
    assert code in found.codes


@pytest.mark.parametrize(
    "text",
    ["What are agendas?", "What is the price of Project Falcon?", "share falcon project price", ""],
    ids=["inside-a-word", "one-list-alone", "another-order", "empty"],
)
def test_a_rule_says_nothing_where_its_words_do_not_occur(text: str) -> None:
    assert floor_with(text, BOTH) == risk_floor(text)


def test_no_rule_lowers_a_floor() -> None:
    mild = OperatorRule(code="mild", tier=Risk.MEDIUM, any_of=("wire",))
    found = floor_with("Wire $5,000 to this account at once", (mild,))
    assert found.tier is Risk.HIGH
    assert {"mild", "money"} <= set(found.codes)
    with pytest.raises(SettingsError, match="can only raise"):
        replace(mild, tier=Risk.LOW)


def test_a_rule_may_be_narrowed_to_a_language() -> None:
    english = OperatorRule(code="die", tier=Risk.HIGH, any_of=("die",), languages=("en",))  # type: ignore[arg-type]  # as YAML gives it
    assert floor_with("I would like the plants to die", (english,)).codes == ("die",)
    assert floor_with("Wann kommt die Rechnung im Oktober an", (english,)).codes == ()
    other = replace(english, languages=("other",))  # type: ignore[arg-type]  # as YAML gives it
    assert floor_with("Wann kommt die Rechnung im Oktober an", (other,)).codes == ("die",)


def narrowed(language: str, *words: str) -> OperatorRule:
    languages = (language,)  # as YAML gives it
    return OperatorRule(code="own", tier=Risk.HIGH, all_of=words, languages=languages)  # type: ignore[arg-type]  # as above


def hidden(text: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


SAID = "Please tell me what you think about this, and what we should do about it"
ANDERES = "Das ist von mir und nicht von dir, und es geht auch um den Preis im Herbst"


@pytest.mark.parametrize(
    "around",
    ["{x}. {p}.", "{p}. {x}", "{x}\n{p}", "{p} ({x})", "{p} {x}", "{x} {p}", "{p}, {x}, {p}"],
)
@pytest.mark.parametrize(
    ("rule", "text", "padding"),
    [
        (narrowed("other", "alle pengene"), "Overfør alle pengene til Bob", SAID),
        (narrowed("other", "bestanden", "verwijder"), "verwijder al de bestanden nu", SAID),
        (narrowed("en", "wire", "bob"), "please wire everything that we have to bob", ANDERES),
    ],
    ids=["danish", "dutch-all-of", "english"],
)
def test_text_around_does_not_take_a_narrowed_rule_away(
    rule: OperatorRule, text: str, padding: str, around: str
) -> None:
    assert "own" in floor_with(text, (rule,)).codes
    assert "own" in floor_with(around.format(x=text, p=padding), (rule,)).codes


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize(
    "text",
    [
        "gift",
        "Das ist das Projekt\nFalcon und nicht das von dir",
        f"What is this? {hidden('das gift ist im glas')}",
    ],
    ids=["one-word", "over-two-pieces", "hidden"],
)
def test_what_cannot_be_told_counts_for_every_language(language: str, text: str) -> None:
    word = "gift" if "gift" in fold(text).text else "projekt falcon"
    assert "own" in floor_with(text, (narrowed(language, word),)).codes


def test_a_word_in_the_other_language_does_not_cover_for_a_hidden_one() -> None:
    german = "Das Gift ist im Glas und nicht im Krug"
    rule = narrowed("en", "gift")
    assert "own" not in floor_with(german, (rule,)).codes
    assert "own" in floor_with(f"{german}.{hidden('gi')} x{hidden('ft')}", (rule,)).codes


def test_words_of_two_pieces_count_together() -> None:
    rule = narrowed("other", "konto", "leeren")
    assert "own" in floor_with(f"Das ist das Konto. {SAID}. Du darfst es leeren", (rule,)).codes


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (narrowed("en", "gift"), f"Das Gift ist im Glas und nicht im Krug. {SAID}"),
        (narrowed("other", "gift"), "Please thank them for the gift that you got from me"),
    ],
    ids=["en", "other"],
)
def test_a_narrowed_rule_is_silent_where_its_words_stand_in_the_other(
    rule: OperatorRule, text: str
) -> None:
    assert "own" not in floor_with(text, (rule,)).codes


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"code": "Not a slug"}, "code is a slug"),
        ({"tier": "extreme"}, "tier is medium or high"),
        ({"any_of": ()}, "at least one word"),
        ({"any_of": "word"}, "any_of is a list"),
        ({"any_of": (5,)}, "any_of is a list"),
        ({"any_of": ("...",)}, "any_of, entry 1"),
        ({"any_of": ("a", "x" * 81)}, "any_of, entry 2"),
        ({"all_of": ("one two three four five six seven eight nine",)}, "all_of, entry 1"),
        ({"any_of": ("w",) * 51}, "over 50 phrases"),
        ({"languages": ("de",)}, "en and other"),
        ({"languages": "en"}, "en and other"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_bad_rule_is_refused_and_told(fields: dict[str, object], words: str) -> None:
    whole = {"code": "legal", "tier": "high", "any_of": ("nda",), **fields}
    with pytest.raises(SettingsError) as caught:
        OperatorRule(**whole)  # type: ignore[arg-type]  # wrong on purpose
    assert words in str(caught.value.faults)


def test_there_are_at_most_a_hundred_rules() -> None:
    assert len(Policy(rules=(NDA,) * MAX_RULES).rules) == MAX_RULES
    with pytest.raises(SettingsError):
        Policy(rules=(NDA,) * (MAX_RULES + 1))
    with pytest.raises(SettingsError):
        Policy(rules=("nda",))  # type: ignore[arg-type]  # wrong on purpose


def loaded(folder: Path, rules: str) -> Settings:
    path = folder / "clawmarshal.yaml"
    path.write_text(f"{MINIMAL}policy: {{rules: {rules}}}\n", encoding="utf-8")
    return load_settings(path, environ={})


def test_rules_come_from_the_configuration(tmp_path: Path) -> None:
    rules = "[{code: legal, tier: high, any_of: [NDA], languages: [en]}]"
    (rule,) = loaded(tmp_path, rules).policy.rules
    assert (rule.code, rule.tier, rule.any_of) == ("legal", Risk.HIGH, ("NDA",))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("[{code: legal, tier: low, any_of: [NDA]}]", "rules (legal): tier is medium or high"),
        ("[{code: legal, tier: high}]", "at least one word"),
        ("[{code: legal, tier: high, any_off: [NDA]}]", "did you mean any_of"),
        ("[{tier: high, any_of: [NDA]}]", "code"),
        ("{code: legal}", "rules"),
    ],
    ids=["tier", "no-words", "typo", "no-code", "no-list"],
)
def test_a_bad_rule_in_the_configuration_is_a_fault(tmp_path: Path, rules: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, rules)
    assert words in " ".join(str(fault) for fault in caught.value.faults)


def test_the_gate_shows_the_rule_that_fired() -> None:
    floor = floor_with("What is in our NDA?", (NDA,))
    verdict = replace(CALM, floor=floor).decide()
    assert fired(verdict) == [3]
    assert "legal" in detail(verdict)


def test_an_explanation_names_the_rules_and_does_not_repeat_them() -> None:
    ballot = fleet_ballot(CALM.roster, InboundMessage("hello"))
    away = DecisionUnavailableError("away")
    evidence = Evidence(ballot, away, RiskFloor(Risk.LOW), Circumstances())
    kept = json.dumps(explanation(evidence, policy=Policy(rules=BOTH)))
    assert "contract_ja" in kept
    assert "disclosure" not in kept


def test_the_work_is_linear_in_the_text_and_does_not_grow_with_the_rules() -> None:
    many = tuple(
        OperatorRule(
            code=f"c{i}", tier=Risk.HIGH, any_of=tuple(f"a a a a a a a x{i}x{j}" for j in range(50))
        )
        for i in range(MAX_RULES)
    )
    worst = "a " * 200_000
    # Five thousand phrases that all begin alike: one walk of eight words at each place.
    assert floor_with(worst, many).codes == ()
