"""Whoever dies in the middle of a launch, no child outlives it and none starts late."""

import asyncio
import errno
import json
import os
import resource
import signal
import socket
import subprocess  # noqa: TID251 - a service of our own is killed here
import sys
import textwrap
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.errors import NotLaunchedError
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import TurnResult, TurnState
from clawmarshal.transport.process import Order, Spawner, encode, launch
from clawmarshal.transport.spawner import boot_s
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.turns import (
    Watcher,
    await_until,
    children_of,
    descriptors,
    is_alive,
    make_turn,
    processes_naming,
    wait_until,
)

STAYS = "beat()"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
ORPHAN = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        beat()
    os._exit(0)
os.wait()
"""

Step = Callable[[OpenClawTransport, Watcher, FakeOpenClaw], Awaitable[None]]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "cli").mkdir(mode=0o700)
    (tmp_path / "turns").mkdir(mode=0o700)
    yield tmp_path / "cli"
    assert wait_until(lambda: not processes_naming(tmp_path))


def launch_and(folder: Path, body: str, step: Step, **more: Any) -> TurnResult:
    """Launch, do something once the child runs, and return what became of it."""

    async def run() -> TurnResult:
        fake = write_fake(folder, body)
        transport = OpenClawTransport(
            fake.command, directory=folder.parent / "turns", grace_s=0.4, margin_s=0.5
        )
        watcher = Watcher()
        try:
            task = asyncio.create_task(transport.launch(make_turn(**more), watcher))
            await asyncio.wait_for(watcher.heard.wait(), 10)
            assert await await_until(lambda: bool(fake.notes("beats")))
            await step(transport, watcher, fake)
            return await asyncio.wait_for(task, 20)
        finally:
            await transport.close()

    return asyncio.run(run())


def spawner_of(transport: OpenClawTransport) -> int:
    return transport._spawner.pid


def keeper_of(transport: OpenClawTransport) -> int:
    (keeper,) = children_of(spawner_of(transport))
    return keeper


def test_killed_keeper_is_unknown_and_its_child_is_ended(folder: Path) -> None:
    async def kill(transport: OpenClawTransport, watcher: Watcher, fake: FakeOpenClaw) -> None:
        os.kill(keeper_of(transport), signal.SIGKILL)

    result = launch_and(folder, DEAF + STAYS, kill)

    assert (result.state, result.code) == (TurnState.UNKNOWN, "keeper-lost"), result
    assert result.cancel_unconfirmed
    assert wait_until(lambda: not processes_naming(folder))


def test_killed_spawner_does_not_touch_what_runs_and_is_replaced(folder: Path) -> None:
    seen: list[TurnResult] = []

    async def kill(transport: OpenClawTransport, watcher: Watcher, fake: FakeOpenClaw) -> None:
        first = spawner_of(transport)
        os.kill(first, signal.SIGKILL)
        assert await await_until(lambda: not is_alive(first))
        assert is_alive(watcher.pids[0])
        transport.stop("at_1")
        write_fake(folder)
        seen.append(await transport.launch(make_turn(attempt_id="at_2")))
        assert spawner_of(transport) != first

    result = launch_and(folder, STAYS, kill)

    assert (result.state, result.code) == (TurnState.UNKNOWN, "stopped"), result
    assert seen[0].state is TurnState.DONE, seen


def test_launch_into_a_spawner_that_is_just_killed_goes_to_the_next(folder: Path) -> None:
    async def run() -> list[TurnResult]:
        fake = write_fake(folder)
        transport = OpenClawTransport(fake.command, directory=folder.parent / "turns")
        await transport.probe()
        results = []
        for number in range(20):
            os.kill(spawner_of(transport), signal.SIGKILL)
            results.append(await transport.launch(make_turn(attempt_id=f"at_{number}")))
        await transport.close()
        assert len(fake.launches()) == 20
        return results

    assert {result.state for result in asyncio.run(run())} == {TurnState.DONE}


def test_killed_spawner_and_keeper_still_stop_the_child(folder: Path) -> None:
    async def kill(transport: OpenClawTransport, watcher: Watcher, fake: FakeOpenClaw) -> None:
        keeper = keeper_of(transport)
        os.kill(spawner_of(transport), signal.SIGKILL)
        os.kill(keeper, signal.SIGKILL)

    result = launch_and(folder, STAYS, kill)

    assert (result.state, result.code) == (TurnState.UNKNOWN, "keeper-lost"), result


def test_keepers_and_spawner_shrug_off_signals_meant_for_the_service(folder: Path) -> None:
    async def signal_all(transport: OpenClawTransport, watcher: Watcher, _: FakeOpenClaw) -> None:
        for pid in (spawner_of(transport), keeper_of(transport)):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                os.kill(pid, number)
        transport.stop("at_1")

    result = launch_and(folder, STAYS, signal_all)

    assert (result.code, result.cancel_unconfirmed) == ("stopped", False), result


SERVICE = """
import asyncio, sys
from tests.support.measured import measure_spawner
measure_spawner()
from clawmarshal.transport.openclaw import OpenClawTransport
from tests.support.turns import make_turn

