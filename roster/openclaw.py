"""What a live OpenClaw said of its agents; pure: the asking is the transport's."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from clawmarshal.errors import RosterSchemaError
from clawmarshal.roster.agent import (
    CONTROL,
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    Binding,
    Capability,
    id_faults,
)
from clawmarshal.roster.tool_policy import capabilities_of, unasked_tools

ANY = "*"
DEFAULT_ACCOUNT = "default"
"""What OpenClaw takes a binding without ``accountId`` to mean."""
MAX_AGENTS = 10_000
"""A longer list is no fleet."""
MAX_ID_CHARS = 128
"""A longer id, or one with characters that do not print, is none that OpenClaw gives."""
IMPLICIT = "main"
"""The agent that OpenClaw makes up where its configuration names none."""


@dataclass(frozen=True, slots=True)
class LiveAgent:
    """One agent as its Gateway describes it; texts are cleaned, and fit into a roster."""

    id: str
    """Folded; a valid roster id."""
    name: str | None = None
    description: str | None = None
    """None where OpenClaw has none."""
    bindings: tuple[Binding, ...] = ()
    """What of OpenClaw's bindings a roster can say."""
    unasked: tuple[str, ...] = ()
    """Tools that send or run, and that nobody has to allow first."""
    notes: tuple[str, ...] = ()
    """Sentences about what could not be taken over as it is."""
    has_unsaid_binding: bool = False
    """True where OpenClaw filters by what a roster cannot say."""

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """What the agent can do to the world unasked."""
        return capabilities_of(self.unasked)

    @property
    def warning(self) -> str | None:
        """Say what the agent could do unasked and how to end that; None where it is nothing."""
        if not self.unasked:
            return None
        deeds = {Capability.EXECUTE: "run programs", Capability.MESSAGE: "send messages"}
        able = " and ".join(deeds[capability] for capability in self.capabilities)
        denied = ", ".join(f'"{tool}"' for tool in self.unasked)
        return (
            f"{self.id} could {able} unasked in any turn; to end that, add to "
            f"agents.entries.{self.id}.tools.deny: [{denied}]"
        )


@dataclass(frozen=True, slots=True)
class LiveFleet:
    """The agents of one Gateway; at least one id."""

    ids: frozenset[str]
    """Folded ids, those among them that no roster can name."""
    agents: tuple[LiveAgent, ...] | None
    """By id, those a roster can name; None where the configuration is not understood."""
    refused: tuple[str, ...] = ()
    """Sentences about agents whose id no roster can name."""
    ways_around: tuple[str, ...] = ()
    """Sentences about how messages reach agents without coming here first."""

    def get(self, agent_id: str) -> LiveAgent | None:
        """Return the agent as described; None where it is not, or not there."""
        return next((agent for agent in self.agents or () if agent.id == agent_id), None)


def agent_ids(document: object) -> frozenset[str] | None:
    """Read the ids out of what ``openclaw gateway call agents.list --json`` printed.

    Parameters
    ----------
    document
        The parsed JSON value, or its text as str or bytes.

    Returns
    -------
    frozenset[str] | None
        Lower-case ids, at least one. None means that the fleet is unknown: the document is empty,
        unreadable or not understood, in whole or in part. It never means that there are no agents.

    Notes
    -----
    OpenClaw folds the case of ids. The answers of ``agents list`` and ``config get`` (a bare list,
    a map) are not understood on purpose: they describe the caller's own configuration, not the
    Gateway's. Measured on 2026.9.6.
    """
    if isinstance(document, str | bytes):
        document = _parsed(document)
    if not isinstance(document, Mapping):
        return None
    agents = document.get("agents")
    if not isinstance(agents, list) or not 0 < len(agents) <= MAX_AGENTS:
        return None
    ids = [_id_of(agent) for agent in agents]
    known = frozenset(agent_id for agent_id in ids if agent_id is not None)
    return known if None not in ids else None


