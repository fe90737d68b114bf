"""What an agent of OpenClaw could send or run without being asked, by its tool policy; pure."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from clawmarshal.roster.agent import Capability

SENDING = ("message", "conversations_send", "conversations_turn", "sessions_send")
"""Tools that put a text before somebody else."""
RUNNING = (
    "exec",
    "process",
    "code_execution",
    "automations",
    "computer",
    "gateway",
    "mobile_ui",
    "nodes",
    "openclaw",
    "plugins",
    "sessions_spawn",
    "terminal",
)
"""Tools that run programs, here or elsewhere, at once or later, or change what may run."""
GROUPS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "group:runtime": frozenset({"exec", "process", "code_execution"}),
        "group:sessions": frozenset(
            {"conversations_send", "conversations_turn", "sessions_send", "sessions_spawn"}
        ),
        "group:ui": frozenset({"terminal"}),
        "group:automation": frozenset({"automations", "gateway", "plugins", "openclaw"}),
        "group:messaging": frozenset({"message"}),
        "group:nodes": frozenset({"nodes", "computer"}),
        "group:openclaw": frozenset({*SENDING, *RUNNING}) - {"exec", "process", "mobile_ui"},
    }
)
"""What of the tools above each group holds. Source: OpenClaw 2026.9.6, docs/gateway/config-tools/
tool-policy.md."""
PROFILES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "minimal": frozenset({"gateway"}),
        "coding": GROUPS["group:runtime"] | GROUPS["group:sessions"] | {"automations", "gateway"},
        "messaging": GROUPS["group:messaging"] | GROUPS["group:sessions"] | {"gateway"},
    }
)
"""What of the tools above each limited profile leaves; any other profile leaves all."""
ALIASES: Mapping[str, str] = MappingProxyType({"bash": "exec", "cron": "automations"})
_NEEDS_A_PERSON = frozenset({"ask", "deny"})
"""Values of ``tools.exec.mode`` under which no program runs that nobody listed or allowed."""


def unasked_tools(shared: object, own: object) -> tuple[str, ...]:
    """List the tools of `SENDING` and `RUNNING` that a policy leaves to an agent.

    Errs towards listing: only what is surely withheld from every turn is left out.

    Parameters
    ----------
    shared
        ``tools`` of the configuration; anything but a mapping counts as empty.
    own
        ``agents.entries.ID.tools``.

    Notes
    -----
    Deny wins in either; every layer must let a tool through; an agent's profile takes the place of
    the shared one. Not looked at, as they hold for some turns only: policies by provider, sender,
    channel and sandbox. Source: as `GROUPS`; compared with ``tools.effective`` of 2026.9.6.
    """
    layers = [layer for layer in (shared, own) if isinstance(layer, Mapping)]
    withheld = _without_a_person(layers)
    return tuple(
        tool
        for tool in (*SENDING, *RUNNING)
        if tool not in withheld and _is_left(tool, layers=layers)
    )


def capabilities_of(tools: Iterable[str]) -> tuple[Capability, ...]:
    """Return what those tools can do to the world, in the roster's words."""
    listed = set(tools)
    found = []
    if listed & set(RUNNING):
        found.append(Capability.EXECUTE)
    if listed & set(SENDING):
        found.append(Capability.MESSAGE)
    return tuple(found)


def _is_left(tool: str, *, layers: list[Mapping[str, object]]) -> bool:
    if any(_names(tool, layer.get("deny")) for layer in layers):
        return False
    for layer in layers:
        allow = layer.get("allow")
        if isinstance(allow, list) and allow and not _names(tool, allow):
            return False
    also = any(_names(tool, layer.get("alsoAllow")) for layer in layers)
    profiles = [p for layer in layers if isinstance(p := layer.get("profile"), str)]
    limited = PROFILES.get(profiles[-1].strip().casefold()) if profiles else None
    return limited is None or tool in limited or also


def _names(tool: str, entries: object) -> bool:
    """Tell whether a list of tools, groups and ``*`` patterns names this tool."""
    if not isinstance(entries, list):
        return False
    for entry in entries:
        if not isinstance(entry, str):
            continue
        name = entry.strip().casefold()
        name = ALIASES.get(name, name)
        if tool in GROUPS.get(name, ()) or _matches(tool, name):
            return True
    return False


def _matches(tool: str, pattern: str) -> bool:
    parts = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(parts), tool) is not None if len(parts) < 16 else False


def _without_a_person(layers: list[Mapping[str, object]]) -> frozenset[str]:
    """Name the tools that a person is asked about, or that are refused, in every turn."""
    modes = [
        mode
        for layer in layers
        if isinstance(settings := layer.get("exec"), Mapping)
        and isinstance(mode := settings.get("mode"), str)
    ]
    is_guarded = bool(modes) and modes[-1].strip().casefold() in _NEEDS_A_PERSON
    return frozenset({"exec"}) if is_guarded else frozenset()
