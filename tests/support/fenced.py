"""The fenced blocks of a Markdown file, and its links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    language: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The file that its first line names in a comment, if any."""
        found = re.match(r"(?:#|//) (\S+\.\w+)\n", self.text)
        return found[1] if found else None


def blocks_of(path: Path, *languages: str) -> list[Block]:
    """Return the blocks of a file in their order; all where no language is named."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
        if not languages or found[1] in languages
    ]


def links_of(path: Path) -> list[str]:
    """Return the relative links of a file."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    return [found[1] for found in _LINK.finditer(text) if "://" not in found[1]]


def headings_of(path: Path) -> list[str]:
    """Return the headings of a file, blocks aside."""
    return _HEADING.findall(_FENCE.sub("", path.read_text(encoding="utf-8")))


def documents() -> list[Path]:
    """Return every page that people read."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
