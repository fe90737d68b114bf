"""Finding: what one look found, and the mend."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from clawmarshal.transport.masking import mask
from clawmarshal.transport.text import clean_text

MAX_CHARS = 600


class Verdict(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


_EXIT = {Verdict.OK: 0, Verdict.WARN: 1, Verdict.FAIL: 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about one thing; texts are cleaned, bounded and without secrets."""

    name: str
    """What was looked at, a stable slug."""
    verdict: Verdict
    detail: str
    mend: str | None = None
    """What to do about it; None where nothing needs doing."""

    def __post_init__(self) -> None:
        """Clean what came from outside."""
        object.__setattr__(self, "detail", _shown(self.detail))
        if self.mend is not None:
            object.__setattr__(self, "mend", _shown(self.mend))


def ok(name: str, detail: str) -> Finding:
    """Find nothing wrong."""
    return Finding(name, Verdict.OK, detail)


def warn(name: str, detail: str, *, mend: str | None = None) -> Finding:
    """Find something that somebody should look at."""
    return Finding(name, Verdict.WARN, detail, mend)


def fail(name: str, detail: str, *, mend: str) -> Finding:
    """Find something that stops messages, or loses them."""
    return Finding(name, Verdict.FAIL, detail, mend)


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 0 where all is well, 1 with a warning, 2 with a failure."""
    return max((_EXIT[finding.verdict] for finding in findings), default=0)


def _shown(text: str) -> str:
    return " ".join(clean_text(mask(text), limit=MAX_CHARS).split())
