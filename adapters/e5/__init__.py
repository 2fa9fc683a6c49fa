"""multilingual-e5-small in a process of its own: better ranking, slower to index."""

from adapters.e5.embedder import E5Embedder, create

__all__ = ["E5Embedder", "create"]
