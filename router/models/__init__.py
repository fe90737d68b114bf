"""One file per decision model."""
