"""Elsewhere: what workers of other hosts say of the agents that this one does not reach."""

import asyncio
from collections.abc import Mapping

from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.reaches import Reached
from clawmarshal.router.rounds import Rounds

NOBODY_YET = "0" * 64
"""Stands for what would run where no worker has ever said it; an approval for it must be given
again once one has."""


class Elsewhere:
    """Keep the last word of the workers that reach what this host does not.

    Parameters
    ----------
    ledger
        Where workers say it. Its calls block, so they run in threads.
    agents
        Whose OpenClaw this host does not reach.
    every_s
        Seconds between two looks.
    """

    def __init__(self, ledger: Ledger, *, agents: frozenset[str], every_s: float = 5.0) -> None:
        self._ledger = ledger
        self._rounds = Rounds(self.refresh, every_s=every_s, what="looking at other hosts")
        self._said: Mapping[str, Reached] = {}
        self.agents = agents

    @property
    def missing(self) -> frozenset[str]:
        """Agents that the live worker that reaches them knows not to be there."""
        said = ((agent, self._said.get(agent)) for agent in self.agents)
        return frozenset(a for a, word in said if word and word.is_live and not word.available)

    @property
    def unreached(self) -> frozenset[str]:
        """Agents that no live worker reaches: what is for them waits."""
        said = self._said
        return frozenset(a for a in self.agents if not (a in said and said[a].is_live))

    def template_digest(self, agent: str) -> str:
        """Return the digest of what a launch of an agent would run where it is reached."""
        word = self._said.get(agent)
        return word.template_digest if word else NOBODY_YET

    async def refresh(self) -> None:
        """Look now.

        Raises
        ------
        LedgerUnavailableError
            What was said before stands.
        """
        if self.agents:
            self._said = await asyncio.to_thread(self._ledger.reached)

    def start(self) -> None:
        """Begin to look in the background."""
        self._rounds.start()

    async def close(self) -> None:
        """Stop looking."""
        await self._rounds.close()
