import pytest

from clawmarshal.router.folding import fold, is_mixed, latin_look, unleet

ZERO_WIDTH = "\u200b"
SOFT_HYPHEN = "\u00ad"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        pytest.param(f"wi{ZERO_WIDTH}re", "wire", id="zero width"),
        pytest.param(f"wi{SOFT_HYPHEN}re", "wire", id="soft hyphen"),
        pytest.param("w\u2060i\ufeffr\u202ee", "wire", id="joiner, mark, direction"),
        pytest.param("ＷＩＲＥ", "wire", id="fullwidth"),
        pytest.param("𝐰𝐢𝐫𝐞", "wire", id="mathematical bold"),
        pytest.param("w̶i̷r̸ë", "wire", id="struck through"),
        pytest.param("Überweise", "uberweise", id="diacritics"),
        pytest.param("Łódź", "lodz", id="letters without a decomposition"),
        pytest.param("IŞIK ışık İptal", "isik isik iptal", id="turkish i"),
        pytest.param("Straße", "strasse", id="casefolding"),
        pytest.param("rm_rf", "rm rf", id="underscore"),
        pytest.param("wi\u0001re", "wire", id="control character"),
        pytest.param("設定してください", "設定してください", id="kana keep their marks"),
        pytest.param("알람", "알람", id="hangul is recomposed"),
        pytest.param("أَرْسِل", "ارسل", id="arabic vowel signs"),
        pytest.param("हटाओ", "हटाओ", id="devanagari keeps its vowels"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_fold_gives_the_plain_form(written: str, plain: str) -> None:
    assert fold(written).text == plain


def test_text_spelled_in_invisible_tags_is_read_and_reported() -> None:
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "Wire it")
    folded = fold(f"hello{hidden}")
    assert folded.hides_text
    assert folded.text == "hello\nwire it"


def test_the_flag_of_scotland_hides_nothing() -> None:
    flag = "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f"
    assert not fold(f"off to {flag} tomorrow").hides_text


def test_long_runs_of_reordering_marks_are_cut() -> None:
    # Canonical ordering is quadratic in such a run: uncut, this text takes minutes.
    folded = fold("a" + "\u0f71\u0f72\u0f74\u0f39" * 100_000)
    assert len(folded.text) < 20


def test_ligatures_that_stand_for_whole_phrases_do_not_blow_up() -> None:
    assert len(fold("\ufdfa" * 10_000).text) <= 10_000


def test_lone_surrogates_are_kept() -> None:
    assert fold("a\ud800b").text == "a\ud800b"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param("wіre", True, id="cyrillic i"),
        pytest.param("pαy", True, id="greek alpha"),
        pytest.param("wire", False, id="latin"),
        pytest.param("перевод", False, id="cyrillic"),
        pytest.param("μm", False, id="unit"),
        pytest.param("kω", False, id="ohm"),
    ],
)
def test_mixed_words_are_told(word: str, expected: bool) -> None:
    assert is_mixed(word) is expected


@pytest.mark.parametrize(
    ("word", "look"),
    [
        pytest.param("wіre", "wire", id="mixed"),
        pytest.param("рау", "pay", id="all cyrillic"),
        pytest.param("ѕend", "send", id="dze"),
    ],
)
def test_look_alikes_are_spelled_in_latin(word: str, look: str) -> None:
    assert latin_look(word) == look


@pytest.mark.parametrize(
    ("word", "readings"),
    [
        pytest.param("p4ssw0rd", {"password"}, id="digits"),
        pytest.param("de1ete", {"deiete", "delete"}, id="one is i or l"),
        pytest.param("$end", {"send"}, id="sign"),
        pytest.param("5000", set(), id="number"),
        pytest.param("4x4", set(), id="more digits than letters"),
        pytest.param("wire", set(), id="plain"),
        pytest.param("a1" * 40, set(), id="too long to be a word"),
    ],
)
def test_leet_words_are_read(word: str, readings: set[str]) -> None:
    assert set(unleet(word)) == readings
