"""Server-sent events, read line by line; pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from clawmarshal.api.client.results import Event, event_of

END = "end"
REVOKED = "revoked"


@dataclass(slots=True)
class EventReader:
    """Turn the lines of a stream into events.

    Notes
    -----
    Source: WHATWG HTML, section 9.2.6, read 1 December 2026.
    """

    last_id: int | None = None
    """What the next connection goes on from."""
    retry_s: float = 2.0
    """How long the service asks to be left alone between two connections."""
    is_over: bool = False
    """True once the service said that nothing will follow."""
    _name: str = ""
    _data: list[str] = field(default_factory=list)
    _number: int | None = None

    def line(self, line: str) -> Iterator[Event]:
        """Take in a line without its end; give the event that it completes, if any."""
        if not line:
            yield from self._complete()
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and value.isdigit():
            self._number = int(value)
        elif name == "retry" and value.isdigit():
            self.retry_s = int(value) / 1000

    def broken_off(self) -> None:
        """Forget an event of which only a part came."""
        self._name, self._data, self._number = "", [], None

    def _complete(self) -> Iterator[Event]:
        name, data, number = self._name, "\n".join(self._data), self._number
        self.broken_off()
        if number is not None:
            self.last_id = number
        if not data:
            return
        told = json.loads(data)
        if name == END:
            self.is_over = True
        elif "facts" in told:
            yield event_of(told)
        elif name != REVOKED:  # the next connection is refused, and says so
            yield Event(None, name, told)
