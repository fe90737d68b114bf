"""Who decides, as it is configured: the acting model, its fallback, its challenger, and servers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from clawmarshal.api.imports import is_import_path
from clawmarshal.router.challenger import DEADLINE_S
from clawmarshal.router.thresholds import Policy

SYSTEM_ONE = "system_one"


def _is_model(value: str) -> str:
    if value not in ("offline", "lexical", SYSTEM_ONE) and not is_import_path(value):
        raise ValueError(
            "write offline, lexical, system_one, or an import path such as package.module:name"
        )
    return value


ModelName = Annotated[str, AfterValidator(_is_model)]


class Section(BaseModel):
    """A part of the configuration; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SystemOneServer(Section):
    """A server that speaks System One, and how it is asked."""

    base_url: str | None = None
    path: str = "/v1/systemone"
    name: str | None = None
    """The pinned model."""
    answers_as: list[str] = Field(default_factory=list)
    """Further ids under which the pinned model answers."""
    key_env: str | None = None
    """The variable that holds the key."""
    key_file: Path | None = None
    """The file that holds the key."""
    option_cap: int = Field(default=24, ge=4, le=255)
    envelope: bool = False
    strict: bool = False


class FallbackThresholds(Section):
    """Thresholds of the fallback alone; what is left out is the policy's."""

    min_probability: float | None = Field(default=None, ge=0, le=1)
    min_margin: float | None = Field(default=None, ge=0, le=1)
    max_high_probability: float | None = Field(default=None, ge=0, le=1)

    def over(self, policy: Policy) -> Policy:
        """Return a policy with these thresholds in place of its own."""
        return replace(policy, **self.model_dump(exclude_none=True))


class DecisionSettings(SystemOneServer):
    """Who decides; the keys of a server belong to ``model: system_one`` alone."""

    model: ModelName = "offline"
    deadline_s: float = Field(default=4.0, gt=0, le=120)
    fallback: Literal["offline", "lexical"] | None = None
    """Answers when the model gives no usable answer; its routes say ``via: offline``."""
    fallback_policy: FallbackThresholds | None = None
    """Thresholds hold for one model alone: the fallback's own."""
    head: Path | None = None
    """A fit that ``calibrate`` wrote, for ``offline`` and ``lexical``."""
    encoder: Annotated[str, Field(min_length=1)] | None = None
    """For ``offline``: a path or ``package.module:name``; ``head`` must be fitted with it."""
    challenger: ModelName | None = None
    """A second model; what it says is recorded beside the acting one's answer and never acts."""
    challenger_deadline_s: float = Field(default=DEADLINE_S, gt=0, le=120)
    """Seconds for one answer of the challenger; nothing waits for it."""
    challenger_server: SystemOneServer | None = None
    """Of ``challenger: system_one``."""
    redact: list[str] = Field(default_factory=list)
    """What is cut out of texts before they leave for a server, whichever of the two it is."""


Told = tuple[str, tuple[str, ...]]
"""What is wrong, and the keys below ``decision`` that lead to the place."""


def decision_faults(decision: DecisionSettings) -> Iterator[Told]:
    """Tell what a System One server still needs, and what has no use without one."""
    if decision.head is not None and decision.model not in ("offline", "lexical"):
        yield "decision.head is for model: offline or lexical", ("head",)
    if decision.encoder is not None and decision.model != "offline":
        yield "decision.encoder is for model: offline", ("encoder",)
    if decision.fallback_policy is not None and decision.fallback is None:
        yield "decision.fallback_policy needs decision.fallback", ("fallback_policy",)
    if decision.model == SYSTEM_ONE:
        yield from _server_faults(decision, "decision", f"model: {SYSTEM_ONE}", ())
    else:
        for key in sorted(decision.model_fields_set & set(SystemOneServer.model_fields)):
            yield f"decision.{key} needs model: {SYSTEM_ONE}", (key,)
    server, is_challenged = decision.challenger_server, decision.challenger == SYSTEM_ONE
    if is_challenged and server is None:
        needs = f"decision.challenger_server is missing; challenger: {SYSTEM_ONE} needs it"
        yield needs, ("challenger",)
    if server is not None:
        place = "challenger_server"
        if not is_challenged:
            yield f"decision.{place} needs challenger: {SYSTEM_ONE}", (place,)
        yield from _server_faults(server, f"decision.{place}", f"decision.{place}", (place,))
    if decision.redact and decision.model != SYSTEM_ONE and not is_challenged:
        yield f"decision.redact needs model: {SYSTEM_ONE} or challenger: {SYSTEM_ONE}", ("redact",)


def _server_faults(
    server: SystemOneServer, name: str, needing: str, place: tuple[str, ...]
) -> Iterator[Told]:
    for key in ("base_url", "name"):
        if not getattr(server, key):
            yield f"{name}.{key} is missing; {needing} needs it", place
    if server.key_env is not None and server.key_file is not None:
        yield f"{name}: give key_env or key_file, not both", (*place, "key_file")
