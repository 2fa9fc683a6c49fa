"""What `--json` prints."""

from __future__ import annotations

import json
from datetime import datetime


def to_json(value: object) -> str:
    """Readable JSON of plain values; moments are ISO 8601."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=_plain)


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
