"""Files sent in chats, as such a chat reads: on Telegram and on Slack, over loopback."""

from __future__ import annotations

import pytest

from tests.scenarios.conftest import OpenTeam
from tests.scenarios.hand_in_kit import (
    ASKED,
    DOCS,
    PORTER,
    kept,
    on_slack,
    on_telegram,
    plain,
    press,
)
from tests.servers.slack_server import MENTION


async def test_on_telegram_a_document_is_understood_published_and_found(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    async with on_telegram(team) as (at, _):
        dora = at.server.chats.users[9]
        document = ("porter.md", PORTER.encode())
        at.server.says(at.anna, at.anna, "add this for staff", document=document)
        (shown,) = await at.answered(at.anna)
        for words in ("Night porter", "porter.md", "Tallinn", "Riga", "Passages: 1", "level staff"):
            assert words in plain(shown)
        assert [button["text"] for button in shown.buttons] == ["Publish", "Discard"]
        at.server.says(dora, dora, ASKED)
        (before,) = await at.answered(dora)
        assert "112-233" not in plain(before)
        at.server.presses(at.anna, at.anna, shown.message_id, press(shown, "k"))
        _, published = await at.answered(at.anna, 2)
        assert "Published: Night porter" in plain(published)
        at.server.says(dora, dora, ASKED)
        _, after = await at.answered(dora, 2)
        assert "112-233" in plain(after)
        assert [call for call in at.server.calls if call.error] == []


async def test_on_telegram_the_words_may_come_after_the_file(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    async with on_telegram(team) as (at, _):
        document = ("porter.md", PORTER.encode())
        at.server.says(at.boris, at.boris, "", document=document)
        (how,) = await at.answered(at.boris)
        assert "добавь это" in plain(how)
        assert "porter.md" in plain(how)
        assert kept(team) == []
        at.server.says(at.boris, at.boris, "добавь это")
        _, shown = await at.answered(at.boris, 2)
        assert [button["text"] for button in shown.buttons] == ["Опубликовать", "Удалить черновик"]
        at.server.presses(at.boris, at.boris, shown.message_id, press(shown, "x"))
        *_, gone = await at.answered(at.boris, 3)
        assert "Черновик удалён" in plain(gone)
        assert kept(team) == []


async def test_on_telegram_a_member_is_told_who_can_and_a_stranger_nothing(
    a_team: OpenTeam,
) -> None:
    """Nobody's file is fetched before it is known that they may hand it in."""
    team = await a_team(DOCS)
    async with on_telegram(team) as (at, way):
        at.server.says(at.boris, at.boris, "привет")
        await at.answered(at.boris)
        dora, eve = at.server.chats.users[9], at.server.chats.users[10]
        document = ("porter.md", PORTER.encode())
        at.server.says(dora, dora, "add this", document=document)
        (refused,) = await at.answered(dora)
        assert "Only curators and admins" in plain(refused)
        linked = [entity["user"]["id"] for entity in refused.entities if "user" in entity]
        assert linked == [7, 8]
        assert "7, Boris" in plain(refused)
        at.server.says(eve, eve, "add this", document=document)
        (stranger,) = await at.answered(eve)
        assert "porter" not in plain(stranger)
        assert way.fetched == []
        assert at.server.called("getFile") == []
        assert kept(team) == []


async def test_on_telegram_a_group_hands_in_and_what_is_no_document_is_refused(
    a_team: OpenTeam,
) -> None:
    team = await a_team(DOCS)
    async with on_telegram(team) as (at, way):
        group = at.server.group(-1001234, "Porters")
        document = ("porter.md", PORTER.encode())
        at.server.says(group, at.anna, "the list", document=document)
        await at.idle()
        assert at.server.sent(group) == []
        dropped = at.server.says(group, at.anna, "", document=document)
        at.server.says(group, at.anna, "@belay_bot add this", reply_to=dropped)
        (shown,) = await at.answered(group)
        assert "level staff" in plain(shown)
        assert kept(team)[0].origin == f"https://t.me/c/1234/{dropped}"
        assert way.fetched == ["porter.md"]
        dora = at.server.chats.users[9]
        at.server.presses(group, dora, shown.message_id, press(shown, "k"))
        await at.until(lambda: at.server.called("answerCallbackQuery"))
        (toast,) = at.server.called("answerCallbackQuery")
        assert "Only curators" in toast.params["text"]
        assert kept(team)[0].draft
        sticker = {"file_id": "s", "file_unique_id": "t", "width": 9, "height": 9,
                   "type": "regular", "is_animated": False, "is_video": False}  # fmt: skip
        at.server.says(at.anna, at.anna, "add this", photo=True)
        at.server.says(at.anna, at.anna, "", sticker=sticker)
        at.server.says(at.anna, at.anna, "add this")
        photo, _, after = [plain(each) for each in await at.answered(at.anna, 3)]
        assert "photo" in photo
        assert "PDF, Word" in photo
        assert "sticker" in after
        assert way.fetched == ["porter.md"]


async def test_on_slack_a_channel_hands_in_and_another_curator_publishes(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    async with on_slack(team) as (at, _):
        dora = at.server.at.users["U0DORA"]
        file = at.server.file("porter.md", PORTER.encode(), mimetype="text/markdown")
        asked = await at.server.says(at.ops, at.ann, f"{MENTION} add this", files=[file], times=4)
        (shown,) = await at.answered(at.ops)
        for words in ("Night porter", "porter.md", "Tallinn", "Riga", "Passages: 1", "level staff"):
            assert words in plain(shown)
        await at.server.presses(at.ops, dora, shown.ts, press(shown, "k"))
        await at.until(lambda: at.server.whispered(at.ops))
        (refused,) = at.server.whispered(at.ops)
        assert refused.to == "U0DORA"
        assert "Only curators" in plain(refused)
        await at.server.presses(at.ops, at.boris, shown.ts, press(shown, "k"))
        _, published = await at.answered(at.ops, 2)
        assert "Published: Night porter" in plain(published)
        await at.server.says(at.ops, dora, f"{MENTION} {ASKED}")
        *_, answer = await at.answered(at.ops, 3)
        assert "112-233" in plain(answer)
        [document] = kept(team)
        stamp = asked.replace(".", "")
        assert document.origin == f"https://example.slack.com/archives/C0OPS/p{stamp}"


async def test_on_slack_a_file_that_was_dropped_before_is_added_from_its_thread(
    a_team: OpenTeam,
) -> None:
    """The drop itself asks nobody anything, and is not answered."""
    team = await a_team(DOCS)
    async with on_slack(team) as (at, way):
        file = at.server.file("porter.md", PORTER.encode(), mimetype="text/markdown")
        root = await at.server.says(at.ops, at.ann, "", files=[file])
        await at.server.says(at.ops, at.ann, "here is the list of porters", files=[file])
        await at.idle()
        assert at.server.sent(at.ops) == []
        assert way.fetched == []
        assert at.server.called("download") == []
        await at.server.says(at.ops, at.ann, f"{MENTION} please add this file", thread=root)
        (shown,) = await at.answered(at.ops)
        assert "Night porter" in plain(shown)
        stamp = root.replace(".", "")
        assert kept(team)[0].origin == f"https://example.slack.com/archives/C0OPS/p{stamp}"
        await at.server.says(at.ops, at.ann, "", thread=root, files=[file])
        await at.idle()
        assert len(at.server.sent(at.ops)) == 1


async def test_on_slack_a_direct_message_with_a_file_says_what_to_do(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    async with on_slack(team) as (at, _):
        file = at.server.file("porter.md", PORTER.encode(), mimetype="text/markdown")
        await at.server.says(at.direct, at.ann, "", files=[file])
        (how,) = await at.answered(at.direct)
        assert "add this" in plain(how)
        await at.server.says(at.direct, at.ann, "add this")
        _, shown = await at.answered(at.direct, 2)
        assert "Night porter" in plain(shown)


async def test_sl_12_names_and_headings_of_a_file_ring_nobody(a_team: OpenTeam) -> None:
    """SL-12: what a file says of itself is shown, and is no markup of Slack's."""
    team = await a_team(DOCS)
    async with on_slack(team) as (at, _):
        text = "# <!here> <@U0BORIS>\n\nThe night porter answers at 112-233.\n"
        name = "<!channel> <@U0BORIS> [x](https://evil.example).md"
        file = at.server.file(name, text.encode(), mimetype="text/markdown")
        await at.server.says(at.ops, at.ann, f"{MENTION} add this", files=[file])
        (shown,) = await at.answered(at.ops)
        await at.server.presses(at.ops, at.ann, shown.ts, press(shown, "k"))
        for sent in await at.answered(at.ops, 2):
            everything = f"{sent.text} {sent.blocks} {sent.markdown}"
            for token in ("<!here", "<!channel", "<@U0BORIS", "](https://evil"):
                assert token not in everything


async def test_on_slack_what_it_does_not_give_is_told_in_words(a_team: OpenTeam) -> None:
    """A missing scope, a link to another service; and a file of which only the id is known."""
    team = await a_team(DOCS)
    async with on_slack(team) as (at, _):
        file = at.server.file("porter.md", PORTER.encode(), mimetype="text/markdown")
        drive = at.server.file("plan.md", b"", mode="external", is_external=True)
        at.server.files.signed_out = True
        await at.server.says(at.ops, at.ann, f"{MENTION} add this", files=[file, drive])
        (refused,) = await at.answered(at.ops)
        assert "belay doctor" in plain(refused)
        assert "only a link to another service" in plain(refused)
        assert refused.buttons == []
        at.server.files.signed_out = False
        known = {"id": file["id"], "file_access": "check_file_info"}
        await at.server.says(at.ops, at.ann, f"{MENTION} add this", files=[known])
        _, shown = await at.answered(at.ops, 2)
        assert "porter.md" in plain(shown)
        assert [call for call in at.server.calls if call.error] == []


@pytest.mark.parametrize("words", [f"{MENTION} add this", f"{MENTION} why?", MENTION])
async def test_on_slack_no_file_of_a_stranger_is_fetched(a_team: OpenTeam, words: str) -> None:
    team = await a_team(DOCS)
    async with on_slack(team) as (at, way):
        eve = at.server.at.users["U0EVE"]
        closed = at.server.channel("C0CLOSED", "closed")
        file = at.server.file("porter.txt", PORTER.encode())
        await at.server.says(closed, eve, words, files=[file])
        await at.idle()
        direct = at.server.direct(eve)
        await at.server.says(direct, eve, words.removeprefix(MENTION).strip(), files=[file])
        await at.answered(direct)
        assert at.server.called("files.info") == []
        assert at.server.called("download") == []
        assert way.fetched == []
