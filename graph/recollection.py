"""Questions about what was said: "what did we decide about the failover last week?".

Such a question names a conversation, not a document. The words that say so are nothing to look
for: nobody writes "we decided last week" into the message that holds the decision.
"""

from __future__ import annotations

import re

from graph.text import has_words

_SAID_EN = (
    "decided?|agreed?|discuss(?:ed)?|said|say|settled?|concluded?|talk(?:ed)?|mention(?:ed)?|"
    "told|tell|wrote|write|promised?|cho(?:o)?se|pick(?:ed)?|end(?:ed)? up"
)
_PAST_EN = (
    "decided|agreed|discussed|said|settled|concluded|talked|mentioned|told|wrote|promised|chose|"
    "picked|ended up"
)
_WHO_EN = r"(?:we|you|they|i|he|she|somebody|someone|anybody|anyone|everybody|the team|people)"
_SAID_RU = (
    "решили|решал\\w*|договорились|договаривались|обсудили|обсуждали|говорили|сказали|сказал|"
    "сказала|писали|писал|писала|условились|согласовали|порешили|выбрали|пришли к"
)
_CUE = re.compile(
    rf"\b(?:what|when|who|why|how|which|where)?\s*\b(?:did|had|have|has)\s+{_WHO_EN}\s+(?:\w+ly\s+)?"
    rf"(?:{_SAID_EN})\b(?:\s+(?:on|about|upon|to|that|with))*"
    rf"|\b{_WHO_EN}\s+(?:have\s+|had\s+|all\s+|just\s+)*(?:{_PAST_EN})\b(?:\s+(?:on|about|upon|to))*"
    r"|\b(?:what\s+)?(?:was|were|has been|have been)\s+(?:\w+\s+)?"
    r"(?:decided|agreed|discussed|said|settled)\b(?:\s+(?:on|about|upon|to))*"
    r"|\b(?:our|the|that)\s+(?:last\s+)?(?:decision|discussion|conversation|agreement)\b"
    r"(?:\s+(?:on|about|regarding))?"
    rf"|\b(?:что|о ч[её]м|когда|кто|почему|как)?\s*\b(?:мы|вы|они|ты)\s+(?:\w+\s+)?(?:{_SAID_RU})\b"
    rf"|\b(?:что|о ч[её]м|на ч[её]м)\s+(?:{_SAID_RU})\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:last|previous|past)\s+(?:week|month|night|time|sprint|shift|year)\b|\byesterday\b|"
    r"\bearlier(?:\s+today)?\b|\bthe other day\b|\bthis (?:morning|week)\b|\brecently\b|"
    r"\b(?:\w+\s+)?(?:days?|weeks?|months?|hours?)\s+ago\b|"
    r"\bна прошлой неделе\b|\bв прошл\w+ (?:раз|месяце|году)\b|\bпозавчера\b|\bвчера\b|\bнедавно\b|"
    r"\bранее\b|\bраньше\b|\b\w+\s+(?:дн\w+|недел\w+|час\w*|месяц\w*)\s+назад\b",
    re.IGNORECASE,
)


_PHRASAL = re.compile(
    r"\b(fail|roll|cut|shut|start|set|clean|back|fall|hand|stand|log|sign|time|switch|take|turn|"
    r"scale|speed|slow|check|lock|black|brown|power|hot|warm|flip|spin|kick|sync)[ -]"
    r"(over|back|up|down|off|out|in|on|by)\b",
    re.IGNORECASE,
)


def joined(text: str) -> str:
    """`text` with verbs and their particles as one word: people write "fail over" of a failover,
    and "roll it back" of a rollback."""
    return _PHRASAL.sub(r"\1\2", text)


def is_recollection(question: str) -> bool:
    """True for a question about what people, or the bot, said before."""
    return _CUE.search(question) is not None


def looked_for(question: str) -> str:
    """What an earlier message would hold of the question; all of it when it is no recollection,
    or when nothing else is left."""
    if not is_recollection(question):
        return question
    left = joined(" ".join(_WHEN.sub(" ", _CUE.sub(" ", question)).split()))
    return left if has_words(left) else question
