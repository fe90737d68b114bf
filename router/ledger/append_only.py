"""What makes the database itself refuse to change or remove what is only ever appended."""

from collections.abc import Iterator

TABLES = ("events", "checkpoints")
_SQLITE = """
CREATE TRIGGER {table}_no_{deed} BEFORE {deed} ON {table}
BEGIN SELECT RAISE(ABORT, '{table} are only ever appended'); END
"""
_FUNCTION = """
CREATE FUNCTION clawmarshal_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' are only ever appended'; END $$
"""
_POSTGRESQL = """
CREATE TRIGGER {table}_no_{deed} BEFORE {deed} ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION clawmarshal_append_only()
"""


def statements(dialect: str) -> Iterator[str]:
    """Yield what makes the triggers, for ``sqlite`` or ``postgresql``.

    Notes
    -----
    They stop slips and programs of others, not whoever owns the database: that one can remove them,
    and is found by `clawmarshal verify`.
    """
    made = _SQLITE
    if dialect == "postgresql":
        made = _POSTGRESQL
        yield _FUNCTION
    for table in TABLES:
        for deed in ("update", "delete"):
            yield made.format(table=table, deed=deed)
