"""A file that is handed in to `belay run`, whose process is killed while it is fetched."""

from __future__ import annotations

from pathlib import Path

from bot.kept import KeptDocuments
from tests.scenarios.hand_in_kit import ASKED, PORTER, plain, press
from tests.scenarios.process_kit import PATIENCE, installed, terminated
from tests.servers.telegram_server import TelegramServer


async def test_a_killed_process_hands_a_file_on_and_shows_it_once(tmp_path: Path) -> None:
    """Telegram tells of it four times, and the next process shows it."""
    async with TelegramServer() as server:
        ann, ben = server.user(7, "Ann"), server.user(8, "Ben")
        bot = await installed(tmp_path, server, [ben])
        admin = {"BELAY_ADMINS": "telegram:7"}
        fetched = server.hold("getFile")
        document = ("porter.md", PORTER.encode())
        server.says(ann, ann, "add this for everyone", document=document)
        for _ in range(3):
            server.repeats(server.updates.waiting[0])
        with bot.running(**admin):
            await bot.inbox_holds(1)
        fetched.set()
        with bot.running(**admin) as process:
            await server.until(lambda: server.sent(ann), PATIENCE)
            await bot.inbox_holds(0)
            (shown,) = server.sent(ann)
            assert "Night porter" in plain(shown)
            assert [kept.draft for kept in KeptDocuments(bot.home).all()] == [True]
            server.presses(ann, ann, shown.message_id, press(shown, "k"))
            await server.until(lambda: len(server.sent(ann)) == 2, PATIENCE)
            assert "Published" in plain(server.sent(ann)[1])
            server.says(ben, ben, ASKED)
            await server.until(lambda: server.sent(ben), PATIENCE)
            assert "112-233" in plain(server.sent(ben)[0])
            assert await terminated(process) == 0
        assert server.token not in bot.log
        assert "Traceback" not in bot.log
