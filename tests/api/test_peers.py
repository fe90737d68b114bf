"""Slow, greedy and broken peers on a real socket; others are served meanwhile."""

import contextlib
import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.keys import key_for
from tests.support.service import RISKY, caller, configure, serving

LIMITS = "limits: {body_timeout_s: 0.5, head_timeout_s: 0.5, stall_s: 1.0}\n"


class Desk:
    def __init__(self, address: str, key: str, config: Path) -> None:
        self.address = address
        self.key = key
        self.config = config

    @contextlib.contextmanager
    def raw(self) -> Iterator[socket.socket]:
        url = httpx.URL(self.address)
        with socket.create_connection((url.host, url.port or 80), timeout=20) as peer:
            yield peer

    def head(self, *lines: str, request: str = "POST /route") -> bytes:
        told = [f"{request} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {self.key}"]
        return "\r\n".join([*told, *lines, "", ""]).encode()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    config = configure(tmp_path_factory.mktemp("service"), more=LIMITS)
    text = config.read_text().replace("{port: 0}", "{port: 0, max_connections: 40}")
    config.write_text(text)
    key = key_for(config, "route", "review")
    with serving("--config", str(config)) as process:
        yield Desk(process.address(), key, config)


def read_to_end(peer: socket.socket) -> bytes:
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := peer.recv(65536):
            found += chunk
    return found


