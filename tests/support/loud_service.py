"""The command line with its logs at debug level: ``python -P loud_service.py serve …``.

The ledger's library shows the rows it reads at debug level, so it speaks at info level here: every
statement, as an operator who looks for a fault would have it.
"""

import logging

from clawmarshal.api import cli, logs, server

_LOUD = ("clawmarshal", "uvicorn", "asyncio")


def main() -> None:
    """Run it."""
    quiet = logs.log_to_stderr

    def loud() -> None:
        quiet()
        logging.getLogger().setLevel(logging.INFO)
        logging.getLogger("sqlalchemy.engine").setLevel(logging.INFO)
        for name in _LOUD:
            logging.getLogger(name).setLevel(logging.DEBUG)

    setattr(server, "log_to_stderr", loud)  # noqa: B010 -- mypy refuses the plain form
    cli.main()


if __name__ == "__main__":
    main()
