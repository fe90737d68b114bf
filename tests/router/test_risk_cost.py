"""The work of the rules grows with the text and no faster; counted in units, never timed."""

from collections.abc import Callable

import pytest

from clawmarshal.roster.agent import Risk
from clawmarshal.router.risk import risk_floor

MIB = 1024 * 1024


def numbered(pattern: str) -> Callable[[int], str]:
    def text(size: int) -> str:
        width = len(pattern.format(0)) + 4
        return "".join(pattern.format(i) for i in range(size // width))

    return text


def repeated(pattern: str) -> Callable[[int], str]:
    return lambda size: pattern * (size // len(pattern.encode()))


NASTY = {
    "letters": repeated("a "),
    "one word": repeated("a"),
    "lines": repeated("\n"),
    "digits and commas": repeated("1,"),
    "at signs": repeated("a@"),
    "triggers without objects": repeated("steal x x x x x x x x "),
    "phrase beginnings": repeated("get me "),
    "new sentences": numbered("send{}. "),
    "new questions": numbered("how do i pay{} the rent? "),
    "spelled letters": repeated("w i r e "),
    "new leet words": numbered("p4y{} "),
    "unspaced script": repeated("設"),
    "unspaced words": repeated("設定して"),
    "cyrillic": repeated("аё "),
    "marks": repeated("\u0f71\u0f72\u0f74"),
    "expanding ligatures": repeated("\ufdfa"),
    "full stops": repeated(". "),
    "opening signs": repeated("$"),
    "slashes": repeated("/"),
}


def units(text: str) -> int:
    """Find the smallest budget, to one part in fifty, that is enough for a text."""
    low, high = 0, 1 << 40
    while high - low > max(8, high // 50):
        middle = (low + high) // 2
        if "budget" in risk_floor(text, budget=middle).codes:
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_work_is_linear(text: Callable[[int], str]) -> None:
    once, four_times = units(text(2_000)), units(text(8_000))
    assert four_times <= 4.6 * once + 40


SLOWEST = ("new questions", "new sentences", "unspaced script", "lines", "marks")


@pytest.mark.parametrize("name", SLOWEST)
def test_four_mib_of_the_worst_text_is_judged(name: str) -> None:
    # A rule that is not linear would run into the time limit of the whole test.
    assert risk_floor("Wire $900 to Bo. " + NASTY[name](4 * MIB)).tier is Risk.HIGH
