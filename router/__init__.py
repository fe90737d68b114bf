"""What should happen to a message."""
