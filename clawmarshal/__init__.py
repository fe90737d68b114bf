"""clawmarshal: the routing desk for fleets of OpenClaw agents."""

from clawmarshal._version import __version__
from clawmarshal.roster.agent import AgentSpec, Binding, Capability, Risk
from clawmarshal.roster.loader import load_roster
from clawmarshal.roster.roster import Roster
from clawmarshal.router.decision import Answers, Decision, DecisionModel
from clawmarshal.router.message import Attachment, InboundMessage
from clawmarshal.router.models.local import LocalDecisionModel
from clawmarshal.router.models.scripted import ScriptedModel
from clawmarshal.router.openclaw_router import OpenClawRouter
from clawmarshal.router.policy import Policy
from clawmarshal.router.reply import Reply
from clawmarshal.router.route import Gate, Outcome, Reason, Route, Via
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import Transport, Turn, TurnResult, TurnState

__all__ = [
    "AgentSpec",
    "Answers",
    "Attachment",
    "Binding",
    "Capability",
    "Decision",
    "DecisionModel",
    "Gate",
    "InboundMessage",
    "LocalDecisionModel",
    "OpenClawRouter",
    "OpenClawTransport",
    "Outcome",
    "Policy",
    "Reason",
    "Reply",
    "Risk",
    "Roster",
    "Route",
    "ScriptedModel",
    "Transport",
    "Turn",
    "TurnResult",
    "TurnState",
    "Via",
    "__version__",
    "load_roster",
]
