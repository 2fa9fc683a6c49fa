"""The address of a line on the code host of a repository, at the commit that was read."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_SCP = re.compile(r"(?:[^@/]+@)?([^:/]+):(?!//)(.+)")
_PATTERNS = (
    ("github", "{site}/blob/{commit}/{path}#L{line}"),
    ("gitlab", "{site}/-/blob/{commit}/{path}#L{line}"),
    ("bitbucket", "{site}/src/{commit}/{path}#lines-{line}"),
    ("gitea", "{site}/src/commit/{commit}/{path}#L{line}"),
    ("forgejo", "{site}/src/commit/{commit}/{path}#L{line}"),
    ("codeberg", "{site}/src/commit/{commit}/{path}#L{line}"),
)
"""By a word in the name of the host: the hosts of these companies and most installations of one's
own are called so. For others there is the setting."""


def pattern(url: str, chosen: str = "") -> str:
    """What links are made by: `chosen`, or what is known of the host; "" for neither.

    The placeholders are {commit}, {path} and {line}.
    """
    host, site = _site(url)
    found = chosen or next((made for word, made in _PATTERNS if word in host), "")
    return found.replace("{site}", site)


def link(pattern: str, commit: str, path: bytes, line: int) -> str:
    """The link, or `path#L12` without a pattern."""
    place = quote(path, safe="/")
    if not pattern:
        return f"{place}#L{line}"
    values = {"{commit}": commit, "{path}": place, "{line}": str(line)}
    return re.sub(r"\{(commit|path|line)\}", lambda found: values[found[0]], pattern)


def _site(url: str) -> tuple[str, str]:
    """The host in lower case, and the web address of a repository, without who connects."""
    if "://" not in url and (match := _SCP.fullmatch(url)):
        host, path, scheme, port = match[1], match[2], "https", None
    else:
        parts = urlsplit(url)
        host, path, port = parts.hostname or "", parts.path, parts.port
        scheme = parts.scheme if parts.scheme in ("http", "https") else "https"
        port = port if parts.scheme == scheme else None  # that of ssh leads to no page
    place = path.strip("/").removesuffix(".git").rstrip("/")
    return host.lower(), f"{scheme}://{host.lower()}{f':{port}' if port else ''}/{place}"
