"""The version of the schema in a database, and the way from an older one."""

from sqlalchemy import Connection, Inspector, delete, insert, inspect, select

from clawmarshal.errors import LedgerError
from clawmarshal.router.ledger import append_only, schema

_FOLDER = "clawmarshal.router.ledger:migrations"
_WRITTEN = "schema_version"
_BEFORE_ALEMBIC = {"1": "0001"}
"""What ``meta.schema_version`` said in files made before versions were Alembic's."""
_AFTER = "2"
"""What it says since: the programs that read it refuse a file that is newer than they are."""


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
    if _recorded(connection) != schema.HEAD:
        upgrade(connection)


def check(connection: Connection) -> None:
    """Refuse a database that is not at this version.

    Raises
    ------
    LedgerError
        ``ledger-older``, with the command that upgrades it; ``ledger-newer``.
    """
    found = _recorded(connection)
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
    if (found := _recorded(connection)) is not None:
        return found
    looking: Inspector = inspect(connection)
    if looking.has_table(schema.meta.name):
        query = select(schema.meta.c.value).where(schema.meta.c.name == _WRITTEN)
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
    run_steps(connection, schema.HEAD, frm=found)
    _turn_away_older_programs(connection)


def run_steps(connection: Connection, to: str, *, frm: str | None = None) -> None:
    """Run the steps of ``migrations/versions`` up to a version; from nothing where ``frm`` is None.

    Parameters
    ----------
    connection
        In a transaction, in which everything happens.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", _FOLDER)
    config.attributes["connection"] = connection
    if frm is not None:
        command.stamp(config, frm)
    command.upgrade(config, to)


def _recorded(connection: Connection) -> str | None:
    """Return the version that Alembic wrote; None where it wrote none."""
    looking: Inspector = inspect(connection)
    if not looking.has_table(schema.version.name):
        return None
    found = connection.execute(select(schema.version.c.version_num)).scalar_one_or_none()
    return None if found is None else str(found)


def _make(connection: Connection) -> None:
    schema.metadata.create_all(connection)
    for statement in append_only.statements(connection.dialect.name):
        connection.exec_driver_sql(statement)
    connection.execute(schema.version.insert().values(version_num=schema.HEAD))
    _turn_away_older_programs(connection)


def _turn_away_older_programs(connection: Connection) -> None:
    meta = schema.meta
    connection.execute(delete(meta).where(meta.c.name == _WRITTEN))
    connection.execute(insert(meta).values(name=_WRITTEN, value=_AFTER))


def _newer(found: str) -> LedgerError:
    return LedgerError(
        f"the ledger has schema {found}; this version knows {schema.HEAD}", code="ledger-newer"
    )
