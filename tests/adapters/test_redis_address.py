"""Addresses of Redis, as people write them into BELAY_REDIS_URL."""

from __future__ import annotations

import pytest

from adapters.redis.address import Topology, parse
from bot.errors import SettingsError


def test_one_server() -> None:
    address = parse("rediss://belay:p%40ss@redis.internal:6380/2?ssl_ca_certs=/etc/ca.pem")
    assert address.topology is Topology.SINGLE
    assert address.nodes == (("redis.internal", 6380),)
    assert (address.username, address.password) == ("belay", "p@ss")
    assert (address.tls, address.database) == (True, 2)
    assert address.files == {"ssl_ca_certs": "/etc/ca.pem"}


def test_a_host_alone_and_a_password_alone() -> None:
    assert parse("redis://localhost").nodes == (("localhost", 6379),)
    address = parse("redis://:secret@[::1]:7000")
    assert address.nodes == (("::1", 7000),)
    assert (address.username, address.password) == ("", "secret")


def test_sentinels_and_their_own_credentials() -> None:
    address = parse("redis+sentinel://u:p@s1,s2:26380/main/3?sentinel_password=q")
    assert address.topology is Topology.SENTINEL
    assert address.nodes == (("s1", 26379), ("s2", 26380))
    assert (address.primary, address.database) == ("main", 3)
    assert address.sentinel == {"password": "q"}


def test_a_cluster() -> None:
    address = parse("rediss+cluster://n1:7000,n2:7001,n3")
    assert (address.topology, address.tls) == (Topology.CLUSTER, True)
    assert address.nodes == (("n1", 7000), ("n2", 7001), ("n3", 6379))


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "redis://",
        "redis://h:0",
        "redis://h:70000",
        "redis://h:port",
        "redis://h/one",
        "redis://h/1/2",
        "redis://h1,h2",
        "redis://[::1",
        "redis+raft://h",
        "redis+sentinel://h1,h2",
        "redis+cluster://h/1",
        "redis+cluster://h,,k",
        "redis://h?decode=1",
        "redis:h",
        "",
    ],
)
def test_a_wrong_address_names_the_setting(url: str) -> None:
    with pytest.raises(SettingsError, match="BELAY_REDIS_URL"):
        parse(url)


@pytest.mark.parametrize("url", ["redis://u:hunter22@h:port", "redis://u:hunter22@h?x=hunter22"])
def test_sc_09_no_password_is_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        parse(url)
    assert "hunter22" not in str(refused.value)
    assert "hunter22" not in repr(parse("redis://u:hunter22@h"))
    assert "hunter22" not in str(parse("redis://u:hunter22@h"))
