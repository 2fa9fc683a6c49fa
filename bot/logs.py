"""Logs for operators: one JSON object a line, or short text in a terminal. Secrets are masked.

The standard library's logging, set up once by the entry point. Masking happens on the handler, so
records of third-party libraries and tracebacks pass through it too.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

from bot.redaction import redact, redact_values

OURS = ("bot", "graph", "adapters")
LONGEST = 20_000  # characters of one message or traceback

_question: ContextVar[str] = ContextVar("question", default="")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {
    *("message", "asctime", "question", "taskName", "repeated", "error", "error_type"),
}
_VARIABLE = re.compile(r"0x[0-9a-f]+|\d+|'[^']*'|\"[^\"]*\"", re.IGNORECASE)
_CONTROL = (*range(9), *range(11, 32), 127, *range(128, 160), 0x2028, 0x2029)
_SPACED = dict.fromkeys(_CONTROL, " ")


@contextlib.contextmanager
def question(question_id: str) -> Iterator[None]:
    """Marks every record of this task, and of the tasks it starts, with the question's id."""
    token = _question.set(question_id)
    try:
        yield
    finally:
        _question.reset(token)


def configure(
    level: str = "INFO",
    *,
    stream: TextIO | None = None,
    as_json: bool | None = None,
    secrets: Iterable[str] = (),
    tracebacks: bool = True,
) -> logging.Handler:
    """Sets up the process's logs and returns their one handler.

    `stream` is stderr by default; JSON unless it is a terminal. Libraries log from WARNING, at
    DEBUG everything does. Uncaught exceptions are logged instead of printed. Without `tracebacks`
    an exception is one line: its text and the place in our code that it passed last. Raises
    ValueError for an unknown level.
    """
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())
    own = logging.getLogger(OURS[0]).level
    redact_values(secrets)
    handler = _StandardError() if stream is None else logging.StreamHandler(stream)
    if as_json is None:
        as_json = not handler.stream.isatty()
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    others = own if own <= logging.DEBUG else max(own, logging.WARNING)
    handler.addFilter(Libraries(others))
    handler.addFilter(Repeats())
    handler.addFilter(Redaction(tracebacks))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(others)
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    return handler


class _StandardError(logging.StreamHandler[TextIO]):
    """Writes to what sys.stderr is at the time: a terminal puts log lines above its display."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, _: TextIO) -> None:
        raise AttributeError("standard error is looked up each time")


class Libraries(logging.Filter):
    """Holds libraries to the level of the process, also those that chose one for themselves."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name.partition(".")[0] in OURS or record.levelno >= self._level


class Redaction(logging.Filter):
    """Rewrites a record so that nothing secret is left in it, for any formatter that follows."""

    def __init__(self, tracebacks: bool = True) -> None:
        super().__init__()
        self._tracebacks = tracebacks

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = _clean(_message(record))
        record.args = None
        if record.exc_info and record.exc_info[0] is not None:
            record.error_type = record.exc_info[0].__name__
        if record.exc_info and not record.exc_text:
            shown = traceback.format_exception if self._tracebacks else _in_short
            record.exc_text = "".join(shown(*record.exc_info)).rstrip()
        record.exc_info = None
        record.exc_text = _clean(record.exc_text) if record.exc_text else None
        record.stack_info = _clean(record.stack_info) if record.stack_info else None
        for name in vars(record).keys() - _STANDARD:
            setattr(record, name, _plain(getattr(record, name)))
        record.question = _question.get()
        return True


class Repeats(logging.Filter):
    """Lets the first of equal warnings and errors pass, then one every `every` or each `seconds`
    with the number of those left out. Equal: same logger, level and text apart from numbers and
    quoted words, and same exception from the same line."""

    def __init__(
        self,
        every: int = 100,
        seconds: float = 60.0,
        kinds: int = 500,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._every, self._seconds, self._kinds, self._clock = every, seconds, kinds, clock
        self._seen: OrderedDict[tuple[object, ...], _Seen] = OrderedDict()
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        if not logging.WARNING <= record.levelno < logging.CRITICAL:
            return True
        text = _VARIABLE.sub("#", str(record.msg)[:LONGEST])
        key = (record.name, record.levelno, text, _origin(record))
        now = self._clock()
        with self._lock:
            seen = self._seen.pop(key, None)
            if seen is None:
                seen = _Seen(now)
            elif seen.left_out + 1 >= self._every or now - seen.passed_at >= self._seconds:
                record.repeated = seen.left_out + 1
                seen = _Seen(now)
            else:
                seen.left_out += 1
                self._seen[key] = seen
                return False
            self._seen[key] = seen
            if len(self._seen) > self._kinds:
                self._seen.popitem(last=False)
        return True


@dataclass(slots=True)
class _Seen:
    passed_at: float
    left_out: int = 0


def _origin(record: logging.LogRecord) -> tuple[object, ...]:
    """The kind of an exception and the line that raised it."""
    if not record.exc_info:
        return ()
    kind, _, trace = record.exc_info
    if trace is None:
        return (kind,)
    *_, (frame, line) = traceback.walk_tb(trace)
    return kind, frame.f_code.co_filename, line


class JsonFormatter(logging.Formatter):
    """time (UTC), level, logger, message, and where they apply question, repeated, error_type,
    error (with the traceback), stack and the record's `extra` values."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "question": getattr(record, "question", ""),
            "repeated": getattr(record, "repeated", 0),
            "error_type": getattr(record, "error_type", ""),
            "error": record.exc_text or "",
            "stack": record.stack_info or "",
        }
        entry = {key: value for key, value in entry.items() if value}
        extra = {key: value for key, value in vars(record).items() if key not in _STANDARD}
        return json.dumps(extra | entry, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """`12:00:01 WARNING adapters.duckduckgo: ...` and the traceback below it."""

    def format(self, record: logging.LogRecord) -> str:
        clock = datetime.fromtimestamp(record.created, UTC).astimezone().strftime("%H:%M:%S")
        question_id = getattr(record, "question", "")
        repeated = getattr(record, "repeated", 0)
        line = f"{clock} {record.levelname} {record.name}: "
        line += record.getMessage().replace("\n", "\n  ")
        line += f" [{question_id}]" if question_id else ""
        line += f" (repeated {repeated} times)" if repeated else ""
        return "\n".join(filter(None, (line, record.exc_text, record.stack_info)))


def _in_short(
    kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
) -> list[str]:
    """`KeyError: 'x' (graph.machine:126)`: the last frame of ours, or the last of all."""
    frames = [
        (frame.f_globals.get("__name__", ""), line) for frame, line in traceback.walk_tb(trace)
    ]
    ours = [place for place in frames if place[0].partition(".")[0] in OURS] or frames
    place = f" ({ours[-1][0]}:{ours[-1][1]})" if ours else ""
    return ["".join(traceback.format_exception_only(kind, error)).rstrip() + place]


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # a wrong format or a broken __str__ must neither raise nor print arguments
        return f"{record.msg} (arguments did not fit)"


def _plain(value: object) -> object:
    return value if isinstance(value, (int, float, type(None))) else _clean(str(value))


def _clean(text: str) -> str:
    """Without secrets and control characters, and of bounded length."""
    text = redact(text[: 10 * LONGEST]).translate(_SPACED)
    if len(text) > LONGEST:
        return f"{text[:LONGEST]}…"
    return text


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    logging.getLogger("bot").critical("uncaught exception", exc_info=(kind, error, trace))


def _uncaught_in_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is not None and failed.exc_type is not SystemExit:
        _uncaught(failed.exc_type, failed.exc_value, failed.exc_traceback)
