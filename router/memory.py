"""What a router without a ledger remembers of its conversations."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from clawmarshal.router.conversation import GATES_OF_CONTENT, MAX_TURNS, Fate, PastTurn, excerpt
from clawmarshal.router.ledger.records import ConversationView
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.route import Outcome, Route

TRACK = 1000
Place = tuple[str | None, str | None, str]


@dataclass(slots=True)
class _Track:
    seen: deque[tuple[float, str]]
    agent: str | None = None
    past: OrderedDict[str, PastTurn] = field(default_factory=OrderedDict)


class ConversationMemory:
    """Count messages and keep the agent of each conversation, in memory and bounded.

    Parameters
    ----------
    max_conversations
        The one that was quiet longest is forgotten first.
    min_track
        Messages of one conversation or sender that are remembered at least; over 1,000 where a
        gate counts that far.
    clock
        Monotonic seconds.
    """

    def __init__(
        self,
        *,
        max_conversations: int = 10_000,
        min_track: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tracks: OrderedDict[tuple[str, Place], _Track] = OrderedDict()
        self._max = max_conversations
        self._track = max(TRACK, min_track)
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
            past=tuple(talk.past.values()) if talk else (),
        )

    def decided(self, message: InboundMessage, route: Route) -> None:
        """Remember what was said, and how risky it was found."""
        track = self._track_of(message)
        if track is None:
            return
        is_held = route.outcome is Outcome.HOLD
        waits = is_held and any(gate.number in GATES_OF_CONTENT for gate in route.gates)
        fate = Fate.WAITING if waits else Fate.NONE
        track.past[route.id] = PastTurn(excerpt(message.text), None, route.risk.top, fate)
        while len(track.past) > MAX_TURNS:
            track.past.popitem(last=False)

    def replied(self, message: InboundMessage, route_id: str, reply: str | None) -> None:
        """Remember what came back."""
        track = self._track_of(message)
        if track is not None and reply and route_id in track.past:
            track.past[route_id] = replace(track.past[route_id], reply=excerpt(reply))

    def dispatched(self, message: InboundMessage, agent: str) -> None:
        """Remember whom the conversation is with."""
        track = self._track_of(message)
        if track is not None:
            track.agent = agent

    def _track_of(self, message: InboundMessage) -> _Track | None:
        if message.conversation is None:
            return None
        place = (message.channel, message.account, message.conversation)
        return self._tracks.get(("conversation", place))

    def _seen(
        self, kind: str, message: InboundMessage, name: str | None, *, now: float
    ) -> _Track | None:
        if name is None:
            return None
        key = (kind, (message.channel, message.account, name))
        track = self._tracks.setdefault(key, _Track(deque(maxlen=self._track)))
        self._tracks.move_to_end(key)
        while len(self._tracks) > self._max:
            self._tracks.popitem(last=False)
        track.seen.append((now, message.digest))
        return track


def _within(track: _Track | None, now: float, window_s: float) -> int:
    return sum(now - at <= window_s for at, _ in track.seen) if track else 0
