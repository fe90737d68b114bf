"""Verify a hosted System One server with a key of your own: opt-in, never run by tests.

Sends a handful of small requests (well under a cent at published prices) and prints what a desk
relies on: the model that answers, whether every answer passes validation in strict mode, how far
both orders agree, how much a repeated request moves, and the latency.

    CLAWMARSHAL_VERIFY_KEY=… python bench/verify_hosted.py https://api.typesafe.ai jev-1.13.0

The key is read from that variable alone, is sent to the given origin alone, and is never printed.
"""

import argparse
import asyncio
import os
import statistics
import sys

from clawmarshal.errors import ClawmarshalError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.decision import Decision, validate_fleet
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.exchange import ApiKey
from clawmarshal.router.models.system_one import SystemOneModel

KEY = "CLAWMARSHAL_VERIFY_KEY"
FLEET = Roster(
    [
        AgentSpec("finance", "Invoices, bookkeeping, tax deadlines and expense reports."),
        AgentSpec("security", "Breach alerts, stolen passwords and suspicious access."),
        AgentSpec("travel", "Flights, hotels and rental cars."),
    ]
)
CASES = {
    "When is the VAT return for this quarter due?": "finance",
    "Someone logged in to my account from abroad": "security",
    "Move my flight to Lisbon to Tuesday": "travel",
    "Wie backe ich einen Kuchen ohne Eier?": "none_of_these",
}


def large_fleet(size: int) -> Roster:
    """Make a fleet whose right agent is somewhere in the middle."""
    others = [AgentSpec(f"unit-{n:03}", f"Spare parts of machine type {n}.") for n in range(size)]
    return Roster([*others, *FLEET])


async def decide(model: SystemOneModel, roster: Roster, text: str) -> tuple[Decision, float]:
    """Ask once, and validate strictly."""
    message = InboundMessage(text)
    ballot = fleet_ballot(roster, message)
    answers = await model.answer(ballot, message, deadline_s=15)
    return validate_fleet(ballot, answers, strict=True), answers.latency_ms


async def verify(model: SystemOneModel) -> int:
    """Run every check, print a line for each, and return how many failed."""
    failed, latencies = 0, []
    for text, expected in CASES.items():
        decision, latency_ms = await decide(model, FLEET, text)
        again, again_ms = await decide(model, FLEET, text)
        latencies += [latency_ms, again_ms]
        moved = max(
            abs(share - again.agent.probabilities[option])
            for option, share in decision.agent.probabilities.items()
        )
        is_right = decision.agent.option == expected
        failed += not is_right or "model-mismatch" in decision.notes
        print(
            f"{'ok  ' if is_right else 'FAIL'} {expected:14} {decision.agent.option:14} "
            f"p={decision.agent.confidence:.2f} orders_agree={decision.orders_agree} "
            f"moved={moved:.3f} risk={decision.risk.option if decision.risk else '-'} "
            f"model={decision.model} {' '.join(decision.notes)}"
        )
    decision, latency_ms = await decide(model, large_fleet(60), next(iter(CASES)))
    is_right = decision.agent.option == "finance"
    failed += not is_right
    print(f"{'ok  ' if is_right else 'FAIL'} 63 agents: {' '.join(decision.notes)}")
    print(f"latency: median {statistics.median(latencies):.0f} ms, most {max(latencies):.0f} ms")
    print(f"63 agents: {latency_ms:.0f} ms; usage of the last: {decision.usage}")
    return failed


async def run(options: argparse.Namespace) -> int:
    """Make the client, verify, and close it."""
    key = os.environ.get(KEY)
    async with SystemOneModel(
        options.base_url,
        options.model,
        path=options.path,
        key=ApiKey(key) if key else None,
        answers_as=options.answers_as,
        option_cap=options.option_cap,
        envelope=options.envelope,
    ) as model:
        return await verify(model)


def main() -> int:
    """Read the command line; 0 when everything holds, 1 when not, 2 when nothing could be asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base_url")
    parser.add_argument("model", help="the pinned model id")
    parser.add_argument("--path", default="/v1/systemone")
    parser.add_argument("--answers-as", action="append", default=[], metavar="ID")
    parser.add_argument("--option-cap", type=int, default=24)
    parser.add_argument("--envelope", action="store_true")
    try:
        return 1 if asyncio.run(run(parser.parse_args())) else 0
    except ClawmarshalError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
