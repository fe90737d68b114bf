"""What a client raises, drawn as one tree.

::

    ClientError                  what was asked for was not done, or nobody knows
    ├─ UnreachableError          no answer: the message may have been accepted
    ├─ UnreadableAnswerError     an answer that is none of this service's
    └─ Problem                   a problem document (RFC 9457), by its code
       ├─ KeyRefusedProblem      401, 403
       ├─ NotFoundProblem        404
       ├─ ConflictProblem        409, 412: somebody was first, or it is not what it was
       ├─ TooOftenProblem        429
       ├─ UnavailableProblem     500, 503
       └─ RefusedProblem         every other one: what was sent must be mended
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_CONFLICTS = (409, 412)
_STANDARD = frozenset({"type", "title", "status", "detail", "code"})


class ClientError(Exception):
    """What was asked for was not done, or nobody knows whether it was."""


class UnreachableError(ClientError):
    """There was no answer; whether the request arrived nobody knows.

    Send a message again with the same idempotency key, and it is accepted once.
    """


class UnreadableAnswerError(ClientError):
    """The answer is none of this service's: something stands between."""


class Problem(ClientError):
    """The service answered with a problem document.

    Parameters
    ----------
    status
        Of HTTP.
    document
        What came.
    request_id
        Names the request in the service's log.
    retry_after_s
        How long it asks to be left alone; None where it does not say.
    """

    def __init__(
        self,
        status: int,
        document: Mapping[str, Any],
        *,
        request_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        self.status = status
        self.code = str(document.get("code", ""))
        """Stable; what to go by."""
        self.title = str(document.get("title", ""))
        self.detail = str(document.get("detail", ""))
        self.type = str(document.get("type", ""))
        """The path of a page of the service that says what to do."""
        self.members: Mapping[str, Any] = MappingProxyType(
            {name: value for name, value in document.items() if name not in _STANDARD}
        )
        """By code: ``winner``, ``gates``, ``digest``, ``near``, ``faults``, ``etag``, …"""
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        super().__init__(f"{self.code} ({status}): {self.title}. {self.detail}")


class KeyRefusedProblem(Problem):
    """The key is missing, unknown or over, or does not hold the scope."""


class NotFoundProblem(Problem):
    """There is nothing, or nothing that the key may see."""


class ConflictProblem(Problem):
    """Somebody was first, or it is not what it was; see `members`."""

    @property
    def winner(self) -> Mapping[str, Any] | None:
        """Whose answer stands: ``decision``, ``person``, ``at``."""
        found = self.members.get("winner")
        return found if isinstance(found, dict) else None

    @property
    def digest(self) -> str | None:
        """What to approve with, after a look at ``gates``."""
        found = self.members.get("digest")
        return found if isinstance(found, str) else None


class TooOftenProblem(Problem):
    """A limit of the key or the address; see `retry_after_s`."""


class UnavailableProblem(Problem):
    """The service cannot answer now; ``accepted-unread`` aside, nothing was accepted."""


class RefusedProblem(Problem):
    """What was sent must be mended first."""


def problem_of(status: int, body: bytes, headers: Mapping[str, str]) -> ClientError:
    """Return the error that an answer stands for.

    Parameters
    ----------
    headers
        Their names in lower case.
    """
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    if not isinstance(document, dict) or "code" not in document:
        return UnreadableAnswerError(f"the answer {status} is none of clawmarshal's")
    return _class_of(status)(
        status,
        document,
        request_id=headers.get("x-request-id"),
        retry_after_s=retry_after_s(headers),
    )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read ``Retry-After`` in seconds, as the service sends it."""
    value = headers.get("retry-after", "").strip()
    return float(value) if value.isascii() and value.isdigit() else None


def _class_of(status: int) -> type[Problem]:
    if status in _CONFLICTS:
        return ConflictProblem
    if status >= 500:
        return UnavailableProblem
    kinds = {401: KeyRefusedProblem, 403: KeyRefusedProblem, 404: NotFoundProblem}
    return kinds.get(status, TooOftenProblem if status == 429 else RefusedProblem)
