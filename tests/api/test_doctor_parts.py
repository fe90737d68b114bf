"""The doctor's looks one by one: clock, temporary space, separation, and how findings are said."""

import os
import socket
import time
from pathlib import Path

from clawmarshal.api.doctor import machine, separation
from clawmarshal.api.doctor.findings import Finding, Verdict, exit_code, fail, ok, warn
from clawmarshal.api.doctor.machine import Clocks
from clawmarshal.transport.folders import filesystem_of


def test_clock_that_steps_or_is_long_past_is_told() -> None:
    walls, steadies = iter([2e9, 2e9 + 60]), iter([5.0, 5.1])
    stepped = Clocks(lambda: next(walls), lambda: next(steadies), lambda _: None)
    assert machine.look_at_clock(stepped).verdict is Verdict.WARN
    past = Clocks(lambda: 0.0, lambda: 0.0, lambda _: None)
    assert machine.look_at_clock(past).verdict is Verdict.FAIL
    assert machine.look_at_clock(Clocks(time.time, time.monotonic, lambda _: None)).mend is None


def test_temp_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    assert machine.look_at_temp(tmp_path / "no", needs_tmpfs=False).verdict is Verdict.FAIL
    proc = machine.look_at_temp(Path("/proc"), needs_tmpfs=False)
    assert proc.verdict is Verdict.FAIL
    kind = filesystem_of(tmp_path)
    expected = Verdict.OK if kind in machine.IN_MEMORY else Verdict.FAIL
    assert machine.look_at_temp(tmp_path, needs_tmpfs=True).verdict is expected


def test_gateway_of_the_same_user_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        client = tmp_path / "client.json5"
        client.write_text(f'{{gateway: {{remote: {{url: "ws://127.0.0.1:{port}"}}}}}}')
        assert separation.gateway_port(client) == port
        assert separation.listener_uid(port) == os.geteuid()
        (told,) = separation.look_at_separation(port, can_run=False)
        (worse,) = separation.look_at_separation(port, can_run=True)
    assert (told.verdict, worse.verdict) == (Verdict.WARN, Verdict.FAIL)
    assert list(separation.look_at_separation(1, can_run=True)) == []


def test_finding_is_cleaned_bounded_and_without_secrets() -> None:
    found = Finding("x", Verdict.OK, "a\x1b[2J\u202eb\n token=abcdefghij " + "y" * 999, "m\x07")
    assert found.detail.isprintable()
    assert len(found.detail) <= 600
    assert "abcdefghij" not in found.detail
    assert found.mend == "m"


def test_exit_code_is_of_the_worst_finding() -> None:
    assert exit_code([]) == 0
    assert exit_code([ok("a", "b"), warn("c", "d"), ok("e", "f")]) == 1
    assert exit_code([warn("c", "d"), fail("a", "b", mend="c")]) == 2