async def main():
    transport = OpenClawTransport([sys.argv[1]], directory=sys.argv[2], grace_s=0.5)
    await transport.launch(make_turn())

asyncio.run(main())
"""


@pytest.mark.parametrize("body", [STAYS, DEAF + STAYS, ORPHAN + STAYS], ids=["", "deaf", "orphan"])
def test_killed_service_takes_its_children_along(folder: Path, body: str) -> None:
    fake = write_fake(folder, body)
    turns = folder.parent / "turns"
    service = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVICE), str(fake.path), str(turns)]
    )
    try:
        assert wait_until(
            lambda: len(set(fake.notes("beats"))) >= body.count("beat()"), timeout_s=20
        )
        service.kill()
    finally:
        service.kill()
        service.wait()

    assert wait_until(lambda: not any(is_alive(pid) for pid in set(fake.notes("beats"))))
    assert wait_until(lambda: not processes_naming(folder))
    left = list(turns.glob("clawmarshal-turns-*"))
    assert len(left) == 1
    asyncio.run(OpenClawTransport(fake.command, directory=turns).close())
    assert not list(turns.iterdir())


ABOVE = (
    "stat = open(f'/proc/{os.getppid()}/stat').read()\n"
    "above = [os.getppid(), int(stat.rpartition(')')[2].split()[1])]\n"
)


@pytest.mark.parametrize("stopped", ["above[1:]", "above[:1]", "above"])
def test_what_a_child_stopped_does_not_outlive_a_killed_service(folder: Path, stopped: str) -> None:
    stop = f"for pid in {stopped}: os.kill(pid, signal.SIGSTOP)\n"
    fake = write_fake(folder, f"{DEAF}{ABOVE}{stop}note('above', above)\nbeat()")
    service = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(SERVICE),
            str(fake.path),
            str(folder.parent / "turns"),
        ]
    )
    try:
        assert wait_until(lambda: bool(fake.notes("beats") and fake.notes("above")), timeout_s=20)
    finally:
        service.kill()
        service.wait()
    pids = {*fake.notes("above")[0], *fake.notes("beats")}
    assert wait_until(lambda: not any(is_alive(pid) for pid in pids))


def test_frozen_service_does_not_stop_the_deadline(folder: Path) -> None:
    fake = write_fake(folder, STAYS)
    script = SERVICE.replace("grace_s=0.5", "grace_s=0.5, margin_s=0").replace(
        "make_turn()", "make_turn(timeout_s=1)"
    )
    service = subprocess.Popen(
        [sys.executable, "-c", script, str(fake.path), str(folder.parent / "turns")]
    )
    try:
        assert wait_until(lambda: bool(fake.notes("beats")), timeout_s=20)
        service.send_signal(signal.SIGSTOP)
        assert wait_until(lambda: not is_alive(fake.launches()[0]["pid"]))
    finally:
        service.kill()
        service.wait()


def test_launch_held_up_past_its_time_never_execs(folder: Path) -> None:
    async def run() -> TurnResult:
        fake = write_fake(folder)
        transport = OpenClawTransport(fake.command, directory=folder.parent / "turns")
        await transport.probe()
        os.kill(spawner_of(transport), signal.SIGSTOP)
        try:
            turn = make_turn(in_s=0.3)
            result = await transport.launch(turn)
            assert boot_s() >= turn.not_after_boot_s
        finally:
            os.kill(spawner_of(transport), signal.SIGCONT)
        after = await transport.launch(make_turn())
        assert after.state is TurnState.DONE
        await transport.close()
        assert len(fake.launches()) == 1
        return result

    result = asyncio.run(run())
    assert (result.state, result.code) == (TurnState.FAILED_NOT_RUN, "late")


def test_stopped_spawner_is_told_to_go_on(folder: Path) -> None:
    async def run() -> tuple[TurnResult, bool]:
        transport = OpenClawTransport(write_fake(folder).command, directory=folder.parent / "turns")
        await transport.probe()
        spawner = spawner_of(transport)
        os.kill(spawner, signal.SIGSTOP)
        result = await transport.launch(make_turn())
        try:
            return result, spawner_of(transport) == spawner
        finally:
            await transport.close()

    result, is_the_same = asyncio.run(run())
    assert (result.state, is_the_same) == (TurnState.DONE, True), result


def test_spawner_that_stays_silent_is_replaced(folder: Path) -> None:
    async def run() -> list[TurnResult]:
        fake = write_fake(folder)
        transport = OpenClawTransport(fake.command, directory=folder.parent / "turns")
        await transport.probe()
        silent = spawner_of(transport)
        transport._spawner.wake = lambda: None  # type: ignore[method-assign]  # as if it were traced
        os.kill(silent, signal.SIGSTOP)
        try:
            pending = (
                transport.launch(make_turn(attempt_id=f"at_{n}", in_s=1.2)) for n in range(2)
            )
            late = await asyncio.gather(*pending)
            replaced = spawner_of(transport)
            assert not is_alive(silent) and replaced != silent
            return [*late, await transport.launch(make_turn())]
        finally:
            assert spawner_of(transport) == replaced
            await transport.close()

    *late, after = asyncio.run(run())
    assert [result.code for result in late] == ["late"] * 2
    assert after.state is TurnState.DONE, after


STOP_THE_KEEPER = "os.kill(os.getppid(), signal.SIGSTOP)\n"
STOP_THE_SPAWNER = (
    "stat = open(f'/proc/{os.getppid()}/stat').read()\n"
    "os.kill(int(stat.rpartition(')')[2].split()[1]), signal.SIGSTOP)\n"
)
TRACE_THE_KEEPER = "import ctypes; ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)\n"


def test_keeper_that_its_child_stops_is_ended_with_the_child(folder: Path) -> None:
    deeds = {
        "works-on": STOP_THE_KEEPER + STAYS,
        "ends": "say(document())\n" + STOP_THE_KEEPER,
        "traces": TRACE_THE_KEEPER + STOP_THE_KEEPER + STAYS,
        "stops-the-spawner-too": STOP_THE_SPAWNER + STOP_THE_KEEPER + STAYS,
    }

    async def run(name: str) -> TurnResult:
        (folder / name).mkdir(mode=0o700)
        transport = OpenClawTransport(
            write_fake(folder / name, DEAF + deeds[name]).command,
            directory=folder.parent / "turns",
            margin_s=0,
            grace_s=0.1,
        )
        try:
            result = await transport.launch(make_turn(timeout_s=1))
            assert await await_until(lambda: not processes_naming(folder / name)), name
            return result
        finally:
            await transport.close()

    async def run_all() -> list[TurnResult]:
        return await asyncio.gather(*map(run, deeds))

    for result in asyncio.run(run_all()):
        assert (result.state, result.code) == (TurnState.UNKNOWN, "keeper-lost"), result
        assert result.cancel_unconfirmed


def test_launch_called_off_while_it_starts_is_stopped(folder: Path) -> None:
    async def run() -> TurnResult:
        turns = folder.parent / "turns"
        transport = OpenClawTransport(
            write_fake(folder, STAYS).command, directory=turns, grace_s=0.4
        )
        await transport.probe()
        os.kill(spawner_of(transport), signal.SIGSTOP)
        try:
            before = descriptors()
            task = asyncio.create_task(transport.launch(make_turn()))
            assert await await_until(lambda: descriptors() == before + 3)
            assert transport.stop("at_1")
        finally:
            os.kill(spawner_of(transport), signal.SIGCONT)
        result = await asyncio.wait_for(task, 10)
        await transport.close()
        return result

    assert asyncio.run(run()).code == "stopped"


def order_for(fake: FakeOpenClaw, folder: Path, *, not_after_s: float) -> Order:
    file = folder / "message.txt"
    file.write_text("hello")
    return Order(
        argv=(str(fake.path), "agent", "--agent=a", f"--message-file={file}"),
        environment={},
        cwd=str(folder),
        not_after_boot_s=not_after_s,
        deadline_s=10,
        grace_s=0.2,
        stdout_cap=100_000,
    )


def hear(control: socket.socket) -> dict[str, Any]:
    control.settimeout(10)
    line = b""
    while not line.endswith(b"\n"):
        line += control.recv(1)
    answer = json.loads(line)
    assert isinstance(answer, dict)
    return answer


def test_keeper_checks_the_time_last_thing_before_exec(folder: Path) -> None:
    fake = write_fake(folder)
    spawner = Spawner()
    near, far = socket.socketpair()
    with near, far, open(os.devnull, "wb") as null:
        spawner.hand_over(far.fileno(), null.fileno(), null.fileno())
        keeper = hear(near)["keeper"]
        os.kill(keeper, signal.SIGSTOP)
        order = order_for(fake, folder, not_after_s=boot_s() + 0.2)
        near.sendall(encode(order))
        assert wait_until(lambda: boot_s() > order.not_after_boot_s)
        os.kill(keeper, signal.SIGCONT)
        assert hear(near) == {"event": "refused", "step": "late", "errno": 0}
    spawner.close()
    assert fake.launches() == []


def test_keeper_that_cannot_fork_says_that_nothing_started(folder: Path) -> None:
    fake = write_fake(folder)
    spawner = Spawner()
    near, far = socket.socketpair()
    with near, far, open(os.devnull, "wb") as null:
        spawner.hand_over(far.fileno(), null.fileno(), null.fileno())
        resource.prlimit(hear(near)["keeper"], resource.RLIMIT_NOFILE, (3, 3))
        near.sendall(encode(order_for(fake, folder, not_after_s=boot_s() + 10)))
        heard = hear(near)
    spawner.close()
    assert heard == {"event": "refused", "step": "fork", "errno": errno.EMFILE}
    assert fake.launches() == []


def test_withdrawn_order_starts_nothing(folder: Path) -> None:
    spawner = Spawner()
    near, far = socket.socketpair()
    with far, open(os.devnull, "wb") as null:
        spawner.hand_over(far.fileno(), null.fileno(), null.fileno())
        keeper = hear(near)["keeper"]
        near.close()
        assert wait_until(lambda: not is_alive(keeper))
    spawner.close()


def test_hanging_up_stops_the_child(folder: Path) -> None:
    fake = write_fake(folder, STAYS)
    spawner = Spawner()
    near, far = socket.socketpair()
    with far, open(os.devnull, "wb") as null:
        spawner.hand_over(far.fileno(), null.fileno(), null.fileno())
        hear(near)
        near.sendall(encode(order_for(fake, folder, not_after_s=boot_s() + 10)))
        pid = hear(near)["pid"]
        assert wait_until(lambda: bool(fake.notes("beats")))
        near.close()
        assert wait_until(lambda: not is_alive(pid), timeout_s=5)
    spawner.close()


def test_child_outlives_the_thread_that_started_it(folder: Path) -> None:
    fake = write_fake(folder, STAYS)
    near, far = socket.socketpair()
    made: list[Spawner] = []

    def start() -> None:
        made.append(Spawner())
        with open(os.devnull, "wb") as null:
            made[0].hand_over(far.fileno(), null.fileno(), null.fileno())
        hear(near)
        near.sendall(encode(order_for(fake, folder, not_after_s=boot_s() + 10)))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with far:
        pid = hear(near)["pid"]
        assert wait_until(lambda: len(fake.notes("beats")) >= 3)
        assert is_alive(pid)
        near.close()
        assert wait_until(lambda: not is_alive(pid), timeout_s=5)
    made[0].close()


def test_keeper_that_is_killed_while_the_spawner_goes_leaves_no_child(folder: Path) -> None:
    fake = write_fake(folder, DEAF + STAYS)
    spawner = Spawner()
    near, far = socket.socketpair()
    with near, far, open(os.devnull, "wb") as null:
        spawner.hand_over(far.fileno(), null.fileno(), null.fileno())
        keeper = hear(near)["keeper"]
        near.sendall(encode(order_for(fake, folder, not_after_s=boot_s() + 10)))
        pid = hear(near)["pid"]
        assert wait_until(lambda: bool(fake.notes("beats")))
        closing = threading.Thread(target=spawner.close)
        closing.start()
        # As long as it takes to go, for a spawner that does not wait.
        assert not wait_until(lambda: not is_alive(spawner.pid), timeout_s=0.3)
        os.kill(keeper, signal.SIGKILL)
        closing.join()
        assert wait_until(lambda: not is_alive(pid), timeout_s=2)


FORKING_SERVICE = """
import asyncio, os, sys, time
from pathlib import Path
from tests.support.measured import measure_spawner
measure_spawner()
from clawmarshal.transport.openclaw import OpenClawTransport
from tests.support.turns import make_turn

