"""Every part of the review pages, for `create_app`."""

from clawmarshal.api.review import elsewhere, hold, queue, sign_in, static_files

PARTS = (sign_in, static_files, queue, hold, elsewhere)
"""The last takes what is left."""
