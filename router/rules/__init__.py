"""The risk table: its rows, the words they are told by, and how both are compiled."""
