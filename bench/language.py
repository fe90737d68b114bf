"""Measure what the language functions find, and what they take English from.

    python bench/language.py --data DIR            print, and write bench/results/language.md
    python bench/language.py --data DIR --no-write only print

English messages are those of clinc10, banking77, fleet10, risk and the English part of xsid8; the
others are the German, Italian, Dutch and Turkish part of xsid8, alone and put into English text.
"""

import argparse
import datetime
import json
import platform
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from clawmarshal.router.language import is_english_throughout, looks_english

RESULTS = Path(__file__).parent / "results" / "language.md"
SEED = 20261201
OTHERS = ("de", "it", "nl", "tr")
AROUND = {
    "alone": "{x}",
    "a sentence before English": "{x}. {p}.",
    "a sentence after English": "{p}. {x}",
    "a line after English": "{p}\n{x}",
    "in an English sentence, first": "{x} and {p}",
    "in an English sentence, last": "{p} {x}",
    "in an English sentence, inside": "{p} {x} {q}",
    "word by word, English between": None,
}
WORSE = {
    "prose": "Please show me what is due this week. ",
    "short pieces": "it. ",
    "one word": "it ",
}


def main() -> int:
    """Print the tables, and write them unless told not to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--no-write", action="store_true")
    asked = parser.parse_args()
    text = "\n".join(_page(asked.data)) + "\n"
    print(text)
    if not asked.no_write:
        RESULTS.write_text(text)
    return 0


def _page(folder: Path) -> Iterator[str]:
    yield "# Language\n"
    yield (
        f"`python bench/language.py --data DIR`, {datetime.date.today()}, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}.\n"
    )
    yield (
        "`looks_english` judges a text and its sentences, `is_english_throughout` each few words "
        "in a row too.\n"
    )
    yield "English messages taken for another language:\n"
    yield "| messages | rows | sentences | few words |\n| --- | --- | --- | --- |"
    english = _english(folder)
    for name, texts in english.items():
        yield _line(name, texts)
    calm = [text.rstrip(".!? ") for text in english["banking77"] if looks_english(text)]
    padding = [text for text in calm if len(text.split()) > 10]
    yield "\nMessages in de, it, nl and tr that are found not to be English:\n"
    yield "| where | rows | sentences | few words |\n| --- | --- | --- | --- |"
    others = [row["text"] for row in _rows(folder, "xsid8") if row["lang"] in OTHERS]
    for name, around in AROUND.items():
        yield _line(name, _padded(others, padding, around))
    yield "\nCPU seconds per MiB of `is_english_throughout`, one and four MiB:\n"
    yield "| text | 1 MiB | 4 MiB |\n| --- | --- | --- |"
    for name, unit in WORSE.items():
        yield f"| {name} | {_seconds(unit, 1):.2f} | {_seconds(unit, 4):.2f} |"


def _english(folder: Path) -> dict[str, list[str]]:
    names = ("clinc10", "banking77", "fleet10", "risk")
    found = {name: [row["text"] for row in _rows(folder, name)] for name in names}
    return found | {"xsid8": [r["text"] for r in _rows(folder, "xsid8") if r["lang"] == "en"]}


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    lines = (folder / f"{name}.dev.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _padded(texts: Sequence[str], padding: Sequence[str], around: str | None) -> list[str]:
    drawn = random.Random(SEED)
    made = []
    for text in texts:
        first, second = drawn.choice(padding), drawn.choice(padding)
        if around is not None:
            made.append(around.format(x=text, p=first, q=second))
        else:
            words = zip(text.split(), (first + " " + second).split(), strict=False)
            made.append(" ".join(word for pair in words for word in pair))
    return made


def _line(name: str, texts: Sequence[str]) -> str:
    judges = (looks_english, is_english_throughout)
    figures = " | ".join(f"{sum(not j(t) for t in texts) / len(texts):.3f}" for j in judges)
    return f"| {name} | {len(texts)} | {figures} |"


def _seconds(unit: str, mib: int) -> float:
    size = mib * 1024 * 1024
    # A sound beginning, so that the first word does not end the work.
    text = (WORSE["prose"] + unit * (size // len(unit)))[:size]
    start = time.process_time()
    is_english_throughout(text)
    return (time.process_time() - start) / mib


if __name__ == "__main__":
    sys.exit(main())
