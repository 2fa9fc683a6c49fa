"""Git repositories over https and ssh, by the `git` program."""

from adapters.git.repository import create

__all__ = ["create"]
