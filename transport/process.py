"""The only file that starts a process: the service's side of the spawner, and of each child.

`Spawner` keeps one process of our own that starts everything else (see ``spawner.py``); `Child` is
one launch, with both pipes drained as they fill. Nothing here is bound to one event loop for
longer than a launch, and any thread may launch.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from clawmarshal.errors import NotLaunchedError, OutcomeUnknownError
from clawmarshal.transport.pipes import Control, Drain
from clawmarshal.transport.spawner import GIVE_UP_S, boot_s, parent_of

_SCRIPT = Path(__file__).resolve().parent / "spawner.py"
_CONFIRM_MARGIN_S = 5.0
"""How long after ``not_after`` a keeper may take to say what became of an order."""
_SILENT_S = 1.0
"""A spawner that is silent for so long is taken to be stopped, and told to go on."""


@dataclass(frozen=True, slots=True)
class Order:
    """One child to be started, and the bounds of its life."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    cwd: str
    not_after_boot_s: float
    """CLOCK_BOOTTIME seconds after which nothing may be started."""
    deadline_s: float
    """Seconds from the exec to the first rung of the ladder."""
    grace_s: float
    """Seconds from TERM to KILL."""
    stdout_cap: int
    """Bytes kept; more is `Child.is_flooded`."""
    stderr_cap: int = 65_536
    """Bytes kept, half from the start and half from the end; more is no reason to stop."""
    memory_bytes: int = 0
    """Address space of each process of the child; 0 for no bound."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended, as its keeper saw it."""

    exit_code: int | None
    signal: int | None
    left: int | None
    """Descendants that could not be ended; None where they cannot be counted."""
    stopped: str | None
    """Why the keeper climbed the ladder: ``asked``, ``deadline``, ``leftover``, or None."""
    is_lost: bool = False
    """The keeper vanished: nothing is known about the child's end."""


class Spawner:
    """Own the process that starts children; start it again when it was killed.

    Construct it before libraries with threads of their own are loaded.
    """

    command: ClassVar[tuple[str, ...]] = (sys.executable, "-I", "-S", str(_SCRIPT))
    """What is started, with the number of its socket behind it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_closed = False
        self._socket, self._process = _start_spawner(self.command)
        self._finalizer = weakref.finalize(self, _release, self._socket, self._process)

    @property
    def pid(self) -> int:
        """The spawner's process id."""
        return self._process.pid

    def close(self) -> None:
        """Let the spawner end; launches under way are not touched, their keepers live on."""
        with self._lock:
            self._is_closed = True
            self._finalizer()

    def hand_over(self, control: int, out: int, err: int) -> None:
        """Pass the descriptors of one launch to a spawner that is alive.

        Raises
        ------
        NotLaunchedError
            There is none and none can be started, or it does not take requests.
        """
        with self._lock:
            if self._is_closed:
                raise NotLaunchedError("the transport is closed", code="transport-closed")
            for _ in range(2):
                try:
                    socket.send_fds(self._socket, [b"L"], [control, out, err])
                except BlockingIOError:
                    break
                except OSError:
                    self._restart()
                else:
                    return
        raise NotLaunchedError("the spawner takes no launches", code="spawner-stuck")

    def hold(self, keeper: int) -> int | None:
        """Open a descriptor of a keeper, so that no stranger with its number is taken for it.

        Returns
        -------
        int | None
            None where it is no child of the spawner, or the system has no such descriptors.
        """
        if not hasattr(os, "pidfd_open"):
            return None
        try:
            held = os.pidfd_open(keeper)
        except OSError:
            return None
        if parent_of(str(keeper)) == str(self.pid):
            return held
        os.close(held)
        return None

    def wake(self) -> None:
        """Let the spawner go on, in case somebody stopped it."""
        self._process.send_signal(signal.SIGCONT)

    def renew(self, silent: int) -> None:
        """Put another spawner in the place of one that does not answer, unless that was done."""
        with self._lock:
            if not self._is_closed and self.pid == silent:
                self._process.kill()
                with contextlib.suppress(NotLaunchedError):
                    self._restart()

    def _restart(self) -> None:
        self._finalizer()
        try:
            self._socket, self._process = _start_spawner(self.command)
        except OSError as error:
            raise NotLaunchedError("no spawner can be started", code="spawner-lost") from error
        self._finalizer = weakref.finalize(self, _release, self._socket, self._process)


def _start_spawner(
    command: Sequence[str],
) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={},
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            ours.close()
            raise
    ours.setblocking(False)
    return ours, process


