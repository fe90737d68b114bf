"""The file: private, durable, and every way it can fail is one error."""

import contextlib
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clawmarshal.errors import LedgerError, LedgerUnavailableError
from clawmarshal.router.ledger.database import Rules, Transaction
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.sqlite import SqliteDatabase
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, DONE, TERMS, held, launching, ready, submission


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@contextlib.contextmanager
def opened(file: Path, **settings: object) -> Iterator[Ledger]:
    ledger = Ledger(url_of(file), **{"clock": FakeClock(), **settings})  # type: ignore[arg-type]  # any setting
    try:
        yield ledger
    finally:
        ledger.close()


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Take the rights away that root would have; others have none to lose."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """Give a folder that nobody in particular may write to."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


def test_files_are_for_their_owner_alone(file: Path) -> None:
    before = os.umask(0)
    try:
        with opened(file) as ledger:
            ready(ledger)
            ledger.register_worker("tests")
            made = [path for path in file.parent.rglob("*") if path.is_file()]
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in made}
            folder = Path(f"{file}.workers")
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        os.umask(before)
    assert len(modes) == 4 and set(modes.values()) == {0o600}, modes


def test_open_file_of_others_is_closed_to_them(file: Path) -> None:
    file.touch(0o666)
    file.chmod(0o666)
    with opened(file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_every_commit_reaches_the_disk(file: Path) -> None:
    expected = {
        "synchronous": 2,
        "journal_mode": "wal",
        "foreign_keys": 1,
        "secure_delete": 1,
        "busy_timeout": 10_000,
    }
    with opened(file) as ledger:
        found = ledger._database.write(
            lambda tx: {
                name: tx.connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in expected
            }
        )
    assert found == expected


def test_relative_address_is_a_file_here(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    with opened(Path("ledger.db")) as ledger:
        assert ledger.path == file


@pytest.mark.parametrize(
    "url",
    ["", "ledger.db", "sqlite://", "sqlite:///:memory:", "sqlite:///x?mode=ro", "oracle://h/d"],
)
def test_address_that_is_no_file_is_refused(url: str) -> None:
    with pytest.raises(LedgerError) as refused:
        Ledger(url)
    assert refused.value.code == "ledger-url"


def test_missing_folder_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailableError, match="No such file"):
        Ledger(url_of(tmp_path / "missing" / "ledger.db"))


def test_folder_in_the_place_of_the_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailableError):
        Ledger(url_of(tmp_path))


def test_file_that_is_no_database_is_unavailable_and_untouched(file: Path) -> None:
    text = b"Dear diary, " * 500
    file.write_bytes(text)
    with pytest.raises(LedgerUnavailableError, match="not a database"):
        Ledger(url_of(file))
    assert file.read_bytes() == text


def test_corrupt_file_is_unavailable(file: Path) -> None:
    with opened(file) as ledger:
        for _ in range(20):
            ready(ledger)
    whole = bytearray(file.read_bytes())
    for page in range(4096, len(whole), 4096):
        whole[page : page + 4000] = b"\xff" * 4000
    file.write_bytes(whole)
    with pytest.raises(LedgerUnavailableError), opened(file) as ledger:
        ledger.accept(submission())


def test_full_disk_is_unavailable_and_nothing_is_half_written(file: Path) -> None:
    with opened(file) as ledger:
        before = ready(ledger)
    with opened(file, pragmas={"max_page_count": 1}) as ledger:  # no more than there are
        counts, events = ledger.counts(), ledger.events(before)
        with pytest.raises(LedgerUnavailableError, match="full") as refused:
            for _ in range(200):
                ledger.accept(submission("x" * 20_000))
                counts = ledger.counts()
        assert refused.value.retryable
        assert ledger.counts() == counts
        assert ledger.events(before) == events
    with opened(file) as ledger:
        assert ledger.accept(submission()).created  # the disk has room again
        assert ledger.verify_chain(before).is_intact


def test_full_disk_at_the_claim_launches_nothing(file: Path) -> None:
    with opened(file) as ledger:
        ids = [ready(ledger) for _ in range(60)]
        worker = ledger.register_worker("tests")
    with opened(file, pragmas={"max_page_count": 1}) as ledger:
        orders = []
        with pytest.raises(LedgerUnavailableError):
            for _ in ids:
                order = ledger.claim(worker, terms=TERMS, max_children=999)
                assert order is not None
                orders.append(order)
                ledger.finish(order, DONE)
        launched = {route_id for route_id in ids if ledger.route(route_id).attempts}
        assert launched == {order.route_id for order in orders}


