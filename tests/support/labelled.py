"""Labelled messages that are easy to tell apart, for fits that take no time."""

import itertools
import json
from pathlib import Path

WORDS = {
    "finance": ("invoice", "tax", "bookkeeping", "budget", "portfolio"),
    "security": ("breach", "credential", "phishing", "access", "alert"),
    "none": ("tomato", "holiday", "football", "guitar", "weather"),
}
FORMS = (
    "What about the {}?",
    "Tell me of my {} today",
    "The {} again, please",
    "Anything new on {}",
    "I have a question about a {}",
)


def labelled(*agents: str, count: int = 25) -> list[dict[str, str]]:
    """Make rows, `count` at most for each of these agents."""
    rows = []
    for agent in agents:
        pairs = itertools.islice(itertools.product(FORMS, WORDS[agent]), count)
        rows += [
            {"id": f"{agent}-{number}", "text": form.format(word), "agent": agent}
            for number, (form, word) in enumerate(pairs)
        ]
    return rows


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    """Write rows as lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
