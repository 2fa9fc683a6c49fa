"""Text in a document that gives orders to a model. It stays what it is, data; its owner is told.

A list of signs cannot be complete and protects nobody: the fence in the prompt and the verification
of the answer do. It finds what somebody should look at.
"""

from __future__ import annotations

import re

from bot.ingest.report import Problem

MESSAGE = "reads like an order to a language model; it is indexed as text"

_SIGNS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,20}\b(?:previous|prior|above|earlier|system|all|your)\b"
    r".{0,20}\b(?:instructions?|prompts?)\b"
    r"|\b(?:system|assistant|developer)\s*(?:prompt|message)?\s*:\s*(?:from now on|you (?:are|must)"
    r"|ignore|answer|reply|respond|always|never)\b"
    r"|\bfrom now on,?\s+(?:you|answer|reply|respond|only|always|never)\b"
    r"|\byou are now (?:an?|in|the)\b.{0,40}\b(?:assistant|bot|model|mode|ai|dan)\b"
    r"|\breveal\b.{0,20}\bsystem prompt\b"
    r"|<\|(?:im_start|im_end|system|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>"
    r"|\b(?:игнорируй|забудь)(?:те)?\b.{0,30}\b(?:инструкци|указани)"
    r"|\bотныне\b.{0,10}\b(?:ты|вы|отвечай|отвечайте)\b"
    r"|\b(?:система|ассистент)\s*:\s*(?:отвечай|отныне|ты|игнорируй|забудь)",
    re.IGNORECASE,
)
_MOST = 5  # places named for one document
_LONGEST = 2000  # characters of a line that are looked at


def planted(path: str, text: str) -> tuple[Problem, ...]:
    """The first lines of a document that address a model instead of a reader."""
    found = [
        Problem(path, number, MESSAGE)
        for number, line in enumerate(text.split("\n"), start=1)
        if _SIGNS.search(line[:_LONGEST])
    ]
    return tuple(found[:_MOST])
