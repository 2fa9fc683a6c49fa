"""One question that went wrong, as HTML."""

from __future__ import annotations

from bot.evals.markup import Html, element, joined
from bot.evals.worst import Expected, Miss, Retrieved

ANSWER_SHOWN = 300  # characters


def article(miss: Miss) -> Html:
    row, trace = miss.result.row, miss.result.trace
    facts = [
        row.category,
        row.lang,
        row.id,
        miss.result.answer.outcome.value.replace("_", " "),
        f"best relevance {trace.relevance:.2f}, coverage {trace.coverage:.2f}",
    ]
    pairs = [
        ("Expected", _expected(miss.expected)),
        ("Retrieved", _retrieved(miss.retrieved)),
        ("Verdict", _verdict(miss)),
    ]
    if miss.result.answer.citations:
        pairs.append(("Answer", element("p", _cut(miss.result.answer.text), dir="auto")))
    return element(
        "article",
        element("h4", row.question, dir="auto"),
        element("p", " · ".join(fact for fact in facts if fact), class_="meta"),
        element("dl", *(joined(element("dt", k), element("dd", v)) for k, v in pairs)),
    )


def _expected(expected: tuple[Expected, ...]) -> Html:
    if not expected:
        return element("p", "no document: the answer is that there is none")
    return element(
        "ul",
        *(element("li", f"{' or '.join(item.documents)} ({_place(item)})") for item in expected),
    )


def _place(item: Expected) -> str:
    return "not found" if item.place is None else f"place {item.place}"


def _retrieved(documents: tuple[Retrieved, ...]) -> Html:
    if not documents:
        return element("p", "nothing")
    return element(
        "ol",
        *(
            element(
                "li",
                element("b", f"{item.relevance:.2f}"),
                f" {item.document}",
                element("span", f" {item.heading}", class_="meta"),
                *([element("em", " expected")] if item.expected else []),
            )
            for item in documents
        ),
    )


def _verdict(miss: Miss) -> Html:
    trace = miss.result.trace
    kind = f", {trace.query_type} from {trace.threshold:.2f}" if trace.query_type else ""
    return element("p", f"{trace.verdict or 'not looked up'}{kind}: {trace.reason or '-'}")


def _cut(text: str) -> str:
    return text if len(text) <= ANSWER_SHOWN else f"{text[:ANSWER_SHOWN].rstrip()} …"
