"""What the service makes of a keeper that vanishes, stalls, or reports what it could not end."""

import asyncio
import json
import os
import resource
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmarshal.errors import NotLaunchedError, OutcomeUnknownError, TransportError
from clawmarshal.transport.pipes import Control, Drain
from clawmarshal.transport.process import Ending, Order, Spawner, launch
from clawmarshal.transport.spawner import boot_s
from tests.support.turns import descriptors

READY = {"event": "ready", "keeper": 1, "subreaper": True}
STARTED = {"event": "started", "pid": 7}
EXITED = {"event": "exited", "code": 0, "signal": None}


def order(*, in_s: float = 5.0, stdout_cap: int = 1000) -> Order:
    return Order(
        argv=("/nosuch",),
        environment={},
        cwd="/",
        not_after_boot_s=boot_s() + in_s,
        deadline_s=5,
        grace_s=0.1,
        stdout_cap=stdout_cap,
    )


class PlayedSpawner(Spawner):
    """Play the keeper: say these lines, write these bytes, then hang up."""

    def __init__(self, *events: object, stdout: bytes = b"", stderr: bytes = b"") -> None:
        self._events = events
        self._outputs = (stdout, stderr)

    @property
    def pid(self) -> int:
        """Nobody's: the keeper is played."""
        return -1

    def hold(self, keeper: int) -> int | None:
        """Never take the played number for a process."""
        return None

    def wake(self) -> None:
        """Play on."""

    def renew(self, silent: int) -> None:
        """Play on."""

    def hand_over(self, control: int, out: int, err: int) -> None:
        """Answer at once; the order itself is not read."""
        for fd, content in zip((out, err), self._outputs, strict=True):
            os.write(fd, content)
        for event in self._events:
            os.write(control, json.dumps(event).encode() + b"\n")


def play(*events: object, stdout: bytes = b"") -> tuple[Ending, bytes]:
    async def run() -> tuple[Ending, bytes]:
        child = await launch(PlayedSpawner(*events, stdout=stdout), order())
        ending = await child.end()
        child.close()
        return ending, child.stdout.kept()

    before = descriptors()
    result = asyncio.run(run())
    assert descriptors() == before
    return result


def failure(spawner: Spawner, what: Order) -> TransportError:
    before = descriptors()
    with pytest.raises((NotLaunchedError, OutcomeUnknownError)) as caught:
        asyncio.run(launch(spawner, what))
    assert descriptors() == before
    return caught.value


def test_whole_report_is_told() -> None:
    ending, stdout = play(READY, STARTED, EXITED, {"event": "gone", "left": 0}, stdout=b"hello")

    assert ending == Ending(exit_code=0, signal=None, left=0, stopped=None)
    assert stdout == b"hello"


def test_what_could_not_be_ended_is_told() -> None:
    stopping = {"event": "stopping", "reason": "deadline"}

    ending, _ = play(READY, STARTED, stopping, EXITED, {"event": "gone", "left": 2})

    assert (ending.left, ending.stopped, ending.is_lost) == (2, "deadline", False)


def test_keeper_that_vanishes_after_the_start_is_lost() -> None:
    ending, _ = play(READY, STARTED, EXITED)

    assert ending.is_lost
    assert ending.left is None


def test_keeper_that_never_spoke_started_nothing() -> None:
    error = failure(PlayedSpawner(), order())

    assert isinstance(error, NotLaunchedError) and error.code == "spawner-lost"


def test_another_keeper_is_asked_when_the_first_never_spoke() -> None:
    class SpeaksLate(PlayedSpawner):
        asked = 0

        def hand_over(self, control: int, out: int, err: int) -> None:
            self.asked += 1
            if self.asked > 1:
                super().hand_over(control, out, err)

    spawner = SpeaksLate(READY, STARTED, EXITED, {"event": "gone", "left": 0})

    async def run() -> Ending:
        child = await launch(spawner, order())
        return await child.end()

    before = descriptors()
    assert asyncio.run(run()).exit_code == 0
    assert (spawner.asked, descriptors()) == (2, before)


def test_keeper_that_was_given_the_order_is_never_replaced() -> None:
    class Counts(PlayedSpawner):
        asked = 0

        def hand_over(self, control: int, out: int, err: int) -> None:
            self.asked += 1
            super().hand_over(control, out, err)

    spawner = Counts(READY)

    assert failure(spawner, order()).code == "launch-unconfirmed"
    assert spawner.asked == 1


def test_keeper_that_vanishes_with_the_order_may_have_started() -> None:
    error = failure(PlayedSpawner(READY), order())

    assert isinstance(error, OutcomeUnknownError) and error.code == "launch-unconfirmed"


def test_keeper_that_says_why_not_did_not_start() -> None:
    refused = {"event": "refused", "step": "exec", "errno": 2}

    error = failure(PlayedSpawner(READY, refused), order())

    assert isinstance(error, NotLaunchedError) and error.code == "not-started"
    assert "No such file" in str(error)


def test_reason_without_a_number_is_still_a_reason() -> None:
    error = failure(PlayedSpawner(READY, {"event": "refused", "step": "session"}), order())

    assert "session" in str(error)


def test_keeper_that_refused_as_late_says_so() -> None:
    error = failure(PlayedSpawner(READY, {"event": "refused", "step": "late", "errno": 0}), order())

    assert isinstance(error, NotLaunchedError) and error.code == "late"


class MuteSpawner(PlayedSpawner):
    """Say what is to be said and then nothing, without hanging up."""

    held: int | None = None

    def hand_over(self, control: int, out: int, err: int) -> None:
        """Keep the socket open."""
        super().hand_over(control, out, err)
        self.held = os.dup(control)

    def let_go(self) -> None:
        """Hang up."""
        assert self.held is not None
        os.close(self.held)


