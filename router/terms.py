"""What a launch of an agent would mean now: so that approvals are bound to it."""

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.elsewhere import Elsewhere
from clawmarshal.router.ledger.binding import LaunchTerms, program_of, template_digest
from clawmarshal.router.thresholds import Directives
from clawmarshal.transport.outcome import Transport


def launch_terms(
    agent: AgentSpec,
    *,
    transport: Transport,
    directives: Directives,
    live: frozenset[str] | None,
    default_timeout_s: int,
    elsewhere: Elsewhere | None = None,
) -> LaunchTerms:
    """Say what is known about one agent.

    Parameters
    ----------
    live
        The agents that are known to be there; None where nobody knows.
    default_timeout_s
        ``--timeout`` of a turn of an agent that names none.
    elsewhere
        Says what runs on other hosts; None where every agent is this one's.
    """
    version: str | None = None
    files: tuple[str, ...] = ()
    if elsewhere is not None and agent.id in elsewhere.agents:
        digest = elsewhere.template_digest(agent.id)
    else:
        template = transport.template(agent)
        version, files = program_of(template)
        digest = template_digest({**template, "directives": directives})
    return LaunchTerms(
        agent,
        digest,
        cli_version=version,
        cli_files=files,
        available=agent.enabled and (live is None or agent.id in live),
        timeout_s=agent.timeout_s or default_timeout_s,
        neutralises=directives is Directives.NEUTRALISE,
    )
