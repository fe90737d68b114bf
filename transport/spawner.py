"""The process that starts every child: a spawner that forks one keeper per launch.

Run as a script, ``python -I -S spawner.py FD``; only the standard library, one thread, so that
``fork`` is safe here while it is not beside the threads of a numeric library. The service sends
one byte with three descriptors per launch: a control socket and the write ends of two pipes. The
keeper reads its order from the control socket, starts the child, owns its deadline, and ends only
when the kernel says that it has no descendant left. When the service dies, the control socket
reads as closed, and the keeper stops the child.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GIVE_UP_S = 5.0
"""How long a keeper goes on killing before it reports what it could not end."""
ORDER_LIMIT = 4 * 1024 * 1024
_ERROR_FD = 3
_STOPS = (os.CLD_TRAPPED, os.CLD_STOPPED, os.CLD_CONTINUED)


def boot_s() -> float:
    """Seconds since boot, time asleep included where the system counts it."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def main(argv: list[str]) -> int:
    """Serve launches until the service closes its end."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    _go_on_without_parent()
    requests = socket.socket(fileno=int(argv[1]))
    requests.set_inheritable(False)
    wake = _wake_on_child()
    keepers: set[int] = set()
    strays: dict[int, float] = {}
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        # The end of a keeper that its child was tracing is told to the child, not to us.
        ready = {fd for fd, _ in poll.poll(200 if strays else 1000 if keepers else None)}
        if wake in ready:
            _drain(wake)
        _tend(keepers, strays)
        if requests.fileno() in ready:
            message, fds = _receive(requests)
            if not message:
                _end_strays(keepers, strays)
                return 0
            _start_keeper(requests, wake, fds, keepers)


def _receive(requests: socket.socket) -> tuple[bytes, list[int]]:
    try:
        message, fds, _, _ = socket.recv_fds(requests, 1, 3)
    except OSError:
        return b"", []
    return message, list(fds)


def _start_keeper(requests: socket.socket, wake: int, fds: list[int], keepers: set[int]) -> None:
    try:
        pid = os.fork() if len(fds) == 3 else -1
    except OSError:
        pid = -1
    if pid == 0:
        status = 1
        try:
            requests.close()
            os.close(wake)
            keep(*fds)
            status = 0
        finally:
            os._exit(status)
    if pid > 0:
        keepers.add(pid)
    for fd in fds:
        os.close(fd)


def _end_strays(keepers: set[int], strays: dict[int, float]) -> None:
    """End what killed keepers left behind before we go; who had them for a parent comes next.

    A keeper that is being killed hangs up before its children become ours, so keepers are waited
    for too; one that still has a child lives on without us.
    """
    give_up_at = time.monotonic() + 1
    while True:
        _tend(keepers, strays, at_once=True)
        if not (strays or keepers) or time.monotonic() > give_up_at:
            return
        time.sleep(0.005)  # a stray is no child of ours until its parent died: nothing to wait on


def _tend(keepers: set[int], strays: dict[int, float], *, at_once: bool = False) -> None:
    """Reap, and end what a killed keeper left behind."""
    with contextlib.suppress(ChildProcessError):
        while (seen := os.waitpid(-1, os.WNOHANG))[0] > 0:
            if _is_end(seen[1]):
                keepers.discard(seen[0])
                strays.pop(seen[0], None)
    for pid in (_children() or set()) - keepers:
        first_seen = strays.setdefault(pid, time.monotonic())
        late = at_once or time.monotonic() - first_seen > 3
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)


def _is_end(status: int) -> bool:
    """Whether a wait status tells of an end.

    A child that makes its parent its tracer (PTRACE_TRACEME) is told of when it only stops.
    """
    return os.WIFEXITED(status) or os.WIFSIGNALED(status)


def keep(control_fd: int, out: int, err: int) -> None:
    """Carry one launch from its order to the proof that nothing of it is left."""
    control = socket.socket(fileno=control_fd)
    wake = _wake_on_child()
    subreaper = _prctl(PR_SET_CHILD_SUBREAPER, 1)
    _go_on_without_parent()
    say(control, event="ready", keeper=os.getpid(), subreaper=subreaper)
    order = _read_order(control)
    if order is None:
        return
    child, fault = _start_child(order, out, err)
    os.close(out)
    os.close(err)
    if fault:
        if child:
            os.waitpid(child, 0)
        say(control, event="refused", **fault)
        return
    say(control, event="started", pid=child)
    Ladder(control, child, wake=wake, order=order).climb()


def say(control: socket.socket, **event: object) -> None:
    """Tell the service; a service that is gone is no reason to stop."""
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(event).encode() + b"\n")


def _read_order(control: socket.socket) -> dict[str, Any] | None:
    """Read the length and the JSON of the order; None when it was withdrawn."""
    size = _read_exactly(control, 4)
    if size is None or not 0 < int.from_bytes(size, "big") <= ORDER_LIMIT:
        return None
    body = _read_exactly(control, int.from_bytes(size, "big"))
    return None if body is None else json.loads(body)


def _read_exactly(control: socket.socket, size: int) -> bytes | None:
    got = b""
    while len(got) < size:
        try:
            part = control.recv(size - len(got))
        except OSError:
            return None
        if not part:
            return None
        got += part
    return got


def _start_child(order: Mapping[str, Any], out: int, err: int) -> tuple[int, dict[str, Any] | None]:
    """Fork the child; the second value is None once the exec is confirmed."""
    keeper = os.getpid()
    try:
        reader, writer = os.pipe()
        child = os.fork()
    except OSError as error:
        return 0, {"step": "fork", "errno": error.errno or 0}
    if child == 0:
        _become(order, keeper, out, err, writer)
    os.close(writer)
    with open(reader, "rb") as stream:
        report = stream.read()
    return child, json.loads(report) if report else None


def _become(order: Mapping[str, Any], keeper: int, out: int, err: int, writer: int) -> NoReturn:
    """Turn this fork into the CLI, or report why not; never returns."""
    step, report = "session", writer
    try:
        os.setsid()
        _reset_signals()
        os.umask(0o077)
        _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        step = "limits"
        _set_limits(order["memory_bytes"])
        step = "directory"
        os.chdir(order["cwd"])
        step = "descriptors"
        for fd, number in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
            os.dup2(fd, number)
        report = os.dup2(writer, _ERROR_FD, inheritable=False)
        os.closerange(_ERROR_FD + 1, os.sysconf("SC_OPEN_MAX"))
        step = "exec"
        if os.getppid() != keeper:
            os._exit(127)
        if boot_s() > order["not_after"]:
            _report(report, "late", 0)
        else:
            os.execve(order["argv"][0], order["argv"], order["env"])  # noqa: S606 - no shell on purpose
    except OSError as error:
        _report(report, step, error.errno or 0)
    except BaseException:
        _report(report, step, 0)
    os._exit(127)


def _set_limits(memory_bytes: int) -> None:
    """Bound what one process may take, and be the first to go when the machine runs out."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_bytes:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        bound = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("1000")