def mute_failure(*events: object, in_s: float) -> TransportError:
    spawner = MuteSpawner(*events)
    try:
        with pytest.raises((NotLaunchedError, OutcomeUnknownError)) as caught:
            asyncio.run(launch(spawner, order(in_s=in_s)))
    finally:
        spawner.let_go()
    return caught.value


def test_keeper_that_is_not_ready_in_time_started_nothing() -> None:
    error = mute_failure(in_s=0.05)

    assert isinstance(error, NotLaunchedError) and error.code == "late"


def test_keeper_that_never_says_what_became_of_its_order_is_unknown() -> None:
    error = mute_failure(READY, in_s=0.05)

    assert isinstance(error, OutcomeUnknownError) and error.code == "launch-unconfirmed"


def test_spawner_that_cannot_be_started_leaves_no_descriptor() -> None:
    class Nowhere(Spawner):
        command = ("/nosuch/spawner",)

    before = descriptors()
    with pytest.raises(FileNotFoundError):
        Nowhere()
    assert descriptors() == before


def test_spawner_that_takes_nothing_more_is_stuck() -> None:
    spawner = Spawner()
    os.kill(spawner.pid, signal.SIGSTOP)
    near, far = socket.socketpair()
    try:
        with near, far, pytest.raises(NotLaunchedError) as caught:
            while True:
                spawner.hand_over(far.fileno(), far.fileno(), far.fileno())
        assert caught.value.code == "spawner-stuck"
    finally:
        os.kill(spawner.pid, signal.SIGKILL)
        spawner.close()


def test_closed_spawner_takes_nothing() -> None:
    spawner = Spawner()
    spawner.close()

    assert failure(spawner, order()).code == "transport-closed"


@pytest.mark.parametrize("spare", [0, 1, 2, 3, 4, 5])
def test_no_descriptors_is_not_launched(spare: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def run() -> str:
        used = [os.dup(0) for _ in range(3)]
        top = max(used)
        for fd in used:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (top - 2 + spare, hard))
        try:
            with pytest.raises(NotLaunchedError) as caught:
                await launch(PlayedSpawner(), order())
            return caught.value.code
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    before = descriptors()
    assert asyncio.run(run()) == "no-descriptors"
    assert descriptors() == before


def test_spawner_that_cannot_be_replaced_is_lost() -> None:
    spawner = Spawner()
    os.kill(spawner.pid, signal.SIGKILL)
    spawner._process.wait()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    near, far = socket.socketpair()
    with near, far:
        spawner._finalizer()
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            with pytest.raises(NotLaunchedError) as caught:
                spawner.hand_over(far.fileno(), far.fileno(), far.fileno())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert caught.value.code == "spawner-lost"


def test_only_a_child_of_the_spawner_is_held() -> None:
    spawner = Spawner()
    before = descriptors()
    try:
        assert spawner.hold(os.getpid()) is None
        assert spawner.hold(2**22 + 1) is None
        assert descriptors() == before
    finally:
        spawner.close()


def test_what_was_said_in_time_is_heard_after_a_pause_of_the_service() -> None:
    async def run() -> object:
        near, far = socket.socketpair()
        control = Control(near)
        with far:
            far.sendall(json.dumps(STARTED).encode() + b"\n")
            try:
                return await control.next(0)
            finally:
                control.close()

    assert asyncio.run(run()) == STARTED


def drained(write: Callable[[int], None], *, head: int, tail: int = 0) -> Drain:
    async def run() -> Drain:
        reader, writer = os.pipe()
        drain = Drain(reader, head=head, tail=tail)
        try:
            await asyncio.to_thread(write, writer)
        finally:
            os.close(writer)
        await asyncio.wait_for(drain.ended.wait(), 10)
        drain.close()
        return drain

    before = descriptors()
    drain = asyncio.run(run())
    assert descriptors() == before
    return drain


@pytest.mark.parametrize(
    ("sizes", "kept", "is_cut"),
    [
        ([3], b"abc", False),
        ([4], b"abcd", False),
        ([6], b"abcdef", False),
        ([7], b"abcefg", True),
        ([2, 2, 2, 2, 2], b"abchij", True),
        ([26], b"abcxyz", True),
    ],
    ids=["short", "one-in-the-tail", "just-full", "one-over", "in-pieces", "long"],
)
def test_drain_keeps_a_head_and_a_tail(sizes: list[int], kept: bytes, is_cut: bool) -> None:
    def write(fd: int) -> None:
        text = b"abcdefghijklmnopqrstuvwxyz"
        for size in sizes:
            os.write(fd, text[:size])
            text = text[size:]

    drain = drained(write, head=3, tail=3)

    assert (drain.kept(), drain.is_cut, drain.total) == (kept, is_cut, sum(sizes))


def test_drain_without_a_tail_counts_the_rest() -> None:
    def write(fd: int) -> None:
        for _ in range(20):
            os.write(fd, b"x" * 50_000)

    drain = drained(write, head=1000)

    assert (len(drain.kept()), drain.total, drain.is_cut) == (1000, 1_000_000, True)


def test_pipe_that_somebody_holds_open_does_not_hold_us_up(tmp_path: Path) -> None:
    async def run() -> bytes:
        reader, writer = os.pipe()
        drain = Drain(reader, head=100)
        os.write(writer, b"last words")
        drain.close()
        os.close(writer)
        return drain.kept()

    assert asyncio.run(run()) == b"last words"
