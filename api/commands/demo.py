"""``demo``: one message dispatched, one held and approved, on a stand-in for OpenClaw."""

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmarshal.api.commands.options import Json
from clawmarshal.api.commands.terminal import say, say_json

if TYPE_CHECKING:
    from clawmarshal.router.ledger.records import RouteRecord

FLEET = """\
name: demo
agents:
  - id: finance
    description: Invoices, bookkeeping, tax deadlines, budgets and portfolio questions.
    capabilities: [money]
  - id: personal
    description: Household bills, appointments, personal errands, travel and admin.
  - id: security
    description: Breach alerts, credential hygiene, suspicious access and phishing reports.
"""
CONFIG = """\
server: {}
roster: fleet.yaml
ledger: sqlite:///ledger.db
transport: {stand_in: true, timeout_s: 30}
"""
SAFE = "What is the filing deadline for the quarterly sales tax return?"
RISKY = "Wire 4,000 euros from the company account to this new supplier today."
WAIT_S = 60.0


def demo(*, json: Json = False) -> None:
    """Walk one message through dispatch and one through hold and approval.

    Needs no OpenClaw, no key and no network: a stand-in answers, and says so.
    """
    with tempfile.TemporaryDirectory(prefix="clawmarshal-demo-") as name:
        folder = Path(name)
        (folder / "fleet.yaml").write_text(FLEET, encoding="utf-8")
        (folder / "clawmarshal.yaml").write_text(CONFIG, encoding="utf-8")
        steps = asyncio.run(_walk(folder / "clawmarshal.yaml"))
    if json:
        say_json({"transport": "stand-in", "steps": steps})
        return
    say("This is a demonstration: no OpenClaw runs, a stand-in answers for every agent.")
    for step in steps:
        say()
        say(f"== {step['title']}")
        for line in step["lines"]:
            say(f"   {line}")


async def _walk(config: Path) -> list[dict[str, Any]]:
    # Imported here: the service takes a while, and --help needs none of it.
    from clawmarshal.api.settings import load_settings
    from clawmarshal.api.wiring import wire
    from clawmarshal.router.ledger.records import Principal, Submission
    from clawmarshal.router.message import InboundMessage

    service = wire(load_settings(config, environ={}))
    desk = service.desk
    sender = Principal("demo-sender", "demo", frozenset({"route"}))
    reviewer = Principal("demo-reviewer", "demo", frozenset({"review"}))
    async with service.running():
        safe, _ = await desk.submit(
            Submission(InboundMessage(SAFE, channel="demo"), sender.person), wait_s=WAIT_S
        )
        risky, _ = await desk.submit(
            Submission(InboundMessage(RISKY, channel="demo"), sender.person), wait_s=WAIT_S
        )
        steps = [
            _step("A message that may run unseen", safe, text=SAFE),
            _step("A message that a person must see first", risky, text=RISKY),
        ]
        if risky.hold is not None:
            await desk.approve(
                risky.hold.id, reviewer, agent=risky.hold.suggestion or "finance", note="demo"
            )
            ended = await desk.wait(risky.id, wait_s=WAIT_S)
            steps.append(_step("The reviewer says yes: it is launched, once", ended, text=None))
    return steps


def _step(title: str, record: "RouteRecord", *, text: str | None) -> dict[str, Any]:
    lines = [f"message: {text}"] if text else []
    lines.append(f"state:   {record.state}")
    route = record.route
    if route is not None and text:
        best = ", ".join(f"{c.agent} {c.probability:.2f}" for c in route.candidates[:3])
        lines += [f"decided: {route.outcome} -> {route.agent or 'nobody'} (risk {route.risk.top})"]
        lines += [f"because: {best}"]
        lines += [f"gate {gate.number}:  {gate.detail}" for gate in route.gates]
    if record.hold is not None and record.hold.decision:
        hold = record.hold
        lines.append(f"answer:  {hold.decision} for {hold.agent} by {hold.person}")
    lines += [f"launch:  {a.number}, {a.agent}, {a.state}" for a in record.attempts]
    if record.reply_text is not None:
        lines.append(f"reply:   {record.reply_text}")
    return {"title": title, "route_id": record.id, "state": str(record.state), "lines": lines}
