"""One suite that every back end of the ledger must pass."""
