"""One System One server asked by our client and by the official SDK: the same figures or not."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import typesafe_sdk as sdk

from clawmarshal.router.ballot import Ballot, ChoiceQuestion, NoulQuestion, Question, ScoreQuestion
from clawmarshal.router.decision import validate_answer
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.exchange import ApiKey
from clawmarshal.router.models.system_one import SystemOneModel

TEXT = "I was charged twice for my March invoice and I want the money back."
TEAMS = {
    "billing": "Payments, invoices and refunds.",
    "technical": "Bugs, outages and integrations.",
    "none_of_these": "Anything else.",
}
LEVELS = ("Calm", "Annoyed", "Furious")
QUESTIONS: Mapping[str, Question] = {
    "team": ChoiceQuestion("Which team should handle the request in `message`?", TEAMS),
    "anger": ScoreQuestion("How angry is the author of `message`?", LEVELS),
    "refund": NoulQuestion("The author of `message` asks for money back."),
}


@dataclass(frozen=True)
class Peer:
    """An independent server, and how it is asked."""

    script: str
    """Of `tests.support.peers`."""
    model: str
    key: str | None = None
    arguments: tuple[str, ...] = ()
    environ: Mapping[str, str] | None = None


PEERS = (
    Peer("jevcompat", "jev-latest", key="right", arguments=("--key", "right")),
    Peer("sparrow-decider", "sparrow-nano-general-v1.1"),
    Peer("microllm", "jev-latest", key="right", environ={"MICROLLM_API_KEY": "right"}),
    Peer("dev-double", "nimble"),
    Peer(
        "laya-serve",
        "laya-english",
        key="right",
        environ={"LAYA_SERVE_BACKEND": "fake", "LAYA_SERVE_API_KEY": "right"},
    ),
)


@dataclass(frozen=True)
class Reading:
    """What a client read, as plain figures by question."""

    model: str
    figures: Mapping[str, Mapping[str, float]]


def ours(url: str, peer: Peer) -> Reading:
    """Ask by our client; every answer is validated."""

    async def asked() -> Reading:
        key = ApiKey(peer.key) if peer.key else None
        async with SystemOneModel(url, peer.model, key=key) as model:
            ballot = Ballot(QUESTIONS)
            given = await model.answer(ballot, InboundMessage(TEXT), deadline_s=20)
        raw: Any = given.answers
        for name, question in QUESTIONS.items():
            validate_answer(question, raw[name])
        noul = {"true": float(raw["refund"]["noul"])}
        return Reading(given.model, _figures(raw["team"], raw["anger"], noul))

    return asyncio.run(asked())


def theirs(url: str, peer: Peer) -> Reading:
    """Ask by the official SDK."""
    questions: dict[str, sdk.Choice | sdk.Noul | sdk.Score | sdk.Box] = {
        "team": sdk.Choice(instructions=QUESTIONS["team"].instructions, criteria=TEAMS),
        "anger": sdk.Score(instructions=QUESTIONS["anger"].instructions, criteria=list(LEVELS)),
        "refund": sdk.Noul(instructions=QUESTIONS["refund"].instructions),
    }
    once = sdk.RetryPolicy(max_retries=0)
    with sdk.TypeSafeClient(base_url=url, api_key=peer.key or "none", retry=once) as client:
        given = client.system_one({"message": TEXT}, questions, model=peer.model)
    team, anger = given.choices["team"], given.scores["anger"]
    return Reading(
        given.model,
        _figures(
            {"probabilities": team.probabilities},
            {"probabilities": anger.probabilities, "score": anger.score},
            {"true": given.nouls["refund"].noul},
        ),
    )


def _figures(
    team: Mapping[str, Any], anger: Mapping[str, Any], noul: Mapping[str, float]
) -> Mapping[str, Mapping[str, float]]:
    levels = {str(level): float(share) for level, share in anger["probabilities"].items()}
    return {
        "team": {str(option): float(share) for option, share in team["probabilities"].items()},
        "anger": {**levels, "score": float(anger["score"])},
        "refund": noul,
    }


def farthest(one: Reading, other: Reading) -> float:
    """Return how far two readings are apart; infinite where they are about other things."""
    if one.model != other.model:
        return math.inf
    apart = [0.0]
    for name, figures in one.figures.items():
        if figures.keys() != other.figures[name].keys():
            return math.inf
        apart += [abs(share - other.figures[name][key]) for key, share in figures.items()]
    return max(apart)
