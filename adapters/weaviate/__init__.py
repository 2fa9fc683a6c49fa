"""The knowledge index in a Weaviate server, for several replicas of a bot."""

from adapters.weaviate.factory import create
from adapters.weaviate.index import WeaviateIndex

__all__ = ["WeaviateIndex", "create"]
