"""Where a request comes from. What a proxy tells of that is believed only of those that the settings name."""

import ipaddress
import re
from collections.abc import Sequence
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.types import Scope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# A connection without an address came over a socket in the file system, which only this machine has.
LOCAL = "127.0.0.1"
# Where a trusted proxy tells something that is no address. It is nobody's: neither this machine's nor one of a host.
UNKNOWN = "unknown"
# One household or server has at least so many addresses of IPv6 to itself; they count as one.
_OF_ONE_HOST = 64
# How proxies write an address that they also know the port of.
_WITH_PORT = re.compile(r"(?:\[([^\[\]]+)\]|([0-9.]+))(?::\d{1,5})?", re.ASCII)
# What a request has on it that came through a proxy, of whatever make.
_MARKS_OF_PROXIES = frozenset({b"x-forwarded-for", b"forwarded", b"x-real-ip", b"via"})


def parse_network(text: str) -> Network:
    """An address, or a network such as 10.0.0.0/8; `ValueError` when it is neither."""
    return ipaddress.ip_network(text.strip(), strict=False)


class Addresses:
    """Finds the address of whoever sent a request, also behind proxies that are trusted."""

    def __init__(self, trusted_proxies: Sequence[str] = ()) -> None:
        self._trusted = tuple(map(parse_network, trusted_proxies))

    def of(self, scope: Scope) -> str:
        """The nearest address that is no trusted proxy. What stands further to the left anybody may have written."""
        peer = _peer(scope)
        if not self._trusted or not self._is_trusted(peer):
            return peer
        address = peer
        told = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
        for hop in reversed([_without_port(part.strip()) for part in told.split(",") if part.strip()]):
            if parsed_address(hop) is None:  # somebody came through the proxy, and nobody knows who
                return UNKNOWN
            if is_loopback(hop) and not is_loopback(peer):  # the proxy's own machine, which is not this one
                break
            address = hop
            if not self._is_trusted(hop):
                break
        return address

    def is_of_one_host(self, address: str) -> bool:
        """Whether what comes from there comes from one host: behind a proxy are many, and one must not harm all."""
        return address != UNKNOWN and not self._is_trusted(address)

    def came_by_a_stranger(self, scope: Scope) -> bool:
        """Whether a proxy that nobody named brought this, so that its own address tells nothing of who sent it."""
        marked = any(name in _MARKS_OF_PROXIES for name, _ in scope["headers"])
        return marked and not self._is_trusted(_peer(scope))

    def scheme_of(self, scope: Scope) -> str | None:
        """The scheme that the client used, when a trusted proxy tells it."""
        if not self._trusted or not self._is_trusted(_peer(scope)):
            return None
        told = Headers(scope=scope).get("x-forwarded-proto", "").strip().lower()
        return told if told in ("http", "https") else None

    def _is_trusted(self, address: str) -> bool:
        found = parsed_address(address)
        return found is not None and any(found in network for network in self._trusted)


def _peer(scope: Scope) -> str:
    """The other end of the connection."""
    client = scope.get("client")
    return client[0] if client else LOCAL


def _without_port(hop: str) -> str:
    matched = _WITH_PORT.fullmatch(hop)
    return (matched[1] or matched[2]) if matched else hop


@lru_cache(maxsize=4096)
def parsed_address(text: str) -> Address | None:
    """The address; one of IPv4 also when it is written as one of IPv6."""
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, ipaddress.IPv6Address) else found


@lru_cache(maxsize=4096)
def is_loopback(address: str) -> bool:
    """Whether this machine itself is calling."""
    found = parsed_address(address)
    return found is not None and found.is_loopback


@lru_cache(maxsize=4096)
def host_of(address: str) -> str:
    """What stands for all addresses that one host has."""
    found = parsed_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _OF_ONE_HOST), strict=False))
    return str(found) if found is not None else address[:100]
