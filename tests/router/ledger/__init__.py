"""Tests of the ledger and its dispatcher."""
