"""The version of the chunks."""

CHUNKER_VERSION = "3"
"""Changes whenever the same document would give other chunks: an older index is then refused."""
