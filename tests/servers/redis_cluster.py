"""Several redis-servers that belong together: a cluster, and a primary that a sentinel watches."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers.redis_server import PROGRAM, RedisServer, free_port, until

_SLOTS = 16_384
NAME = "main"


@contextmanager
def cluster(folder: Path, nodes: int = 3) -> Iterator[list[RedisServer]]:
    """Primaries that share all slots."""
    with ExitStack() as stack:
        servers = []
        for number in range(nodes):
            bus = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
            server = RedisServer(folder / f"node{number}", *bus)
            servers.append(stack.enter_context(server))
        for number, server in enumerate(servers):
            first, last = number * _SLOTS // nodes, (number + 1) * _SLOTS // nodes - 1
            server.command("CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
            server.command("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            bus_port = servers[0].options[-1]
            server.command("CLUSTER", "MEET", "127.0.0.1", str(servers[0].port), bus_port)
        until(lambda: all(_is_whole(server) for server in servers))
        yield servers


def _is_whole(server: RedisServer) -> bool:
    return "cluster_state:ok" in str(server.command("CLUSTER", "INFO"))


@contextmanager
def watched(folder: Path) -> Iterator[tuple[RedisServer, RedisServer, str]]:
    """A primary, its replica, and the URL by which a sentinel knows whichever is the primary."""
    with ExitStack() as stack:
        primary = stack.enter_context(RedisServer(folder / "primary"))
        follows = ("--replicaof", f"127.0.0.1 {primary.port}")
        replica = stack.enter_context(RedisServer(folder / "replica", *follows))
        until(lambda: "master_link_status': 'up" in str(replica.command("INFO", "replication")))
        port = free_port()
        config = folder / "sentinel.conf"
        config.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {folder}\n"
            f"sentinel monitor {NAME} 127.0.0.1 {primary.port} 1\n"
            f"sentinel down-after-milliseconds {NAME} 300\n"
            f"sentinel failover-timeout {NAME} 2000\n",
            encoding="utf-8",
        )
        with (folder / "sentinel.log").open("wb") as log:
            process = subprocess.Popen([PROGRAM, str(config), "--sentinel"], stdout=log, stderr=log)
        stack.callback(process.wait)
        stack.callback(process.kill)
        sentinel = RedisServer(folder, port=port)
        until(lambda: bool(sentinel.command("SENTINEL", "REPLICAS", NAME)))
        yield primary, replica, f"redis+sentinel://127.0.0.1:{port}/{NAME}"
