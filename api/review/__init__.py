"""The review pages: what waits for a person, rendered on the server."""
