"""``/v1/systemone`` at its edges: who may ask, how often, and what a bad body is told."""

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from clawmarshal.api.app import create_app
from clawmarshal.api.rates import RateLimit
from clawmarshal.api.system_one import MAX_BODY_BYTES, SystemOneDoor
from clawmarshal.errors import DecisionUnavailableError
from clawmarshal.router.decision import DecisionModel
from clawmarshal.router.models.local import LocalDecisionModel
from clawmarshal.router.models.scripted import ScriptedModel
from tests.support.asgi import AppClient, served
from tests.support.fake_desk import FakeDesk, fake_parts

NOUL = {"type": "noul", "instructions": "Is it about money?"}
TEAM = {"type": "choice", "criteria": {"billing": "Invoices, refunds", "tech": "Bugs, outages"}}
ANGER = {"type": "score", "criteria": ["Calm", {"label": "Furious"}]}
OWN = "clawmarshal-local-2"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def app_with(
    model: DecisionModel, *, per_minute: int = 10_000, clock: Clock | None = None, **terms: Any
) -> Any:
    rate = RateLimit(per_minute, clock=clock or Clock())
    door = SystemOneDoor(model, rate=rate, **terms)
    return create_app(dataclasses.replace(fake_parts(FakeDesk()), system_one=door))


@pytest.fixture(scope="module")
def client() -> Iterator[AppClient]:
    with served(app_with(LocalDecisionModel(use_encoder=False))) as made:
        yield made


def body(**changes: Any) -> dict[str, Any]:
    return {
        "model": "jev-latest",
        "state": "Please refund my invoice",
        "questions": {"q": NOUL},
        **changes,
    }


def ask(client: AppClient, sent: Any, *, key: str | None = "sender-key") -> httpx.Response:
    return client.request("POST", "/v1/systemone", key=key, json=sent)


def error_type(answer: httpx.Response) -> str:
    assert answer.headers["x-typesafe-request-id"]
    return str(answer.json()["detail"]["error_type"])


def test_a_missing_key_is_403_and_a_wrong_one_401(client: AppClient) -> None:
    for path, method in (("/v1/systemone", "POST"), ("/v1/models", "GET")):
        missing = client.request(method, path, json=body())
        assert (missing.status_code, error_type(missing)) == (403, "authentication_error")
        wrong = client.request(method, path, key="nobodys", json=body())
        assert (wrong.status_code, error_type(wrong)) == (401, "authentication_error")


def test_a_key_without_the_scope_is_refused(client: AppClient) -> None:
    refused = ask(client, body(), key="review-key")
    assert (refused.status_code, error_type(refused)) == (403, "permission_error")


def test_open_on_loopback_lifts_the_key_for_loopback_peers_alone() -> None:
    model = LocalDecisionModel(use_encoder=False)
    app = app_with(model, open_on_loopback=True)
    with served(app) as client:
        assert ask(client, body(), key=None).status_code == 200
        assert ask(client, body(), key="anything").status_code == 200
        proxied = {"X-Forwarded-For": "203.0.113.9"}
        passed_on = client.request("POST", "/v1/systemone", headers=proxied, json=body())
        assert passed_on.status_code == 403
        assert client.request("GET", "/routes").status_code == 401

    async def from_afar() -> httpx.Response:
        far = httpx.ASGITransport(app, client=("192.0.2.7", 1234))
        async with httpx.AsyncClient(transport=far, base_url="http://127.0.0.1") as http:
            return await http.post("/v1/systemone", json=body())

    assert asyncio.run(from_afar()).status_code == 403


def test_the_601st_request_of_a_minute_is_429_with_the_wait() -> None:
    clock = Clock()
    model = ScriptedModel({"q": {"type": "noul", "noul": 0.5}})
    with served(app_with(model, per_minute=600, clock=clock)) as client:
        for _ in range(600):
            assert ask(client, body()).status_code == 200
        refused = ask(client, body())
        assert (refused.status_code, error_type(refused)) == (429, "rate_limit_error")
        assert refused.headers["retry-after"] == "60"
        assert ask(client, body(), key="other-key").status_code == 200
        clock.now = 60.0
        assert ask(client, body()).status_code == 200


