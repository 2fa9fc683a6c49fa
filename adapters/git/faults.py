"""Why git could not fetch, and what to do: by the words of git, ssh and curl, which stay here."""

from __future__ import annotations

import re

from bot.errors import SourceError
from bot.source_settings import Remote

_DAMAGED = re.compile(
    r"not a git repository|bad object|loose object|is corrupt|object file .* is empty|"
    r"packfile .* cannot be accessed|unable to read tree|invalid index-pack|inflate: data"
)
_FORMAT = re.compile(r"mismatched algorithms: client \w+; server (sha1|sha256)\b")
_CHANGED_HOST = "REMOTE HOST IDENTIFICATION HAS CHANGED"
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"transport '.*' not allowed",
        "the protocol {protocol} is not allowed",
        "Use https or ssh, or add it to protocols under [git] in belay.toml.",
    ),
    (
        _CHANGED_HOST,
        "the server shows another host key than the one in known_hosts",
        "Somebody may be in between. Ask its operators; if the key is new, replace the line.",
    ),
    (
        r"Host key verification failed|No .* host key is known",
        "the server is not in known_hosts",
        "Run ssh-keyscan for it, compare the fingerprint with the one that its operators publish, "
        "and add the line to the file that known_hosts names.",
    ),
    (
        r"Load key|incorrect passphrase|invalid format|error in libcrypto",
        "the key cannot be used: it is damaged, or has a passphrase",
        "Make a key without one for this repository: ssh-keygen -t ed25519 -N ''.",
    ),
    (
        r"Permission denied \(|Too many authentication failures",
        "the server does not accept the key",
        "Add the public key to the repository as a deploy key, and check `key`.",
    ),
    (
        r"couldn't find remote ref HEAD",
        "it has no commits",
        "Push something first, or set `branch`.",
    ),
    (
        r"couldn't find remote ref|Remote branch .* not found|invalid refspec",
        "it has no branch {branch}",
        "Correct `branch`, or leave it out for the branch that the server names.",
    ),
    (
        r"Authentication failed|could not read (?:Username|Password)|returned error: 40[13]",
        "the server does not let us in",
        "Set token_env to a variable with a token that may read it, and check that it is valid.",
    ),
    (
        r"unable to update url base from redirection|redirect|returned error: 30[1278]",
        "it has moved to another address",
        "Set url to the new address: a token is not sent to where a server points.",
    ),
    (
        r"does not support shallow",
        "the server has only files to offer, and no git service",
        "Use an address that `git clone --depth=1` can read.",
    ),
    (
        r"certificate|SSL|TLS",
        "the certificate of the server is not trusted",
        "Set ca_file to the certificate of your authority.",
    ),
    (
        r"No space left on device|Disk quota exceeded",
        "the disk is full",
        "Make room in the data folder.",
    ),
    (
        r"[Rr]epository .*not found|does not appear to be a git repository|returned error: 404|"
        r"does not exist|not valid: is this a git repository|[Nn]ot found",
        "there is no such repository, or it is not shown to us",
        "Check `url`; a private repository needs token_env or key.",
    ),
    (
        r"[Cc]ould not resolve|Connection (?:refused|reset|timed out|closed)|timed out|unreachable|"
        r"[Cc]ouldn't connect|Failed to connect|early EOF|too slow|hung up|No route to host|"
        r"Could not read from remote|returned error: 5\d\d|unexpected disconnect|RPC failed",
        "the server cannot be reached",
        "Check the network and the address; the next run tries again.",
    ),
)


def is_damaged(words: str) -> bool:
    """True when the copy here is broken: it is made again."""
    return _DAMAGED.search(words) is not None


def other_format(words: str) -> str:
    """How the server names its objects, when the copy here names them in another way."""
    found = _FORMAT.search(words)
    return found[1] if found else ""


def fault(remote: Remote, words: str) -> SourceError:
    """`words` are git's; none of them is repeated, for they may hold a secret."""
    for pattern, cause, remedy in _CAUSES:
        if re.search(pattern, words):
            filled = cause.format(protocol=remote.protocol, branch=repr(remote.branch))
            return SourceError(f"{remote.url} cannot be fetched: {filled}.", remedy)
    return SourceError(
        f"{remote.url} cannot be fetched.",
        "Try `git ls-remote` with this address on this machine; it says more.",
    )
