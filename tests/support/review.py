"""The review pages as a browser without scripts sees them: its cookies, its links, its forms."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from clawmarshal.api.wiring import Service
from tests.support.asgi import BASE_URL, AppClient
from tests.support.service import configure, wired

RISKY = "risky: wire 40,000 euros to this account right now"


@dataclass
class Form:
    """A form of a page."""

    method: str
    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    """Hidden fields and boxes with their values; what a person types is empty."""
    buttons: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """Collect what matters to somebody who uses a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.tags.append((tag, told))
        if tag == "form":
            self.forms.append(Form(told.get("method") or "get", told.get("action") or ""))
        elif tag == "a":
            self.links.append(told.get("href") or "")
        elif tag == "input" and self.forms and told.get("name"):
            self.forms[-1].fields.append((str(told["name"]), told.get("value") or ""))
        elif tag == "button" and self.forms:
            self.forms[-1].buttons.append(told.get("value") or "")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


class Page:
    """An answer, read."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self.status = answer.status_code
        self.html = answer.text
        self._reader = _Reader()
        self._reader.feed(answer.text)

    @property
    def text(self) -> str:
        """What stands on it, blanks folded."""
        return " ".join("".join(self._reader.texts).split())

    @property
    def tags(self) -> list[tuple[str, dict[str, str | None]]]:
        """Every element with its attributes."""
        return self._reader.tags

    @property
    def links(self) -> list[str]:
        """Where its links lead."""
        return self._reader.links

    def form(self, ending: str) -> Form:
        """Return the one form whose action ends so."""
        (found,) = [one for one in self._reader.forms if one.action.endswith(ending)]
        return found

    def has_form(self, ending: str) -> bool:
        """Tell whether there is such a form."""
        return any(one.action.endswith(ending) for one in self._reader.forms)


class Browser:
    """Somebody at the pages: keeps cookies, follows redirects, says where a form was."""

    def __init__(self, client: AppClient) -> None:
        self._client = client
        self.cookies: dict[str, str] = {}

    def sign_in(self, key: str, *, there: str = "/review") -> Page:
        """Paste a key."""
        return self.post("/review/sign-in", {"key": key, "there": there})

    def open(self, path: str, **headers: str) -> Page:
        """Open an address."""
        return self._send("GET", path, headers=headers)

    def submit(self, form: Form, **typed: Any) -> Page:
        """Send a form as it is, with what somebody typed or pressed."""
        told = {name: value for name, value in form.fields if name not in typed}
        return self.post(form.action, {**told, **typed})

    def post(
        self, path: str, fields: Mapping[str, Any], *, origin: str | None = BASE_URL, **headers: str
    ) -> Page:
        """Send fields."""
        sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        if origin is not None:
            sent["Origin"] = origin
        return self._send("POST", path, headers=sent, content=urlencode(fields, doseq=True))

    def _send(self, method: str, path: str, **more: Any) -> Page:
        headers = dict(more.pop("headers"))
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        self._client.http.cookies.clear()  # it keeps what it is sent; several browsers share it
        answer = self._client.request(method, path, headers=headers, **more)
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            if "Max-Age=0" in line:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        if answer.status_code == 303:
            return self.open(answer.headers["location"])
        return Page(answer)


@dataclass
class ReviewRoom:
    """A running service with its keys."""

    client: AppClient
    service: Service
    route_key: str
    review_key: str
    admin_key: str

    @property
    def ledger_file(self) -> Path:
        """The ledger of the service."""
        return self.service.settings.roster.parent / "ledger.db"

    def browser(self, key: str | None = None) -> Browser:
        """Open a browser that is signed in, by default as rita."""
        browser = Browser(self.client)
        browser.sign_in(key or self.review_key)
        return browser

    def send(self, text: str = RISKY, **more: Any) -> dict[str, Any]:
        """Send a message as ann and return the route."""
        answer = self.client.request(
            "POST", "/route", key=self.route_key, json={"text": text, "wait_s": 20, **more}
        )
        assert answer.status_code in (200, 202), answer.text
        value: dict[str, Any] = answer.json()
        return value

    def held(self, text: str = RISKY, **more: Any) -> str:
        """Send a message that is held, and return the hold's id."""
        hold = self.send(text, **more)["hold_id"]
        assert isinstance(hold, str)
        return hold


@contextlib.contextmanager
def review_room(folder: Path, *, config: Path | None = None) -> Iterator[ReviewRoom]:
    """Run a service in this process with three people: ann sends, rita and adam review."""
    with wired(config or configure(folder)) as (client, service):
        make = service.ledger.create_key
        yield ReviewRoom(
            client,
            service,
            route_key=make("sender", "ann", ["route"]),
            review_key=make("phone", "rita", ["review"]),
            admin_key=make("admin", "adam", ["admin"]),
        )
