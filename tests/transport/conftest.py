"""What the tests of the transport share."""

from tests.support.openclaw_lab import openclaw_lab

__all__ = ["openclaw_lab"]