def _release(ours: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    """Close our end, which ends the spawner, and reap it."""
    ours.close()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Child:
    """One launch, from the order to the proof that nothing is left; made by `launch`."""

    def __init__(
        self, spawner: Spawner, order: Order, *, control: Control, stdout_fd: int, stderr_fd: int
    ) -> None:
        half = order.stderr_cap // 2
        self.pid = 0
        self.is_flooded = False
        self.changed = asyncio.Event()
        """Set when stdout grew; whoever waits for it clears it."""
        self._spawner = spawner
        self._keeper: int | None = None
        self._control = control
        self._order = order
        self.stdout = Drain(stdout_fd, head=order.stdout_cap, on_change=self._grew)
        self.stderr = Drain(stderr_fd, head=half, tail=half)

    def _grew(self) -> None:
        self.changed.set()
        if self.stdout.is_cut and not self.is_flooded:
            self.is_flooded = True
            self.stop()

    def stop(self) -> None:
        """Ask the keeper to climb the ladder."""
        self._control.send_now(b"stop\n")

    async def confirm(self) -> None:
        """Give the order and wait for the exec.

        Raises
        ------
        NotLaunchedError
            The child certainly did not run.
        OutcomeUnknownError
            The order was given and nothing was heard.
        """
        order = self._order
        ready = await self._hear_ready()
        if ready is None:
            raise NotLaunchedError("the spawner was lost", code="spawner-lost")
        self._keeper = self._spawner.hold(int(ready["keeper"]))
        await self._control.send(encode(order))
        wait_s = order.not_after_boot_s - boot_s() + _CONFIRM_MARGIN_S
        try:
            answer = await self._control.next(max(wait_s, _CONFIRM_MARGIN_S))
        except TimeoutError:
            answer = None
        if answer is None:
            self._end_keeper()
            raise OutcomeUnknownError("the start was not confirmed", code="launch-unconfirmed")
        if answer["event"] == "refused":
            raise _refusal(answer)
        self.pid = int(answer["pid"])

    async def _hear_ready(self) -> dict[str, Any] | None:
        """Wait for the keeper's first word; a spawner that stays silent is woken, then replaced.

        Raises
        ------
        NotLaunchedError
            It is too late: the order was not given.
        """
        asked = self._spawner.pid
        left_s = self._order.not_after_boot_s - boot_s()
        with contextlib.suppress(TimeoutError):
            return await self._control.next(min(left_s, _SILENT_S))
        if left_s > _SILENT_S:
            self._spawner.wake()
            with contextlib.suppress(TimeoutError):
                return await self._control.next(left_s - _SILENT_S)
            self._spawner.renew(asked)
        raise NotLaunchedError("the spawner did not answer", code="late")

    async def end(self) -> Ending:
        """Wait for the end of the child and of all its descendants, and of both pipes."""
        order, loop = self._order, asyncio.get_running_loop()
        until = loop.time() + order.deadline_s + order.grace_s + GIVE_UP_S + _CONFIRM_MARGIN_S
        heard: dict[str, dict[str, Any]] = {}
        is_lost = False
        while "gone" not in heard and not is_lost:
            try:
                event = await self._control.next(until - loop.time())
            except TimeoutError:
                event = None
            if event is None:
                is_lost = True
                self._end_keeper()
            else:
                heard.setdefault(event["event"], event)
        self.close()
        exited = heard.get("exited", {})
        return Ending(
            exit_code=exited.get("code"),
            signal=exited.get("signal"),
            left=heard.get("gone", {}).get("left"),
            stopped=heard.get("stopping", {}).get("reason"),
            is_lost=is_lost,
        )

    def _end_keeper(self) -> None:
        """Kill a keeper that speaks no more, so that the spawner ends what it leaves."""
        self._spawner.wake()
        if self._keeper is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._keeper, signal.SIGKILL)

    def close(self) -> None:
        """Give every descriptor back; a keeper that still has a child stops it."""
        if self._keeper is not None:
            os.close(self._keeper)
            self._keeper = None
        self._control.close()
        self.stdout.close()
        self.stderr.close()


async def launch(spawner: Spawner, order: Order) -> Child:
    """Start one child and return it once its exec is confirmed.

    A spawner that is killed just then takes the request along; a keeper that never spoke was
    given no order, so another one is asked, once.

    Raises
    ------
    NotLaunchedError
        It certainly did not run: late, not executable, no spawner.
    OutcomeUnknownError
        It may have run.
    """
    try:
        return await _launch(spawner, order)
    except NotLaunchedError as error:
        if error.code != "spawner-lost":
            raise
    return await _launch(spawner, order)


async def _launch(spawner: Spawner, order: Order) -> Child:
    fds: list[int] = []
    try:
        for _ in range(2):
            fds += os.pipe()
        near, far = socket.socketpair()
    except OSError as error:
        _close(fds)
        raise NotLaunchedError("no descriptors are left", code="no-descriptors") from error
    out_reader, out_writer, err_reader, err_writer = fds
    try:
        spawner.hand_over(far.fileno(), out_writer, err_writer)
    except BaseException:
        near.close()
        _close([out_reader, err_reader])
        raise
    finally:
        far.close()
        _close([out_writer, err_writer])
    child = Child(spawner, order, control=Control(near), stdout_fd=out_reader, stderr_fd=err_reader)
    try:
        await child.confirm()
    except BaseException:
        child.close()
        raise
    return child


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)


def encode(order: Order) -> bytes:
    """Write an order as its keeper reads it: four bytes of length, then JSON."""
    body = json.dumps(
        {
            "argv": order.argv,
            "env": dict(order.environment),
            "cwd": order.cwd,
            "not_after": order.not_after_boot_s,
            "deadline_s": order.deadline_s,
            "grace_s": order.grace_s,
            "memory_bytes": order.memory_bytes,
            "service_pid": os.getpid(),
        }
    ).encode()
    return len(body).to_bytes(4, "big") + body


def _refusal(answer: Mapping[str, Any]) -> NotLaunchedError:
    step, number = answer.get("step"), int(answer.get("errno", 0))
    if step == "late":
        return NotLaunchedError("the time to start had passed", code="late")
    why = os.strerror(number) if number else "no reason given"
    return NotLaunchedError(f"the CLI could not be started ({step}: {why})", code="not-started")
