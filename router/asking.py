"""Asking one model: whatever it does or says becomes a Decision or a DecisionError, in time."""

import asyncio
import json
import logging
import time
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from clawmarshal.errors import DecisionError, DecisionInvalidError, DecisionUnavailableError
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Decision, DecisionModel, validate_fleet
from clawmarshal.router.message import InboundMessage

LOG = logging.getLogger("clawmarshal")

LOAD_S = 120.0
"""A model that loads longer than this is asked all the same: its deadline holds the messages."""
MAX_ASIDE_CHARS = 65_536
"""What comes with an answer (usage, notes) is kept with the route, so it has a limit."""


@runtime_checkable
class Loadable(Protocol):
    """A model that loads something before its first answer; again is free."""

    def load(self) -> None:
        """Load it now."""
        ...


class Loading:
    """Load what models load once, outside of any decision's deadline.

    A model that cannot load is asked all the same, and its failure holds the message; the next
    message tries the load again.

    Parameters
    ----------
    models
        Those that are no `Loadable` need nothing.
    limit_s
        How long one load is waited for.
    """

    def __init__(self, models: Iterable[object], *, limit_s: float = LOAD_S) -> None:
        self._waiting = [model for model in models if isinstance(model, Loadable)]
        self._limit_s = limit_s
        self._until = 0.0
        self._task: asyncio.Task[None] | None = None

    async def done(self) -> None:
        """Return when everything is loaded, or when there is no more point in waiting."""
        if not self._waiting:
            return
        task, loop = self._task, asyncio.get_running_loop()
        if task is None or task.done() or task.get_loop() is not loop:
            task = self._task = loop.create_task(asyncio.to_thread(self._load))
            self._until = time.monotonic() + self._limit_s
        await asyncio.wait({task}, timeout=max(0.0, self._until - time.monotonic()))

    def _load(self) -> None:
        for model in tuple(self._waiting):
            try:
                model.load()
            except BaseException as error:  # foreign code in a thread: nothing it does ends us
                LOG.warning("a model cannot be loaded: %s", type(error).__name__)
            else:
                self._waiting.remove(model)


async def ask(
    model: DecisionModel, ballot: Ballot, message: InboundMessage, *, deadline_s: float
) -> Decision | DecisionError:
    """Ask a model and validate what it says.

    Nothing that a model raises comes through, an answer after the deadline is none, and one that
    does not listen to its cancellation is left behind.

    Parameters
    ----------
    deadline_s
        Seconds from now, over 0.
    """
    until = time.monotonic() + deadline_s
    asked = asyncio.create_task(_answer(model, ballot, message, until=until))
    try:
        await asyncio.wait({asked}, timeout=deadline_s)
    finally:
        asked.cancel()
    return asked.result() if asked.done() else _late(deadline_s)


async def _answer(
    model: DecisionModel, ballot: Ballot, message: InboundMessage, *, until: float
) -> Decision | DecisionError:
    deadline_s = until - time.monotonic()
    try:
        decision = validate_fleet(
            ballot, await model.answer(ballot, message, deadline_s=deadline_s)
        )
        _check_aside(decision)
    except DecisionError as error:
        return error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A custom model is foreign code: whatever it does means "held". SystemExit would end the
        # service, and a cancellation of its own would leave the message undecided.
        kind = type(error).__name__
        return DecisionUnavailableError(f"the model failed ({kind})", code="model-failed")
    # One that blocks the event loop is past its deadline before any timer can say so.
    return decision if time.monotonic() <= until else _late(deadline_s)


def _check_aside(decision: Decision) -> None:
    """Refuse what could not be kept with the route: the decision could never be written."""
    usage, request_id = decision.usage, decision.request_id
    words = [decision.model, *decision.notes, *([] if request_id is None else [request_id])]
    try:
        aside = [*words, None if usage is None else dict(usage)]
        told = json.dumps([*aside, decision.latency_ms], allow_nan=False, ensure_ascii=False)
        told.encode()
    except (TypeError, ValueError, RecursionError):
        told = ""
    if not 0 < len(told) <= MAX_ASIDE_CHARS or not all(isinstance(word, str) for word in words):
        raise DecisionInvalidError("what came with the answer is malformed", code="aside-invalid")


def _late(deadline_s: float) -> DecisionUnavailableError:
    return DecisionUnavailableError(f"no answer within {deadline_s:g} s", code="deadline")
