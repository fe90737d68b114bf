"""ConversationMemory counts within its windows and stays bounded."""

from dataclasses import dataclass

from clawmarshal.router.ledger.records import ConversationView
from clawmarshal.router.memory import ConversationMemory
from clawmarshal.router.message import InboundMessage


@dataclass
class HandClock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def look(memory: ConversationMemory, message: InboundMessage) -> ConversationView:
    return memory.view(message, window_s=60, repeat_window_s=600)


def test_a_message_counts_itself() -> None:
    message = InboundMessage("hello", sender="a", conversation="c")
    view = look(ConversationMemory(), message)
    assert view == ConversationView(agent=None, repeats=1, in_conversation=1, from_sender=1)


def test_without_conversation_and_sender_nothing_is_counted() -> None:
    memory = ConversationMemory()
    look(memory, InboundMessage("hello"))
    assert look(memory, InboundMessage("hello")) == ConversationView()


def test_repeats_outlast_the_rate_window() -> None:
    clock = HandClock()
    memory = ConversationMemory(clock=clock)
    message = InboundMessage("again", conversation="c")
    look(memory, message)
    clock.now = 100
    view = look(memory, message)
    assert (view.repeats, view.in_conversation) == (2, 1)
    clock.now = 800
    assert look(memory, message).repeats == 1


def test_another_text_is_no_repeat() -> None:
    memory = ConversationMemory()
    look(memory, InboundMessage("one", conversation="c"))
    view = look(memory, InboundMessage("two", conversation="c"))
    assert (view.repeats, view.in_conversation) == (1, 2)


def test_the_same_conversation_on_another_channel_is_another() -> None:
    memory = ConversationMemory()
    look(memory, InboundMessage("one", channel="mail", conversation="c"))
    view = look(memory, InboundMessage("one", channel="chat", conversation="c"))
    assert view.in_conversation == 1


def test_a_conversation_keeps_its_agent() -> None:
    memory = ConversationMemory()
    message = InboundMessage("one", conversation="c")
    look(memory, message)
    memory.dispatched(message, "finance")
    assert look(memory, InboundMessage("two", conversation="c")).agent == "finance"
    assert look(memory, InboundMessage("two", conversation="d")).agent is None


def test_a_dispatch_without_conversation_or_of_a_forgotten_one_changes_nothing() -> None:
    memory = ConversationMemory()
    memory.dispatched(InboundMessage("one"), "finance")
    memory.dispatched(InboundMessage("one", conversation="never seen"), "finance")
    assert look(memory, InboundMessage("two", conversation="never seen")).agent is None


def test_the_quietest_conversation_is_forgotten_first() -> None:
    memory = ConversationMemory(max_conversations=2)
    for name in ("a", "b", "a", "c"):
        look(memory, InboundMessage(name, conversation=name))
    assert look(memory, InboundMessage("x", conversation="a")).in_conversation == 3
    assert look(memory, InboundMessage("x", conversation="b")).in_conversation == 1


def test_a_track_is_as_long_as_a_gate_counts() -> None:
    memory = ConversationMemory(min_track=1501, clock=HandClock())
    message = InboundMessage("again", sender="a")
    for _ in range(1500):
        look(memory, message)
    assert look(memory, message).from_sender == 1501