def test_nothing_is_served_where_no_model_was_given() -> None:
    with served(create_app(fake_parts(FakeDesk()))) as client:
        assert ask(client, body()).status_code == 404


def test_models_names_the_own_id_and_the_alias(client: AppClient) -> None:
    listed = client.request("GET", "/v1/models", key="sender-key").json()["models"]
    assert [model["name"] for model in listed] == [OWN, "jev-latest"]
    assert ask(client, body(model=OWN)).json()["model"] == OWN
    unknown = ask(client, body(model="jev-1.13.0"))
    assert (unknown.status_code, error_type(unknown)) == (400, "api_usage_error")


@pytest.mark.parametrize(
    "state",
    ["text", {"message": "text"}, ["a", {"b": [1, None, True]}], "", {}, [], "\x00", "\ufeffx"],
    ids=repr,
)
def test_any_string_object_or_array_is_a_state(client: AppClient, state: object) -> None:
    answer = ask(client, body(state=state, questions={"q": NOUL, "t": TEAM, "a": ANGER}))
    assert answer.status_code == 200, answer.text
    assert sum(answer.json()["answers"]["t"]["probabilities"].values()) == pytest.approx(
        1, abs=1e-4
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"state": None},
        {"state": 5},
        {"state": True},
        {"questions": {}},
        {"questions": {"": NOUL}},
        {"questions": {"q": {"type": "box"}}},
        {"questions": {"q": {"type": "noul"}}},
        {"questions": {"q": {**NOUL, "criteria": {"maybe": "x"}}}},
        {"questions": {"q": {"type": "choice", "criteria": {}}}},
        {"questions": {"q": {"type": "choice", "criteria": ["a"]}}},
        {"questions": {"q": {"type": "choice", "criteria": {"a": 1}}}},
        {"questions": {"q": {"type": "score", "criteria": {"0": "a", "1": "b"}}}},
        {"questions": {"q": {"type": "score", "criteria": ["a", None]}}},
        {"model": 7},
    ],
    ids=lambda wrong: json.dumps(wrong)[:60],
)
def test_a_bad_body_is_422_with_its_places(client: AppClient, wrong: dict[str, Any]) -> None:
    answer = ask(client, body(**wrong))
    assert answer.status_code == 422
    for fault in answer.json()["detail"]:
        assert fault["loc"][0] == "body"
        assert fault["msg"]
        assert fault["type"]


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"[]", 422),
        (b"\xff", 422),
        (b'{"model":"a","model":"b"}', 422),
        (b'{"state": NaN}', 422),
        (b'{"model":"jev-latest","state":"\\ud800","questions":{}}', 422),
        (b"[" * 100_000, 422),
        (b" " * (MAX_BODY_BYTES + 1), 413),
    ],
    ids=lambda one: str(one[:20]) if isinstance(one, bytes) else None,
)
def test_what_is_no_body_is_never_500(client: AppClient, raw: bytes, status: int) -> None:
    headers = {"Content-Type": "application/json"}
    sent = client.request("POST", "/v1/systemone", key="sender-key", content=raw, headers=headers)
    assert sent.status_code == status, sent.text
    assert "detail" in sent.json()


def test_a_body_of_another_media_type_is_refused(client: AppClient) -> None:
    headers = {"Content-Type": "text/plain"}
    sent = client.request(
        "POST", "/v1/systemone", key="sender-key", content=json.dumps(body()), headers=headers
    )
    assert (sent.status_code, error_type(sent)) == (415, "invalid_request_error")


@pytest.mark.parametrize(
    ("questions", "kind"),
    [
        ({"q": {"type": "choice", "criteria": {f"o{i}": None for i in range(256)}}}, "choices"),
        ({"q": {"type": "score", "criteria": [str(i) for i in range(11)]}}, "levels"),
        ({f"q{i}": NOUL for i in range(65)}, "questions"),
        ({"q": {**NOUL, "instructions": "word " * 14_000}}, "tokens"),
    ],
    ids=["options", "levels", "questions", "tokens"],
)
def test_more_than_is_answered_is_400(
    client: AppClient, questions: dict[str, Any], kind: str
) -> None:
    answer = ask(client, body(questions=questions))
    assert answer.status_code == 400
    assert kind in answer.json()["detail"]["message"]


