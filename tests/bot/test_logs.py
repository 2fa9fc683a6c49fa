"""What operators read in the logs, and what must never stand there."""

import asyncio
import io
import json
import logging
import sys
import threading
import warnings
from collections.abc import Iterator

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import logs
from bot.redaction import MASK, Redactor

TELEGRAM = "123456789:AAabcdefghijklmnopqrstuvwxyz0123456"
SECRETS = {
    "telegram": TELEGRAM,
    "telegram url": f"POST https://api.telegram.org/bot{TELEGRAM}/getUpdates timed out",
    "telegram quoted": "https://api.telegram.org/bot"
    + TELEGRAM.replace(":", "%3A")
    + "/sendMessage",
    "slack bot": "token xoxb-123456789012-abcdefABCDEF rejected",
    "slack app": "xapp-1-A0123-456-abcdef0123456789",
    "slack user": "xoxp-1234567890-abcdef",
    "slack rotated": "xoxe.xoxp-1-Mi0yLTEyMzQ1Njc4OTA",
    "slack webhook": "https://hooks.slack.com/services/T000/B000/abcdefghijkl",
    "slack socket": "wss://wss-primary.slack.com/link/?ticket=abcdef-1234&app_id=x",
    "openai": "Incorrect API key provided: sk-proj-abcdefgh1234567890.",
    "openai echoed": "Incorrect API key provided: sk-proj-********************7890.",
    "bearer": "Authorization: Bearer abcdef0123456789",
    "basic": "Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==",
    "header tuple": "[(b'Authorization', b'Bearer abcdef0123456789'), (b'X-Api-Key', b'k1234567')]",
    "header dict": "{'authorization': 'abcdef0123456789', \"x-api-key\": \"k1234567\"}",
    "redis": "Error connecting to redis://:hunter2pass@redis.example:6379/0",
    "postgres": "postgresql://belay:hunter2pass@db/belay",
    "git": "fatal: https://ghs_0123456789abcdefghij@github.com/a/b.git",
    "git token": "https://oauth2:glpat-abcdefghij0123456789@gitlab.example/a.git",
    "weaviate": "X-Weaviate-Api-Key: abcdefghijkl0123",
    "key value": "client_secret=abcdef012345&password=hunter2pass",
    "json": '{"api_key": "abcdef012345", "signing_secret": "0123456789abcdef"}',
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "pgp": "-----BEGIN PGP PRIVATE KEY BLOCK-----\nMIIEabcdef\n-----END PGP PRIVATE KEY BLOCK-----",
    "vault": "hvs.abcdefghij0123456789abcd",
    "discord webhook": "https://discord.com/api/webhooks/1234567/abcdefgh1234567890",
    "option": "git clone --access-token abcdef0123456789 failed",
    "short name": "env: DB_PASS=hunter2pass",
    "russian": "пароль: hunter2pass",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdef\n-----END RSA PRIVATE KEY-----",
}
CANARIES = (
    "AAabcdef",
    "abcdefABCDEF",
    "abcdef0123456789",
    "abcdef012345",
    "xoxp-1234567890-abcdef",
    "Mi0yLTEyMzQ",
    "B000/abcdefghijkl",
    "abcdef-1234",
    "abcdefgh1234567890",
    "7890.",
    "dXNlcjpw",
    "k1234567",
    "hunter2pass",
    "ghs_0123456789",
    "abcdefghij0123456789",
    "abcdefghijkl0123",
    "0123456789abcdef",
    "eyJhbGci",
    "AKIAIOSF",
    "MIIEabcdef",
)
HARMLESS = [
    "prompt_tokens=123 completion_tokens=45",
    "GET http://127.0.0.1:8080/healthz 200",
    "ssh://git@github.com/a/b.git fetched",
    "chunk 3f2a9c1b-1111-2222-3333-444455556666 stored at 12:30:45.123456",
    "task-runner and disk-usage are fine",
    "the password is in the vault",
    "basic understanding of bearer tokens",
]


