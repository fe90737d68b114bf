"""SIGTERM under load: what was accepted is in the ledger, and the stop is a success."""

import contextlib
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import httpx

from clawmarshal.api.client import Client, ClientError, Retries
from clawmarshal.api.opening import opened_ledger
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.keys import key_for
from tests.support.service import RISKY, SAFE, ServeProcess, configure, serving, settings_of

SENDERS = 12
ALLOWED = {"done", "held", "ready", "launching", "running", "failed", "unknown", "decided"}


class Load:
    """Many senders at once, until they are told to end or nobody answers."""

    def __init__(self, address: str, key: str) -> None:
        self.accepted: list[str] = []
        self.refused: Counter[str] = Counter()
        self._address = address
        self._key = key
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(n,)) for n in range(SENDERS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join(60)

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + 60
        while len(self.accepted) < count:
            assert time.monotonic() < deadline, (len(self.accepted), self.refused)
            self._is_over.wait(0.02)

    def _send(self, number: int) -> None:
        with Client(self._address, self._key, retries=Retries(tries=1)) as client:
            count = 0
            while not self._is_over.is_set():
                count += 1
                text = f"{RISKY if count % 3 == 0 else SAFE} {number} {count}"
                try:
                    route = client.send(text, wait_s=5 if count % 2 else 0)
                except ClientError as error:
                    self.refused[type(error).__name__] += 1
                    continue
                assert route.id is not None
                self.accepted.append(route.id)


def test_nothing_accepted_is_lost_by_a_stop_under_load(tmp_path: Path) -> None:
    cli = write_fake(tmp_path, "time.sleep(0.05); say(document('fine'))")
    config = configure(tmp_path, command=cli.command)
    key = key_for(config, "route", "review")
    with serving("--config", str(config)) as process:
        load = Load(process.address(), key)
        load.start()
        try:
            load.wait_for(60)
            begun = time.monotonic()
            code = process.stop(signal.SIGTERM)
        finally:
            load.stop()
        took_s = time.monotonic() - begun
    assert code == 0, process.errors[-5:]
    assert took_s < 30
    assert not any("Traceback" in line for line in process.errors)
    assert load.refused.keys() <= {"UnreachableError"}, load.refused
    states = states_of(config)
    assert set(load.accepted) <= set(states)
    assert set(states.values()) <= ALLOWED | {"received"}
    assert "unknown" not in states.values()  # an orderly stop reads what its turns came to
    launched = sessions_of(cli)
    assert launched and max(launched.values()) == 1
    assert_all_decided(config, key, load.accepted)
    assert max(sessions_of(cli).values()) == 1


def sessions_of(cli: FakeOpenClaw) -> Counter[str]:
    """Count launches by session; each message here has a session of its own."""
    words = (word for launch in cli.launches() for word in launch["argv"])
    return Counter(word for word in words if word.startswith("--session-key="))


def states_of(config: Path) -> dict[str, str]:
    with opened_ledger(settings_of(config)) as ledger:
        found: dict[str, str] = {}
        cursor: str | None = None
        while True:
            page, cursor = ledger.routes(limit=500, cursor=cursor)
            found |= {route.id: str(route.state) for route in page}
            if cursor is None:
                return found


def assert_all_decided(config: Path, key: str, accepted: list[str]) -> None:
    """Start again: what was handed over is carried on with, and each is launched once."""
    with serving("--config", str(config)) as process:
        address = process.address()
        with Client(address, key) as client:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                states = {route.id: route.state for route in client.every_route()}
                if not {"received", "ready", "launching", "running"} & set(states.values()):
                    break
            assert set(accepted) <= set(states)
            assert set(states.values()) <= {"done", "held"}, Counter(states.values())
            doubly = [r.id for r in client.every_route() if len(r.attempts) > 1]
        assert doubly == []


def test_streams_and_waits_end_with_the_service(tmp_path: Path) -> None:
    cli = write_fake(tmp_path, "time.sleep(2); say(document('late'))")
    config = configure(tmp_path, command=cli.command)
    key = key_for(config, "route", "review")
    with serving("--config", str(config)) as process:
        address = process.address()
        ended = threading.Event()
        streams = [threading.Thread(target=follow, args=(address, key, ended)) for _ in range(5)]
        with Client(address, key) as client:
            sent = client.send(SAFE)
            assert sent.id is not None
            for thread in streams:
                thread.start()
            waiter = threading.Thread(target=wait, args=(address, key, sent.id))
            waiter.start()
            wait_until_streaming(process, client)
        begun = time.monotonic()
        assert process.stop(signal.SIGTERM) == 0
        assert time.monotonic() - begun < 15
        for thread in (*streams, waiter):
            thread.join(20)
            assert not thread.is_alive()
    assert not any("Traceback" in line for line in process.errors)
    assert len(cli.launches()) == 1


def follow(address: str, key: str, ended: threading.Event) -> None:
    with contextlib.suppress(httpx.HTTPError):
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.stream(
            "GET", f"{address}/holds/events", headers=headers, timeout=60, trust_env=False
        ) as answer:
            for _ in answer.iter_lines():
                pass
    ended.set()


def wait(address: str, key: str, route_id: str) -> None:
    with contextlib.suppress(ClientError), Client(address, key, retries=Retries(tries=1)) as client:
        client.route(route_id, wait_s=300)


def wait_until_streaming(process: ServeProcess, client: Client) -> None:
    """Return once the service has answered some requests since the streams were asked for."""
    for _ in range(20):
        client.holds()
