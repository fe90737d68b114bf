"""The parts of the spawner that need no child: what it reads, and how it knows its own."""

import os
import signal
import socket
import subprocess  # noqa: TID251 - a child of our own is looked for
import sys
from collections.abc import Iterator

import pytest

from clawmarshal.transport import spawner
from tests.support.turns import children_of, is_alive, wait_until


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    with near, far:
        yield near, far


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


def test_children_are_found_by_scan_where_the_kernel_keeps_no_list(
    child: "subprocess.Popen[bytes]",
) -> None:
    me = os.getpid()
    assert child.pid in (spawner._children_by_scan() or set())
    assert spawner._children_by_scan() == set(children_of(me))
    assert spawner.parent_of(str(child.pid)) == str(me)
    assert spawner.parent_of("0") is None


def test_zombie_is_still_a_child(child: "subprocess.Popen[bytes]") -> None:
    os.kill(child.pid, signal.SIGKILL)
    assert wait_until(lambda: not is_alive(child.pid))

    assert child.pid in (spawner._children_by_scan() or set())
    assert child.pid in (spawner._children() or set())


def test_process_is_watched_until_it_ends(child: "subprocess.Popen[bytes]") -> None:
    watch = spawner._watch_process(child.pid)
    assert watch is not None
    os.close(watch)
    child.kill()
    child.wait()
    assert spawner._watch_process(child.pid) is None
    assert spawner._watch_process(None) is None


@pytest.mark.parametrize(
    "sent",
    [b"", b"\0\0", b"\0\0\0\0", b"\x7f\0\0\0", b"\0\0\0\x05{"],
    ids=["nothing", "half-a-length", "zero", "too-long", "half-a-body"],
)
def test_order_that_is_not_whole_is_no_order(
    pair: tuple[socket.socket, socket.socket], sent: bytes
) -> None:
    near, far = pair
    near.sendall(sent)
    near.close()

    assert spawner._read_order(far) is None


def test_order_is_read_however_it_is_cut(pair: tuple[socket.socket, socket.socket]) -> None:
    near, far = pair
    near.sendall(b"\0\0\0\x08")
    near.sendall(b'{"a": 1}')

    assert spawner._read_order(far) == {"a": 1}


def test_socket_that_broke_is_no_order(pair: tuple[socket.socket, socket.socket]) -> None:
    _, far = pair
    far.close()

    assert spawner._read_order(far) is None
    assert spawner._receive(far) == (b"", [])


def test_service_that_is_gone_is_no_reason_to_fail(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    near, far = pair
    far.close()

    spawner.say(near, event="gone", left=0)


def test_request_without_its_descriptors_starts_no_keeper(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    near, far = pair
    spare = os.dup(near.fileno())
    keepers: set[int] = set()

    spawner._start_keeper(far, far.fileno(), [spare], keepers)

    assert keepers == set()
    with pytest.raises(OSError):
        os.fstat(spare)
