"""What is cut out of a text before it leaves the machine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.router.patterns import bounded_pattern
from clawmarshal.router.redaction import NAMED, Redactor

EVERYTHING = Redactor(NAMED)


def cut(text: str, *patterns: str, max_chars: int = 1000) -> str:
    return Redactor(patterns).redact(text, max_chars=max_chars).text


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("email", "to ann.o'neil+x@mail.corp.example, please", "[email], please"),
        ("email", "ünï@exämple.de", "[email]"),
        ("iban", "pay GB29 NWBK 6016 1331 9268 19 today", "pay [iban] today"),
        ("iban", "pay DE89370400440532013000.", "pay [iban]."),
        ("iban", "pay de89 3704 0044 0532 0130 00 bitte", "pay [iban] bitte"),
        ("card", "card 4111 1111 1111 1111 exp 12/30", "card [card] exp 12/30"),
        ("card", "4111-1111-1111-1111", "[card]"),
        ("card", "４１１１１１１１１１１１１１１１", "[card]"),
        ("phone", "call +44 (0)20 7946 0958 now", "call [phone] now"),
        ("token", "use sk-abcdefghijklmnop1234 here", "use [token] here"),
        ("token", "ghp_abcdefghijklmnop1234", "[token]"),
    ],
)
def test_a_named_pattern_cuts_its_kind(name: str, text: str, left: str) -> None:
    assert cut(text, name).endswith(left)


@pytest.mark.parametrize(
    "text",
    ["Wire 40,000 euros by 2026-11-30.", "Invoice 20261130 is due", "a @ b", "room 12", "at 10:30"],
)
def test_ordinary_figures_stay(text: str) -> None:
    assert EVERYTHING.redact(text, max_chars=1000).text == text


def test_an_operators_pattern_is_cut_and_counted() -> None:
    found = Redactor([r"EMP-\d{4,8}", "email"]).redact("EMP-1234 EMP-12 a@b.c", max_chars=100)
    assert (found.text, found.count, found.is_cut) == ("[redacted] EMP-12 [email]", 2, False)


def test_overlapping_matches_are_one_and_their_order_plays_no_part() -> None:
    text = "write to ann@corp.example now"
    one = Redactor(["email", "corp"]).redact(text, max_chars=100)
    assert (one.text, one.count) == ("write to [email] now", 1)
    assert one == Redactor(["corp", "email"]).redact(text, max_chars=100)


def test_a_secret_across_the_limit_is_cut_whole() -> None:
    text = "x" * 90 + " ann@corp.example and more"
    found = Redactor(["email"]).redact(text, max_chars=95)
    assert (found.text, found.count, found.is_cut) == ("x" * 90 + " [email]", 1, True)


def test_what_is_cut_out_does_not_let_later_text_in() -> None:
    text = "a@b.example " * 3 + "secret"
    assert Redactor(["email"]).redact(text, max_chars=36).text == "[email] " * 3


def test_nothing_is_kept_of_no_room() -> None:
    assert Redactor(["email"]).redact("a@b.c", max_chars=0).text == ""


@given(st.text(max_size=300), st.integers(0, 300))
def test_without_patterns_a_text_is_only_cut(text: str, room: int) -> None:
    found = Redactor().redact(text, max_chars=room)
    assert (found.text, found.count, found.is_cut) == (text[:room], 0, len(text) > room)


@given(st.text(alphabet="a@b.1 -+(", max_size=200))
def test_what_is_left_holds_no_address(text: str) -> None:
    left = Redactor(["email"]).redact(text, max_chars=500).text.replace("[email]", " ")
    assert not NAMED["email"].search(left)


@pytest.mark.parametrize(
    "source",
    [
        "a*",
        "a+",
        "a{3,}",
        "a{,}",
        ".*secret",
        "(a|b)+",
        r"(a)\1",
        "(?P<x>a)(?P=x)",
        "(?=a)b",
        "(?<=a)b",
        "(?i)abc",
        "(?i:abc)",
        "",
        "a?",
        "x{0,9}",
        "a{0,300}b{0,300}",
        "a{600}",
        "(?:a{0,9}){0,9}",
        "(?:a|b|c|d){0,9}",
        "[",
        "(",
        "x" * 201,
        r"a\9",
        "a{99999}",
    ],
)
def test_a_pattern_without_a_bound_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        bounded_pattern(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"EMP-\d{4,8}", "EMP-123456"),
        (r"\bproject (?:falcon|heron)\b", "project heron"),
        (r"[A-Z]{2,3}\d{6}", "AB123456"),
        (r"[]\]*+{]x?", "*x"),
        (r"[^a-c]{2}", "zz"),
        (r"(?P<kind>id|nr)[:. ]{0,3}\d{2,9}?", "id: 77"),
        (r"\x41\u0042\.\*", "AB.*"),
        (r"\N{DIGIT ONE}a{,3}", "1aaa"),
        (r"^a$", "a"),
        (r"a{}b{x}", "a{}b{x}"),
        (r"ab?+c", "abc"),
        (r"secret|geheim|", ""),
    ],
)
def test_a_bounded_pattern_is_taken(source: str, text: str) -> None:
    if text:
        assert bounded_pattern(source).search(text)
    else:
        with pytest.raises(ValueError, match="empty"):
            bounded_pattern(source)


def test_a_fault_names_the_pattern_by_its_number_and_there_is_a_limit() -> None:
    with pytest.raises(ValueError, match=r"pattern 2: repeats"):
        Redactor(["email", "a*"])
    with pytest.raises(ValueError, match="32"):
        Redactor(["email"] * 33)


@pytest.mark.parametrize("worst", ["1" * 400_000, "a@" * 200_000, "A1" * 200_000, "1 " * 200_000])
@pytest.mark.timeout(60)  # work that grows with the square of the text would take days
def test_a_long_text_costs_no_more_than_its_window(worst: str) -> None:
    redactor = Redactor([*NAMED, r"[a1]{0,15}[a1]{0,15}x"])
    assert redactor.redact(worst, max_chars=8_000).is_cut
