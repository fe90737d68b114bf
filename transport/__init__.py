"""How a message reaches OpenClaw."""
