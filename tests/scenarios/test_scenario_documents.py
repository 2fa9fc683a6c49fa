"""What is in the folder is what is answered from: tables, access, pointers, deletions."""

from __future__ import annotations

import re
import shutil

import pytest

from adapters.memory.model import ScriptedModel
from bot.errors import SourceError
from graph.model import Outcome
from graph.ports import Prompt
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Files

# IN-02


def services(header: str, rows: int, row: str) -> str:
    rule = re.sub(r"[^|]+", "---", header)
    lines = [row.format(n=n, prod=8000 + n, stage=9000 + n) for n in range(1, rows + 1)]
    return "\n".join([header, rule, *lines, ""])


PORTS = "# Service ports\n\nEvery service and where it listens.\n\n" + services(
    "| service | prod port | staging port | owner |",
    90,
    "| svc-{n:03} | {prod} | {stage} | team-{n} |",
)
PORTS_RU = "# Порты сервисов\n\nГде слушает каждый сервис.\n\n" + services(
    "| сервис | порт на проде | порт на стейджинге | команда |",
    90,
    "| svc-{n:03} | {prod} | {stage} | команда-{n} |",
)
QUEUES = "# Queues\n\n" + services(
    "| queue | broker | retention hours | consumers |",
    120,
    "| orders-q{n:03} | mq-{prod} | {n}h | {stage} |",
)


@pytest.mark.parametrize(
    ("document", "question", "right", "wrong"),
    [
        (PORTS, "what is the staging port of svc-083?", "9083", "8083"),
        (PORTS, "prod port of svc-083", "8083", "9083"),
        (PORTS, "which staging port does svc-007 have?", "9007", "8007"),
        (PORTS_RU, "какой порт на стейджинге у svc-083?", "9083", "8083"),
        (PORTS_RU, "какой порт на проде у svc-061?", "8061", "9061"),
        (QUEUES, "what is the retention of orders-q117?", "117h", "118h"),
    ],
)
async def test_in_02_a_late_row_of_a_long_table_keeps_its_columns(
    a_team: OpenTeam, document: str, question: str, right: str, wrong: str
) -> None:
    team = await a_team({"ports.md": document})
    chat = team.chat()
    await chat.says(question)
    chat.is_answered()
    chat.cites("ports.md")
    chat.sees(right)
    assert wrong not in chat.answer.text


def copied_cell(name: str, column: str) -> ScriptedModel:
    """Copies the cell of row `name` under `column`, from the header that stands above it."""

    def reply(prompt: Prompt) -> str:
        rows = [line.strip("| ").split(" | ") for line in prompt.user.splitlines() if "|" in line]
        header: list[str] = []
        for row in rows:
            header = row if column in row else header
            if row[0] == name:
                return f"{name}: {column} {row[header.index(column)]} [1]"
        return "INSUFFICIENT: no such row"

    return ScriptedModel(default=reply)


@pytest.mark.parametrize(
    ("document", "name", "column", "right"),
    [
        (PORTS, "svc-083", "staging port", "9083"),
        (PORTS, "svc-090", "owner", "team-90"),
        (PORTS_RU, "svc-061", "порт на стейджинге", "9061"),
    ],
)
async def test_in_02_a_model_reads_the_header_above_the_row(
    a_team: OpenTeam, document: str, name: str, column: str, right: str
) -> None:
    team = await a_team({"ports.md": document})
    chat = team.chat(model=copied_cell(name, column))
    await chat.says(f"{name} {column}?")
    chat.is_answered()
    chat.sees(right)


# IN-14

BROKEN = {
    "a colon in the title": "---\ntitle: Part 1: Restart\ntags: [ #ops ]\n---\n",
    "a quotation that never ends": '---\ntitle: "Restart\naudience: administrator\n---\n',
    "a tab": "---\ntitle: Restart\n\taudience: director\n---\n",
    "a title in Russian": "---\ntitle: Часть 1: Перезапуск\nlabels: [a\n---\n",
}
RESTART = "# Restarting the parser\n\nRestart the parser with `systemctl restart parser`.\n"
RESTART_RU = "# Перезапуск парсера\n\nПерезапустите парсер: `systemctl restart parser`.\n"


