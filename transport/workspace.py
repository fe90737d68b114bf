"""The private folders of a turn: one per service, one per attempt, made again when taken away."""

import asyncio
import contextlib
import logging
import os
import tempfile
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.transport.command import MESSAGE_FILE
from clawmarshal.transport.folders import (
    filesystem_of,
    is_same,
    make_locked,
    private_folder,
    remove_bare,
    restore_private,
    sweep,
    write_private,
)
from clawmarshal.transport.gateway import CLIENT_CONFIG
from clawmarshal.transport.removing import remove_tree

_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own is made in it, mode 0700
_IN_MEMORY = ("tmpfs", "ramfs")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    """What one attempt owns on disk; gone when the attempt is over."""

    path: Path
    message_file: Path
    cwd: Path


class Workspace:
    """Own one private folder, mode 0700, locked while we live; made anew when it is taken away.

    Parameters
    ----------
    parent
        Where the folder is made; the system's temporary directory where None.
    needs_tmpfs
        Refuse a parent that is on a disk; ``/dev/shm`` where no parent is named.
    client_config
        The bytes of a client config, kept there in a file, mode 0600; no file where None.

    Raises
    ------
    SettingsError
        The parent is missing, cannot be written, is not on a tmpfs although it must be, or its
        path holds unusual characters.
    """

    def __init__(
        self,
        parent: str | os.PathLike[str] | None = None,
        *,
        needs_tmpfs: bool = False,
        client_config: bytes | None = None,
    ) -> None:
        self._client_config = client_config
        default = _SHARED_MEMORY if needs_tmpfs else tempfile.gettempdir()
        self._base = base = Path(os.path.realpath(parent if parent is not None else default))
        if not MESSAGE_FILE.fullmatch(str(base / "x")):
            raise SettingsError(
                f"transport.directory {str(base)!r} holds characters outside A-Z a-z 0-9 . _ + @ - "
                "and space; choose another one"
            )
        self._rebuilding = threading.Lock()
        self.path, self._lock = base, -1
        try:
            if needs_tmpfs and (found := filesystem_of(base)) not in _IN_MEMORY:
                raise SettingsError(
                    f"transport.directory {base} is on {found or 'an unknown file system'} and "
                    "transport.needs_tmpfs is set; name a folder on a tmpfs"
                )
            sweep(base)
            self._make()
        except OSError as error:
            raise SettingsError(
                f"transport.directory {base}: no private folder can be made ({error.strerror})"
            ) from error

    @property
    def home(self) -> Path:
        """The child's ``HOME``."""
        return self.path / "home"

    @property
    def state(self) -> Path:
        """The child's state directory."""
        return self.path / "state"

    @property
    def tmp(self) -> Path:
        """The child's temporary directory."""
        return self.path / "tmp"

    @property
    def client_config(self) -> Path | None:
        """The client config that is kept here, if one is."""
        return None if self._client_config is None else self.path / CLIENT_CONFIG

    def ensure(self) -> None:
        """See that the folder is still ours; where somebody took it away, make another one.

        Raises
        ------
        NotLaunchedError
            None can be made; code ``no-message-file``.
        """
        if self._lock < 0:
            raise NotLaunchedError("the transport is closed", code="transport-closed")
        try:
            self._ensure()
        except OSError as error:
            raise NotLaunchedError(
                f"the private folder is gone and cannot be made again ({error.strerror})",
                code="no-message-file",
            ) from error

    @contextlib.asynccontextmanager
    async def attempt(self, message: bytes) -> AsyncIterator[AttemptFolder]:
        """Hold a folder with the message in a file, mode 0600, and an empty working directory.

        Raises
        ------
        NotLaunchedError
            The disk is full, or the folder was tampered with; code ``no-message-file``.
        """
        self.ensure()
        path: Path | None = None
        try:
            try:
                path = Path(tempfile.mkdtemp(prefix="at-", dir=self.path))
                folder = AttemptFolder(path, path / "message.txt", private_folder(path / "cwd"))
                write_private(folder.message_file, message)
            except OSError as error:
                raise NotLaunchedError(
                    f"the message file cannot be written ({error.strerror})", code="no-message-file"
                ) from error
            yield folder
        finally:
            if path is not None and not remove_bare(path):
                # A child may leave any number of files: not on the event loop.
                await asyncio.to_thread(remove_tree, path)

    def close(self) -> None:
        """Remove the folder and let its lock go."""
        if self._lock >= 0:
            remove_tree(self.path)
            os.close(self._lock)
            self._lock = -1

    def _make(self) -> None:
        self.path, self._lock = make_locked(self._base)
        for path in (self.home, self.state, self.tmp):
            private_folder(path)
        if self.client_config is not None and self._client_config is not None:
            write_private(self.client_config, self._client_config, is_kept=True)

    def _ensure(self) -> None:
        with self._rebuilding:
            if not is_same(self.path, self._lock):
                _LOG.warning("the private folder %s was taken away; making another", self.path)
                lost = self._lock
                self._make()
                os.close(lost)
            for path in (self.home, self.state, self.tmp):
                if not path.is_dir():
                    private_folder(path)
            kept = self.client_config
            if kept is not None and self._client_config is not None:
                if restore_private(kept, self._client_config):
                    _LOG.warning("the client config %s was lost or changed; written again", kept)
