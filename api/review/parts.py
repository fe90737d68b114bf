"""Every part of the review pages, for `create_app`."""

from clawmarshal.api.review import (
    elsewhere,
    fleet,
    hold,
    keys,
    overview,
    queue,
    routes,
    sign_in,
    static_files,
)

PARTS = (sign_in, static_files, queue, hold, routes, fleet, overview, keys, elsewhere)
"""The last takes what is left."""
