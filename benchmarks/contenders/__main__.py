"""Prints how Belay and two published corrective-RAG flows answer the same questions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.contenders.table import DOCS, PYTHON, QUESTIONS, table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contenders", description=__doc__)
    parser.add_argument("--docs", type=Path, default=DOCS)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument(
        "--python", type=Path, default=PYTHON, help="has benchmarks/requirements.txt"
    )
    given = parser.parse_args()
    sys.stdout.write(table(given.docs, given.questions, given.python) + "\n")


if __name__ == "__main__":
    main()
