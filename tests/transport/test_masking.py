"""Secrets are cut out of what a child says of itself, by value and by name."""

import pytest

from clawmarshal.transport.masking import MASK, mask

SECRET = "s3cr3t-value-77"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"key {SECRET} refused", f"key {MASK} refused"),
        (f"{SECRET}{SECRET}", f"{MASK}{MASK}"),
        (f"… {SECRET[:9]}…", f"… {MASK}"),
        (f"…{SECRET[-8:]} refused", f"{MASK} refused"),
        ('401 {"token": "abcdefgh"}', f'401 {{"token": "{MASK}"}}'),
        ("api_key=abcdefgh&x=1", f"api_key={MASK}&x=1"),
        ("API-Key: abcdefgh", f"API-Key: {MASK}"),
        ("Authorization: Bearer abc.def-ghi", f"Authorization: Bearer {MASK}"),
        ("wss://ann:pass@desk.example/", f"wss://{MASK}@desk.example/"),
        ("https://h/x?token=abcdefgh#y", f"https://h/x?token={MASK}#y"),
        ("unauthorized: gateway token mismatch", "unauthorized: gateway token mismatch"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_words_are_masked(text: str, left: str) -> None:
    assert mask(text, [SECRET]) == left


def test_longer_secret_is_masked_whole() -> None:
    assert mask("abcdefghij", ["abcdef", "abcdefghij"]) == MASK


def test_short_value_masks_no_words_of_every_day() -> None:
    assert mask("a test of a token", ["a", "test"]) == "a test of a token"


@pytest.mark.timeout(60)  # seconds in proportion to the length; in that of text and secret, minutes
@pytest.mark.parametrize(
    "hostile",
    ["…", "://", "://a:", "token=", "token", "bearer ", "x", SECRET[:-1], "pass word:", "\n"],
)
def test_a_long_text_takes_time_in_proportion(hostile: str) -> None:
    text = hostile * (1024 * 1024 // len(hostile))
    masked = mask(f"{text}{SECRET}{text}", [SECRET, SECRET * 1500])
    assert SECRET not in masked