class Forks:
    async def started(self, pid):
        if os.fork() == 0:
            Path(sys.argv[2], "copy").write_text(str(os.getpid()))
            time.sleep(30)
            os._exit(0)

async def main():
    transport = OpenClawTransport([sys.argv[1]], directory=sys.argv[2], grace_s=0.5)
    await transport.launch(make_turn(), Forks())

asyncio.run(main())
"""


def test_copy_of_a_killed_service_does_not_keep_its_children(folder: Path) -> None:
    fake = write_fake(folder, STAYS)
    turns = folder.parent / "turns"
    service = subprocess.Popen([sys.executable, "-c", FORKING_SERVICE, str(fake.path), str(turns)])
    try:
        copy = turns / "copy"
        assert wait_until(lambda: copy.exists() and bool(copy.read_text()), timeout_s=20)
        assert wait_until(lambda: bool(fake.notes("beats")))
        service.kill()
        service.wait()
        assert wait_until(lambda: not is_alive(fake.launches()[0]["pid"]))
        assert is_alive(int(copy.read_text()))
    finally:
        service.kill()
        service.wait()
        os.kill(int(copy.read_text()), signal.SIGKILL)


def test_missing_working_directory_is_not_launched(folder: Path) -> None:
    fake = write_fake(folder)
    spawner = Spawner()

    async def run() -> None:
        order = order_for(fake, folder, not_after_s=boot_s() + 5)
        gone = Order(
            **{name: getattr(order, name) for name in order.__slots__} | {"cwd": "/nosuch"}
        )
        with pytest.raises(NotLaunchedError, match="directory") as caught:
            await launch(spawner, gone)
        assert caught.value.code == "not-started"

    try:
        asyncio.run(run())
    finally:
        spawner.close()


def test_spawner_ends_with_its_owner() -> None:
    spawner = Spawner()
    pid = spawner.pid
    assert is_alive(pid)

    del spawner

    assert wait_until(lambda: not is_alive(pid))


def test_frozen_spawner_is_ended_at_close() -> None:
    spawner = Spawner()
    os.kill(spawner.pid, signal.SIGSTOP)

    spawner.close()

    assert not is_alive(spawner.pid)


def test_launches_from_two_event_loops_in_turn(folder: Path) -> None:
    fake = write_fake(folder)
    transport = OpenClawTransport(fake.command, directory=folder.parent / "turns")

    states = [asyncio.run(transport.launch(make_turn())).state for _ in range(2)]

    asyncio.run(transport.close())
    assert states == [TurnState.DONE] * 2