def _report(fd: int, step: str, number: int) -> None:
    with contextlib.suppress(OSError):
        os.write(fd, json.dumps({"step": step, "errno": number}).encode())


def _reset_signals() -> None:
    """Undo what is inherited across exec: ignored signals and the mask."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


class Ladder:
    """Watch one child: its deadline, TERM, grace, KILL, until no descendant is left.

    The leader stays a zombie until the end, so that its number, and its group's, cannot pass to a
    stranger while we still send signals to them.
    """

    def __init__(
        self, control: socket.socket, child: int, *, wake: int, order: Mapping[str, Any]
    ) -> None:
        self.control = control
        self.child = child
        self.wake = wake
        self.grace_s = float(order["grace_s"])
        self.deadline = time.monotonic() + float(order["deadline_s"])
        self.kill_at: float | None = None
        self.give_up_at: float | None = None
        self.is_leader_over = False
        self.is_leader_reaped = False
        self.asked: set[int] = set()
        self.poll = select.poll()
        self.poll.register(wake, select.POLLIN)
        self.poll.register(control, select.POLLIN)
        self.service = _watch_process(order.get("service_pid"))
        if self.service is not None:
            self.poll.register(self.service, select.POLLIN)

    def climb(self) -> None:
        """Return when nothing is left, or when it is time to give up and say so."""
        while True:
            self._hear(self._wait())
            self._look_at_leader()
            left = self._others()
            if self.is_leader_over and not left and self._is_proven():
                break
            now = time.monotonic()
            if self.kill_at is None:
                if self.is_leader_over:
                    self._begin("leftover")
                elif now >= self.deadline:
                    self._begin("deadline")
            elif now >= self.kill_at:
                self._kill(left or set())
                if self.give_up_at is not None and now >= self.give_up_at:
                    break
            else:
                self._ask(left or set())
        say(self.control, event="gone", left=self._count_left())

    def _wait(self) -> set[int]:
        now = time.monotonic()
        if self.kill_at is None:
            pause = self.deadline - now
        elif now < self.kill_at:
            pause = self.kill_at - now
        else:
            pause = 0.02
        return {fd for fd, _ in self.poll.poll(max(0, pause) * 1000 + 1)}

    def _hear(self, ready: set[int]) -> None:
        if self.wake in ready:
            _drain(self.wake)
        if self.service is not None and self.service in ready:
            self.poll.unregister(self.service)
            os.close(self.service)
            self.service = None
            self._begin("service-gone")
        if self.control.fileno() in ready:
            try:
                heard = self.control.recv(256)
            except OSError:
                heard = b""
            if not heard:
                self.poll.unregister(self.control)
            self._begin("asked" if heard else "service-gone")

    def _begin(self, reason: str) -> None:
        """Climb to the first rung, once: TERM to the group and to every child outside of it."""
        if self.kill_at is not None:
            return
        self.kill_at = time.monotonic() + self.grace_s
        self.give_up_at = self.kill_at + GIVE_UP_S
        say(self.control, event="stopping", reason=reason)
        self._signal_group(signal.SIGTERM, signal.SIGCONT)
        self._ask(self._others() or set())

    def _ask(self, others: set[int]) -> None:
        for pid in others - self.asked:
            self.asked.add(pid)
            self._signal(pid, signal.SIGTERM, signal.SIGCONT)

    def _kill(self, others: set[int]) -> None:
        self._signal_group(signal.SIGKILL)
        for pid in others:
            self._signal(pid, signal.SIGKILL)

    def _signal_group(self, *numbers: int) -> None:
        for number in numbers:
            if not self.is_leader_reaped:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.child, number)

    @staticmethod
    def _signal(pid: int, *numbers: int) -> None:
        for number in numbers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _look_at_leader(self) -> None:
        """Learn how the leader ended, without reaping it where the system allows that."""
        if self.is_leader_over:
            return
        if hasattr(os, "waitid"):
            seen = os.waitid(os.P_PID, self.child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if seen is None or seen.si_code in _STOPS:
                return
            exited = seen.si_code == os.CLD_EXITED
            code = seen.si_status if exited else None
            number = None if exited else seen.si_status
        else:  # pragma: no cover - not Linux
            pid, status = os.waitpid(self.child, os.WNOHANG)
            if pid == 0:
                return
            self.is_leader_reaped = True
            value = os.waitstatus_to_exitcode(status)
            code, number = (value, None) if value >= 0 else (None, -value)
        self.is_leader_over = True
        say(self.control, event="exited", code=code, signal=number)

    def _others(self) -> set[int] | None:
        """Reap what ended, and name our living children besides the leader."""
        children = _children()
        if children is None:
            return None
        living = set()
        for pid in children - {self.child}:
            with contextlib.suppress(ChildProcessError):
                seen, status = os.waitpid(pid, os.WNOHANG)
                if seen == 0 or not _is_end(status):
                    living.add(pid)
        return living

    def _is_proven(self) -> bool:
        """Reap the leader and ask the kernel whether any child is left."""
        if not self.is_leader_reaped:
            os.waitpid(self.child, 0)
            self.is_leader_reaped = True
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        return False

    def _count_left(self) -> int | None:
        others = self._others()
        if others is None:
            return None
        return len(others) + (not self.is_leader_over)


def _children() -> set[int] | None:
    """Name our direct children, zombies included; None where the system does not tell."""
    try:
        with open("/proc/thread-self/children") as stream:
            return {int(pid) for pid in stream.read().split()}
    except OSError:
        return _children_by_scan()


def _children_by_scan() -> set[int] | None:
    """Find our children in every ``/proc/PID/stat``, for kernels without the short list."""
    me = str(os.getpid())
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return None
    return {int(name) for name in names if parent_of(name) == me}


def parent_of(pid: str) -> str | None:
    """Return the parent of a process, both as ``/proc`` writes them; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return stream.read().rpartition(b")")[2].split()[1].decode()
    except (OSError, IndexError):
        return None


def _watch_process(pid: object) -> int | None:
    """Open a descriptor that turns readable when the process ends, where there is such a thing."""
    if not isinstance(pid, int) or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _wake_on_child() -> int:
    """Return a descriptor that turns readable when a child changes."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    if before != -1:
        os.close(before)
    signal.signal(signal.SIGCHLD, _nothing)
    return reader


def _nothing(_number: int, _frame: object) -> None:
    """Stand as a handler, since only a handled signal writes to the wake-up descriptor."""


def _drain(fd: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while os.read(fd, 4096):
            pass


def _go_on_without_parent() -> None:
    """Be woken, if stopped, by the death of the parent: what is stopped cannot see it and end."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGCONT)


def _prctl(option: int, value: int) -> bool:
    try:
        return bool(_LIBC.prctl(option, value, 0, 0, 0) == 0) if _LIBC is not None else False
    except AttributeError:
        return False


def _load_libc() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(None, use_errno=True)
    except OSError:
        return None


_LIBC = _load_libc()

if __name__ == "__main__":
    sys.exit(main(sys.argv))
