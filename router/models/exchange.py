"""Exchange: one request to a System One server, and at most one more; the file that owns httpx."""

import asyncio
import ipaddress
import random
import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from clawmarshal._version import __version__
from clawmarshal.errors import (
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
    SettingsError,
)
from clawmarshal.router.body import MAX_BODY_BYTES, parse_body
from clawmarshal.router.models.refusals import ONCE, read_refusal
from clawmarshal.router.models.wire import WireResponse, printable_name

ERROR_BODY_BYTES = 16 * 1024
"""What is read of an error's body: enough to classify it."""
ID_HEADERS = ("x-typesafe-request-id", "x-request-id", "cf-ray")
_PATH = re.compile(r"(?:/[A-Za-z0-9@_.~+-]+)+", re.ASCII)
_KEY = re.compile(r"[\x21-\x7e]{1,4096}", re.ASCII)
LEAST_WAIT_S = 0.2
MOST_WAIT_S = 0.5


class ApiKey:
    """A key that shows itself to nobody: not in ``repr``, not in ``str``, not when pickled.

    Raises
    ------
    SettingsError
        It is no key: empty, or with blanks or characters outside of ASCII.
    """

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        if not _KEY.fullmatch(value):
            raise SettingsError("the decision server's key is empty or no printable ASCII")
        self.__value = value

    def header(self) -> str:
        """Return the value of ``Authorization``."""
        return f"Bearer {self.__value}"

    def __repr__(self) -> str:
        return "ApiKey(***)"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a key is not pickled")


@dataclass(slots=True)
class Budget:
    """What one decision may still spend."""

    ends_at: float
    """On the event loop's clock."""
    retries: int = 1
    """Repeats left, for all requests of the decision together."""

    def left_s(self) -> float:
        """Seconds until the deadline."""
        return self.ends_at - asyncio.get_running_loop().time()


@dataclass(frozen=True, slots=True)
class Reply:
    """A 200 whose body is a System One response; its answers are not validated yet."""

    response: WireResponse
    request_id: str | None


class Exchange:
    """Ask one server; the key goes to its origin and nowhere else.

    Parameters
    ----------
    base_url
        ``https://…``, or ``http://…`` on loopback; no user, query or fragment.
    path
        What follows the base, from its slash.
    key
        None sends no ``Authorization``.
    envelope
        True expects ``{"result": …, "success": true}``.
    transport
        For tests; the network where None.
    jitter_s
        Seconds before a repeat for which the server asks no wait of its own.
    now
        The wall clock, for a ``Retry-After`` that is a date.

    Raises
    ------
    SettingsError
        The address cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        path: str = "/v1/systemone",
        *,
        key: ApiKey | None = None,
        envelope: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
        jitter_s: Callable[[], float] = lambda: random.uniform(LEAST_WAIT_S, MOST_WAIT_S),  # noqa: S311 - no secret
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.url = checked_url(base_url, path)
        self._key = key
        self._envelope = envelope
        self._transport = transport
        self._jitter_s = jitter_s
        self._now = now
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = (
            weakref.WeakKeyDictionary()
        )

    async def ask(self, body: bytes, budget: Budget) -> Reply:
        """Send a request; once more where that can help and fits what is left of the budget.

        Raises
        ------
        DecisionUnavailableError
            One of the classes of `clawmarshal.router.models.refusals`, or ``unreachable``.
        DecisionInvalidError
            ``protocol``, or as `clawmarshal.router.body.parse_body`.
        """
        try:
            return await self._once(body)
        except DecisionUnavailableError as error:
            wait_s = self._jitter_s() if error.retry_after_s is None else error.retry_after_s
            if error.code not in ONCE or budget.retries < 1 or wait_s >= budget.left_s():
                raise
            budget.retries -= 1
        await asyncio.sleep(wait_s)
        return await self._once(body)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def _once(self, body: bytes) -> Reply:
        try:
            async with self._client().stream(
                "POST", self.url, content=body, headers=self._headers()
            ) as response:
                if response.status_code != 200:
                    raise await self._refused(response)
                raw = await _whole(response)
                told = {name: response.headers.get(name) for name in ID_HEADERS}
        except httpx.TimeoutException:
            raise DecisionUnavailableError(
                "the decision server took too long", code="timeout"
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            # The library's own words may hold the address or a part of the answer.
            raise DecisionUnavailableError(
                f"the decision server cannot be reached ({type(error).__name__})",
                code="unreachable",
            ) from None
        response_read = WireResponse.model_validate(parse_body(raw, envelope=self._envelope))
        named = (printable_name(value) for value in told.values())
        return Reply(response_read, next((one for one in named if one), response_read.id))

    async def _refused(self, response: httpx.Response) -> DecisionError:
        begun = b""
        async for chunk in response.aiter_raw():
            begun += chunk
            if len(begun) >= ERROR_BODY_BYTES:
                break
        return read_refusal(
            response.status_code, response.headers, begun[:ERROR_BODY_BYTES], now=self._now()
        ).error

    def _headers(self) -> dict[str, str]:
        headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": f"clawmarshal/{__version__}",
        }
        if self._key is not None:
            headers["authorization"] = self._key.header()
        return headers

    def _client(self) -> httpx.AsyncClient:
        """Return the client of this event loop; connections cannot cross from one to another."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = httpx.AsyncClient(
                transport=self._transport,
                follow_redirects=False,
                trust_env=not is_loopback(self.url.host),
                timeout=None,  # noqa: S113 - the decision's deadline ends it, whatever it waits for
            )
        return client


def checked_url(base_url: str, path: str) -> httpx.URL:
    """Join base and path, and refuse what could carry a key elsewhere.

    Raises
    ------
    SettingsError
        See `Exchange`; the text never holds the address, which might hold a secret.
    """
    try:
        base = httpx.URL(base_url)
    except (httpx.InvalidURL, TypeError, ValueError):
        raise SettingsError("decision.base_url is no address") from None
    if base.scheme not in ("http", "https") or not base.host:
        raise SettingsError("decision.base_url: write https://HOST, or http:// on loopback")
    if base.userinfo or base.query or base.fragment or "?" in base_url or "#" in base_url:
        raise SettingsError("decision.base_url holds more than host, port and path")
    if base.scheme == "http" and not is_loopback(base.host):
        raise SettingsError("decision.base_url: http is for loopback; write https")
    whole = base.path.rstrip("/") + path
    steps = whole.split("/")
    if not _PATH.fullmatch(whole) or "." in steps or ".." in steps:
        raise SettingsError("decision.path: write it from its slash, such as /v1/systemone")
    return base.copy_with(raw_path=whole.encode())


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine: ``localhost`` or a loopback address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


async def _whole(response: httpx.Response) -> bytes:
    """Read a body up to its cap; what is larger is never kept."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise DecisionInvalidError("the response is compressed, unasked", code="protocol")
    declared = response.headers.get("content-length", "")
    chunks, total = [], int(declared) if declared.isdecimal() and len(declared) < 16 else 0
    if total <= MAX_BODY_BYTES:
        total = 0
        async for chunk in response.aiter_raw():
            total += len(chunk)
            if total > MAX_BODY_BYTES:
                break
            chunks.append(chunk)
    if total > MAX_BODY_BYTES:
        raise DecisionInvalidError(
            f"the body is over its limit of {MAX_BODY_BYTES} bytes", code="body-too-large"
        )
    return b"".join(chunks)
