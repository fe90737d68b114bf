"""What a System One server can do wrong, through the whole service and through the library.

Each is a hold with its reason, never a route: nothing is launched, and neither the key, nor what
the server wrote, nor the message stands in a log, an event or an answer.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawmarshal.api.wiring import wire
from clawmarshal.roster.loader import load_roster
from clawmarshal.router.models.exchange import ApiKey
from clawmarshal.router.models.local import LocalDecisionModel
from clawmarshal.router.models.system_one import SystemOneModel
from clawmarshal.router.openclaw_router import OpenClawRouter
from clawmarshal.router.route import Route
from tests.support.asgi import served
from tests.support.fake_openclaw import write_fake
from tests.support.fake_transport import FakeTransport
from tests.support.loopback_server import LoopbackServer, Scene, raw
from tests.support.service import ROSTER, configure, settings_of
from tests.support.system_one_server import MODEL, good, preferring, word_counting

KEY = "sk-seen-nowhere"
MARK = "written-by-the-server"
SECRET = "the-merger-is-on-friday"
TEXT = f"When is the tax return for {SECRET} due?"
DEADLINE_S = 1.0
FINANCE_WINS = preferring("finance")
UNAVAILABLE, INVALID = "decision_unavailable", "decision_invalid"


@dataclass(frozen=True)
class Case:
    """What is wrong, and what must come of it."""

    scene: Scene
    reason: str
    code: str | None = None
    """In the words of gate 2."""
    text: str = TEXT
    roster: str = ROSTER
    key: str | None = KEY
    requests: int | None = 1
    """How often the server is asked; None for any number."""
    deadline_s: float = DEADLINE_S


def page(status: int = 200) -> httpx.Response:
    """Make an HTML page."""
    head = {"content-type": "text/html"}
    return httpx.Response(status, headers=head, text=f"<html><p>{MARK}</p></html>")


def always(answer: "httpx.Response | bytes | None") -> Scene:
    return lambda _: answer


def refusing(status: int, kind: str, *, headers: Mapping[str, str] | None = None) -> Scene:
    """Refuse as the hosted service does, and echo what was sent."""

    def scene(body: Mapping[str, Any]) -> httpx.Response:
        told = {"error_type": kind, "message": f"{MARK} {KEY} {body['state']}"}
        return httpx.Response(status, headers=headers, json={"detail": told})

    return scene


def answered(change: Callable[[dict[str, Any]], object]) -> Scene:
    """Answer well, but for one change of the document."""

    def scene(body: Mapping[str, Any]) -> httpx.Response:
        document = json.loads(FINANCE_WINS(body).content)
        change(document)
        return httpx.Response(200, content=json.dumps(document).encode())

    return scene


def with_probability(value: object) -> Scene:
    """Answer with a probability that is none."""

    def change(document: dict[str, Any]) -> None:
        document["answers"]["agent"]["probabilities"]["finance"] = value

    return answered(change)


def half(body: Mapping[str, Any]) -> bytes:
    """Promise a whole body, send half of it, and hang up."""
    whole = raw(FINANCE_WINS(body))
    return whole[: len(whole) - 200]


def uniform(body: Mapping[str, Any]) -> httpx.Response:
    """Tell nobody apart."""
    answers = {}
    for name, question in body["questions"].items():
        options = list(question["criteria"])
        shares = dict.fromkeys(options, 1 / len(options))
        top = "low" if "low" in options else options[0]
        answers[name] = {
            "type": "choice",
            "choice": top,
            "confidence": 0.0,
            "probabilities": shares,
        }
    return good(answers)


def reading(body: Mapping[str, Any]) -> Any:
    """Share out the words that options and text have in common; none where there are none."""
    (scene,) = word_counting(MODEL)._scenes
    return scene(body)  # type: ignore[operator]  # a function of the body


def refusing_each(document: dict[str, Any]) -> None:
    document["answers"] = {
        name: {"type": "choice", "refusal": MARK} for name in document["answers"]
    }


ONE = "agents:\n  - id: finance\n    description: Invoices, bookkeeping and tax deadlines.\n"
THOUSAND = "agents:\n" + "".join(
    f"  - id: unit-{n:04}\n    description: Spare parts of machine type {n}.\n" for n in range(1000)
)
CUNEIFORM = "\U00012000\U00012001\U00012002 \U00012003\U00012004 \U00012005" * 20
LINEAR_A = "\U00010600\U00010601\U00010602 \U00010603\U00010604" * 20
PRIVATE = "\ue000\ue001\ue002 \ue003\ue004" * 20

CASES: dict[str, Case] = {
    "html": Case(always(page()), INVALID, "body-not-json"),
    "html that blocks": Case(always(page(403)), UNAVAILABLE, "blocked"),
    "NaN": Case(with_probability(float("nan")), INVALID, "body-not-json"),
    "infinity": Case(with_probability(float("inf")), INVALID, "body-not-json"),
    "boolean": Case(with_probability(True), INVALID, "number-invalid"),
    "number as text": Case(with_probability("0.9"), INVALID, "number-invalid"),
    "200 with a refusal": Case(
        always(httpx.Response(200, json={"refusal": MARK})), INVALID, "answers-malformed"
    ),
    "200 with a refusal of each": Case(answered(refusing_each), INVALID, "probabilities-missing"),
    "200 with an error": Case(
        always(httpx.Response(200, json={"error": {"message": MARK}})), INVALID, "answers-malformed"
    ),
    "half a body": Case(half, UNAVAILABLE, "unreachable", requests=2),
    "half a document": Case(
        always(httpx.Response(200, text='{"answers": {"agent": {"' + MARK)),
        INVALID,
        "body-not-json",
    ),
    "5 MiB": Case(
        always(httpx.Response(200, content=MARK.encode() * (5 * 1024 * 1024 // len(MARK)))),
        INVALID,
        "body-too-large",
    ),
    "nothing": Case(always(b""), UNAVAILABLE, "unreachable", requests=2),
    "an empty body": Case(always(httpx.Response(200)), INVALID, "body-not-json"),
    "too late": Case(always(None), UNAVAILABLE, "timeout"),
    "no HTTP at all": Case(
        always(f"{MARK}\r\n\r\n".encode()), UNAVAILABLE, "unreachable", requests=2
    ),
    "a wrong key": Case(refusing(401, "authentication_error"), UNAVAILABLE, "auth"),
    "an expired key": Case(refusing(401, "key_expired"), UNAVAILABLE, "auth"),
    "a missing key": Case(refusing(403, "authentication_error"), UNAVAILABLE, "auth", key=None),
    "no credit": Case(refusing(402, "quota"), UNAVAILABLE, "quota"),
    "529 for ever": Case(refusing(529, "overloaded_error"), UNAVAILABLE, "overloaded", requests=2),
    "429 for a minute": Case(
        refusing(429, "rate_limit", headers={"retry-after": "60"}), UNAVAILABLE, "rate-limited"
    ),
    "one agent, no answer": Case(always(page()), INVALID, "body-not-json", roster=ONE),
    "one agent, none of these": Case(preferring("none_of_these"), "no_match", roster=ONE),
    "one agent, nobody told apart": Case(uniform, "risk", roster=ONE),
    "1,000 agents, no answer": Case(
        always(page()), INVALID, "body-not-json", roster=THOUSAND, requests=None
    ),
    "1,000 agents, too late": Case(
        always(None), UNAVAILABLE, "timeout", roster=THOUSAND, requests=None
    ),
    "1,000 agents, nobody told apart": Case(
        uniform, INVALID, "rounds-undecided", roster=THOUSAND, requests=None, deadline_s=30.0
    ),
    "1 MiB": Case(FINANCE_WINS, "truncated", text="tax " * (256 * 1024)),
    "cuneiform": Case(reading, "no_match", text=CUNEIFORM),
    "Linear A": Case(reading, "no_match", text=LINEAR_A),
    "private use": Case(reading, "undisplayable", text=PRIVATE),
}


def gate_two(gates: list[dict[str, Any]]) -> str:
    return " ".join(gate["detail"] for gate in gates if gate["number"] == 2)


def check(case: Case, route: Mapping[str, Any], server: LoopbackServer, *, said: str) -> None:
    """Hold a route against what must come of its case."""
    assert (route["outcome"], route["reason"]) == ("hold", case.reason)
    if case.code is not None:
        # On a busy machine the decision's deadline may come before the client's own.
        codes = {case.code, "deadline"} if case.code == "timeout" else {case.code}
        assert any(f"({code})" in gate_two(route["gates"]) for code in codes)
    if case.requests is not None:
        assert len(server.requests) == case.requests
    assert {one.headers.get("authorization") for one in server.requests} == {
        f"Bearer {case.key}" if case.key else None
    }
    for secret in (KEY, MARK, SECRET):
        assert secret not in said


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture
def server(case: Case) -> Iterator[LoopbackServer]:
    with LoopbackServer(case.scene) as found:
        yield found


def configured(folder: Path, case: Case, url: str) -> tuple[Path, Callable[[], list[Any]]]:
    """Write a configuration; return it, and what tells the launches."""
    cli = write_fake(folder)
    config = configure(folder, command=cli.command)
    (folder / "fleet.yaml").write_text(case.roster, encoding="utf-8")
    decision = f"model: system_one, base_url: '{url}', name: {MODEL}, deadline_s: {case.deadline_s}"
    if case.key is not None:
        (folder / "key").write_text(case.key, encoding="ascii")
        (folder / "key").chmod(0o600)
        decision += ", key_file: key"
    text = config.read_text(encoding="utf-8").replace("{model: lexical}", f"{{{decision}}}")
    text = text.replace("client.json5}", f"client.json5, max_text_bytes: {2 * 1024 * 1024}}}")
    config.write_text(text, encoding="utf-8")
    return config, cli.launches


def test_the_service_holds_it_and_launches_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, case: Case, server: LoopbackServer
) -> None:
    config, launches = configured(tmp_path, case, server.url)
    service = wire(settings_of(config))
    with served(service.app()) as client:
        key = service.ledger.create_key("test", "ann", ("route", "review"))
        answer = client.request("POST", "/route", key=key, json={"text": case.text})
        route = answer.json()
        detail = client.request("GET", f"/routes/{route['id']}", key=key).json()
        events = [dict(one.facts) for one in service.ledger.events(route["id"])]
        figures = client.request("GET", "/metrics", key=key).text
        ready = client.request("GET", "/readyz", key=key)
    assert (answer.status_code, route["state"]) == (202, "held")
    assert ready.status_code == 200
    assert launches() == []
    check(
        case,
        {**route, "gates": detail["gates"]},
        server,
        said=caplog.text + answer.text + json.dumps(events, default=str) + figures,
    )
    for secret in (KEY, MARK):
        assert secret not in json.dumps(detail)
        assert secret.encode() not in (tmp_path / "ledger.db").read_bytes()


def test_the_library_holds_it_and_launches_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, case: Case, server: LoopbackServer
) -> None:
    (tmp_path / "fleet.yaml").write_text(case.roster, encoding="utf-8")
    transport = FakeTransport()
    model = SystemOneModel(server.url, MODEL, key=ApiKey(case.key) if case.key else None)
    with OpenClawRouter(
        model,
        load_roster(tmp_path / "fleet.yaml"),
        transport=transport,
        deadline_s=case.deadline_s,
    ) as router:
        route = router.route(case.text)
    gates = [{"number": gate.number, "detail": gate.detail} for gate in route.gates]
    told = {"outcome": route.outcome, "reason": route.reason, "gates": gates}
    assert not route.routable
    assert transport.turns == []
    check(case, told, server, said=caplog.text + repr(route))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_neither_the_message_nor_the_key_elsewhere(
    tmp_path: Path, status: int
) -> None:
    with LoopbackServer() as elsewhere:
        there = {"location": f"{elsewhere.url}/v1/systemone"}
        case = Case(always(httpx.Response(status, headers=there)), INVALID, "protocol")
        with LoopbackServer(case.scene) as server:
            config, launches = configured(tmp_path, case, server.url)
            service = wire(settings_of(config))
            with served(service.app()) as client:
                key = service.ledger.create_key("test", "ann", ("route",))
                asked = client.request("POST", "/route", key=key, json={"text": TEXT}).json()
                route = client.request("GET", f"/routes/{asked['id']}", key=key).json()
            del route["message"]
            check(case, route, server, said=json.dumps(route))
        assert elsewhere.requests == []
        assert launches() == []


def decided(url: str, *, text: str = TEXT, roster: str, folder: Path) -> Route:
    (folder / "fleet.yaml").write_text(roster, encoding="utf-8")
    fleet = load_roster(folder / "fleet.yaml")
    model = SystemOneModel(url, MODEL, key=ApiKey(KEY))
    with OpenClawRouter(model, fleet, transport=FakeTransport(), deadline_s=30) as router:
        return router.route(text)


@pytest.mark.parametrize(
    ("roster", "agent"),
    [(ROSTER, "finance"), (ONE, "finance"), (THOUSAND, "unit-0617")],
    ids=["two", "one", "1,000"],
)
def test_a_good_answer_is_routed_so_the_holds_above_are_for_their_reason(
    tmp_path: Path, roster: str, agent: str
) -> None:
    with LoopbackServer(preferring(agent)) as server:
        route = decided(server.url, roster=roster, folder=tmp_path)
    assert (route.routable, route.agent) == (True, agent)


@pytest.mark.parametrize("text", [CUNEIFORM, LINEAR_A, PRIVATE], ids=["cuneiform", "A", "private"])
@pytest.mark.parametrize("use_encoder", [True, False], ids=["offline", "lexical"])
def test_a_script_that_the_offline_model_does_not_know_is_held(
    text: str, use_encoder: bool, tmp_path: Path
) -> None:
    (tmp_path / "fleet.yaml").write_text(ROSTER, encoding="utf-8")
    model = LocalDecisionModel(use_encoder=use_encoder)
    fleet = load_roster(tmp_path / "fleet.yaml")
    with OpenClawRouter(model, fleet, transport=FakeTransport()) as router:
        route = router.route(text)
    model.close()
    assert route.outcome == "hold"
    assert route.reason in ("no_match", "uncertain", "undisplayable", "risk")