@pytest.mark.parametrize("head", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize(
    ("body", "question"),
    [(RESTART, "how do I restart the parser?"), (RESTART_RU, "как перезапустить парсер?")],
    ids=["en", "ru"],
)
async def test_in_14_unreadable_front_matter_is_for_administrators_only(
    a_team: OpenTeam, head: str, body: str, question: str
) -> None:
    team = await a_team({"vpn.md": "VPN access is requested in the portal.\n"})
    team.write({"ops/restart.md": head + body})
    report = await team.sync()
    assert any(problem.path == "ops/restart.md" for problem in report.problems)

    administrator = team.chat(level="administrator")
    await administrator.says(question)
    administrator.is_answered()
    administrator.cites("ops/restart.md")

    for level in ("staff", "manager", "senior", "director"):
        other = team.chat(level=level)
        await other.says(question)
        assert other.outcome is not Outcome.ANSWERED
        other.never_sees("systemctl", "ops/restart.md")


@pytest.mark.parametrize(
    ("audience", "readers"),
    [
        ("administrator", {"administrator"}),
        ("director", {"director", "administrator"}),
        ("staff", {"staff", "manager", "senior", "director", "administrator"}),
    ],
)
@pytest.mark.parametrize(
    ("body", "question"),
    [
        ("The bonus pool of 2026 is 40,900 euro.", "how big is the bonus pool of 2026?"),
        ("Премиальный фонд 2026 года: 40,900 рублей.", "какой премиальный фонд?"),
    ],
    ids=["en", "ru"],
)
async def test_a_restricted_document_answers_its_own_audience_only(
    a_team: OpenTeam, audience: str, readers: set[str], body: str, question: str
) -> None:
    head = f"---\ntitle: Bonus\naudience: {audience}\n---\n"
    team = await a_team({"bonus.md": head + body, "vpn.md": "VPN access: the portal.\n"})
    for level in ("staff", "manager", "senior", "director", "administrator"):
        chat = team.chat(level=level)
        await chat.says(question)
        if level in readers:
            chat.cites("bonus.md")
            chat.sees("40,900")
        else:
            chat.is_refused()
            chat.never_sees("40,900", "bonus.md")
            assert "bonus.md" not in str(chat.trace.to_json())


# IN-21


def pointer(digest: str, size: int) -> str:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest * 8}\nsize {size}\n"


@pytest.mark.parametrize("name", ["guide.pdf", "guide.md", "docs/руководство.md", "guide.txt"])
async def test_in_21_an_lfs_pointer_is_no_document(a_team: OpenTeam, name: str) -> None:
    team = await a_team({"vpn.md": "VPN access is requested in the portal.\n"})
    team.write({name: pointer("4d7a2146", 90405)})
    report = await team.sync()
    assert [(item.path, item.reason) for item in report.skipped] == [
        (name, "LFS content not fetched")
    ]
    chat = team.chat()
    for question in ("what is the oid of guide?", "size of the guide", "какой размер у guide?"):
        await chat.says(question)
        assert name not in chat.cited
        chat.never_sees("4d7a2146", "90405", "git-lfs")


async def test_in_21_a_folder_of_pointers_alone_says_that_nothing_is_indexed(
    a_team: OpenTeam,
) -> None:
    team = await a_team({"guide.md": pointer("4d7a2146", 90405)})
    chat = team.chat()
    await chat.says("what is in the guide?")
    assert chat.outcome is Outcome.FAILED
    chat.sees("No documents are indexed yet")
    assert chat.answer.error_id


# IN-25

NAMESAKES: Files = {
    "billing/README.md": "# Billing\n\nThe billing service listens on port 8081.\n",
    "orders/README.md": "# Orders\n\nThe orders service listens on port 8082.\n",
    "доставка/README.md": "# Доставка\n\nСервис доставки слушает порт 8083.\n",
}


