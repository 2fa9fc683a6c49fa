"""Redis over TLS, with certificates of an authority of our own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from adapters.redis.inbox import RedisInbox
from adapters.redis.server import Server, Waits
from bot.delivery import Leg, PartState
from bot.errors import SettingsError, StorageError
from tests.contract.inbox_events import event, take
from tests.servers.redis_server import NEEDED, RedisServer, available, free_port

pytestmark = pytest.mark.skipif(not available(), reason=NEEDED)

QUICK = Waits(connect=2.0, answer=2.0, attempts=1, ready=0.3)


@dataclass(frozen=True)
class Secured:
    """A server that asks for a certificate, and the files of somebody who has one."""

    port: int
    authority: Path
    client: Path

    def url(self, host: str = "localhost", **files: Path) -> str:
        query = "&".join(f"{name}={path}" for name, path in files.items())
        return f"rediss://{host}:{self.port}?{query}"

    def trusted(self, host: str = "localhost") -> str:
        files = {"ssl_ca_certs": self.authority, "ssl_certfile": self.client}
        return self.url(host, **files, ssl_keyfile=self.client)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder, port = tmp_path_factory.mktemp("tls"), free_port()
    authority = trustme.CA()
    files = {name: folder / f"{name}.pem" for name in ("authority", "server", "client")}
    authority.cert_pem.write_to_path(files["authority"])
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(files["server"])
    authority.issue_cert("belay").private_key_and_cert_chain_pem.write_to_path(files["client"])
    options = ["--tls-port", str(port), "--tls-auth-clients", "yes"]
    options += ["--tls-ca-cert-file", str(files["authority"])]
    options += ["--tls-cert-file", str(files["server"]), "--tls-key-file", str(files["server"])]
    with RedisServer(folder / "redis", *options):
        yield Secured(port, files["authority"], files["client"])


async def test_an_inbox_over_tls(secured: Secured) -> None:
    """With the mark, which takes a connection of its own."""
    inbox = RedisInbox(Server(secured.trusted(), waits=QUICK))
    await inbox.put(event("1"))
    taken = await take(inbox)
    await inbox.begin(taken, 0)
    inbox.mark(taken, 0, Leg.OUT)
    assert await inbox.begin(taken, 0) is PartState.UNCERTAIN
    await inbox.close()


@pytest.mark.parametrize("what", ["no authority", "no certificate", "another name"])
async def test_a_server_that_cannot_be_trusted_is_not_used(secured: Secured, what: str) -> None:
    urls = {
        "no authority": secured.url(ssl_certfile=secured.client, ssl_keyfile=secured.client),
        "no certificate": secured.url(ssl_ca_certs=secured.authority),
        "another name": secured.trusted("127.0.0.1"),
    }
    server = Server(urls[what], waits=QUICK)
    with pytest.raises(StorageError, match=str(secured.port)) as refused:
        await server.ready()
    assert refused.value.remedy
    await server.close()


async def test_a_file_that_is_not_there_is_named(secured: Secured, tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"
    server = Server(secured.url(ssl_ca_certs=missing), waits=QUICK)
    with pytest.raises(SettingsError, match=r"ssl_ca_certs names .*missing\.pem"):
        await server.ready()
    await server.close()
