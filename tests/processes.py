"""Processes of the tests' own, each a Python of its own as Belay's are."""

from __future__ import annotations

import multiprocessing

SPAWN = multiprocessing.get_context("spawn")