def read_fleet(
    agents: object, config: object, *, clean: Callable[[str], str] = str
) -> LiveFleet | None:
    """Join the answers of ``agents.list`` and ``config.get`` of one Gateway.

    Nothing of the configuration is kept but names, remits, bindings and the names of tools.

    Parameters
    ----------
    agents
        As in `agent_ids`.
    config
        What ``openclaw gateway call config.get --json`` printed, or None where it said nothing.
    clean
        Takes out of a text what could deceive or drive a screen.

    Returns
    -------
    LiveFleet | None
        None where the fleet is unknown; see `agent_ids`.
    """
    if isinstance(agents, str | bytes):
        agents = _parsed(agents)
    ids = agent_ids(agents)
    if ids is None or not isinstance(agents, Mapping):
        return None
    named = sorted(i for i in ids if not id_faults(i))
    refused = tuple(
        f"{_shown(i, clean)}: {'; '.join(id_faults(i))}" for i in sorted(ids) if id_faults(i)
    )
    parsed = _parsed(config) if isinstance(config, str | bytes) else config
    settings = _settings_of(parsed, ids)
    if settings is None:
        return LiveFleet(ids, None, refused)
    entries, whole, bindings = settings
    listed = {_id_of(agent): agent for agent in agents["agents"]}
    owned = _by_owner(bindings)
    described = tuple(
        _live_agent(
            agent_id,
            entry=entries.get(agent_id, {}),
            listed=listed[agent_id],
            shared=whole.get("tools"),
            bindings=owned.get(agent_id, []),
            clean=clean,
        )
        for agent_id in named
    )
    return LiveFleet(ids, described, refused, tuple(_ways_around(whole, bindings)))