def code_of(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head, answer[:300]
    return int(head.split()[1]), json.loads(body)["code"]


def is_served(desk: Desk) -> bool:
    with caller(desk.address, desk.key) as http:
        return http.get("/holds").status_code == 200


def test_a_head_that_trickles_is_408(desk: Desk) -> None:
    with desk.raw() as peer:
        begun = time.monotonic()
        for piece in (b"GET /ho", b"lds HTTP/1.1\r\n", b"Host: 127.0.0.1\r\n"):
            peer.sendall(piece)
        assert code_of(read_to_end(peer)) == (408, "head-timeout")
    assert time.monotonic() - begun < 15


def test_a_head_that_trickles_after_an_answer_is_408_too(desk: Desk) -> None:
    with desk.raw() as peer:
        peer.sendall(desk.head(request="GET /holds"))
        assert peer.recv(65536).startswith(b"HTTP/1.1 200 ")
        peer.sendall(b"GET /ho")
        assert code_of(read_to_end(peer)) == (408, "head-timeout")


def test_a_peer_that_says_nothing_is_let_go(desk: Desk) -> None:
    with desk.raw() as peer:
        assert read_to_end(peer) == b""


@pytest.mark.parametrize("request_line", ["GET /holds", "GET /nowhere", "POST /routes/rt_1/cancel"])
def test_a_body_that_nobody_reads_does_not_keep_a_connection(desk: Desk, request_line: str) -> None:
    with desk.raw() as peer:
        peer.sendall(desk.head("Content-Length: 1000000", request=request_line) + b"x")
        peer.settimeout(0.1)
        answer, is_ended = b"", False
        deadline = time.monotonic() + 15
        while not is_ended and time.monotonic() < deadline:
            try:
                peer.sendall(b"x")  # a byte now and then, for ever
                chunk = peer.recv(65536)
                answer, is_ended = answer + chunk, not chunk
            except TimeoutError:
                continue
            except OSError:
                is_ended = True
        assert is_ended and answer.startswith(b"HTTP/1.1 ")


def test_a_body_that_trickles_is_408_in_all_its_parts(desk: Desk) -> None:
    with desk.raw() as peer:
        head = desk.head("Content-Type: application/json", "Content-Length: 1000")
        peer.sendall(head + b'{"text"')
        answer = b""
        peer.settimeout(0.1)
        deadline = time.monotonic() + 15
        while not answer and time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                answer = peer.recv(65536)
            with contextlib.suppress(OSError):
                peer.sendall(b" ")
        assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_caller_who_never_reads_is_cut_off(desk: Desk) -> None:
    with caller(desk.address, desk.key) as http:
        for number in range(60):
            http.post("/route", json={"text": f"{RISKY} {number} " + "x" * 30_000})
        page = len(http.get("/routes?limit=500").content)
    with desk.raw() as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asked = desk.head(request="GET /holds?state=all&limit=500")
        # Pipelined, so that far more is owed than the buffers between us take.
        peer.sendall(asked * 120)
        deadline = time.monotonic() + 30
        while is_open(peer) and time.monotonic() < deadline:
            assert is_served(desk)
        assert page and not is_open(peer)


def is_open(peer: socket.socket) -> bool:
    """Tell whether the other side still takes something."""
    try:
        peer.sendall(b"\r\n")
    except OSError:
        return False
    return True


NOT_HTTP = {
    "no HTTP": b"hello\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
    "two lengths": b"POST /route HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
    b"Content-Length: 2\r\n\r\nx",
    "length and chunks": b"POST /route HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n"
    b"Transfer-Encoding: gzip\r\n\r\nabc",
    "a header that folds over": b"GET /holds HTTP/1.1\r\nHost: a\x00b\r\n\r\n",
    "no host": b"GET /holds HTTP/1.1\r\n\r\n",
    "a head of 1 MiB": b"GET /holds HTTP/1.1\r\nX: " + b"x" * 2**20 + b"\r\n\r\n",
}


@pytest.mark.parametrize("sent", NOT_HTTP.values(), ids=NOT_HTTP.keys())
def test_what_is_no_http_is_a_problem_and_the_end(desk: Desk, sent: bytes) -> None:
    with desk.raw() as peer:
        with contextlib.suppress(ConnectionError):
            peer.sendall(sent)
        answer = read_to_end(peer)
    if answer:  # a reset can overtake the words
        assert code_of(answer) == (400, "request-malformed")
    assert is_served(desk)


def test_100_mb_are_refused_and_not_kept(desk: Desk) -> None:
    megabyte = b"x" * 2**20
    with caller(desk.address, desk.key) as http:
        before = memory_of(desk)
        headers = {"Content-Type": "application/json"}
        answer = http.post("/route", content=iter([megabyte] * 100), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")
        assert memory_of(desk) - before < 64 * 2**20


def memory_of(desk: Desk) -> int:
    """Return the bytes that the service has in memory."""
    (pid,) = {
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if str(desk.config) in read_or_empty(path)
    }
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def read_or_empty(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("depth", [33, 100_000])
def test_deep_json_is_400(desk: Desk, depth: int) -> None:
    body = b'{"text": ' + b"[" * depth + b"]" * depth + b"}"
    with caller(desk.address, desk.key) as http:
        answer = http.post("/route", content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (400, "body-too-deep")


def test_one_connection_too_many_is_503(desk: Desk) -> None:
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(desk.raw()) for _ in range(60)]
        refused = [peer for peer in peers if first_bytes(peer).startswith(b"HTTP/1.1 503 ")]
        assert len(refused) >= 15
        answer = first_bytes(refused[0])
    assert b"Retry-After: 2" in answer
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.HTTPError):
            if is_served(desk):
                return
    raise AssertionError("nobody is served any more")


def first_bytes(peer: socket.socket) -> bytes:
    """Look at what came, and leave it there."""
    peer.settimeout(0.2)
    try:
        return peer.recv(65536, socket.MSG_PEEK)
    except (TimeoutError, ConnectionError):
        return b""


def test_a_stop_does_not_wait_for_slow_peers(tmp_path: Path) -> None:
    config = configure(tmp_path)
    key = key_for(config, "route")
    with serving("--config", str(config)) as process:
        slow = Desk(process.address(), key, config)
        with slow.raw() as peer, slow.raw() as other:
            peer.sendall(b"GET /ho")
            other.sendall(slow.head("Content-Length: 5", request="GET /holds"))
            other.recv(65536)
            begun = time.monotonic()
            assert process.stop(signal.SIGTERM) == 0
            assert time.monotonic() - begun < 15
