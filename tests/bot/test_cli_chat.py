"""The chat in a real terminal: prompt, stages, the answer as it comes, and every way out."""

from __future__ import annotations

import asyncio
import signal

from cli_kit import CUT_OFF, Belay, Screen

from tests.servers.openai_server import OpenAIServer, Say

PROMPT = "\n> "
DRAFT = "After 06:15 UTC it arrives one banking day later [1]. Run `payctl --now` [1]."


def test_a_question_its_stages_its_answer_and_an_empty_line(indexed: Belay) -> None:
    with indexed.screen("chat") as screen:
        greeting = screen.until("> ")
        assert "An empty line or Ctrl-D ends the chat." in greeting
        screen.press(f"{CUT_OFF}\n")
        shown = screen.until(PROMPT)
        assert shown.index("classify") < shown.index("06:15 UTC")
        assert "payout-batch-stuck.md" in shown
        screen.press("\n")
        assert screen.ended() == 0


def test_ctrl_c_ends_a_chat_that_waits_and_leaves_a_clean_line(indexed: Belay) -> None:
    with indexed.screen("chat") as screen:
        screen.until("> ")
        screen.press("half a question\x03")
        assert screen.ended() == 130
        assert "Traceback" not in screen.raw
        assert screen.raw.endswith("\n")


def test_ctrl_c_ends_an_answer_and_gives_the_cursor_back(indexed: Belay) -> None:
    with indexed.screen("chat") as screen:
        screen.until("> ")
        screen.press(f"{CUT_OFF}\n")
        screen.until("contextualize")
        screen.press("\x03")
        assert screen.ended() == 130
        assert "Traceback" not in screen.raw
        assert screen.raw.rfind("\x1b[?25h") > screen.raw.rfind("\x1b[?25l")


def test_sigterm_ends_a_chat_that_waits_for_a_pipe(indexed: Belay) -> None:
    process = indexed.start("chat")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{CUT_OFF}\n".encode())
    process.stdin.flush()
    while "payout-batch-stuck.md" not in process.stdout.readline().decode():
        pass
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 143
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


async def test_what_a_model_writes_is_replaced_and_ctrl_d_ends_the_chat(indexed: Belay) -> None:
    async with OpenAIServer(default=Say(DRAFT)) as server:
        belay = indexed.with_(MODEL="m", MODEL_URL=server.url)
        raw = await asyncio.to_thread(_conversation, belay)
    streamed, _, final = raw.rpartition("\x1b[?25h")  # the cursor comes back with the final text
    assert "After 06:15 UTC" in streamed
    assert "After 06:15 UTC" in final
    assert final.lstrip("\r").startswith("\x1b[1A\x1b[2K"), "the draft is wiped off first"
    assert "payctl" not in final


def _conversation(belay: Belay) -> str:
    with belay.screen("chat") as screen:
        return _asked(screen)


def _asked(screen: Screen) -> str:
    screen.until("> ")
    screen.press(f"{CUT_OFF}\n")
    screen.until("Sources")
    screen.until(PROMPT)
    screen.press("\x04")
    assert screen.ended() == 0
    assert screen.raw.endswith("\n")
    return screen.raw
