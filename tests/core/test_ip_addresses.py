"""Every special-purpose and cloud-metadata address in every notation is recognized, whatever the Python version."""

import ast
import inspect
import ipaddress
from ipaddress import IPv4Address, IPv6Address

import pytest

from scrubjay.core import ip_addresses
from scrubjay.core.ip_addresses import embedded_ipv4, is_loopback, is_loopback_host, is_public, parse_address

METADATA = [
    "169.254.169.254",  # most clouds
    "169.254.169.253",  # DNS of AWS
    "169.254.170.2",  # containers of AWS
    "169.254.170.23",  # pods of AWS
    "169.254.42.42",  # Scaleway
    "169.254.0.23",  # Tencent
    "168.63.129.16",  # Azure WireServer
    "192.0.0.192",  # Oracle Classic
    "100.100.100.200",  # Alibaba
    "100.100.2.136",  # DNS of Alibaba
    "161.26.0.6",  # services of IBM Cloud
    "166.9.14.1",
    "fd00:ec2::254",  # AWS
    "fd00:ec2::23",
    "fd20:ce::254",  # Google
    "fd00:42::42",  # Scaleway
    "fe80::a9fe:a9fe",  # OpenStack
]

SPECIAL_IPV4 = [
    *("0.0.0.0", "0.1.2.3", "0.255.255.255"),
    *("10.0.0.0", "10.1.2.3", "10.255.255.255"),
    *("100.64.0.0", "100.64.0.1", "100.127.255.255"),
    *("127.0.0.0", "127.0.0.1", "127.255.255.254"),
    *("169.254.0.0", "169.254.1.1", "169.254.255.255"),
    *("172.16.0.0", "172.20.1.1", "172.31.255.255"),
    *("192.0.0.0", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.171", "192.0.0.255"),
    *("192.0.2.0", "192.0.2.255", "198.51.100.7", "203.0.113.0", "203.0.113.255"),
    *("192.31.196.1", "192.52.193.1", "192.88.99.1", "192.88.99.2", "192.175.48.1"),
    *("192.168.0.0", "192.168.1.1", "192.168.255.255"),
    *("198.18.0.0", "198.19.255.255"),
    *("224.0.0.0", "224.0.0.1", "239.255.255.255"),
    *("240.0.0.0", "250.1.2.3", "255.255.255.254", "255.255.255.255"),
]

SPECIAL_IPV6 = [
    *("::", "::1", "::2", "100::1", "100:0:0:1::1", "5f00::1", "4000::1", "1fff::1"),
    *("2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:1::1", "2001:1::2", "2001:1::3", "2001:2::1", "2001:3::1"),
    *("2001:4:112::1", "2001:5::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff:ffff::1"),
    *("2001:db8::1", "2001:db8:ffff:ffff::1", "3fff::1", "3fff:fff:ffff::1", "3ffe::1", "2620:4f:8000::1"),
    *("fc00::1", "fdff:ffff::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "feff::1", "ff02::1", "ff0e::1"),
]

EMBEDDED = [
    # IPv4-mapped
    *("::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::ffff:168.63.129.16"),
    *("0:0:0:0:0:ffff:192.0.0.192", "::FFFF:C0A8:101"),
    # IPv4-compatible and IPv4-translated
    *("::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"),
    # NAT64
    *("64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b::168.63.129.16"),
    *("64:ff9b:1::a00:1", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1::8.8.8.8", "64:ff9b:2::1"),
    # 6to4
    *("2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:a00:1::1", "2002:c0a8:101::1", "2002:a83f:8110::1"),
    # Teredo: a private server, a private client, a public pair
    *("2001:0:a00:1::", "2001:0:808:808:0:0:80ff:fffe", "2001:0:808:808:0:0:5601:5601", "2001::1"),
    # ISATAP
    *("2606:4700::5efe:a00:1", "2606:4700::5efe:169.254.169.254", "2606:4700::200:5efe:192.168.1.1"),
    *("2606:4700:1:2:0:5efe:127.0.0.1", "2606:4700::5efe:168.63.129.16", "fe80::5efe:8.8.8.8"),
]

NO_ADDRESS = [
    *("", " ", "localhost", "example.com", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "1.1.1.1 ", "1.1.1"),
    *("1.1.1.256", "1.1.1.1/32", "[::1]", "::1::", "::ffff:1.1.1", "\uff11.1.1.1", "1.1.1.1:80", "%eth0"),
]

PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0"),
    *("126.255.255.255", "128.0.0.0", "161.25.255.255", "161.27.0.0", "166.7.255.255", "166.12.0.0"),
    *("168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0"),
    *("191.255.255.255", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255"),
    *("192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255", "203.0.114.0", "223.255.255.255"),
    *("2001:200::1", "2001:4860:4860::8888", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2c00::1"),
    *("2620:4f:7fff::1", "2620:4f:8001::1", "2001:db7::1", "2001:db9::1", "3ffd::1"),
    *("::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1", "2606:4700::5efe:1.1.1.1"),
]


@pytest.mark.parametrize("address", [*METADATA, *SPECIAL_IPV4, *SPECIAL_IPV6, *EMBEDDED, *NO_ADDRESS])
def test_30_special_purpose_and_metadata_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_30_addresses_next_to_special_ranges_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", [*METADATA, *SPECIAL_IPV4])
def test_30_a_special_ipv4_address_is_not_public_in_any_ipv6_address(address: str) -> None:
    found = parse_address(address)
    if not isinstance(found, IPv4Address):
        return
    number = int(found)
    forms = {
        "mapped": 0xFFFF << 32 | number,
        "NAT64": 0x64FF9B << 96 | number,
        "6to4": 0x2002 << 112 | number << 80 | 1,
        "Teredo server": 0x20010000 << 96 | number << 64 | 0x0101_0101 ^ 0xFFFFFFFF,
        "Teredo client": 0x20010000 << 96 | 0x0101_0101 << 64 | number ^ 0xFFFFFFFF,
        "ISATAP": 0x26064700 << 96 | 0x5EFE << 32 | number,
        "ISATAP, universal": 0x26064700 << 96 | 0x0200_5EFE << 32 | number,
    }
    assert {form: str(IPv6Address(value)) for form, value in forms.items() if is_public(str(IPv6Address(value)))} == {}


@pytest.mark.parametrize(
    ("address", "embedded"),
    [
        ("::ffff:1.2.3.4", ["1.2.3.4"]),
        ("::1.2.3.4", ["1.2.3.4"]),
        ("::ffff:0:1.2.3.4", ["1.2.3.4"]),
        ("64:ff9b::1.2.3.4", ["1.2.3.4"]),
        ("2002:102:304::1", ["1.2.3.4"]),
        ("2001:0:102:304:0:0:fafa:f8f7", ["1.2.3.4", "5.5.7.8"]),
        ("2606:4700::5efe:1.2.3.4", ["1.2.3.4"]),
        ("2606:4700::200:5efe:1.2.3.4", ["1.2.3.4"]),
        ("2002:102:304::5efe:5.6.7.8", ["1.2.3.4", "5.6.7.8"]),
        ("2606:4700:4700::1111", []),
        ("1.2.3.4", []),
    ],
)
def test_30_embedded_ipv4_addresses_are_found(address: str, embedded: list[str]) -> None:
    found = parse_address(address)
    assert found is not None
    assert [str(one) for one in embedded_ipv4(found)] == embedded


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "127.0.0.0", "127.9.9.9", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"]
)
def test_30_loopback_addresses_are_recognized(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "126.255.255.255", "128.0.0.0", "::", "::2", "10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1"),
        *("2002:7f00:1::", "::ffff:128.0.0.1", "localhost", "127.evil.example.com", "127.1", ""),
    ],
)
def test_30_other_addresses_are_not_loopback(address: str) -> None:
    assert not is_loopback(address)


def test_30_the_host_of_a_url_is_local_by_its_number_or_as_localhost() -> None:
    assert all(map(is_loopback_host, ("localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1")))
    assert not any(
        map(is_loopback_host, ("127.evil.example.com", "localhost.example.com", "10.0.0.1", "::", "::ffff:7f00:1", ""))
    )


def test_30_the_decision_uses_no_property_of_the_standard_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their answers differ by Python version: 3.11 counts 192.88.99.1 and 3fff::1 as global."""
    refused = {"is_global", "is_private", "is_reserved", "is_loopback", "is_link_local", "is_multicast"}
    refused |= {"is_unspecified", "is_site_local", "ipv4_mapped", "sixtofour", "teredo"}
    used = {
        node.attr for node in ast.walk(ast.parse(inspect.getsource(ip_addresses))) if isinstance(node, ast.Attribute)
    }
    assert used & refused == set()
    for kind in (ipaddress.IPv4Address, ipaddress.IPv6Address):
        for name in refused & set(dir(kind)):
            monkeypatch.setattr(kind, name, property(lambda _: True))
    assert is_public("1.1.1.1")
    assert is_public("2606:4700:4700::1111")
    assert not is_loopback("1.1.1.1")
