"""clawmarshal: the routing desk for fleets of OpenClaw agents."""

from clawmarshal._version import __version__

__all__ = ["__version__"]
