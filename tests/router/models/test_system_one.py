"""The client of System One servers, against a fake one."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from clawmarshal.errors import (
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
    SettingsError,
)
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import (
    Ballot,
    ChoiceQuestion,
    NoulQuestion,
    ScoreQuestion,
    fleet_ballot,
)
from clawmarshal.router.decision import Answers, validate_fleet
from clawmarshal.router.message import InboundMessage, Utterance
from clawmarshal.router.models.breaker import Breaker
from clawmarshal.router.models.exchange import ApiKey, Exchange
from clawmarshal.router.models.masking import MAX_KEPT, Masker
from clawmarshal.router.models.system_one import SystemOneModel
from clawmarshal.router.redaction import Redactor
from tests.support.deciding import FINANCE, FLEET, answers, ballot_for, choice_question
from tests.support.system_one_server import (
    BASE,
    MODEL,
    FakeServer,
    choice,
    good,
    preferring,
)

SECRET = "the merger is on Friday"
FINANCE_WINS = preferring("finance")


def ask(
    model: SystemOneModel,
    text: str = SECRET,
    *,
    ballot: Ballot | None = None,
    deadline_s: float = 5.0,
    **more: Any,
) -> Answers:
    message = InboundMessage(text, **more)
    asked = ballot or fleet_ballot(FLEET, message)
    return asyncio.run(model.answer(asked, message, deadline_s=deadline_s))


def failure(model: SystemOneModel, text: str = SECRET, **more: Any) -> DecisionError:
    with pytest.raises(DecisionError) as caught:
        ask(model, text, **more)
    for shown in (str(caught.value), repr(caught.value), repr(caught.value.__cause__)):
        assert SECRET not in shown
        assert "sk-secret" not in shown
    return caught.value


def test_both_orders_and_the_risk_go_into_one_request_in_canonical_order() -> None:
    server = FakeServer(FINANCE_WINS)
    ask(server.model(), channel="telegram")
    (body,) = server.bodies
    assert list(body) == ["model", "state", "questions"]
    assert body["model"] == MODEL
    assert body["state"] == {"message": SECRET, "channel": "telegram"}
    forward = ["finance", "personal", "security", "none_of_these"]
    assert list(body["questions"]) == ["agent", "agent_reversed", "risk"]
    assert list(body["questions"]["agent"]["criteria"]) == forward
    assert list(body["questions"]["agent_reversed"]["criteria"]) == forward[::-1]
    assert all(question["instructions"] for question in body["questions"].values())


def test_the_request_goes_to_the_configured_place_with_the_key() -> None:
    server = FakeServer(FINANCE_WINS)
    exchange = server.exchange("https://decisions.example/api/", path="/v2/systemone")
    ask(server.model(exchange=exchange))
    (request,) = server.requests
    assert str(request.url) == "https://decisions.example/api/v2/systemone"
    assert request.headers["authorization"] == "Bearer sk-secret"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept"] == "application/json"
    assert request.headers["user-agent"].startswith("clawmarshal/")


def test_without_a_key_there_is_no_authorization() -> None:
    server = FakeServer(FINANCE_WINS)
    ask(server.model(exchange=server.exchange(key=None)))
    assert "authorization" not in server.requests[0].headers


def test_model_usage_latency_and_request_id_are_recorded() -> None:
    found = ask(FakeServer(FINANCE_WINS).model())
    assert (found.model, found.request_id) == (MODEL, "req_1")
    assert found.usage == {"input_tokens": 100, "output_tokens": 10}
    assert found.latency_ms > 0
    assert (found.truncated, found.notes) == (False, ())
    decision = validate_fleet(ballot_for(), found, strict=True)
    assert (decision.agent.option, decision.orders_agree) == ("finance", True)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ("many", None),
        ({}, None),
        ({"input_tokens": 12.0}, {"input_tokens": 12.0}),
        ({"input_tokens": -1, "output_tokens": True, "cost": "0"}, None),
        ({"input_tokens": 0, "output_tokens": 0}, {"output_tokens": 0}),
        ({"input_tokens": 7, "secret": "x"}, {"input_tokens": 7}),
    ],
    ids=repr,
)
def test_usage_that_is_not_stated_is_unknown(usage: object, expected: object) -> None:
    def answering(request: Any) -> httpx.Response:
        body = json.loads(FINANCE_WINS(request).content)
        return httpx.Response(200, json={**body, "usage": usage})

    assert ask(FakeServer(answering).model()).usage == expected


def test_the_provider_of_a_gateway_is_noted() -> None:
    def answering(request: Any) -> httpx.Response:
        body = json.loads(FINANCE_WINS(request).content)
        return httpx.Response(200, json={**body, "provider": "TypeSafe", "id": "gen-1"})

    found = ask(FakeServer(answering).model())
    assert found.notes == ("provider:TypeSafe",)
    assert found.request_id == "gen-1"


def other_model(request: Any) -> httpx.Response:
    body = json.loads(FINANCE_WINS(request).content)
    return httpx.Response(200, json={**body, "model": "jev-1.14.0"})


def test_another_model_is_refused_in_strict_mode_and_marked_otherwise() -> None:
    assert failure(FakeServer(other_model).model(strict=True)).code == "model-mismatch"
    found = ask(FakeServer(other_model).model())
    assert (found.model, found.notes) == ("jev-1.14.0", ("model-mismatch",))


def test_a_model_that_is_known_under_another_id_is_the_pinned_one() -> None:
    found = ask(FakeServer(other_model).model(answers_as=["jev-1.14.0"], strict=True))
    assert (found.model, found.notes) == ("jev-1.14.0", ())


@pytest.mark.parametrize("name", [None, 7, "", "a\x1b[31m", "m" * 300], ids=repr)
def test_a_response_that_names_no_model_is_not_the_pinned_one(name: object) -> None:
    def answering(request: Any) -> httpx.Response:
        body = json.loads(FINANCE_WINS(request).content)
        return httpx.Response(200, json={**body, "model": name})

    found = ask(FakeServer(answering).model())
    assert (found.model, found.notes) == ("unknown", ("model-mismatch",))


def without_confidence(*names: str) -> Any:
    def answering(request: Any) -> httpx.Response:
        body = json.loads(FINANCE_WINS(request).content)
        for name in names:
            del body["answers"][name]["confidence"]
        return httpx.Response(200, json=body)

    return answering


def test_strict_mode_refuses_an_answer_without_confidence() -> None:
    for name in ("agent", "agent_reversed"):
        server = FakeServer(without_confidence(name))
        assert failure(server.model(strict=True)).code == "confidence-missing"
        assert ask(server.model()).notes == ()


def test_strict_mode_leaves_a_refused_risk_out_and_it_counts_as_high() -> None:
    found = ask(FakeServer(without_confidence("risk")).model(strict=True))
    assert found.notes == ("risk-refused:confidence-missing",)
    decision = validate_fleet(ballot_for(), found)
    assert (decision.risk, decision.risk_fault) == (None, "answer-missing")


def test_an_answer_nobody_asked_for_is_counted() -> None:
    def answering(request: Any) -> httpx.Response:
        body = json.loads(FINANCE_WINS(request).content)
        body["answers"]["root"] = {"type": "noul", "noul": 1}
        return httpx.Response(200, json=body)

    decision = validate_fleet(ballot_for(), ask(FakeServer(answering).model()))
    assert decision.extra_answers == 1


def test_the_envelope_is_unwrapped_where_it_is_configured() -> None:
    def answering(request: Any) -> httpx.Response:
        body = json.loads(FINANCE_WINS(request).content)
        return httpx.Response(200, json={"result": body, "success": True, "errors": []})

    server = FakeServer(answering)
    assert ask(server.model(exchange=server.exchange(envelope=True))).model == MODEL
    assert failure(server.model()).code == "answers-malformed"


BAD: dict[str, tuple[httpx.Response, str]] = {
    "html": (httpx.Response(200, text="<!DOCTYPE html><title>Hi</title>"), "body-not-json"),
    "nan": (httpx.Response(200, text='{"answers":{"agent":NaN}}'), "body-not-json"),
    "half": (httpx.Response(200, text='{"model":"m","answers":{"agent":'), "body-not-json"),
    "nothing": (httpx.Response(200, content=b""), "body-not-json"),
    "array": (httpx.Response(200, text="[]"), "body-not-object"),
    "refusal": (httpx.Response(200, json={"refusal": f"I cannot {SECRET}"}), "answers-malformed"),
    "five-mib": (httpx.Response(200, content=b" " * 5 * 1024 * 1024), "body-too-large"),
    "created": (httpx.Response(201, json={"answers": {}}), "protocol"),
    "compressed": (
        httpx.Response(200, headers={"content-encoding": "br"}, content=b"x"),
        "protocol",
    ),
    "redirect": (
        httpx.Response(307, headers={"location": "https://elsewhere.example/"}),
        "protocol",
    ),
}


@pytest.mark.parametrize(("response", "code"), BAD.values(), ids=BAD)
def test_a_bad_response_is_a_typed_error_and_is_not_asked_again(
    response: httpx.Response, code: str
) -> None:
    server = FakeServer(response)
    error = failure(server.model())
    assert isinstance(error, DecisionInvalidError)
    assert (error.code, len(server.requests)) == (code, 1)


def test_a_large_body_is_never_read_to_its_end() -> None:
    taken = 0

    async def flood() -> Any:
        nonlocal taken
        for _ in range(5 * 16):
            taken += 65536
            yield b" " * 65536

    def answering(_: Any) -> httpx.Response:
        return httpx.Response(200, content=flood())

    assert failure(FakeServer(answering).model()).code == "body-too-large"
    assert taken <= 1024 * 1024 + 2 * 65536


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(status: int) -> None:
    server = FakeServer(httpx.Response(status, headers={"location": "https://evil.example/"}))
    assert failure(server.model()).code == "protocol"
    assert [request.url.host for request in server.requests] == ["decisions.example"]


def silence(_: Any) -> Any:
    return asyncio.Event().wait()


def test_a_server_that_is_too_late_is_a_timeout_before_the_callers_own() -> None:
    error = failure(FakeServer(silence).model(), deadline_s=0.05)
    assert isinstance(error, DecisionUnavailableError)
    assert (error.code, error.retryable) == ("timeout", True)


def test_a_connection_that_fails_is_tried_once_more() -> None:
    away = httpx.ConnectError(f"{SECRET} sk-secret")
    server = FakeServer(away, FINANCE_WINS)
    assert ask(server.model()).model == MODEL
    server = FakeServer(away)
    assert failure(server.model()).code == "unreachable"
    assert len(server.requests) == 2


def test_two_requests_of_one_decision_share_one_repeat() -> None:
    many = {f"q{n}": choice_question("a", "b") for n in range(12)}
    server = FakeServer(httpx.Response(500))
    assert failure(server.model(), ballot=Ballot(many)).code == "server"
    assert len(server.requests) <= 3


def test_the_deadline_is_one_for_both_tries() -> None:
    server = FakeServer(httpx.Response(503), silence)
    assert failure(server.model(), deadline_s=0.1).code == "timeout"
    assert len(server.requests) == 2


def test_a_repeat_that_would_come_too_late_is_not_made() -> None:
    server = FakeServer(httpx.Response(503))
    exchange = server.exchange(jitter_s=lambda: 0.4)
    assert failure(server.model(exchange=exchange), deadline_s=0.3).code == "server"
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_asked_once_more(status: int) -> None:
    server = FakeServer(httpx.Response(status), FINANCE_WINS)
    assert ask(server.model()).model == MODEL
    assert len(server.requests) == 2
    server = FakeServer(httpx.Response(status))
    failure(server.model())
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 413, 415, 422, 501])
def test_what_will_not_pass_is_not_asked_again(status: int) -> None:
    echo = {"error": {"message": f"{SECRET} sk-secret"}}
    server = FakeServer(httpx.Response(status, json=echo))
    error = failure(server.model())
    assert (error.retryable, len(server.requests)) == (False, 1)


@pytest.mark.parametrize(
    ("headers", "count"),
    [
        ({"retry-after": "0"}, 2),
        ({"retry-after-ms": "1"}, 2),
        ({"retry-after": "Mon, 30 Nov 2020 12:00:00 GMT"}, 2),
        ({"retry-after": "60"}, 1),
        ({"retry-after": "Mon, 30 Nov 2099 12:00:00 GMT"}, 1),
    ],
    ids=repr,
)
def test_the_wait_a_server_asks_for_is_kept_where_it_fits(
    headers: dict[str, str], count: int
) -> None:
    server = FakeServer(httpx.Response(429, headers=headers), FINANCE_WINS)
    # Had it waited by itself, the deadline would be over.
    model = server.model(exchange=server.exchange(jitter_s=lambda: 99.0))
    if count == 2:
        assert ask(model).model == MODEL
    else:
        assert failure(model).code == "rate-limited"
    assert len(server.requests) == count


def test_a_repeat_waits_a_random_moment() -> None:
    waits = {Exchange(BASE)._jitter_s() for _ in range(50)}
    assert len(waits) > 10
    assert min(waits) >= 0.2
    assert max(waits) <= 0.5


def test_a_server_that_is_overloaded_for_ever_is_left_alone_after_one_decision() -> None:
    server, now = FakeServer(httpx.Response(529)), [0.0]
    model = server.model(breaker=Breaker(open_s=5, clock=lambda: now[0]))
    codes = [failure(model).code for _ in range(5)]
    assert codes == ["overloaded", *["circuit-open"] * 4]
    assert len(server.requests) == 2
    now[0] = 6.0
    assert failure(model).code == "overloaded"


def test_a_timeout_in_the_caller_lets_the_next_decision_probe() -> None:
    now = [0.0]
    breaker = Breaker(open_s=5, clock=lambda: now[0])
    server = FakeServer(httpx.Response(429), httpx.Response(429), silence, FINANCE_WINS)
    model = server.model(breaker=breaker)
    assert failure(model).code == "rate-limited"
    now[0] = 6.0

    async def impatient() -> None:
        async with asyncio.timeout(0.02):
            await model.answer(ballot_for(), InboundMessage("x"), deadline_s=5)

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert ask(model).model == MODEL


def test_the_key_shows_itself_nowhere() -> None:
    key = ApiKey("sk-secret")
    model = FakeServer(FINANCE_WINS).model()
    for shown in (repr(key), str(key), f"{key}", repr(model), repr(vars(model))):
        assert "sk-secret" not in shown
    with pytest.raises(TypeError, match="not pickled"):
        key.__reduce__()


@pytest.mark.parametrize("value", ["", " ", "two words", "ä", "new\nline"], ids=repr)
def test_what_is_no_key_is_refused(value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ApiKey(value)
    assert value.strip() == "" or value not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("http://decisions.example", "/v1/systemone"),
        ("http://localhost.example", "/v1/systemone"),
        ("http://127.0.0.1.example", "/v1/systemone"),
        ("http://10.0.0.7", "/v1/systemone"),
        ("ftp://decisions.example", "/v1/systemone"),
        ("https://", "/v1/systemone"),
        ("decisions.example", "/v1/systemone"),
        ("https://user:sk-secret@decisions.example", "/v1/systemone"),
        ("https://decisions.example?key=sk-secret", "/v1/systemone"),
        ("https://decisions.example#x", "/v1/systemone"),
        ("https://decisions.example", "v1/systemone"),
        ("https://decisions.example", "//evil.example/x"),
        ("https://decisions.example", "/../x"),
        ("https://decisions.example", "/x?y=1"),
        ("https://decisions.example", ""),
        ("https://decisions.example:port", "/v1/systemone"),
    ],
    ids=repr,
)
def test_an_address_that_could_carry_the_key_elsewhere_is_refused(base: str, path: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Exchange(base, path)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "base",
    ["http://localhost:1", "http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:8", BASE],
)
def test_http_is_for_loopback_and_https_for_everybody(base: str) -> None:
    assert str(Exchange(base).url).endswith("/v1/systemone")


@pytest.mark.parametrize("base", ["http://127.0.0.1:9", BASE])
def test_a_proxy_of_the_environment_is_not_used_on_loopback(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")

    async def mounted() -> int:
        exchange = Exchange(base)
        count = len(exchange._client()._mounts)
        await exchange.aclose()
        return count

    assert (asyncio.run(mounted()) == 0) is base.startswith("http://127")


@pytest.mark.parametrize("cap", [3, 256])
def test_a_cap_outside_of_the_format_is_refused(cap: int) -> None:
    with pytest.raises(SettingsError):
        SystemOneModel(BASE, MODEL, option_cap=cap)
    with pytest.raises(SettingsError):
        SystemOneModel(BASE, "jev\n1")


@pytest.mark.parametrize("option", ["7", "00", "__proto__", ""])
def test_an_option_that_a_server_could_reorder_is_never_sent(option: str) -> None:
    server = FakeServer(FINANCE_WINS)
    ballot = Ballot({"q": choice_question("fine", option)})
    assert failure(server.model(), ballot=ballot).code == "ballot-invalid"
    assert server.requests == []


def test_other_ballots_are_asked_as_they_are_in_requests_of_eight() -> None:
    levels = ScoreQuestion("How bad?", ("fine", "bad"))
    questions = {f"q{n:02}": choice_question("yes", "no") for n in range(11)} | {"s": levels}

    def answering(request: Any) -> httpx.Response:
        score = {"type": "score", "score": 0, "confidence": 1, "probabilities": {"0": 1, "1": 0}}
        return good(
            {
                q: score if q == "s" else choice({"yes": 0.9, "no": 0.1})
                for q in request["questions"]
            }
        )

    server = FakeServer(answering)
    found = ask(server.model(strict=True), ballot=Ballot(questions))
    assert set(found.answers) == set(questions)
    assert sorted(len(body["questions"]) for body in server.bodies) == [4, 8]
    assert found.usage == {"input_tokens": 200, "output_tokens": 20}


def test_a_choice_that_is_no_fleet_is_refused_over_the_cap() -> None:
    ballot = Ballot({"q": choice_question(*(f"o{n}" for n in range(25)))})
    assert failure(FakeServer(FINANCE_WINS).model(), ballot=ballot).code == "ballot-invalid"
    assert ask(FakeServer(FINANCE_WINS).model(option_cap=25), ballot=ballot).answers


def test_questions_that_fit_no_request_are_refused_unsent() -> None:
    server = FakeServer(FINANCE_WINS)
    huge = Ballot({"q": ChoiceQuestion("?" * 70_000, {"a": "", "b": ""})})
    error = failure(server.model(), ballot=huge)
    assert (error.code, error.retryable, server.requests) == ("too-large", False, [])


@pytest.mark.parametrize(
    "text",
    ["x" * 1024 * 1024, "界" * 300_000, "🙂" * 250_000, '"\\' * 400_000, "\x01" * 500_000 + "x"],
    ids=["ascii", "cjk", "emoji", "quotes", "escapes"],
)
def test_a_message_of_a_mebibyte_is_cut_and_says_so(text: str) -> None:
    server = FakeServer(FINANCE_WINS)
    found = ask(server.model(), text)
    (request,) = server.requests
    assert found.truncated
    assert len(request.content) <= 60 * 1024
    sent = server.bodies[0]["state"]["message"]
    assert text.startswith(sent)
    assert 2_000 <= len(sent) <= 8_000


def test_a_text_of_eight_thousand_characters_is_sent_whole() -> None:
    server = FakeServer(FINANCE_WINS)
    assert not ask(server.model(), "界" * 7_990).truncated
    assert ask(server.model(), "x" * 8_001).truncated
    assert ask(server.model(), "🙂" * 7_900).truncated


def test_remits_that_are_too_long_are_cut_and_noted() -> None:
    long = Roster([type(FINANCE)("finance", "Invoices. " * 390)])
    server = FakeServer(FINANCE_WINS)
    found = ask(server.model(), ballot=fleet_ballot(long, InboundMessage("x")))
    assert found.notes == ("remits-cut:1",)
    assert len(server.bodies[0]["questions"]["agent"]["criteria"]["finance"]) < 1_500


def test_what_is_redacted_never_leaves_and_the_message_counts_as_truncated() -> None:
    server = FakeServer(FINANCE_WINS)
    model = server.model(redactor=Redactor(["email", r"EMP-\d{4,8}"]))
    context = (Utterance("sender", "I am EMP-12345"), Utterance("agent", "ok"))
    found = ask(model, "Pay ann@corp.example now", context=context)
    assert found.truncated
    assert found.notes == ("redacted:2",)
    assert b"corp" not in server.requests[0].content
    assert b"EMP-1" not in server.requests[0].content
    assert server.bodies[0]["state"] == {
        "message": "Pay [email] now",
        "conversation": [
            {"speaker": "sender", "text": "I am [redacted]"},
            {"speaker": "agent", "text": "ok"},
        ],
    }
    assert not ask(model, "Pay Ann now").truncated


def test_what_is_redacted_leaves_in_no_question_either() -> None:
    agents = [
        type(FINANCE)("finance", "Invoices for ann@corp.example.", not_for=("bob@corp.example",)),
        type(FINANCE)("personal", "Errands.", examples=("Write to eve@corp.example today",)),
    ]
    server = FakeServer(FINANCE_WINS)
    model = server.model(redactor=Redactor(["email"]))
    for _ in range(2):
        message = InboundMessage("When is it due?", channel="mail:zoe@corp.example")
        ballot = fleet_ballot(Roster(agents), message)
        found = asyncio.run(model.answer(ballot, message, deadline_s=5))
        assert found.notes == ("questions-redacted:6",)
        assert not found.truncated
        assert validate_fleet(ballot, found).agent.option == "finance"
    assert all(b"corp" not in request.content for request in server.requests)
    sent = server.bodies[1]
    assert sent["questions"]["agent"]["criteria"]["finance"].startswith("Invoices for [email]")
    assert sent["state"]["channel"] == "mail:[email]"


def test_a_question_of_any_type_is_redacted() -> None:
    server = FakeServer(lambda _: good({}))
    mail = "ann@corp.example"
    ballot = Ballot(
        {
            "c": ChoiceQuestion(f"For {mail} ?", {"a": f"x {mail}", "b": ""}),
            "s": ScoreQuestion(f"About {mail} ?", (f"low {mail}", "high")),
            "n": NoulQuestion(f"Is it {mail} ?", {"true": f"yes {mail}", "false": "no"}),
            "p": NoulQuestion("Is it so?"),
        }
    )
    found = ask(server.model(redactor=Redactor(["email"])), ballot=ballot)
    assert found.notes == ("questions-redacted:6",)
    assert b"corp" not in server.requests[0].content
    assert ask(server.model(redactor=Redactor()), ballot=ballot).notes == ()


def test_what_is_kept_of_redacted_texts_is_bounded() -> None:
    masker = Masker(Redactor(["email"]))
    for number in range(2):
        texts = {f"o{n}": f"{number} {n} a@b.example" for n in range(MAX_KEPT)}
        _, count = masker.ballot(Ballot({"q": ChoiceQuestion("Which?", texts)}))
        assert count == MAX_KEPT
        assert len(masker._kept) <= MAX_KEPT


def test_the_last_turns_are_sent_and_bounded() -> None:
    server = FakeServer(FINANCE_WINS)
    context = tuple(Utterance("sender", f"{n} " + "界" * 900) for n in range(9))
    found = ask(server.model(), context=context)
    sent = server.bodies[0]["state"]["conversation"]
    assert [turn["text"][0] for turn in sent] == list("345678")
    assert all(len(turn["text"].encode()) <= 1024 for turn in sent)
    assert found.notes == ("conversation-cut",)
    assert not found.truncated


def test_a_fleet_of_one_agent_is_asked_once() -> None:
    server = FakeServer(FINANCE_WINS)
    ballot = fleet_ballot(Roster([FINANCE]), InboundMessage("x"))
    found = ask(server.model(strict=True), ballot=ballot)
    assert list(server.bodies[0]["questions"]) == ["agent", "risk"]
    assert validate_fleet(ballot, found, strict=True).agent.option == "finance"


def test_connections_are_closed_with_the_model() -> None:
    async def used() -> bool:
        async with FakeServer(FINANCE_WINS).model() as model:
            await model.answer(ballot_for(), InboundMessage("x"), deadline_s=5)
            (client,) = model._exchange._clients.values()
        await model.aclose()
        return client.is_closed

    assert asyncio.run(used())


def test_scripted_answers_and_the_wire_agree() -> None:
    found = ask(FakeServer(FINANCE_WINS).model())
    given = dict(found.answers)
    assert validate_fleet(ballot_for(), answers(given)).agent.option == "finance"