@pytest.fixture
def restored() -> Iterator[None]:
    """Logging of the process as it was before the test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in logs.OURS}
    hooks = sys.excepthook, threading.excepthook
    yield
    root.handlers[:], sys.excepthook, threading.excepthook = handlers, *hooks
    root.setLevel(level)
    logging.captureWarnings(False)
    for name, old in levels.items():
        logging.getLogger(name).setLevel(old)


class Written(io.StringIO):
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@pytest.fixture
def written(restored: None) -> Written:
    stream = Written()
    logs.configure("DEBUG", stream=stream)
    return stream


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize("name", ["bot.app", "httpx2", "aiogram.event", "root"])
def test_sc09_secrets_are_masked_in_messages_arguments_and_extras(
    written: Written, text: str, name: str
) -> None:
    logger = logging.getLogger(name)
    logger.debug("%s", text)
    logger.warning("failed: %r", {"said": text})
    logger.info("extra", extra={"url": text, "parts": [text]})
    assert not [canary for canary in CANARIES if canary in written.getvalue()]
    assert len(written.lines()) == 3


def test_sc09_secrets_are_masked_in_tracebacks_and_their_causes(written: Written) -> None:
    try:
        try:
            raise ConnectionError(SECRETS["telegram url"])
        except ConnectionError as cause:
            cause.add_note(SECRETS["redis"])
            raise RuntimeError(SECRETS["openai"]) from cause
    except RuntimeError:
        logging.getLogger("aiogram").exception("poll failed", stack_info=True)
    (line,) = written.lines()
    assert not [canary for canary in CANARIES if canary in written.getvalue()]
    assert "ConnectionError" in str(line["error"])
    assert "RuntimeError" in str(line["error"])


def test_sc09_values_of_the_settings_are_masked_in_every_spelling(written: Written) -> None:
    odd = 'pä ss"w\\rd/1'
    logs.redact_values([odd, "redis://:s3cr%40t@host/0", ""])
    log = logging.getLogger("redis")
    log.info("auth %s", odd)
    log.info("auth %r", odd)
    log.info("auth %s", json.dumps({"x": odd}))
    log.info("auth %s", "p%C3%A4%20ss%22w%5Crd%2F1")
    log.info("auth %s and %s", "s3cr@t", "s3cr%40t")
    assert [str(line["message"]).count(MASK) for line in written.lines()] == [1, 1, 1, 1, 2]


async def test_sc09_a_real_client_at_debug_level_writes_no_key(written: Written) -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        said = f"Incorrect API key provided: {request.headers['authorization']}"
        return httpx2.Response(401, json={"error": {"message": said}})

    key = "sk-proj-abcdefgh1234567890"
    async with openai.AsyncOpenAI(
        api_key=key,
        base_url="https://model.example/v1",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(refuse)),
    ) as client:
        try:
            await client.chat.completions.create(model="m", messages=[])
        except openai.AuthenticationError:
            logging.getLogger("bot").exception("model failed")
    assert "AuthenticationError" in written.getvalue()
    assert key not in written.getvalue()
    assert "abcdefgh1234567890" not in written.getvalue()


def test_sc09_uncaught_exceptions_are_logged_and_masked(written: Written) -> None:
    thread = threading.Thread(target=_fails)
    thread.start()
    thread.join()
    try:
        _fails()
    except RuntimeError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    first, second = written.lines()
    assert first["level"] == second["level"] == "critical"
    assert "AAabcdef" not in written.getvalue()


def _fails() -> None:
    raise RuntimeError(SECRETS["telegram"])


def test_sc09_a_record_that_cannot_be_formatted_neither_raises_nor_leaks(
    written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("x").warning("%d questions", SECRETS["slack bot"])
    (line,) = written.lines()
    assert "questions" in str(line["message"])
    assert "xoxb" not in written.getvalue() + capsys.readouterr().err


def test_sc09_warnings_pass_through_the_log(written: Written) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn(f"deprecated: {SECRETS['bearer']}", UserWarning, stacklevel=1)
        logging.captureWarnings(False)
    assert "deprecated" in written.getvalue()
    assert "abcdef0123456789" not in written.getvalue()


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_stays_readable(text: str) -> None:
    assert Redactor()(text) == text


@given(
    st.text(min_size=4).filter(lambda value: len(value.strip()) >= 4 and "*" not in value),
    st.text(),
    st.text(),
)
def test_sc09_a_registered_value_never_survives(secret: str, before: str, after: str) -> None:
    redact = Redactor()
    redact.add([secret])
    assert secret.strip() not in redact(f"{before}{secret}{after}")


async def test_every_record_of_a_question_carries_its_id(written: Written) -> None:
    async def part(name: str) -> None:
        logging.getLogger("graph").info("part %s", name)

    async def ask(question_id: str) -> None:
        with logs.question(question_id):
            logging.getLogger("bot").info("asked")
            async with asyncio.TaskGroup() as group:
                group.create_task(part("one"))
            await asyncio.to_thread(logging.getLogger("adapters").info, "in a thread")

    async with asyncio.TaskGroup() as group:
        group.create_task(ask("q1"))
        group.create_task(ask("q2"))
    logging.getLogger("bot").info("after")
    *inside, last = [line for line in written.lines() if line["logger"] != "asyncio"]
    assert sorted(str(line["question"]) for line in inside) == ["q1"] * 3 + ["q2"] * 3
    assert "question" not in last


def test_a_line_is_one_json_object_whatever_the_text(written: Written) -> None:
    logging.getLogger("bot").info(
        'two\nlines "quoted" \x1b[31m\u2028 и по-русски', extra={"ms": 12}
    )
    (line,) = written.lines()
    assert line["message"] == 'two\nlines "quoted"  [31m  и по-русски'
    assert (line["level"], line["logger"], line["ms"]) == ("info", "bot", 12)
    assert str(line["time"]).endswith("+00:00")


def test_a_huge_message_is_cut(written: Written) -> None:
    logging.getLogger("bot").info("x" * 5_000_000)
    assert len(written.getvalue()) < 2 * logs.LONGEST


def test_a_terminal_gets_short_text(restored: None) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    logs.configure("INFO", stream=stream)
    with logs.question("q7"):
        logging.getLogger("bot.app").warning("slow: %s", SECRETS["slack bot"])
    line = stream.getvalue().strip()
    assert line.endswith("WARNING bot.app: slow: token *** rejected [q7]")


def test_libraries_are_quiet_unless_something_is_wrong(restored: None) -> None:
    stream = Written()
    logs.configure("INFO", stream=stream)
    logging.getLogger("weaviate-client").setLevel(logging.INFO)  # as its library does
    for name in ("httpx", "weaviate-client", "bot.app"):
        logging.getLogger(name).info("hello")
        logging.getLogger(name).debug("detail")
    logging.getLogger("httpx").warning("trouble")
    assert [line["logger"] for line in stream.lines()] == ["bot.app", "httpx"]


def test_an_unknown_level_is_refused(restored: None) -> None:
    with pytest.raises(ValueError, match="CHATTY"):
        logs.configure("chatty", stream=io.StringIO())


def test_configuring_twice_writes_once(restored: None) -> None:
    first, second = Written(), Written()
    logs.configure("INFO", stream=first)
    logs.configure("INFO", stream=second)
    logging.getLogger("bot").info("once")
    assert (len(first.lines()), len(second.lines())) == (0, 1)


def test_op08_an_error_that_repeats_is_counted_and_hides_nothing(restored: None) -> None:
    now = [0.0]
    stream = Written()
    handler = logs.configure("INFO", stream=stream)
    for old in handler.filters[:]:
        if isinstance(old, logs.Repeats):
            handler.removeFilter(old)
    handler.filters.insert(0, logs.Repeats(every=100, seconds=60.0, clock=lambda: now[0]))
    log = logging.getLogger("bot.store")
    for number in range(600):  # five questions a second for two minutes
        now[0] = number / 5
        log.error(f"store down, question {number}: connection to 'host-{number}' refused")
        if number == 300:
            log.error("disk is full")
    lines = stream.lines()
    assert len(lines) <= 20
    assert "question 0" in str(lines[0]["message"])
    assert [line for line in lines if line["message"] == "disk is full"]
    shown = len(lines) - 1
    hidden = sum(int(str(line.get("repeated", 1))) - 1 for line in lines)
    assert 500 < shown + hidden <= 600


def test_op08_different_errors_and_plain_information_are_not_held_back(written: Written) -> None:
    log = logging.getLogger("bot")
    for _ in range(3):
        log.info("question answered")
    for error in (ValueError("a"), KeyError("b")):
        log.error("failed", exc_info=error)
    assert len(written.lines()) == 5


def test_an_exception_is_two_fields_and_one_line(restored: None) -> None:
    stream = io.StringIO()
    logs.configure("INFO", stream=stream, as_json=True)
    try:
        raise ValueError("line one\nline two")
    except ValueError:
        logging.getLogger("bot").exception("it broke")
    (line,) = stream.getvalue().splitlines()
    told = json.loads(line)
    assert told["error_type"] == "ValueError"
    assert "line one" in told["error"]