def test_read_only_file_is_unavailable() -> None:
    with open_folder() as folder:
        file = folder / "ledger.db"
        with as_nobody():
            with opened(file) as ledger:
                route_id = ready(ledger)
            file.chmod(0o400)
            with pytest.raises(LedgerUnavailableError, match="Permission denied"):
                Ledger(url_of(file))
            file.chmod(0o600)
            with opened(file) as ledger:
                assert ledger.route(route_id).id == route_id


def test_file_of_somebody_else_is_unavailable() -> None:
    if os.geteuid():
        pytest.skip("only root can make somebody else's file")
    with open_folder() as folder:
        file = folder / "ledger.db"
        file.touch(0o600)
        with as_nobody(), pytest.raises(LedgerUnavailableError, match="Permission"):
            Ledger(url_of(file))


def test_folder_without_room_for_worker_locks_is_unavailable(file: Path) -> None:
    with opened(file) as ledger:
        Path(f"{file}.workers").write_text("in the way")
        with pytest.raises(LedgerUnavailableError):
            ledger.register_worker("tests")


def test_ledger_that_another_program_locks_is_unavailable(file: Path) -> None:
    with opened(file, busy_timeout_s=0.05) as ledger:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailableError, match="locked"):
            ledger.accept(submission())
        ledger.ping()  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        assert ledger.accept(submission()).created


def test_ledger_that_a_thread_occupies_is_unavailable_to_others(file: Path) -> None:
    with opened(file, busy_timeout_s=0.05) as ledger, ThreadPoolExecutor(1) as pool:

        def occupy(_tx: Transaction) -> None:
            with pytest.raises(LedgerUnavailableError, match="busy"):
                pool.submit(ledger.accept, submission()).result(10)

        ledger._database.write(occupy)
        assert ledger.accept(submission()).created


def test_services_that_open_a_new_file_together_both_succeed(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        ledgers = list(pool.map(lambda _: Ledger(url_of(file)), range(8)))
    ids = {ledger.accept(submission()).route_id for ledger in ledgers}
    assert len(ids) == 8
    for ledger in ledgers:
        assert len(ledger.routes()[0]) == 8
        ledger.close()


def test_file_that_stays_locked_cannot_be_opened(file: Path) -> None:
    file.touch(0o600)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerUnavailableError, match="locked"):
        Ledger(url_of(file), busy_timeout_s=0.01)
    other.close()


def test_states_of_every_kind_survive_reopening(file: Path) -> None:
    with opened(file) as ledger:
        hold = held(ledger)
        ready(ledger)
        worker = ledger.register_worker("tests")
        done = launching(ledger, worker)
        ledger.finish(done, DONE)
        seen = ledger.routes()
    with opened(file) as ledger:
        assert ledger.routes() == seen
        assert ledger.approve(hold.id, ANNA, terms=TERMS["finance"], digest=hold.digest)


def test_removed_file_is_an_error_and_no_new_one_is_made(file: Path) -> None:
    with opened(file) as ledger:
        ready(ledger)
        file.unlink()
        with pytest.raises(LedgerUnavailableError):
            ledger.accept(submission("Is it due?"))
        with pytest.raises(LedgerUnavailableError):
            ledger.ping()
        assert not file.exists()


def test_replaced_file_is_an_error_and_is_not_written(file: Path) -> None:
    with opened(file) as ledger:
        ready(ledger)
        other = file.with_name("other.db")
        with opened(other):
            pass
        other.replace(file)
        with pytest.raises(LedgerUnavailableError, match="another file"):
            ledger.accept(submission("Is it due?"))
        with pytest.raises(LedgerUnavailableError, match="another file"):
            ledger.ping()


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs"])
def test_file_on_another_machine_is_refused_and_not_made(file: Path, kind: str) -> None:
    with pytest.raises(LedgerError, match=kind) as refused:
        SqliteDatabase(
            file,
            clock=FakeClock(),
            rules=Rules(1.0, {}, 1.0, held_blocks_session=True),
            busy_timeout_s=1.0,
            pragmas={},
            on_commit=lambda _moved: None,
            kind_of=lambda folder: kind if folder == file.parent else None,
        )
    assert refused.value.code == "ledger-network"
    assert not file.exists()


def test_what_stands_beside_the_file_is_private_too(file: Path) -> None:
    with opened(file) as ledger:
        ledger.accept(submission())
        beside = [path for path in file.parent.glob(f"{file.name}-*")]
        assert {path.name for path in beside} == {f"{file.name}-wal", f"{file.name}-shm"}
        assert {stat.S_IMODE(path.stat().st_mode) for path in beside} == {0o600}
