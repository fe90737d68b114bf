"""``python -m clawmarshal``."""

import sys

from clawmarshal.api.cli import main

sys.exit(main())
