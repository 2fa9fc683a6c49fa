"""On-call schedules from iCalendar feeds."""

from __future__ import annotations

from adapters.ical.roster import create

__all__ = ["create"]
