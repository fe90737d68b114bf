"""Limits by key and address, last use, and people whom a trusted proxy names."""

import asyncio
import ipaddress
from collections.abc import Mapping

import httpx
import pytest

from clawmarshal.api.app import create_app
from clawmarshal.api.guesses import PER_MINUTE, Guesses
from clawmarshal.api.key_use import KeyUse
from clawmarshal.api.mends import MENDS
from clawmarshal.api.ports import Parts
from clawmarshal.api.problems import PROBLEMS, Problem
from clawmarshal.api.proxied import ProxyTrust, UnusableIdentityError, networks_of
from clawmarshal.api.rates import RateLimit
from clawmarshal.api.seats import Seats
from clawmarshal.errors import LedgerUnavailableError
from tests.support.asgi import AppClient, served
from tests.support.fake_desk import FakeDesk, fake_parts

TRUST = ProxyTrust(networks_of(["127.0.0.1"]), "x-forwarded-user", frozenset({"review"}))
NAMED = {"X-Forwarded-User": "rita@example.org"}
OURS = {"Sec-Fetch-Site": "same-origin"}


def asked(client: AppClient, *, key: str = "review-key") -> httpx.Response:
    return client.request("GET", "/holds", key=key)


def test_a_key_that_asks_too_often_waits_and_others_do_not() -> None:
    with served(create_app(fake_parts(FakeDesk(), rate=RateLimit(3)))) as client:
        assert [asked(client).status_code for _ in range(4)] == [200, 200, 200, 429]
        refused = asked(client)
        assert refused.json()["code"] == "too-many-requests"
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert asked(client, key="admin-key").status_code == 200


def test_an_address_that_guesses_waits_and_a_right_key_never_does() -> None:
    with served(create_app(fake_parts(FakeDesk()))) as client:
        codes = [asked(client, key=f"guess-{n}").json()["code"] for n in range(PER_MINUTE + 1)]
        assert codes == ["key-unknown"] * PER_MINUTE + ["too-many-guesses"]
        refused = asked(client, key="guess")
        assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
        assert asked(client).status_code == 200


def test_the_addresses_of_one_site_are_one_guesser() -> None:
    guesses = Guesses(1)
    assert guesses.wait_s("2001:db8::1") == 0
    assert guesses.wait_s("2001:db8::ffff:2") > 0
    assert guesses.wait_s("2001:db8:0:1::1") == 0
    assert guesses.wait_s("192.0.2.7") == 0
    assert guesses.wait_s("::ffff:192.0.2.7") > 0
    assert guesses.wait_s(None) == 0
    assert guesses.wait_s("not an address") == 0


