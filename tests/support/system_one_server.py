"""A System One server for ``httpx.MockTransport``: answers by a script, and remembers requests."""

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any

import httpx

from clawmarshal.router.models.breaker import Breaker
from clawmarshal.router.models.exchange import ApiKey, Exchange
from clawmarshal.router.models.system_one import SystemOneModel

MODEL = "jev-1.13.0"
BASE = "https://decisions.example"
Answering = Callable[[Mapping[str, Any]], httpx.Response]
Scene = httpx.Response | Exception | Answering | Callable[[Mapping[str, Any]], Awaitable[Any]]


def choice(shares: Mapping[str, float]) -> dict[str, object]:
    """Make a well-formed choice answer."""
    top = max(shares, key=lambda option: shares[option])
    return {
        "type": "choice",
        "choice": top,
        "confidence": shares[top],
        "probabilities": dict(shares),
    }


def preferring(*favourites: str, share: float = 0.9) -> Answering:
    """Answer every choice with the first favourite that is asked about, else none of these."""

    def answering(request: Mapping[str, Any]) -> httpx.Response:
        answers = {}
        for name, question in request["questions"].items():
            options = list(question["criteria"])
            ranked = [*favourites, "none_of_these", "low"]
            top = next((one for one in ranked if one in options), options[0])
            rest = (1 - share) / (len(options) - 1) if len(options) > 1 else 0.0
            shares = dict.fromkeys(options, rest) | {top: share if rest else 1.0}
            answers[name] = choice(shares)
        return good(answers)

    return answering


def good(answers: Mapping[str, object], *, model: object = MODEL, **more: object) -> httpx.Response:
    """Make a 200 with these answers."""
    usage = {"input_tokens": 100, "output_tokens": 10}
    body = {"model": model, "answers": answers, "usage": usage, **more}
    return httpx.Response(200, json=body, headers={"x-typesafe-request-id": "req_1"})


class _Bytes(httpx.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


def word_counting(model: str = "local") -> "FakeServer":
    """Make a server that reads: options share out the words they have in common with the text."""

    def answering(request: Mapping[str, Any]) -> httpx.Response:
        words = _words(request["state"]["message"])
        answers = {}
        for name, question in request["questions"].items():
            weights = {
                option: 0.05 + len(words & _words(f"{option} {text}"))
                for option, text in question["criteria"].items()
                if option != "none_of_these"
            }
            if "none_of_these" in question["criteria"]:
                weights["none_of_these"] = 0.2 if words else 0.0
            if not words and "none_of_these" in weights:
                weights = dict.fromkeys(weights, 0.0) | {"none_of_these": 1.0}
            if "low" in weights:
                weights["low"] += 5
            total = math.fsum(weights.values())
            shares = {option: weights[option] / total for option in question["criteria"]}
            answers[name] = choice(dict(sorted(shares.items()))) | {"probabilities": shares}
        return good(answers, model=model)

    return FakeServer(answering)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.lower())) - {"none", "the", "and", "for", "this"}


def _streamed(response: httpx.Response) -> httpx.Response:
    """Make a response as a network gives it: not read yet, and read once."""
    if not response.is_stream_consumed:
        return response
    stream = _Bytes(response.content)
    return httpx.Response(response.status_code, headers=response.headers, stream=stream)


class FakeServer:
    """Play scenes in order, the last one for ever.

    Parameters
    ----------
    scenes
        A response, an error of the connection, or a function of the request's body.
    """

    def __init__(self, *scenes: Scene) -> None:
        self._scenes = scenes
        self.requests: list[httpx.Request] = []

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What was asked, in order."""
        return [json.loads(request.content) for request in self.requests]

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        scene = self._scenes[min(len(self.requests), len(self._scenes) - 1)]
        self.requests.append(request)
        if isinstance(scene, Exception):
            raise scene
        if isinstance(scene, httpx.Response):
            return _streamed(scene)
        answer = scene(json.loads(request.content))
        told = await answer if asyncio.iscoroutine(answer) else answer
        assert isinstance(told, httpx.Response)
        return _streamed(told)

    def exchange(
        self, base_url: str = BASE, *, key: str | None = "sk-secret", **more: Any
    ) -> Exchange:
        """Make an exchange with this server; repeats wait no time."""
        given = {"jitter_s": lambda: 0.0, "transport": httpx.MockTransport(self), **more}
        return Exchange(base_url, key=ApiKey(key) if key else None, **given)

    def model(
        self,
        name: str = MODEL,
        *,
        breaker: Breaker | None = None,
        answers_as: Iterable[str] = (),
        exchange: Exchange | None = None,
        **more: Any,
    ) -> SystemOneModel:
        """Make the client of this server."""
        return SystemOneModel(
            BASE,
            name,
            answers_as=answers_as,
            breaker=breaker or Breaker(failures=10_000, open_s=0.0),
            exchange=exchange or self.exchange(),
            **more,
        )
