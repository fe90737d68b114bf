"""A stated distribution, judged by the number, mass and tie rules of the wire contract."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from clawmarshal.errors import DecisionInvalidError

TIE_GAP = 0.01
COARSE_OFF = 0.10
NAMED_SLACK = 0.005
"""How far below the largest the option that a server names may be."""
FUZZ = 1e-9
"""Binary fractions: 0.15 - 0.14 is a hair under 0.01, and the server meant a whole step."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Probabilities that passed the rules, as stated and renormalised."""

    stated: Mapping[str, float]
    """As the server wrote them, in the order asked."""
    shares: Mapping[str, float]
    """Divided by their total: most probable first, ties by option name."""
    step: float
    """Half a step of the decimals shown; 0 where unrounded."""
    is_coarse: bool
    """The stated total was more than 0.10 off: shown, never acted on."""

    @property
    def top(self) -> str:
        """The most probable option."""
        return next(iter(self.shares))

    @property
    def is_tied(self) -> bool:
        """Tell whether the top two, as stated, are less than 0.01 apart; never with one option."""
        best = sorted(self.stated.values(), reverse=True)[:2]
        return len(best) == 2 and best[0] - best[1] < TIE_GAP - FUZZ


def read_distribution(options: Iterable[str], raw: object) -> Distribution:
    """Check a stated distribution over the options that were asked.

    Parameters
    ----------
    options
        What was asked, in its order.
    raw
        What came back; nothing about it is assumed.

    Raises
    ------
    DecisionInvalidError
        ``probabilities-missing``, ``options-differ``, ``number-invalid``, ``number-range``,
        ``mass-zero``, ``mass-off``.

    Notes
    -----
    Source: System One's published response format (typesafe-sdk 0.7.5), checked in autumn 2026;
    the tolerances are ours.
    """
    asked = tuple(options)
    if not isinstance(raw, Mapping):
        raise DecisionInvalidError(
            "the answer states no probabilities", code="probabilities-missing"
        )
    if len(raw) != len(asked) or any(option not in raw for option in asked):
        raise DecisionInvalidError(
            "the answer's options are not byte for byte those asked", code="options-differ"
        )
    stated = {str(option): read_number(raw[option]) for option in asked}
    step = shown_step(stated.values())
    total = _checked_total(tuple(stated.values()), step)
    shares = {option: value / total for option, value in stated.items()}
    return Distribution(
        stated=MappingProxyType(stated),
        shares=ranked(shares),
        step=step,
        is_coarse=abs(total - 1) > COARSE_OFF + FUZZ,
    )


def read_number(value: object, *, high: float = 1.0) -> float:
    """Return a finite number within 0 and `high`; integers are fine, booleans are not.

    Raises
    ------
    DecisionInvalidError
        ``number-invalid``, ``number-range``.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DecisionInvalidError("a figure is not a number", code="number-invalid")
    if isinstance(value, float) and not math.isfinite(value):
        raise DecisionInvalidError("a figure is not finite", code="number-invalid")
    # Compared before it is converted: an integer of 400 digits has no float.
    if not 0 <= value <= high:
        raise DecisionInvalidError(f"a figure is outside 0 to {high:g}", code="number-range")
    return float(value) + 0.0  # -0.0 becomes 0.0


def shown_step(values: Iterable[float]) -> float:
    """Return half a step of the decimals shown (2 to 6), or 0 where the values are unrounded."""
    shown = tuple(values)
    for decimals in range(2, 7):
        if all(round(value, decimals) == value for value in shown):
            return float(0.5 * 10**-decimals)
    return 0.0


def ranked(shares: Mapping[str, float]) -> Mapping[str, float]:
    """Order shares: most probable first, ties by option name."""
    order = sorted(shares, key=lambda option: (-shares[option], option))
    return MappingProxyType({option: shares[option] for option in order})


def averaged(first: Distribution, second: Distribution) -> Distribution:
    """Take the mean of two distributions over the same options."""
    stated = {option: (value + second.stated[option]) / 2 for option, value in first.stated.items()}
    shares = {option: (share + second.shares[option]) / 2 for option, share in first.shares.items()}
    return Distribution(
        stated=MappingProxyType(stated),
        shares=ranked(shares),
        step=max(first.step, second.step),
        is_coarse=first.is_coarse or second.is_coarse,
    )


def _checked_total(values: tuple[float, ...], step: float) -> float:
    total = math.fsum(values)
    if total <= 0:
        raise DecisionInvalidError("the probabilities are all zero", code="mass-zero")
    count = len(values)
    base = min(0.10, 0.01 + 0.005 * count)
    nonzero = sum(value > 0 for value in values)
    excess = total - 1
    if excess > max(base, step * nonzero) + FUZZ or -excess > max(base, step * count) + FUZZ:
        raise DecisionInvalidError(
            f"the probabilities add up to {total:.4g}, too far from 1", code="mass-off"
        )
    return total
