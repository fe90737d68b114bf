"""Files of lines and results that commands read and write, with errors that say what is wrong."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from clawmarshal.errors import MessageError


def read_lines(path: Path) -> list[bytes]:
    """Read the lines of a file.

    Raises
    ------
    MessageError
        It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return list(file)
    except OSError as error:
        raise MessageError(f"{path} cannot be read: {error.strerror}") from error


def check_writable(paths: Iterable[Path | None]) -> None:
    """Look before the work begins whether there is a folder for its results.

    Raises
    ------
    MessageError
        There is none.
    """
    for path in paths:
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise MessageError(f"{path} cannot be written: it is a folder, or has none")


@contextmanager
def private_file(path: Path) -> Iterator[TextIO]:
    """Make a new file that its owner alone can read, and write lines into it.

    Raises
    ------
    MessageError
        There is one already, or it cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            yield stream
    except OSError as error:
        raise MessageError(f"{path} cannot be written: {error.strerror}") from error


def write_whole(path: Path, text: str) -> None:
    """Write beside and move, so that an interrupted run leaves no half file that looks whole.

    Raises
    ------
    MessageError
        It cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8", newline="")
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    except OSError as error:
        raise MessageError(f"{path} cannot be written: {error.strerror}") from error
