"""What the ledger takes in and gives back, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from clawmarshal.roster.agent import Risk
from clawmarshal.router.conversation import PastTurn
from clawmarshal.router.ledger.states import RESTING, HoldState, RouteState
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.route import Route


class Mode(StrEnum):
    """What the caller wants done."""

    DISPATCH = "dispatch"
    DECIDE = "decide"
    PROPOSE = "propose"
    """Held where a gate fires; otherwise ``decided`` until its caller launches it."""
    DRY_RUN = "dry_run"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts: a person or service behind a key. Identity is the person, not the key."""

    person: str
    key_id: str
    scopes: frozenset[str]
    """Among ``route``, ``pin``, ``review``, ``admin``; admin holds all."""
    address: str | None = None
    """Where the request came from, for the audit record."""
    trace: str | None = None
    """The trace that the request belongs to, for the audit record."""
    is_proxied: bool = False
    """True: no key was shown; a trusted proxy names the person."""

    def may(self, scope: str) -> bool:
        """Tell whether a scope is held."""
        return scope in self.scopes or "admin" in self.scopes


@dataclass(frozen=True, slots=True)
class Submission:
    """A message to be accepted, with what the caller asked for."""

    message: InboundMessage
    owner: str
    """The person whose key brought it; owns its rows."""
    mode: Mode = Mode.DISPATCH
    """Any but DRY_RUN, which never reaches the ledger."""
    idempotency_key: str | None = None
    pin: str | None = None
    on_uncertain: str = "hold"
    clarifies: str | None = None
    cancel_on_disconnect: bool = False
    reply_target: str | None = None
    trace: str | None = None
    """The trace that the request belongs to; no part of what makes a repeat."""

    @property
    def is_repeatable(self) -> bool:
        """True when a second coming would be known for one."""
        return self.idempotency_key is not None or self.message.message_id is not None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The durable answer to a submission."""

    route_id: str
    created: bool
    """False when the message had been accepted before."""
    deduplicated_by: str | None
    """``key`` or ``message_id`` for a repeat, else None."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a caller was told of a message, byte for byte."""

    status: int
    body: str


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One launch of the CLI for one route."""

    id: str
    number: int
    """1 for the first."""
    worker: str
    fence: int
    state: str
    """``launching``, ``running``, or a `TurnState`."""
    agent: str
    session_key: str
    generation: int
    launched_at: datetime
    lease_until: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    pid: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    run_id: str | None = None
    code: str | None = None
    detail: str | None = None
    cli_version: str | None = None
    cancel_unconfirmed: bool = False
    facts: Mapping[str, object] = field(default_factory=dict)
    late_evidence: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class HoldRecord:
    """A route waiting for a human."""

    id: str
    """``hd_`` and 32 hex digits."""
    route_id: str
    owner: str
    state: HoldState
    suggestion: str | None
    """The best real agent, or None."""
    reason: str
    gates: tuple[Mapping[str, object], ...]
    """The gates that were shown: number, reason, detail."""
    risk: Risk
    digest: str
    """What an approval is bound to; see docs/decisions.md and GUARANTEES."""
    created_at: datetime
    expires_at: datetime | None
    decision: str | None = None
    """``approve`` or ``reject`` once answered."""
    agent: str | None = None
    """The agent it was approved for."""
    person: str | None = None
    decided_at: datetime | None = None
    note: str | None = None
    """The reviewer's note, or the reason of a reject."""
    approvals: tuple[str, ...] = ()
    """Who said yes, the first first, where it takes two people."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A reviewer's word that they look at a hold; it ends by itself and answers nothing."""

    person: str
    claimed_at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class RouteFilter:
    """Which routes are wanted; what is None narrows nothing."""

    state: str | None = None
    agent: str | None = None
    words: str | None = None
    """Stand in the text, the sender, the channel or the conversation, or are the route's id."""
    outcome: str | None = None
    reason: str | None = None
    mode: str | None = None
    channel: str | None = None
    account: str | None = None
    sender: str | None = None
    conversation: str | None = None
    since: datetime | None = None
    """Accepted then or later."""
    until: datetime | None = None
    """Accepted before."""


@dataclass(frozen=True, slots=True)
class HoldFilter:
    """Which holds are wanted; what is None narrows nothing."""

    state: str | None = "open"
    risk: str | None = None
    reason: str | None = None
    agent: str | None = None
    """The suggestion, or the agent it was approved for."""
    route_id: str | None = None
    person: str | None = None
    """Who answered it."""
    since: datetime | None = None
    """Opened then or later."""
    until: datetime | None = None
    """Opened before."""


