"""AgentSpec, and what a valid agent id is."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from types import MappingProxyType

from clawmarshal.errors import Fault, RosterSchemaError

AGENT_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
RESERVED_IDS = frozenset({"none_of_these", "none", "all", "__proto__"})
ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
TAG = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}", re.ASCII)
UNSAFE = re.compile("[\x00\ud800-\udfff]")
"""Characters that cannot travel as UTF-8 text."""
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
MAX_TEXT_CHARS = 4000
MAX_NAME_CHARS = 200
MAX_ORIGIN_CHARS = 512
MAX_TEXTS = 100


class Risk(StrEnum):
    """How much harm could follow if a request were carried out wrongly."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def level(self) -> int:
        """0, 1 or 2; use it to compare tiers."""
        return _LEVELS[self]


_LEVELS = {Risk.LOW: 0, Risk.MEDIUM: 1, Risk.HIGH: 2}


class Capability(StrEnum):
    """What an agent can do to the world by itself."""

    MONEY = "money"
    EXECUTE = "execute"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Binding:
    """Where messages must come from for an agent to be on the ballot.

    Raises
    ------
    RosterSchemaError
        A part is not a text of 1 to 512 characters.
    """

    channel: str
    """Exact channel name."""
    account: str | None = None
    """Exact account, or None for any."""
    conversation: str | None = None
    """Exact conversation, or None for any."""

    def __post_init__(self) -> None:
        """Check every part."""
        parts = {"channel": self.channel}
        parts |= {k: v for k in ("account", "conversation") if (v := getattr(self, k)) is not None}
        faults = [
            Fault(f"binding: {name} is a text of 1 to {MAX_ORIGIN_CHARS} characters")
            for name, value in parts.items()
            if not _is_line(value, MAX_ORIGIN_CHARS)
        ]
        if faults:
            raise RosterSchemaError(faults, source="binding")

    def matches(self, channel: str | None, account: str | None, conversation: str | None) -> bool:
        """Tell whether a message from there may reach the agent."""
        return (
            self.channel == channel
            and self.account in (None, account)
            and self.conversation in (None, conversation)
        )


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Describe one agent of the fleet.

    Raises
    ------
    RosterSchemaError
        Any field is out of its range; every fault is listed at once.

    Notes
    -----
    Source: docs/roster.md. The id's shape is narrower than OpenClaw's own, since OpenClaw parses
    root options even in value position (measured on 2026.9.6).
    """

    id: str
    """``^[a-z0-9][a-z0-9_-]{0,63}$``, not all digits, not reserved."""
    description: str
    """The remit: what the agent owns, in one or two concrete sentences. The whole ballot."""
    _: KW_ONLY
    name: str | None = None
    """For people; the id where None."""
    examples: tuple[str, ...] = ()
    """Messages that belong to the agent; five or more help, fewer than four are weighted down."""
    not_for: tuple[str, ...] = ()
    """What the agent does not cover although its remit might suggest it."""
    tags: tuple[str, ...] = ()
    """Slugs. A message labelled ``tag:NAME`` reaches only agents with that tag."""
    enabled: bool = True
    """A disabled agent stays on the ballot, and its messages are held."""
    max_risk: Risk | None = None
    """The highest tier that may be dispatched unseen; see `risk_limit`."""
    min_probability: float | None = None
    """Overrides the policy's threshold for this agent. In 0..1."""
    capabilities: tuple[Capability, ...] = ()
    """What the agent can do to the world; any of them lowers the default `risk_limit`."""
    bindings: tuple[Binding, ...] = ()
    """Hard filter: with any, only messages that match one reach the agent."""
    timeout_s: int | None = None
    """Seconds a turn may run, 1 to 3600; the transport's default where None."""
    concurrency: int = 1
    """How many turns of this agent may run at once, 1 to 64."""
    env: tuple[str, ...] = ()
    """Names of environment variables that reach this agent's child."""
    extensions: Mapping[str, object] = field(default_factory=dict, compare=False, hash=False)
    """The ``x-…`` keys of the file, JSON values; they decide nothing."""
    digest: str = field(init=False, repr=False, compare=False)
    """SHA-256 over every field but `extensions`, lower-case hex."""

    def __post_init__(self) -> None:
        """Normalise sequences to tuples and check every field."""
        put = object.__setattr__
        for name in ("examples", "not_for", "tags", "capabilities", "bindings", "env"):
            put(self, name, _as_tuple(getattr(self, name)))
        faults = [*id_faults(self.id), *self._text_faults(), *self._origin_faults()]
        faults += self._number_faults() + self._settle_tiers()
        if isinstance(self.extensions, Mapping):
            put(self, "extensions", MappingProxyType(dict(self.extensions)))
        else:
            faults.append("extensions map x-… names to JSON values")
        if faults:
            who = self.id[:64] if isinstance(self.id, str) else type(self.id).__name__
            raise RosterSchemaError([Fault(f"agent {who!r}: {f}") for f in faults], source="agent")
        put(self, "digest", hashlib.sha256(self._canonical().encode()).hexdigest())

    @property
    def risk_limit(self) -> Risk:
        """The highest tier that may be dispatched unseen."""
        if self.max_risk is not None:
            return self.max_risk
        return Risk.LOW if self.capabilities else Risk.MEDIUM

    @property
    def label(self) -> str:
        """The name people see."""
        return self.name or self.id

    def accepts(
        self,
        *,
        channel: str | None,
        account: str | None,
        conversation: str | None,
        required_tags: frozenset[str] = frozenset(),
    ) -> bool:
        """Tell whether the hard filters (bindings, tags) let a message reach this agent."""
        if not required_tags <= set(self.tags):
            return False
        if not self.bindings:
            return True
        return any(b.matches(channel, account, conversation) for b in self.bindings)

    def _settle_tiers(self) -> list[str]:
        """Turn names of tiers and capabilities into enum members; list those that are none."""
        faults = []
        try:
            members = {Capability(c) for c in self.capabilities}
            object.__setattr__(self, "capabilities", tuple(sorted(members)))
        except ValueError:
            faults.append(f"capabilities are among {', '.join(Capability)}")
        try:
            limit = None if self.max_risk is None else Risk(self.max_risk)
            object.__setattr__(self, "max_risk", limit)
        except ValueError:
            faults.append(f"max_risk is one of {', '.join(Risk)}")
        return faults

    def _text_faults(self) -> list[str]:
        faults = []
        if not isinstance(self.description, str) or not self.description.strip():
            faults.append("the description (remit) is empty")
        elif not _is_text(self.description, MAX_TEXT_CHARS):
            faults.append(
                f"the description is at most {MAX_TEXT_CHARS} characters, no NUL, no surrogate"
            )
        if self.name is not None and not _is_line(self.name, MAX_NAME_CHARS):
            faults.append(f"name is one line of 1 to {MAX_NAME_CHARS} characters")
        for name in ("examples", "not_for"):
            values = getattr(self, name)
            if not all(_is_text(value, MAX_TEXT_CHARS) for value in values):
                faults.append(f"{name} are non-blank texts of at most {MAX_TEXT_CHARS} characters")
            if len(values) > MAX_TEXTS:
                faults.append(f"more than {MAX_TEXTS} {name}")
        return faults

    def _origin_faults(self) -> list[str]:
        faults = []
        if not all(isinstance(tag, str) and TAG.fullmatch(tag) for tag in self.tags):
            faults.append("tags are slugs: lower-case letters, digits, '_', '.', '-'")
        if not all(isinstance(name, str) and ENV_NAME.fullmatch(name) for name in self.env):
            faults.append("env lists names of environment variables, never values")
        if not all(isinstance(binding, Binding) for binding in self.bindings):
            faults.append("bindings are Binding values")
        return faults

    def _number_faults(self) -> list[str]:
        faults = []
        if not isinstance(self.enabled, bool):
            faults.append("enabled is true or false")
        if self.min_probability is not None:
            if _is_between(self.min_probability, 0, 1):
                # 1 and 1.0 are the same threshold and must give the same digest.
                object.__setattr__(self, "min_probability", float(self.min_probability))
            else:
                faults.append("min_probability is between 0 and 1")
        if self.timeout_s is not None and not _is_whole(self.timeout_s, 1, 3600):
            faults.append("timeout_s is a whole number of seconds, 1 to 3600")
        if not _is_whole(self.concurrency, 1, 64):
            faults.append("concurrency is a whole number, 1 to 64")
        return faults

    def _canonical(self) -> str:
        fields = {
            "id": self.id,
            "description": self.description,
            "name": self.name,
            "examples": self.examples,
            "not_for": self.not_for,
            "tags": sorted(self.tags),
            "enabled": self.enabled,
            "max_risk": self.max_risk,
            "min_probability": self.min_probability,
            "capabilities": self.capabilities,
            "bindings": sorted(
                [b.channel, b.account or "", b.conversation or ""] for b in self.bindings
            ),
            "timeout_s": self.timeout_s,
            "concurrency": self.concurrency,
            "env": sorted(self.env),
        }
        return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def id_faults(agent_id: object) -> list[str]:
    """List what is wrong with an agent id; empty when nothing is."""
    if not isinstance(agent_id, str):
        return ["the id is not a text"]
    if agent_id.casefold() in RESERVED_IDS:
        return ["the id is reserved"]
    if not AGENT_ID.fullmatch(agent_id):
        return ["the id does not match ^[a-z0-9][a-z0-9_-]{0,63}$"]
    if agent_id.isdigit():
        return ["the id is all digits (JSON objects re-order such keys)"]
    return []


def _as_tuple(value: object) -> tuple[object, ...]:
    """Take one text, or anything that cannot be walked, as a sequence of one."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (value,)
    return tuple(value)


def _is_text(value: object, max_chars: int) -> bool:
    if not isinstance(value, str) or not value.strip() or len(value) > max_chars:
        return False
    return UNSAFE.search(value) is None


def _is_line(value: object, max_chars: int) -> bool:
    return isinstance(value, str) and _is_text(value, max_chars) and not CONTROL.search(value)


def _is_between(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
