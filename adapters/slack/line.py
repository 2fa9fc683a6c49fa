"""What all conversations with one workspace share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.options import Options
from adapters.slack.pace import Pace
from adapters.slack.requests import Requests


@dataclass(frozen=True, slots=True)
class Line:
    """`client` should live on one shared HTTP session; its retries serve what is read.

    `clock` gives seconds that only grow. `team_id` and `bot_user_id` are from auth.test; a
    channel shows no stream without the first. `refused` are the methods that Slack does not offer
    in a kind of place.
    """

    client: AsyncWebClient
    options: Options
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    team_id: str = ""
    bot_user_id: str = ""
    pace: Pace = field(default_factory=Pace, repr=False)
    refused: set[tuple[str, str]] = field(default_factory=set)
    requests: Requests = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "requests", Requests(self.client))
