"""What an IP address is for: our own table of special-purpose addresses.

The properties of `ipaddress`, such as `is_global`, differ between Python versions and do not know the addresses of
cloud services. That module is used for parsing only.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

Address = IPv4Address | IPv6Address

# The IANA IPv4 Special-Purpose Address Registry and multicast, then addresses that clouds serve to their machines.
_SPECIAL_IPV4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared by carriers; metadata of Alibaba
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local; metadata of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments; metadata of Oracle
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # multicast tunnels (AMT)
            "192.88.99.0/24",  # 6to4 relays, deprecated
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
            "168.63.129.16/32",  # Azure: WireServer and DNS
            "161.26.0.0/16",  # IBM Cloud: private services
            "166.8.0.0/14",  # IBM Cloud: private endpoints
        ),
    )
)

# The only IPv6 range from which public addresses are assigned; special-purpose ranges outside of it need no entry.
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_TEREDO: Final = IPv6Network("2001::/32")
_6TO4: Final = IPv6Network("2002::/16")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_WITH_IPV4_AT_THE_END: Final = (
    _MAPPED,
    _NAT64,
    IPv6Network("::/96"),  # IPv4-compatible, deprecated
    IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated
)

# The IANA IPv6 Special-Purpose Address Registry within 2000::/3, without 6to4, whose embedded address decides.
_SPECIAL_IPV6: Final = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks, AMT, anycast services
            "2001:db8::/32",  # documentation
            "2620:4f:8000::/48",  # AS112
            "3ffe::/16",  # 6bone, returned
            "3fff::/20",  # documentation
        ),
    )
)

_LOOPBACK_IPV4: Final = IPv4Network("127.0.0.0/8")
_LOOPBACK_IPV6: Final = IPv6Address("::1")
# The first half of an ISATAP interface identifier, with the universal bit clear and set.
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def parse_address(text: str) -> Address | None:
    """Return the address, without its zone; None for anything else."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def unmapped(address: Address) -> Address:
    """Return the IPv4 address of an IPv4-mapped IPv6 address, any other one unchanged."""
    if isinstance(address, IPv6Address) and address in _MAPPED:
        return _last_32_bits(address)
    return address


def is_loopback(text: str) -> bool:
    """Return True for a loopback address, also IPv4-mapped. A name such as `localhost` is no address."""
    address = parse_address(text)
    return address is not None and _is_loopback(unmapped(address))


def is_loopback_host(host: str) -> bool:
    """Return True for the host of a URL that is `localhost`, ::1 or in 127.0.0.0/8.

    No name is resolved. Spellings that URLs have no use for, such as IPv4-mapped addresses, are not accepted.
    """
    address = parse_address(host)
    return host.lower() == "localhost" if address is None else _is_loopback(address)


def is_public(text: str) -> bool:
    """Return True if the address, and each IPv4 address that it embeds, belongs to the public internet."""
    address = parse_address(text)
    if address is None or not all(map(_is_public_ipv4, embedded_ipv4(address))):
        return False
    if isinstance(address, IPv4Address):
        return _is_public_ipv4(address)
    if address in _MAPPED or address in _NAT64:
        return True
    return address in _GLOBAL_UNICAST and not any(address in network for network in _SPECIAL_IPV6)


def embedded_ipv4(address: Address) -> Sequence[IPv4Address]:
    """Return the IPv4 addresses that packets to an IPv6 address can reach."""
    if isinstance(address, IPv4Address):
        return ()
    number = int(address)
    if any(address in network for network in _WITH_IPV4_AT_THE_END):
        return (_last_32_bits(address),)
    found: list[IPv4Address] = []
    if address in _6TO4:
        found.append(IPv4Address(number >> 80 & 0xFFFFFFFF))
    if address in _TEREDO:  # the server, and the client with all bits inverted
        found += [IPv4Address(number >> 64 & 0xFFFFFFFF), IPv4Address(~number & 0xFFFFFFFF)]
    if number >> 32 & 0xFFFFFFFF in _ISATAP:
        found.append(_last_32_bits(address))
    return found


def _last_32_bits(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFFFFFF)


def _is_loopback(address: Address) -> bool:
    return address in _LOOPBACK_IPV4 if isinstance(address, IPv4Address) else address == _LOOPBACK_IPV6


def _is_public_ipv4(address: IPv4Address) -> bool:
    return not any(address in network for network in _SPECIAL_IPV4)
