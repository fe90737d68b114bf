"""The decision models that a configuration names, System One servers among them."""

from collections.abc import Sequence

from clawmarshal.api.decision_settings import SYSTEM_ONE, DecisionSettings, SystemOneServer
from clawmarshal.api.models import load_model
from clawmarshal.api.settings import decision_key
from clawmarshal.errors import SettingsError
from clawmarshal.router.challenger import Challenger
from clawmarshal.router.decision import DecisionModel
from clawmarshal.router.models.exchange import ApiKey
from clawmarshal.router.models.system_one import SystemOneModel
from clawmarshal.router.redaction import Redactor
from clawmarshal.router.thresholds import Policy

ACTING = "decision"
BESIDE = "decision.challenger_server"


def configured_model(decision: DecisionSettings) -> DecisionModel:
    """Return the model that the settings name, ready to answer.

    Raises
    ------
    SettingsError
        As `load_model`; or the server's address, key or redaction cannot be used.
    """
    if decision.model != SYSTEM_ONE:
        return load_model(decision.model, head=decision.head, encoder=decision.encoder)
    return _client(decision, place=ACTING, redact=decision.redact)


def configured_server(decision: DecisionSettings) -> DecisionModel:
    """Return the client of the System One server that the settings name.

    It is the acting model's; where that is another model, the challenger's.

    Raises
    ------
    SettingsError
        They name none, or it cannot be used.
    """
    if decision.model == SYSTEM_ONE:
        return configured_model(decision)
    if decision.challenger == SYSTEM_ONE:
        return configured_beside(decision)
    raise SettingsError(
        f"the configuration names no System One server; write model: {SYSTEM_ONE} or "
        f"challenger: {SYSTEM_ONE} under decision"
    )


def configured_fallback(decision: DecisionSettings) -> DecisionModel | None:
    """Return the model that answers where the acting one gives no usable answer, if any."""
    return load_model(decision.fallback) if decision.fallback else None


def fallback_policy(decision: DecisionSettings, policy: Policy) -> Policy:
    """Return the thresholds of the fallback: its own over those of the policy."""
    own = decision.fallback_policy
    return policy if own is None else own.over(policy)


def configured_beside(decision: DecisionSettings) -> DecisionModel:
    """Return the model that the settings name as the challenger.

    Raises
    ------
    SettingsError
        They name none, or as `configured_model`.
    """
    if decision.challenger is None:
        raise SettingsError("the configuration names no challenger; see decision.challenger")
    if decision.challenger != SYSTEM_ONE:
        return load_model(decision.challenger)
    server = decision.challenger_server or SystemOneServer()
    return _client(server, place=BESIDE, redact=decision.redact)


def configured_challenger(decision: DecisionSettings) -> Challenger | None:
    """Return the challenger that the settings name, if any.

    Raises
    ------
    SettingsError
        As `configured_beside`.
    """
    if decision.challenger is None:
        return None
    return Challenger(configured_beside(decision), deadline_s=decision.challenger_deadline_s)


def _client(server: SystemOneServer, *, place: str, redact: Sequence[str]) -> SystemOneModel:
    if server.base_url is None or server.name is None:
        raise SettingsError(f"{SYSTEM_ONE} needs {place}.base_url and {place}.name")
    try:
        redactor = Redactor(redact)
    except ValueError as error:
        raise SettingsError(f"decision.redact: {error}") from error
    key = decision_key(server, place=place)
    try:
        return SystemOneModel(
            server.base_url,
            server.name,
            path=server.path,
            key=ApiKey(key) if key is not None else None,
            answers_as=server.answers_as,
            option_cap=server.option_cap,
            envelope=server.envelope,
            strict=server.strict,
            redactor=redactor,
        )
    except SettingsError as error:
        raise SettingsError(str(error).replace(f"{ACTING}.", f"{place}.", 1)) from error
