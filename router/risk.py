"""The deterministic risk floor."""

from dataclasses import dataclass

from clawmarshal.roster.agent import Risk


@dataclass(frozen=True, slots=True)
class RiskFloor:
    """What the rules alone say about a text."""

    tier: Risk
    codes: tuple[str, ...] = ()
    """Reason codes of the rules that matched, sorted; empty for low."""


def risk_floor(text: str) -> RiskFloor:
    """Judge a whole text by rules a person can read.

    Parameters
    ----------
    text
        Any length; folded and judged per sentence, the maximum wins.
    """
    raise NotImplementedError