def test_seats_are_given_back() -> None:
    seats = Seats(2)
    with seats.take("a"), seats.take("a"), seats.take("b"):
        with pytest.raises(Problem) as caught, seats.take("a"):
            pass
        assert caught.value.code == "too-many-waits"
        assert "Retry-After" in caught.value.headers
    assert (seats.taken("a"), seats.taken("b")) == (0, 0)
    with seats.take("a"):
        pass


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/holds/events", {}),
        ("GET", f"/routes/rt_{1:032x}/events", {"Accept": "text/event-stream"}),
        ("GET", f"/routes/rt_{1:032x}?wait_s=5", {}),
    ],
)
def test_waits_and_streams_take_seats(method: str, path: str, headers: Mapping[str, str]) -> None:
    seats = Seats(1)
    with served(create_app(fake_parts(FakeDesk(), seats=seats))) as client:
        client.request("POST", "/route", key="sender-key", json={"text": "slow"})
        with seats.take("ck_review-key"):
            refused = client.request(method, path, key="review-key", headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (429, "too-many-waits")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_use_is_noted_once_a_minute_and_again_where_it_could_not_be() -> None:
    noted: list[tuple[str, str | None]] = []
    away = [True, False]

    def note(key_id: str, address: str | None) -> None:
        if away and away.pop(0):
            raise LedgerUnavailableError("away")
        noted.append((key_id, address))

    async def use() -> None:
        clock = Clock()
        uses = KeyUse(note, clock=clock)
        for seconds in (0, 1, 2, 59, 3):
            clock.now += seconds
            uses.used("ck_1", "192.0.2.7")
            uses.used("ck_2", None)
            await uses.settled()

    asyncio.run(use())
    assert noted.count(("ck_1", "192.0.2.7")) == 2
    assert noted.count(("ck_2", None)) == 2


def proxied(desk: FakeDesk) -> Parts:
    return fake_parts(desk, proxy=TRUST)


def test_who_a_trusted_proxy_names_may_read_and_answer_from_our_own_pages() -> None:
    desk = FakeDesk()
    with served(create_app(proxied(desk))) as client:
        client.request("POST", "/route", key="sender-key", json={"text": "risky"})
        assert client.request("GET", "/holds", headers=NAMED).status_code == 200
        path, body = f"/holds/hd_{1:032x}/reject", {"reason": "no"}
        for site in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
            foreign = client.request("POST", path, json=body, headers=NAMED | site)
            assert (foreign.status_code, foreign.json()["code"]) == (403, "form-foreign")
        answered = client.request("POST", path, json=body, headers=NAMED | OURS)
        assert (answered.status_code, answered.json()["person"]) == (200, "rita@example.org")
        sent = client.request("POST", "/route", json={"text": "x"}, headers=NAMED | OURS)
        assert sent.status_code == 403


def test_nobody_else_names_anybody() -> None:
    elsewhere = ProxyTrust(networks_of(["192.0.2.0/24"]), "x-forwarded-user", TRUST.scopes)
    for parts in (fake_parts(FakeDesk()), fake_parts(FakeDesk(), proxy=elsewhere)):
        with served(create_app(parts)) as client:
            forged = NAMED | {"X-Forwarded-For": "192.0.2.7", "Forwarded": "for=192.0.2.7"}
            answer = client.request("GET", "/holds", headers=forged)
            assert (answer.status_code, answer.json()["code"]) == (401, "key-missing")


@pytest.mark.parametrize("name", ["", " ", "a\x1bb", "x" * 201, "caf\u00e9"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UnusableIdentityError):
        TRUST.person("127.0.0.1", [name])


def test_two_names_are_nobody() -> None:
    with served(create_app(proxied(FakeDesk()))) as client:
        headers = [("X-Forwarded-User", "rita"), ("X-Forwarded-User", "adam")]
        answer = client.run(client.http.get("/holds", headers=headers))
        assert (answer.status_code, answer.json()["code"]) == (401, "identity-invalid")


def test_a_key_goes_before_a_name() -> None:
    with served(create_app(proxied(FakeDesk()))) as client:
        assert client.request("GET", "/metrics", key="sender-key", headers=NAMED).status_code == 403
        assert client.request("GET", "/holds", key="wrong", headers=NAMED).status_code == 401


def test_who_is_barred_stays_outside() -> None:
    parts = proxied(FakeDesk())
    with served(create_app(parts)) as client:
        assert client.request("GET", "/holds", headers=NAMED).status_code == 200
        getattr(parts.records, "revoked").add("ck_rita@example.org")  # noqa: B009
        answer = client.request("GET", "/holds", headers=NAMED)
        assert (answer.status_code, answer.json()["code"]) == (401, "identity-invalid")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("10.2.0.1", False),
        ("fd00::1", True),
        ("fd00::2", False),
        ("unix", False),
        (None, False),
    ],
)
def test_only_listed_peers_are_believed(address: str | None, expected: bool) -> None:
    trust = ProxyTrust(networks_of(["10.1.0.0/16", "fd00::1"]), "x-user", frozenset())
    assert trust.trusts(address) is expected


@pytest.mark.parametrize("address", ["0.0.0.0/0", "::/0", "proxy.example", "10.1.2.3/16"])
def test_everybody_and_nobody_are_no_addresses(address: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        networks_of([address])
    assert ipaddress.ip_address("127.0.0.1")


def test_every_problem_has_a_page_to_which_its_type_leads() -> None:
    assert set(MENDS) == set(PROBLEMS)
    with served(create_app(fake_parts(FakeDesk()))) as client:
        refused = client.request("GET", "/holds").json()
        page = client.request("GET", refused["type"])
        assert page.status_code == 200 and "keys create" in page.text
        listed = client.request("GET", "/problems").text
        for code, kind in PROBLEMS.items():
            page = client.request("GET", f"/problems/{code}")
            assert page.status_code == 200 and str(kind.status) in page.text
            assert f'href="/problems/{code}"' in listed
        unknown = client.request("GET", "/problems/%3Cscript%3E")
        assert unknown.json()["code"] == "path-unknown"


def test_a_page_of_a_problem_runs_nothing() -> None:
    with served(create_app(fake_parts(FakeDesk()))) as client:
        policy = client.request("GET", "/problems").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
