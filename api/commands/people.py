"""Who acts at the terminal, as the record names them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmarshal.router.ledger.records import Principal


def operator(person: str | None, *more: str) -> "Principal":
    """Name whoever runs a command: who can write the ledger needs no key, and the record says so.

    Parameters
    ----------
    person
        Who that is; whoever the process runs as where None.
    more
        Scopes beside ``review``.
    """
    from clawmarshal.api.settings import person_of_process
    from clawmarshal.router.ledger.records import Principal

    return Principal(person or person_of_process(), "command-line", frozenset({"review", *more}))