@dataclass(frozen=True, slots=True)
class FoundRoute:
    """A route with what tells it from others in a list."""

    id: str
    state: RouteState
    accepted_at: datetime
    updated_at: datetime
    agent: str | None
    reason: str | None
    risk: str | None
    confidence: float | None
    channel: str | None
    sender: str | None
    excerpt: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """An earlier message of a conversation and what came back, each cut to a bounded length."""

    route_id: str
    at: datetime
    state: RouteState
    sender: str | None
    text: str
    agent: str | None
    reply: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Where a route stands that is ready and not launched yet."""

    since: datetime
    position: int
    """From 1 over all that are ready; what has room may overtake what has none."""
    in_session: int
    """How many before it in its own session must end first."""


@dataclass(frozen=True, slots=True)
class Queue:
    """What is ready and not launched yet."""

    waiting: int
    oldest_s: float
    """Seconds the oldest has waited; 0 when none does."""


@dataclass(frozen=True, slots=True)
class RouteRecord:
    """Everything the ledger knows about one route."""

    id: str
    owner: str
    state: RouteState
    mode: Mode
    message: InboundMessage
    pin: str | None
    on_uncertain: str
    clarifies: str | None
    reply_target: str | None
    idempotency_key: str | None
    accepted_at: datetime
    updated_at: datetime
    route: Route | None
    """The decision; None until it is made."""
    agent: str | None
    """The agent that is or was to be launched; may differ from ``route.agent`` after approval."""
    reason: str | None
    """Why it stands where it stands; a gate's code, or the code of a failure."""
    ran: bool | None
    """True: the turn ran. False: it certainly did not. None: not known, or not launched."""
    reply_text: str | None
    tool_sends: tuple[Mapping[str, object], ...]
    attempts: tuple[AttemptRecord, ...]
    hold: HoldRecord | None
    """The newest hold, in whatever state."""
    explanation: Mapping[str, object] = field(default_factory=dict)
    """What was recorded to explain the decision: ballot, thresholds, switches; JSON values."""
    cancel_on_disconnect: bool = False
    waiting: Waiting | None = None
    """Only while it is ``ready``."""
    grace_until: datetime | None = None
    """While it is ``approved``: until when that can be called back, and nothing is launched."""
    is_erased: bool = False
    """What the message said was erased on request; its text is empty."""
    evidence: tuple["Event", ...] = ()
    """What was found of launches whose outcome was lost, oldest first."""

    @property
    def is_resting(self) -> bool:
        """True when nothing moves until a person or time does."""
        return self.state in RESTING


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A seal over all events up to one; kept elsewhere, it proves that nothing was taken away."""

    at: datetime
    through: int
    """The number of the last event it covers."""
    count: int
    """How many events it adds to the checkpoint before."""
    digest: str


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """A route that this worker, and no other, may launch now; `launching` is committed."""

    route_id: str
    attempt_id: str
    fence: int
    message: InboundMessage
    agent: str
    agent_digest: str
    session_key: str
    lease_s: float
    """Seconds from the commit until the lease runs out unless renewed."""
    worker: str = ""
    """Who holds the lease."""
    launch_window_s: float = 0.0
    """Seconds from the commit after which the launcher must refuse to start; inside the lease."""
    timeout_s: int = 600
    """``--timeout`` of the turn."""


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """A worker that lives."""

    id: str
    """``wk_`` and 32 hex digits."""
    name: str
    started_at: datetime
    seen_at: datetime
    agents: tuple[str, ...]
    """Whose OpenClaw it reaches."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The newest attempt of a route whose outcome is unknown."""

    route_id: str
    attempt_id: str
    agent: str
    session_key: str
    run_id: str | None
    launched_at: datetime
    text: str = field(repr=False)
    """As it was accepted."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the audit trail; holds no message text."""

    number: int
    """Rises within the ledger."""
    route_id: str
    at: datetime
    actor: str
    kind: str
    facts: Mapping[str, object]
    digest: str
    """Hash that chains the events of one route."""


@dataclass(frozen=True, slots=True)
class ConversationView:
    """What the ledger knows of a conversation when a new message comes."""

    agent: str | None = None
    """The agent that the conversation is with."""
    repeats: int = 0
    """How often the same digest came within ten minutes, this message included."""
    in_conversation: int = 0
    """Messages in the conversation within the window, this one included."""
    from_sender: int = 0
    """Messages from the sender within the window, this one included; 0 without a sender."""
    past: tuple[PastTurn, ...] = ()
    """The last turns before this message, oldest first; bounded in number, length and age."""


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key, without the key."""

    id: str
    """``ck_`` and 32 hex digits."""
    name: str
    person: str
    """Who acts when the key is used; two keys of one person are one person."""
    scopes: frozenset[str]
    created_at: datetime
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    """When it ends by itself; None: never."""
    last_used_at: datetime | None = None
    """To the minute, so that reading does not mean writing; None: never."""
    last_address: str | None = None
    replaced_by: str | None = None
    """The key that a rotation put in its place; until `expires_at` both are valid."""
    is_proxied: bool = False
    """True: no key at all, but a person whom a trusted proxy names."""

    def is_valid(self, now: datetime) -> bool:
        """Tell whether it lets anybody in at a time."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)
