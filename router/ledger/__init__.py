"""What happened and what waits."""