def _parsed(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _id_of(agent: object) -> str | None:
    if not isinstance(agent, Mapping):
        return None
    agent_id = agent.get("id")
    if not isinstance(agent_id, str) or not agent_id.strip():
        return None
    folded = agent_id.strip().casefold()
    return folded if len(folded) <= MAX_ID_CHARS and folded.isprintable() else None


def _settings_of(
    document: object, ids: frozenset[str]
) -> tuple[dict[str, Mapping[str, object]], Mapping[str, object], list[object]] | None:
    """Return entries by folded id, the configuration, and bindings; None: not understood."""
    if not isinstance(document, Mapping) or document.get("valid") is False:
        return None
    config = document.get("config")
    agents = config.get("agents", {}) if isinstance(config, Mapping) else None
    if not isinstance(config, Mapping) or not isinstance(agents, Mapping):
        return None
    entries, bindings = agents.get("entries"), config.get("bindings", [])
    if entries is None and ids == {IMPLICIT} and "list" not in agents:
        entries = {IMPLICIT: {}}
    if not isinstance(entries, Mapping) or not isinstance(bindings, list):
        return None
    folded = {k.strip().casefold(): v for k, v in entries.items() if isinstance(v, Mapping)}
    if len(folded) != len(entries) or not ids <= folded.keys():
        return None  # not all of it is understood, or the two answers are of different moments
    return folded, config, bindings


def _ways_around(config: Mapping[str, object], bindings: list[object]) -> Iterator[str]:
    if bindings:
        yield f"{len(bindings)} binding(s) take channel messages straight to agents"
    for part, what in (("hooks", "HTTP hooks start turns"), ("cron", "cron jobs start turns")):
        told = config.get(part)
        if isinstance(told, Mapping) and told.get("enabled") is True:
            yield f"{what} ({part}.enabled)"


def _live_agent(
    agent_id: str,
    *,
    entry: Mapping[str, object],
    listed: object,
    shared: object,
    bindings: list[Mapping[str, object]],
    clean: Callable[[str], str],
) -> LiveAgent:
    notes: list[str] = []
    description = _text(entry.get("description"), "description", clean=clean, notes=notes)
    told = [_binding(binding, clean) for binding in bindings]
    if None in told:
        notes.append("a binding of OpenClaw cannot be said in a roster (peer kind, guild, team)")
    return LiveAgent(
        agent_id,
        name=_name(entry, listed, clean),
        description=description,
        bindings=tuple(dict.fromkeys(binding for binding in told if binding is not None)),
        unasked=unasked_tools(shared, entry.get("tools")),
        notes=tuple(notes),
        has_unsaid_binding=None in told,
    )


def _name(entry: Mapping[str, object], listed: object, clean: Callable[[str], str]) -> str | None:
    """Return the first name there is: of the agent, as listed, or of its identity."""
    for value in _names_of(entry, listed):
        if isinstance(value, str):
            name = " ".join(CONTROL.sub(" ", clean(value)).split())[:MAX_NAME_CHARS].strip()
            if name:
                return name
    return None


def _names_of(entry: Mapping[str, object], listed: object) -> Iterator[object]:
    yield entry.get("name")
    told = listed if isinstance(listed, Mapping) else {}
    yield told.get("name")
    for whose in (entry, told):
        identity = whose.get("identity")
        if isinstance(identity, Mapping):
            yield identity.get("name")


def _text(value: object, what: str, *, clean: Callable[[str], str], notes: list[str]) -> str | None:
    """Return a text as a roster can hold it, in one line, and note what that took."""
    if not isinstance(value, str) or not value.strip():
        return None
    cleaned = clean(value)
    text = " ".join(CONTROL.sub(" ", cleaned).split())
    if cleaned != value:
        notes.append(f"the {what} held characters that cannot be shown; they were left out")
    if len(text) > MAX_TEXT_CHARS:
        text = text[:MAX_TEXT_CHARS].rstrip()
        notes.append(f"the {what} was longer than {MAX_TEXT_CHARS} characters; its end is left out")
    return text or None


def _by_owner(bindings: list[object]) -> dict[str | None, list[Mapping[str, object]]]:
    owned: dict[str | None, list[Mapping[str, object]]] = {}
    for binding in bindings:
        if isinstance(binding, Mapping):
            owned.setdefault(_owner_of(binding), []).append(binding)
    return owned


def _owner_of(binding: Mapping[str, object]) -> str | None:
    agent_id = binding.get("agentId")
    return agent_id.strip().casefold() if isinstance(agent_id, str) else None


def _binding(binding: Mapping[str, object], clean: Callable[[str], str]) -> Binding | None:
    """Say a binding in the roster's words; None where that cannot be done faithfully."""
    match = binding.get("match")
    told = _parts(match) if isinstance(match, Mapping) else None
    if told is None or binding.get("type", "route") != "route":
        return None
    if any(clean(part) != part for part in told.values()):
        return None
    try:
        return Binding(**told)
    except RosterSchemaError:
        return None


def _parts(match: Mapping[str, object]) -> dict[str, str] | None:
    """Return the parts of a binding; None where it asks for more than a roster can say."""
    if {name for name, value in match.items() if value is not None} - {
        "channel",
        "accountId",
        "peer",
    }:
        return None
    channel, account = match.get("channel"), match.get("accountId", DEFAULT_ACCOUNT)
    peer = match.get("peer")
    if not isinstance(channel, str) or not isinstance(account, str):
        return None
    parts = {"channel": channel.strip()}
    if account.strip() != ANY:
        parts["account"] = account.strip() or DEFAULT_ACCOUNT
    if peer is not None:
        peer_id = peer.get("id") if isinstance(peer, Mapping) else None
        if not isinstance(peer_id, str) or ANY in peer_id:
            return None
        parts["conversation"] = peer_id.strip()
    return parts


def _shown(agent_id: str, clean: Callable[[str], str]) -> str:
    text = CONTROL.sub(" ", clean(agent_id))
    return repr(text if len(text) <= 64 else text[:63] + "…")
