"""Public and non-public addresses in all notations. Numbers are rows of the feature table."""

import socket
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import Forbidden, InvalidRequest
from scrubjay.core.ip_addresses import is_public
from scrubjay.features.workspace.web.addresses import HostPolicy, parse_url

NOT_PUBLIC = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "100::1",
    "not an address",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_30_non_public_addresses_are_detected_in_every_notation(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_30_public_addresses_are_detected(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com",
        "gopher://example.com",
        "data:text/html,x",
        "javascript:alert(1)",
        "example.com",
        "//example.com",
        "http://",
        "http:///path",
        "http://user:password@example.com",
        "http://example.com\\@127.0.0.1/",
        "http://127.0.0.1\\.example.com/",
        "http://example.com:0/",
        "http://example.com:99999/",
        "http://[::1",
        "http://exa mple.com/",
        "http://example.com/\r\nHost: evil",
        "http://example.com/" + "a" * 9_000,
    ],
)
def test_19_30_an_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_url(url)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0"])
async def test_30_a_host_that_resolves_to_this_machine_is_refused_in_every_notation(host: str) -> None:
    with pytest.raises(Forbidden) as refused:
        await HostPolicy().resolve(host, 80)
    assert refused.value.details["reason"] == "not_public"


async def test_30_a_host_with_any_non_public_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve_to_both(host: str, port: int, **_: Any) -> Sequence[Any]:
        return [(socket.AF_INET, 0, 0, "", (address, port)) for address in ("1.1.1.1", "10.0.0.1")]

    monkeypatch.setattr(anyio, "getaddrinfo", resolve_to_both)
    with pytest.raises(Forbidden, match=r"10\.0\.0\.1"):
        await HostPolicy().resolve("rebinding.example.com", 80)
    assert await HostPolicy(("rebinding.example.com",)).resolve("rebinding.example.com", 80) == ["1.1.1.1", "10.0.0.1"]


def test_30_the_owner_allows_a_host_by_its_name_and_port() -> None:
    policy = HostPolicy(("localhost:8080", "Intranet.example.com", "[::1]:9"))
    assert policy.is_allowed("localhost", 8080)
    assert not policy.is_allowed("localhost", 8081)
    assert policy.is_allowed("intranet.example.com", 443)
    assert not policy.is_allowed("evil.intranet.example.com", 443)
    assert policy.is_allowed("::1", 9)
