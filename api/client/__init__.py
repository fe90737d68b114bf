"""A typed client of the HTTP API, sync and async; needs nothing of the service but its address."""

from clawmarshal.api.client.asynchronous import AsyncClient
from clawmarshal.api.client.errors import (
    ClientError,
    ConflictProblem,
    KeyRefusedProblem,
    NotFoundProblem,
    Problem,
    RefusedProblem,
    TooOftenProblem,
    UnavailableProblem,
    UnreachableError,
    UnreadableAnswerError,
)
from clawmarshal.api.client.results import (
    Agent,
    Attempt,
    Candidate,
    Event,
    Gate,
    Hold,
    HoldPage,
    Message,
    Route,
    RoutePage,
)
from clawmarshal.api.client.retries import Retries
from clawmarshal.api.client.synchronous import Client

__all__ = [
    "Agent",
    "AsyncClient",
    "Attempt",
    "Candidate",
    "Client",
    "ClientError",
    "ConflictProblem",
    "Event",
    "Gate",
    "Hold",
    "HoldPage",
    "KeyRefusedProblem",
    "Message",
    "NotFoundProblem",
    "Problem",
    "RefusedProblem",
    "Retries",
    "Route",
    "RoutePage",
    "TooOftenProblem",
    "UnavailableProblem",
    "UnreachableError",
    "UnreadableAnswerError",
]
