"""What Alembic runs: the steps, on the connection and in the transaction it is handed."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    transactional_ddl=True,  # also on SQLite, whose transaction is ours
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
