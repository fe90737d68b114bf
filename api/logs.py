"""One JSON line per event: time, level, logger, words; no text of messages, no secrets."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

MAX_CHARS = 2000


class JsonLines(logging.Formatter):
    """Write a record as one line of JSON; an exception as its kind and places, without its words.

    The words of a foreign exception may hold what it was about (a database driver shows the
    values of a statement), so they are left out.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        line |= _event(record)
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            line["where"] = [f"{frame.name}:{frame.lineno}" for frame in frames[-8:]]
        return json.dumps(line, separators=(",", ":"))


def _event(record: logging.LogRecord) -> dict[str, object]:
    """Return the fields of a structured record, or its words."""
    fields = getattr(record, "fields", None)
    if isinstance(fields, dict):
        return fields
    return {"event": "log", "words": record.getMessage()[:MAX_CHARS]}


def log_to_stderr() -> None:
    """Speak in JSON lines; libraries only when something is wrong."""
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[shown], force=True)
    logging.getLogger("clawmarshal").setLevel(logging.INFO)
    logging.captureWarnings(True)
