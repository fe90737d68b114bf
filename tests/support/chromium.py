"""A real Chromium at the review pages of a running service; nothing is downloaded for it."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from clawmarshal.api.opening import opened_ledger
from tests.support.service import caller, serving, settings_of

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1200, "height": 800}
PATIENCE_MS = 30_000
ARGUMENTS = (
    "--no-sandbox",  # as root there is none
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def require_chromium() -> str:
    """Return where Chromium is, or skip; fail where the fuller tests were asked for."""
    found = os.environ.get("CLAWMARSHAL_CHROMIUM") or shutil.which("chromium")
    if found is None:
        why = "no Chromium; install the package chromium, or name one in CLAWMARSHAL_CHROMIUM"
        if os.environ.get("CLAWMARSHAL_TEST_FULL") == "1":
            pytest.fail(why)
        pytest.skip(why)
    return found


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium."""
    executable = require_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


def artefacts() -> Path:
    """Return the folder for what a run leaves to look at; never one that git keeps."""
    named = os.environ.get("CLAWMARSHAL_ARTEFACTS")
    folder = Path(named) if named else Path(tempfile.gettempdir()) / "clawmarshal-artefacts"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclass
class Visit:
    """A running service, a browser, and keys of three people."""

    browser: Browser
    address: str
    config: Path
    sender: httpx.Client
    review_key: str
    other_key: str
    admin_key: str

    @property
    def ledger_file(self) -> Path:
        """The ledger of the service."""
        return self.config.parent / "ledger.db"

    def held(self, text: str, **more: object) -> str:
        """Send a message that is held, and return the hold's id."""
        answer = self.sender.post("/route", json={"text": text, "wait_s": 20, **more})
        assert answer.status_code == 202, answer.text
        hold = answer.json()["hold_id"]
        assert isinstance(hold, str)
        return hold

    def hold(self, hold_id: str) -> dict[str, object]:
        """Return a hold as the API says it."""
        headers = {"Authorization": f"Bearer {self.review_key}"}
        answer = httpx.get(f"{self.address}/holds/{hold_id}", headers=headers, trust_env=False)
        found: dict[str, object] = answer.raise_for_status().json()
        return found

    def change(self, statement: str, *values: object) -> None:
        """Change the ledger's file as time or another version would."""
        with contextlib.closing(sqlite3.connect(self.ledger_file, timeout=20)) as db, db:
            db.execute(statement, values)

    @contextlib.contextmanager
    def person(
        self,
        *,
        key: str | None = None,
        phone: bool = True,
        dark: bool = False,
        scripts: bool = False,
    ) -> Iterator[Page]:
        """Let somebody open the pages; signed in unless ``key`` is empty."""
        with self.context(phone=phone, dark=dark, scripts=scripts) as context:
            page = context.new_page()
            page.goto(f"{self.address}/review")
            if key != "":
                page.fill("#key", key or self.review_key)
                page.keyboard.press("Enter")
                page.wait_for_selector("nav")
            yield page

    @contextlib.contextmanager
    def context(
        self, *, phone: bool = True, dark: bool = False, scripts: bool = False
    ) -> Iterator[BrowserContext]:
        """Open a browser's profile of its own."""
        context = self.browser.new_context(
            viewport=PHONE if phone else DESK,  # type: ignore[arg-type]  # a plain dict
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            has_touch=phone,
        )
        context.set_default_timeout(PATIENCE_MS)
        try:
            yield context
        finally:
            context.close()


@contextlib.contextmanager
def visiting(config: Path) -> Iterator[Visit]:
    """Start the service and Chromium."""
    with opened_ledger(settings_of(config)) as ledger:
        sender = ledger.create_key("sender", "ann", ["route"])
        keys = [
            ledger.create_key("phone", "rita", ["review"]),
            ledger.create_key("desk", "bela", ["review"]),
            ledger.create_key("admin", "adam", ["admin"]),
        ]
    with (
        chromium() as browser,
        serving("--config", str(config)) as process,
        contextlib.closing(caller(address := process.address(), sender)) as http,
    ):
        yield Visit(browser, address, config, http, *keys)
