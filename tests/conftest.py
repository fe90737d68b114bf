"""Servers that are started once for the whole session."""

from tests.support.openclaw_lab import openclaw_lab
from tests.support.postgresql import postgresql_server, postgresql_url

__all__ = ["openclaw_lab", "postgresql_server", "postgresql_url"]
