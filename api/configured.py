"""The decision model that a configuration names, a System One server among them."""

from clawmarshal.api.models import load_model
from clawmarshal.api.settings import SYSTEM_ONE, DecisionSettings, decision_key
from clawmarshal.errors import SettingsError
from clawmarshal.router.challenger import Challenger
from clawmarshal.router.decision import DecisionModel
from clawmarshal.router.models.exchange import ApiKey
from clawmarshal.router.models.system_one import SystemOneModel
from clawmarshal.router.redaction import Redactor


def configured_model(decision: DecisionSettings) -> DecisionModel:
    """Return the model that the settings name, ready to answer.

    Raises
    ------
    SettingsError
        As `load_model`; or the server's address, key or redaction cannot be used.
    """
    if decision.model != SYSTEM_ONE:
        return load_model(decision.model, head=decision.head, encoder=decision.encoder)
    if decision.base_url is None or decision.name is None:
        raise SettingsError(f"model: {SYSTEM_ONE} needs decision.base_url and decision.name")
    try:
        redactor = Redactor(decision.redact)
    except ValueError as error:
        raise SettingsError(f"decision.redact: {error}") from error
    key = decision_key(decision)
    return SystemOneModel(
        decision.base_url,
        decision.name,
        path=decision.path,
        key=ApiKey(key) if key is not None else None,
        answers_as=decision.answers_as,
        option_cap=decision.option_cap,
        envelope=decision.envelope,
        strict=decision.strict,
        redactor=redactor,
    )


def configured_challenger(decision: DecisionSettings) -> Challenger | None:
    """Return the challenger that the settings name, if any.

    Raises
    ------
    SettingsError
        As `load_model`.
    """
    if decision.challenger is None:
        return None
    return Challenger(load_model(decision.challenger), wait_s=decision.challenger_wait_s)
