"""What all conversations with one workspace share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.options import Options


@dataclass(frozen=True, slots=True)
class Line:
    """`client` lives on one shared HTTP session and repeats nothing by itself: see requests.py.

    `clock` gives seconds that only grow. `team_id` and `bot_user_id` are from auth.test; a
    channel shows no stream without the first.
    """

    client: AsyncWebClient
    options: Options
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    team_id: str = ""
    bot_user_id: str = ""
