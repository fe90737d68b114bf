"""What a command decides with: the model it was told, and the thresholds of a configuration."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from clawmarshal.api.configured import (
    configured_beside,
    configured_fallback,
    configured_model,
    configured_server,
    fallback_policy,
)
from clawmarshal.api.decision_settings import SYSTEM_ONE, DecisionSettings
from clawmarshal.api.models import load_model, read_heads
from clawmarshal.api.settings import load_settings
from clawmarshal.errors import SettingsError
from clawmarshal.roster.roster import Roster
from clawmarshal.router.decision import DecisionModel
from clawmarshal.router.thresholds import Policy

if TYPE_CHECKING:
    from clawmarshal.router.models.encoder import Encoder

CONFIGURED = "configured"
CHALLENGER = "challenger"
OF_A_CONFIGURATION = (SYSTEM_ONE, CONFIGURED, CHALLENGER)
DEADLINE_S = 60.0
"""For one message, where no configuration says."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for every model of a command."""

    policy: Policy = field(default_factory=Policy)
    deadline_s: float = DEADLINE_S
    """Seconds for one message."""
    decision: DecisionSettings | None = None
    """None without a configuration."""


def terms_of(config: Path | None, roster: Roster) -> Terms:
    """Read the terms of a configuration; the defaults where there is none.

    Raises
    ------
    SettingsError
        The configuration cannot be used, or its fallback is no agent of this roster.
    """
    if config is None:
        return Terms()
    settings = load_settings(config)
    check_fallback(settings.policy, roster)
    return Terms(settings.policy, settings.decision.deadline_s, settings.decision)


def chosen_model(
    name: str | None,
    *,
    terms: Terms,
    head: Path | None = None,
    encoder: "str | Encoder | None" = None,
) -> DecisionModel:
    """Return the model of a name, ready to answer; whoever asks for it closes it.

    Parameters
    ----------
    name
        As `load_model`; with a configuration also ``system_one``, the server it names,
        ``configured``, what decides by it, and ``challenger``. None: ``configured`` with a
        configuration, else ``offline``.
    head, encoder
        As `load_model`.

    Raises
    ------
    SettingsError
        As `load_model`; or the name needs a configuration, or one that names such a model.
    """
    decision = terms.decision
    if name is None:
        is_own = head is not None or encoder is not None
        name = "offline" if decision is None or is_own else CONFIGURED
    if name not in OF_A_CONFIGURATION:
        return load_model(name, head=head, encoder=encoder)
    if head is not None:
        raise SettingsError(f"a head is for offline and lexical, not for {name}")
    if encoder is not None:
        raise SettingsError(f"an encoder is for offline, not for {name}")
    if decision is None:
        raise SettingsError(f"{name} is named in a configuration; give it with --config")
    if name == SYSTEM_ONE:
        return configured_server(decision)
    return configured_beside(decision) if name == CHALLENGER else configured_model(decision)


def named_model(name: str, *, terms: Terms, encoder: "Encoder | None" = None) -> DecisionModel:
    """Return the model of a name, or ``offline`` with the fit of a ``.json`` file.

    Parameters
    ----------
    encoder
        For a fit that was made with it.

    Raises
    ------
    SettingsError
        As `chosen_model`.
    """
    if not name.endswith(".json"):
        return chosen_model(name, terms=terms)
    is_own = encoder is not None and read_heads(Path(name)).encoder == encoder.name
    return chosen_model(
        "offline", terms=terms, head=Path(name), encoder=encoder if is_own else None
    )


def chosen_fallback(name: str | None, *, terms: Terms) -> DecisionModel | None:
    """Return the configured fallback of the acting model; no other model has one."""
    if terms.decision is None or name not in (None, CONFIGURED, SYSTEM_ONE):
        return None
    return configured_fallback(terms.decision)


def fallback_terms(terms: Terms) -> Policy:
    """Return the thresholds of the fallback."""
    return terms.policy if terms.decision is None else fallback_policy(terms.decision, terms.policy)


def check_fallback(policy: Policy, roster: Roster) -> None:
    """Refuse a fallback that is no agent of the roster.

    Raises
    ------
    SettingsError
        With the nearest ids.
    """
    fallback = policy.fallback
    if fallback is not None and fallback not in roster:
        near = " or ".join(roster.near(fallback))
        hint = f"; did you mean {near}?" if near else ""
        raise SettingsError(f"policy.fallback: the roster has no agent {fallback!r}{hint}")
