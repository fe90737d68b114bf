"""``/review/fleet``: which agents work, which are silent, and how well and fast each did."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from clawmarshal.api.auth import parts_of
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.pages import page
from clawmarshal.api.review.session import SignedIn, door_of
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.ledger.figures import AgentFigures

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)

WINDOW_S = 7 * 86_400.0
ENDED = ("done", "failed", "unknown", "cancelled")
NOTHING = AgentFigures({}, (), None, 0)


@dataclass(frozen=True, slots=True)
class AgentLine:
    """One agent on the page."""

    id: str
    spec: AgentSpec | None
    """None where it has left the roster."""
    is_live: bool | None
    """Whether the live OpenClaw knows it; None where that cannot be told."""
    figures: AgentFigures

    @property
    def ended(self) -> int:
        """How many launches came to an end, known or not."""
        return sum(self.figures.states.get(state, 0) for state in ENDED)

    @property
    def success(self) -> float | None:
        """The share of them that is done; None without any."""
        return self.figures.states.get("done", 0) / self.ended if self.ended else None

    @property
    def word(self) -> str:
        """How it stands, in a word."""
        if self.spec is None:
            return "not in the roster"
        if not self.spec.enabled:
            return "disabled"
        if self.is_live is False:
            return "missing"
        if self.figures.states.get("running") or self.figures.states.get("launching"):
            return "at work"
        return "idle" if self.figures.last else "silent"

    def within_s(self, share: float) -> float | None:
        """Return the seconds within which a share of its turns ended."""
        seconds = self.figures.seconds
        return seconds[min(len(seconds) - 1, int(len(seconds) * share))] if seconds else None


@endpoints.get("/review/fleet")
async def show_fleet(request: Request, reviewer: SignedIn) -> Response:
    """Show every agent with how it did in the last seven days."""
    parts = parts_of(request)
    figures = await asyncio.to_thread(door_of(request).ledger.agent_figures, window_s=WINDOW_S)
    live = await parts.health.fleet()
    state = await parts.health.readiness()
    gone = sorted(figures.keys() - {agent.id for agent in parts.roster})
    lines = [
        AgentLine(
            agent.id,
            agent,
            None if live is None else agent.id in live,
            figures.get(agent.id, NOTHING),
        )
        for agent in parts.roster
    ]
    lines += [AgentLine(agent, None, None, figures[agent]) for agent in gone]
    return page(
        "fleet",
        reviewer=reviewer,
        lines=lines,
        fleet="unknown" if live is None else "known",
        ready=state,
        now=datetime.now(UTC),
    )
