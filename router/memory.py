"""What a router without a ledger remembers of its conversations."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from clawmarshal.router.ledger.records import ConversationView
from clawmarshal.router.message import InboundMessage

Place = tuple[str | None, str | None, str]


@dataclass(slots=True)
class _Track:
    agent: str | None = None
    seen: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=1000))


class ConversationMemory:
    """Count messages and keep the agent of each conversation, in memory and bounded.

    Parameters
    ----------
    max_conversations
        The one that was quiet longest is forgotten first.
    clock
        Monotonic seconds.
    """

    def __init__(
        self, *, max_conversations: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tracks: OrderedDict[tuple[str, Place], _Track] = OrderedDict()
        self._max = max_conversations
        self._clock = clock

    def view(
        self, message: InboundMessage, *, window_s: float, repeat_window_s: float
    ) -> ConversationView:
        """Count this message in and say what is known of its conversation and sender."""
        now = self._clock()
        talk = self._seen("conversation", message, message.conversation, now=now)
        sender = self._seen("sender", message, message.sender, now=now)
        return ConversationView(
            agent=talk.agent if talk else None,
            repeats=sum(
                now - at <= repeat_window_s and digest == message.digest
                for at, digest in (talk.seen if talk else ())
            ),
            in_conversation=_within(talk, now, window_s),
            from_sender=_within(sender, now, window_s),
        )

    def dispatched(self, message: InboundMessage, agent: str) -> None:
        """Remember whom the conversation is with."""
        if message.conversation is not None:
            place = (message.channel, message.account, message.conversation)
            track = self._tracks.get(("conversation", place))
            if track is not None:
                track.agent = agent

    def _seen(
        self, kind: str, message: InboundMessage, name: str | None, *, now: float
    ) -> _Track | None:
        if name is None:
            return None
        key = (kind, (message.channel, message.account, name))
        track = self._tracks.setdefault(key, _Track())
        self._tracks.move_to_end(key)
        while len(self._tracks) > self._max:
            self._tracks.popitem(last=False)
        track.seen.append((now, message.digest))
        return track


def _within(track: _Track | None, now: float, window_s: float) -> int:
    return sum(now - at <= window_s for at, _ in track.seen) if track else 0