@pytest.mark.parametrize(
    ("question", "document", "port"),
    [
        ("which port does billing use?", "billing/README.md", "8081"),
        ("which port does the orders service listen on?", "orders/README.md", "8082"),
        ("какой порт слушает сервис доставки?", "доставка/README.md", "8083"),
    ],
)
async def test_in_25_files_of_one_name_stay_apart(
    a_team: OpenTeam, question: str, document: str, port: str
) -> None:
    team = await a_team(NAMESAKES)
    team.write({"orders/README.md": "# Orders\n\nThe orders service listens on port 8082. Hi.\n"})
    assert (await team.sync()).indexed == 1
    chat = team.chat()
    await chat.says(question)
    chat.is_answered()
    chat.sees(port, document)
    assert chat.cited[0] == document


async def test_in_25_a_changed_namesake_changes_only_its_own_answer(a_team: OpenTeam) -> None:
    team = await a_team(NAMESAKES)
    team.write({"billing/README.md": "# Billing\n\nThe billing service listens on port 9999.\n"})
    await team.sync()
    chat = team.chat()
    await chat.says("which port does the billing service listen on?")
    chat.sees("9999")
    chat.never_sees("8081")
    await chat.says("which port does the orders service listen on?")
    chat.sees("8082")


# IN-29

VPN: Files = {
    "old-vpn.md": "# Old VPN\n\nThe old VPN concentrator is vpn-legacy-01, port 1194.\n",
    "wiki/почта.md": "# Почта\n\nПочтовый сервер: mail-02, порт 465.\n",
    "wiki/backup.md": "# Backups\n\nBackups run at 01:30 UTC and are kept for 21 days.\n",
    "drain.md": "# Drain\n\nTo drain a node run `kubectl drain NODE`.\n",
}


@pytest.mark.parametrize(
    ("name", "question", "gone"),
    [
        ("old-vpn.md", "which port does the old VPN concentrator use?", "1194"),
        ("wiki/почта.md", "какой порт у почтового сервера?", "465"),
    ],
)
async def test_in_29_a_deleted_file_is_answered_from_no_longer(
    a_team: OpenTeam, name: str, question: str, gone: str
) -> None:
    team = await a_team(VPN)
    chat = team.chat()
    await chat.says(question)
    chat.cites(name)
    chat.sees(gone)

    team.delete(name)
    assert (await team.sync()).removed == 1
    again = team.chat()
    await again.says(question)
    assert again.outcome is not Outcome.ANSWERED
    again.never_sees(gone, name)


async def test_in_29_a_deleted_folder_is_answered_from_no_longer(a_team: OpenTeam) -> None:
    team = await a_team(VPN)
    shutil.rmtree(team.folder / "wiki")
    assert (await team.sync()).removed == 2
    chat = team.chat()
    await chat.says("how long are backups kept?")
    assert chat.outcome is not Outcome.ANSWERED
    chat.never_sees("21 days", "wiki/backup.md")
    await chat.says("how do I drain a node?")
    chat.cites("drain.md")


@pytest.mark.parametrize("loss", ["unmounted", "emptied", "nearly emptied"])
async def test_in_29_a_lost_root_keeps_the_index_and_says_so(a_team: OpenTeam, loss: str) -> None:
    rooms: Files = {f"rooms/{n}.md": f"Room {n} has {n} chairs.\n" for n in range(1, 16)}
    team = await a_team({**VPN, **rooms})
    if loss == "unmounted":
        team.folder.rename(team.folder.with_name("elsewhere"))
    elif loss == "emptied":
        team.delete(*VPN, *rooms)
    else:
        team.delete(*rooms, "old-vpn.md", "wiki/почта.md", "wiki/backup.md")
    with pytest.raises(SourceError) as failure:
        await team.sync()
    assert failure.value.remedy
    chat = team.chat()
    await chat.says("how long are backups kept?")
    chat.cites("wiki/backup.md")
    chat.sees("21 days")
