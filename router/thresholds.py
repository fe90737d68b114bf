"""Policy and Circumstances: the figures and facts that the gates compare."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum

from clawmarshal.errors import Fault, SettingsError
from clawmarshal.roster.agent import Risk, id_faults
from clawmarshal.router.operator_rules import OperatorRule, rule_faults


class OnNoMatch(StrEnum):
    """What becomes of a message that no agent covers."""

    HOLD = "hold"
    DECLINE = "decline"


class OnUncertain(StrEnum):
    """What a caller asks for where the decision is uncertain."""

    HOLD = "hold"
    CLARIFY = "clarify"


class Directives(StrEnum):
    """What becomes of a text that OpenClaw would read as a command."""

    HOLD = "hold"
    NEUTRALISE = "neutralise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The thresholds and switches of the gates; the defaults are safe to start with.

    Raises
    ------
    SettingsError
        Any value is out of its range; every fault is listed at once.

    Notes
    -----
    Source: docs/policy.md.
    """

    min_probability: float = 0.5
    """Gate 8: the least probability of the answer given. An agent's own overrides it. 0..1."""
    min_margin: float = 0.05
    """Gate 8: the least distance to the runner-up. 0..1."""
    max_high_probability: float = 0.30
    """Gate 3: the most P(high) that passes unseen, for whatever target. 0..1; 1 passes all."""
    switch_margin: float = 0.15
    """How much more probable another agent must be to take a conversation over. 0..1."""
    on_no_match: OnNoMatch = OnNoMatch.HOLD
    """Gate 7."""
    directives: Directives = Directives.HOLD
    """Gate 5; with ``neutralise`` the launcher sends the text of `directives.neutralise`."""
    fallback: str | None = None
    """Id of the agent that gets what no agent covers, or None."""
    loop_repeats: int = 3
    """Gate 6: fires when a digest comes this often in a conversation within `loop_window_s`."""
    loop_window_s: int = 600
    max_messages: int = 20
    """Gate 6: fires over this many messages, by conversation or sender, in `rate_window_s`."""
    rate_window_s: int = 60
    non_english_floor: Risk | None = Risk.MEDIUM
    """Gate 3: the least tier of a text that is not recognisably English, where the target can act
    (`AgentSpec.capabilities`): the rules read English best. None switches it off."""
    unasked_floor: Risk | None = None
    """Gate 3: the least tier of a message for an agent that the live OpenClaw lets send or run
    programs without being asked. None: what its roster entry says is all that counts."""
    rules: tuple[OperatorRule, ...] = ()
    """Gate 3: words of the operator's own that raise the floor; at most 100."""

    @property
    def digest(self) -> str:
        """Hash of every threshold, switch and rule; the same for the same policy."""
        canonical = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def __post_init__(self) -> None:
        """Normalise the words and check every figure."""
        faults: list[str] = []
        for name in ("min_probability", "min_margin", "max_high_probability", "switch_margin"):
            if not _is_share(getattr(self, name)):
                faults.append(f"{name} is a number between 0 and 1")
        for name, least in (
            ("loop_repeats", 2),
            ("loop_window_s", 1),
            ("max_messages", 1),
            ("rate_window_s", 1),
        ):
            if not _is_count(getattr(self, name), least):
                faults.append(f"{name} is a whole number from {least}")
        self._take_word("on_no_match", OnNoMatch, faults)
        self._take_word("directives", Directives, faults)
        for name in ("non_english_floor", "unasked_floor"):
            if getattr(self, name) is not None:
                self._take_word(name, Risk, faults)
        if self.fallback is not None and id_faults(self.fallback):
            faults.append("fallback is the id of an agent")
        if isinstance(self.rules, list):
            object.__setattr__(self, "rules", tuple(self.rules))
        faults += rule_faults(self.rules)
        if faults:
            raise SettingsError("policy", faults=[Fault(fault) for fault in faults])

    def _take_word(self, name: str, words: type[StrEnum], faults: list[str]) -> None:
        try:
            object.__setattr__(self, name, words(getattr(self, name)))
        except ValueError:
            faults.append(f"{name} is one of {', '.join(_texts(words))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What the gates are told besides the message and the decision about it."""

    caller_gone: bool = False
    """The caller left, or its deadline passed, before the message was accepted."""
    pin: str | None = None
    """The agent that a caller with the ``pin`` scope named; never taken from the text."""
    conversation_agent: str | None = None
    """The agent that the conversation is with."""
    repeats: int = 0
    """How often the same digest came in the conversation within the window, this one included."""
    in_conversation: int = 0
    """Messages in the conversation within the window, this one included."""
    from_sender: int = 0
    """Messages from the sender within the window, this one included; 0 without a sender."""
    live_agents: frozenset[str] | None = None
    """The ids of the live OpenClaw, or None where they could not be read."""
    unasked: frozenset[str] = frozenset()
    """The ids of agents that the live OpenClaw lets send or run unasked, as it was last known."""
    on_uncertain: str = OnUncertain.HOLD
    """``clarify`` where the caller asked for it; anything else holds."""
    is_english: bool = False
    """The text is recognisably English; False where nobody looked."""
    is_follow_up: bool = False
    """The text says nothing of its own (``yes, do that``): its conversation keeps its agent."""


def _is_share(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= 1


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _texts(words: Iterable[StrEnum]) -> list[str]:
    return [str(word) for word in words]