def test_255_options_come_back_byte_for_byte_and_in_order(client: AppClient) -> None:
    options = {f"Zürich {i:03d} é": None for i in range(255)}
    answer = ask(client, body(questions={"q": {"type": "choice", "criteria": options}}))
    assert list(answer.json()["answers"]["q"]["probabilities"]) == list(options)


def test_a_question_is_answered_alike_under_any_id_and_beside_any_other(
    client: AppClient,
) -> None:
    questions = {"a": NOUL, "b": TEAM, "c": ANGER}
    first = ask(client, body(questions=questions)).json()["answers"]
    renamed = {"質問 🎯": ANGER, "risk": TEAM, "agent": NOUL}
    second = ask(client, body(questions=renamed)).json()["answers"]
    assert [second["agent"], second["risk"], second["質問 🎯"]] == list(first.values())


def test_low_medium_and_high_may_mean_anything(client: AppClient) -> None:
    urgency = {"type": "choice", "criteria": {"low": "any day", "medium": "soon", "high": "today"}}
    states = ("Wire $5,000 to this account at once", "How do I wire a plug?")
    both = [ask(client, body(state=s, questions={"q": urgency})).json() for s in states]
    # The risk rules would call the first high; this question is not about risk.
    assert both[0]["answers"]["q"]["probabilities"]["high"] < 0.9


def test_a_one_sided_noul_is_the_mirror_of_its_other_side(client: AppClient) -> None:
    yes = {"type": "noul", "criteria": {"true": "Asks for a refund of an invoice"}}
    no = {"type": "noul", "criteria": {"false": "Asks for a refund of an invoice"}}
    found = ask(client, body(questions={"yes": yes, "no": no})).json()["answers"]
    assert found["yes"]["noul"] == pytest.approx(1 - found["no"]["noul"], abs=1e-5)


def test_a_structured_level_comes_back_as_text(client: AppClient) -> None:
    found = ask(client, body(questions={"q": ANGER})).json()["answers"]["q"]
    assert found["legend"] == {"0": "Calm", "1": "Furious"}
    assert found["score"] == pytest.approx(found["probabilities"]["1"], abs=1e-5)


def test_usage_counts_what_was_read(client: AppClient) -> None:
    short = ask(client, body()).json()["usage"]["input_tokens"]
    long = ask(client, body(state="word " * 400)).json()["usage"]["input_tokens"]
    assert isinstance(short, int)
    assert long - short == pytest.approx(500, abs=20)


@pytest.mark.parametrize(
    "script",
    [DecisionUnavailableError("late"), {}, {"q": {"type": "noul", "noul": "high"}}],
    ids=["away", "no-answer", "malformed"],
)
def test_a_model_that_fails_is_503_and_never_a_zero(script: Any) -> None:
    with served(app_with(ScriptedModel(script))) as client:
        answer = ask(client, body())
        assert (answer.status_code, error_type(answer)) == (503, "service_unavailable")


def test_one_is_answered_at_a_time_and_too_many_waiting_are_529(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running, most = 0, 0
    release = asyncio.Event()

    class Slow:
        name = "slow"

        async def answer(self, *_: Any, deadline_s: float) -> Any:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await release.wait()
            running -= 1
            raise DecisionUnavailableError("late")

    async def scene() -> list[int]:
        app = app_with(Slow())
        headers = {"Authorization": "Bearer sender-key"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            calls = [
                asyncio.ensure_future(http.post("/v1/systemone", json=body(), headers=headers))
                for _ in range(40)
            ]
            done: set[asyncio.Future[httpx.Response]] = set()
            while len(done) < 8:
                left = [call for call in calls if not call.done()]
                await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                done = {call for call in calls if call.done()}
            assert {call.result().status_code for call in done} == {529}
            assert {call.result().headers["retry-after"] for call in done} == {"1"}
            release.set()
            return [(await call).status_code for call in calls]

    statuses = asyncio.run(asyncio.wait_for(scene(), 30))
    assert (statuses.count(503), statuses.count(529)) == (32, 8)
    assert most == 1
