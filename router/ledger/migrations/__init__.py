"""The steps from each schema of the ledger to the next, in Alembic's form."""
