"""The real OpenClaw, one Gateway for the whole session."""

from tests.support.openclaw_lab import openclaw_lab

__all__ = ["openclaw_lab"]
