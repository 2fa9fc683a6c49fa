"""Git servers on loopback: git's own programs behind https with a password, and a real sshd."""

from __future__ import annotations

import asyncio
import base64
import getpass
import os
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import trustme
from aiohttp import web

from tests.servers.redis_server import free_port, until

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
NEEDED = "needs sshd: apt-get install openssh-server (make peers does)"


def bare_repository(root: Path, page: str) -> Path:
    """`root` with one bare repository, `runbooks.git`, which holds `page` as drain.md."""
    work = root / "work"
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", "-b", "main", str(work)], check=True)
    (work / "drain.md").write_text(page)
    for words in (["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *who, *words], cwd=work, check=True)
    clone = ["git", "clone", "-q", "--bare", str(work), str(root / "runbooks.git")]
    subprocess.run(clone, check=True)
    return root


@dataclass
class HttpsGit:
    """Repositories below `root`, for whoever has the token. `moved` sends everybody elsewhere.

    `asked` are the addresses of the requests, `seen` the command lines of all processes of this
    machine while the first was answered.
    """

    root: Path
    token: str
    port: int = 0
    authority: Path = field(default_factory=Path)
    moved: str = ""
    asked: list[str] = field(default_factory=list)
    seen: bytes = b""

    def url(self, name: str) -> str:
        return f"https://localhost:{self.port}/{name}"

    @property
    def fetches(self) -> int:
        return sum(path.endswith("/git-upload-pack") for path in self.asked)

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path_qs)
        self.seen = self.seen or _command_lines()
        if self.moved:
            return web.Response(status=301, headers={"Location": self.moved + request.path_qs})
        sent = request.headers.get("Authorization", "").removeprefix("Basic ")
        if not base64.b64decode(sent).decode().endswith(f":{self.token}"):
            asks = {"WWW-Authenticate": 'Basic realm="git"'}
            return web.Response(status=401, headers=asks)
        return _response(*await self._program(request))

    async def _program(self, request: web.Request) -> tuple[bytes, bytes]:
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "HTTP_GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "reader",
        }
        process = await asyncio.create_subprocess_exec(
            "git", "http-backend", env=environment,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        said, _ = await process.communicate(await request.read())
        head, _, body = said.partition(b"\r\n\r\n")
        return head, body


def _command_lines() -> bytes:
    """What `ps` shows to everybody."""
    lines = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(process.read_bytes())
    return b"\n".join(lines)


def _response(head: bytes, body: bytes) -> web.Response:
    headers = {
        name: value
        for name, _, value in (line.partition(": ") for line in head.decode().splitlines())
    }
    status = int(headers.pop("Status", "200").split()[0])
    return web.Response(status=status, body=body, headers=headers)


@asynccontextmanager
async def https_git(folder: Path, root: Path, token: str) -> AsyncIterator[HttpsGit]:
    """`folder` gets the certificate of the authority."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    server = HttpsGit(root, token, free_port(), folder / "authority.pem")
    authority.cert_pem.write_to_path(server.authority)
    application = web.Application(client_max_size=2**26)
    application.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", server.port, ssl_context=context).start()
    try:
        yield server
    finally:
        await runner.cleanup()


@dataclass(frozen=True)
class SshGit:
    """An sshd that lets `key` in, and the file in which it is known."""

    port: int
    key: Path
    known_hosts: Path

    def url(self, repository: Path) -> str:
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{repository}"


def make_key(path: Path) -> Path:
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path


@contextmanager
def ssh_git(folder: Path) -> Iterator[SshGit]:
    """Needs SSHD. As root it needs the folder that Debian's service makes at its start."""
    assert SSHD is not None
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    folder.mkdir()
    host, key, port = make_key(folder / "host"), make_key(folder / "key"), free_port()
    allowed, known = folder / "allowed", folder / "known_hosts"
    allowed.write_text(key.with_suffix(".pub").read_text())
    public = " ".join(host.with_suffix(".pub").read_text().split()[:2])
    known.write_text(f"[127.0.0.1]:{port} {public}\n")
    options = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": str(host),
        "AuthorizedKeysFile": str(allowed),
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
    }
    (folder / "config").write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    log = folder / "log"
    process = subprocess.Popen([SSHD, "-D", "-f", str(folder / "config"), "-E", str(log)])
    try:
        until(lambda: log.exists() and "listening" in log.read_text())
        yield SshGit(port, key, known)
    finally:
        process.terminate()
        process.wait()
