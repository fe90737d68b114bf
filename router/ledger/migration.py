"""The version of the schema in a database, and the way from an older one."""

from sqlalchemy import Connection, Inspector, inspect, select

from clawmarshal.errors import LedgerError
from clawmarshal.router.ledger import schema

_FOLDER = "clawmarshal.router.ledger:migrations"
_BEFORE_ALEMBIC = {"1": "0001"}
"""What ``meta.schema_version`` said in files made before versions were Alembic's."""


def make_or_upgrade(connection: Connection) -> None:
    """Make the tables of an empty database, or bring an older one up to date.

    Parameters
    ----------
    connection
        In a transaction; nothing of a failed upgrade stays when it is rolled back.

    Raises
    ------
    LedgerError
        ``ledger-newer``: a later version of the program made it.
    """
    found = version_of(connection)
    if found is None:
        _make(connection)
    elif found != schema.HEAD:
        upgrade(connection)


def check(connection: Connection) -> None:
    """Refuse a database that is not at this version.

    Raises
    ------
    LedgerError
        ``ledger-older``, with the command that upgrades it; ``ledger-newer``.
    """
    found = version_of(connection)
    if found == schema.HEAD:
        return
    if found is not None and found > schema.HEAD:
        raise _newer(found)
    raise LedgerError(
        f"the ledger has {'no schema' if found is None else f'schema {found}'}, this version needs "
        f"{schema.HEAD}; run: clawmarshal ledger upgrade",
        code="ledger-older",
    )


def version_of(connection: Connection) -> str | None:
    """Return the version of the schema; None where there are no tables of ours."""
    looking: Inspector = inspect(connection)
    if looking.has_table(schema.version.name):
        found = connection.execute(select(schema.version.c.version_num)).scalar_one_or_none()
        if found is not None:
            return str(found)
    if looking.has_table(schema.meta.name):
        query = select(schema.meta.c.value).where(schema.meta.c.name == "schema_version")
        written = connection.execute(query).scalar_one_or_none()
        if written is not None and written not in _BEFORE_ALEMBIC:
            raise _newer(written)
        return None if written is None else _BEFORE_ALEMBIC[written]
    return None


def upgrade(connection: Connection) -> None:
    """Bring a database from any earlier version to this one, or make an empty one's tables.

    Raises
    ------
    LedgerError
        ``ledger-newer``.
    """
    found = version_of(connection)
    if found is None:
        _make(connection)
        return
    if found > schema.HEAD:
        raise _newer(found)
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", _FOLDER)
    config.attributes["connection"] = connection
    command.stamp(config, found)
    command.upgrade(config, schema.HEAD)


def _make(connection: Connection) -> None:
    schema.metadata.create_all(connection)
    connection.execute(schema.version.insert().values(version_num=schema.HEAD))


def _newer(found: str) -> LedgerError:
    return LedgerError(
        f"the ledger has schema {found}; this version knows {schema.HEAD}", code="ledger-newer"
    )
