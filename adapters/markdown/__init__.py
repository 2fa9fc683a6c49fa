"""Canonical Markdown as messengers take it apart: its tree, its tables, its links, its loose ends.

What each messenger makes of it stands in that messenger's own adapter.
"""
