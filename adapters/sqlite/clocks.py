"""Times of this machine's clock that outlive the process that wrote them."""

from __future__ import annotations

_LEASES = 20
_LEAST = 300.0  # seconds; above every pause before another attempt


def far(now: float, lease: float) -> float:
    """No lease of about `lease` seconds ends later than this, unless the clock was put back since
    it was given: by a time server after a start with a wrong clock, or by hand."""
    return now + max(_LEASES * lease, _LEAST)
