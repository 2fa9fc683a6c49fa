"""Documents that say already what a new one says: found by their words, compared by their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.ingest.document import Document, content_hash
from graph.errors import StoreError
from graph.model import Passage, Scope
from graph.ports import Retriever, Search

_PROBES = 3  # passages of the new document that are looked for
_TERMS = 12  # of each, the longest: they are the rarest
_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Probe:
    """A passage to look for. `digest` is the same for the same text under the same headings."""

    digest: str
    terms: tuple[str, ...]


def probes(document: Document) -> tuple[Probe, ...]:
    """The longest passages of a document."""
    both = zip(document.passages, document.fields, strict=True)
    longest = sorted(both, key=lambda pair: -len(pair[0].text))[:_PROBES]
    return tuple(
        Probe(
            content_hash(passage),
            tuple(sorted(dict.fromkeys(fields.body), key=lambda term: -len(term))[:_TERMS]),
        )
        for passage, fields in longest
    )


async def twin(
    index: Retriever, wanted: Sequence[Probe], scope: Scope, besides: Collection[str] = ()
) -> Passage | None:
    """A passage of the document with most of them, as far as `scope` may read; None when there is
    none, or the index cannot tell. `besides` are paths that do not count."""
    found: Counter[tuple[str, str]] = Counter()
    seen: dict[tuple[str, str], Passage] = {}
    for probe in wanted:
        try:
            hits = await index.search(Search(probe.terms, None, lexical_limit=_CANDIDATES), scope)
        except StoreError:
            return None
        for passage in (hit.passage for hit in hits):
            key = (passage.source, passage.document)
            if passage.document not in besides and content_hash(passage) == probe.digest:
                found[key] += 1
                seen.setdefault(key, passage)
    return seen[found.most_common(1)[0][0]] if found else None
