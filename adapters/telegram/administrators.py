"""Who administers a chat: `telegram:-1001234567890:admins` in [[access.groups]]."""

from __future__ import annotations

from aiogram.methods import GetChatAdministrators

from adapters.telegram.requests import Missing, Moved, Requests, Unclear, Unreadable
from bot.errors import DeliveryFailed, PlatformGone, SettingsError

ROLE = "admins"

_REMEDY = (
    "Add the bot to the chat (in a channel as an administrator), and check the id in "
    "[[access.groups]]."
)


async def administrators(group: str, requests: Requests, seconds: int) -> frozenset[str]:
    """The ids of the people who administer the chat of `group`, "-1001234567890:admins".

    Anonymous administrators are among them by their own ids, bots never. Raises SettingsError
    when Telegram does not tell, and DeliveryFailed while it cannot be reached.
    """
    chat = group.removesuffix(f":{ROLE}")
    try:
        members = await requests(GetChatAdministrators(chat_id=int(chat)), seconds)
    except Moved as moved:
        remedy = f"Write telegram:{moved.chat}:{ROLE} in [[access.groups]]."
        raise SettingsError(f"the group {chat} has become a supergroup", remedy) from moved
    except (PlatformGone, Missing, Unreadable) as refusal:
        raise SettingsError(f"Telegram does not tell ({refusal})", _REMEDY) from refusal
    except Unclear as error:
        raise DeliveryFailed(str(error)) from error
    people = [member.user for member in members or ()]
    return frozenset(str(user.id) for user in people if not user.is_bot)
