"""A desk with everything real but the model and the transport."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from clawmarshal.roster.agent import AgentSpec, Capability
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.challenger import Challenger
from clawmarshal.router.decider import Decider
from clawmarshal.router.decision import DecisionModel
from clawmarshal.router.desk import RoutingDesk
from clawmarshal.router.fleet import FleetWatch
from clawmarshal.router.ledger.dispatcher import Dispatcher
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Mode, Principal, Submission
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from clawmarshal.router.policy import Policy
from tests.support.fake_transport import FakeTransport

FLEET = Roster(
    [
        AgentSpec("finance", "Invoices, bookkeeping, tax deadlines."),
        AgentSpec("personal", "Appointments, errands, travel."),
        AgentSpec("vault", "Passwords and keys.", capabilities=(Capability.EXECUTE,)),
    ]
)
SAFE = "What is the filing deadline for the quarterly sales tax return?"
REVIEWER = Principal("rita", "ck_1", frozenset({"review"}))
LOW = {"low": 0.9, "medium": 0.08, "high": 0.02}
MEDIUM = {"low": 0.2, "medium": 0.7, "high": 0.1}
HIGH = {"low": 0.05, "medium": 0.05, "high": 0.9}

Scene = Callable[[Ballot, InboundMessage], dict[str, object]]


def says(
    agent: str = "finance",
    share: float = 0.9,
    risk: dict[str, float] | None = None,
    **others: float,
) -> Scene:
    """Script a model that is sure of one agent and of one tier."""

    def scene(ballot: Ballot, message: InboundMessage) -> dict[str, object]:
        return scripted_answers(ballot, agent={agent: share, **others}, risk=risk or LOW)

    return scene


def submission(text: str = SAFE, *, mode: Mode = Mode.DISPATCH, **fields: object) -> Submission:
    """Make a submission; fields of the message and of the submission alike."""
    names = {"channel", "account", "sender", "conversation", "message_id", "labels"}
    of_message = {name: value for name, value in fields.items() if name in names}
    rest = {name: value for name, value in fields.items() if name not in names}
    message = InboundMessage(text, **of_message)  # type: ignore[arg-type]  # named above
    return Submission(message, **{"owner": "ann", "mode": mode, **rest})  # type: ignore[arg-type]  # as above


class Source:
    """A live fleet that is what it is set to."""

    def __init__(self) -> None:
        self.agents: frozenset[str] | None = None

    async def fleet(self) -> frozenset[str] | None:
        return self.agents


@dataclass
class Room:
    """The running parts."""

    desk: RoutingDesk
    dispatcher: Dispatcher
    ledger: Ledger
    transport: FakeTransport
    fleet: FleetWatch
    source: Source


@asynccontextmanager
async def room(
    path: Path,
    *,
    model: DecisionModel | None = None,
    policy: Policy | None = None,
    transport: FakeTransport | None = None,
    roster: Roster = FLEET,
    is_shadow: bool = False,
    dispatches: bool = True,
    housekeeping_s: float = 5.0,
    challenger: Challenger | None = None,
) -> AsyncIterator[Room]:
    """Run a desk over a ledger in ``path``."""
    ledger = Ledger(f"sqlite:///{path}/ledger.db")
    transport = transport or FakeTransport()
    source = Source()
    fleet = FleetWatch(source)
    decider = Decider(model or ScriptedModel(says()), roster, policy=policy)
    desk = RoutingDesk(
        decider,
        ledger,
        transport=transport,
        fleet=fleet,
        is_shadow=is_shadow,
        housekeeping_s=housekeeping_s,
        challenger=challenger,
    )
    dispatcher = Dispatcher(ledger, transport, terms=desk.terms)
    desk.connect(on_cancel=dispatcher.cancel)
    if dispatches:
        await dispatcher.start()
    await desk.start()
    try:
        yield Room(desk, dispatcher, ledger, transport, fleet, source)
    finally:
        transport.release()
        if dispatches:
            await dispatcher.close()
        await desk.close()
        ledger.close()
