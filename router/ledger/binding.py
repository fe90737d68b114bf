"""What an approval is bound to, and what the desk knows about a target at this moment."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, insert, select, update

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.ledger import audit, codec, schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.route import Gate
from clawmarshal.router.session import hash_parts, lone_conversation, session_key

GateLike = Gate | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LaunchTerms:
    """What is known about one agent now: what a launch or an approval would mean."""

    spec: AgentSpec
    template_digest: str
    """`template_digest` of what `Transport.template` says."""
    cli_version: str | None = None
    """What would be launched, for the record; it is in the template too."""
    cli_files: tuple[str, ...] = ()
    """The program's files, links resolved."""
    available: bool = True
    """False when disabled, or known to be missing from the live OpenClaw."""
    timeout_s: int = 600
    """``--timeout`` of a turn."""
    neutralises: bool = False
    """True: the agent gets the text with its directives made inert. Part of the template too, so
    that an approval is bound to it."""

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self.spec.id

    @property
    def agent_digest(self) -> str:
        """Digest of the AgentSpec."""
        return self.spec.digest

    @property
    def concurrency(self) -> int:
        """How many turns of the agent may run at once."""
        return self.spec.concurrency


@dataclass(frozen=True, slots=True)
class Session:
    """The session that a route and an agent share."""

    key: str
    generation: int


def program_of(template: Mapping[str, object]) -> tuple[str | None, tuple[str, ...]]:
    """Return the version and the files that a template names; none where it names none."""
    version, files = template.get("cli_version"), template.get("files")
    named = files if isinstance(files, list | tuple) else ()
    return (None if version is None else str(version)), tuple(map(str, named))


def template_digest(template: Mapping[str, object]) -> str:
    """Hash what a transport says it would run."""
    return hashlib.sha256(audit.canonical(template).encode()).hexdigest()


def launch_digest(
    *,
    message_seal: str,
    agent: str,
    agent_digest: str,
    template_digest: str,
    session: Session,
    reply_target: str | None,
) -> str:
    """Hash everything that says what would run.

    Parameters
    ----------
    message_seal
        HMAC of the exact text under the message's salt: binds like a plain hash, and tells
        nothing about a short text once the salt is erased.
    """
    return hash_parts(
        message_seal,
        agent,
        agent_digest,
        template_digest,
        session.key,
        str(session.generation),
        reply_target,
    )


def approval_digest(launch: str, gates: Sequence[GateLike]) -> str:
    """Hash what a reviewer was shown: what would run, and the gates that fired."""
    shown = [[g["number"], g["reason"]] for g in codec.gates_to_json(tuple(gates))]
    return hash_parts(launch, audit.canonical(shown))


def launch_digest_of(tx: Transaction, row: Row[Any], terms: LaunchTerms | None) -> str:
    """Return the launch digest of a route for an agent as it stands now.

    Parameters
    ----------
    row
        The route joined with its message.
    terms
        None where no agent is in view: the digest is of the message alone.
    """
    seal = audit.text_seal(row.text, row.salt)
    if terms is None:
        return hash_parts(seal, row.reply_target)
    return launch_digest(
        message_seal=seal,
        agent=terms.agent,
        agent_digest=terms.agent_digest,
        template_digest=terms.template_digest,
        session=session_of(tx, row, terms.agent),
        reply_target=row.reply_target,
    )


def session_of(tx: Transaction, row: Row[Any], agent: str) -> Session:
    """Return the session of a route's conversation with an agent, as it stands now."""
    sessions = schema.sessions
    query = select(sessions.c.generation).where(
        sessions.c.scope == row.scope, sessions.c.agent == agent
    )
    generation = tx.connection.execute(query).scalar_one_or_none() or 1
    key = session_key(
        owner=row.owner,
        channel=row.channel,
        account=row.account,
        conversation=row.conversation or lone_conversation(row.id),
        agent=agent,
        generation=generation,
    )
    return Session(key, generation)


def renew_session(tx: Transaction, scope: str, agent: str) -> None:
    """Start a new generation: what still runs in the old session cannot meet the new turn."""
    sessions = schema.sessions
    here = (sessions.c.scope == scope, sessions.c.agent == agent)
    grown = update(sessions).where(*here).values(generation=sessions.c.generation + 1)
    if tx.connection.execute(grown).rowcount == 0:
        row = {"scope": scope, "agent": agent, "generation": 2}
        tx.connection.execute(insert(sessions).values(row))
