"""One read-only call of the CLI: bounded in time and length, and never a turn."""

from collections.abc import Mapping
from dataclasses import dataclass

from clawmarshal.errors import NotLaunchedError, OutcomeUnknownError
from clawmarshal.transport.process import Order, Spawner, launch
from clawmarshal.transport.run import Run
from clawmarshal.transport.spawner import boot_s

LOOK_UP_S = 20.0
"""Seconds a call may take; the CLI itself gives the Gateway ten."""
LOOK_UP_CAP = 16 * 1024 * 1024
"""Bytes of an answer; ``config.get`` holds the configuration five times over."""
_GRACE_S = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a read-only call said."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    is_whole: bool
    """False where it was stopped, or said more than is kept."""


async def look_up(
    spawner: Spawner,
    argv: tuple[str, ...],
    *,
    environment: Mapping[str, str],
    cwd: str,
    memory_bytes: int,
    deadline_s: float = LOOK_UP_S,
) -> Answer:
    """Run one call from `command` and return what it said.

    Raises
    ------
    NotLaunchedError
        It could not be started, or nobody knows how it ended; nothing was changed by it.
    """
    order = Order(
        argv=argv,
        environment=environment,
        cwd=cwd,
        not_after_boot_s=boot_s() + LOOK_UP_S,
        deadline_s=deadline_s,
        grace_s=_GRACE_S,
        stdout_cap=LOOK_UP_CAP,
        memory_bytes=memory_bytes,
    )
    try:
        finished = await Run(await launch(spawner, order)).finish()
    except OutcomeUnknownError as error:
        raise NotLaunchedError(str(error), code="cli-silent") from error
    output = finished.output
    is_whole = output.stopped is None and not output.is_cut and not output.is_lost
    return Answer(output.exit_code, output.stdout, output.stderr, is_whole)
