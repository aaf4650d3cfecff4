"""Where a request comes from. What a proxy tells of that is believed only of those that the settings name."""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.types import Scope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# A connection without an address came over a socket in the file system, which only this machine has.
LOCAL = "127.0.0.1"
# One household or server has at least so many addresses of IPv6 to itself; they count as one.
_OF_ONE_HOST = 64


def parse_network(text: str) -> Network:
    """An address, or a network such as 10.0.0.0/8; `ValueError` when it is neither."""
    return ipaddress.ip_network(text.strip(), strict=False)


class Addresses:
    """Finds the address of whoever sent a request, also behind proxies that are trusted."""

    def __init__(self, trusted_proxies: Sequence[str] = ()) -> None:
        self._trusted = tuple(map(parse_network, trusted_proxies))

    def of(self, scope: Scope) -> str:
        """The nearest address that is no trusted proxy. What stands further to the left anybody may have written."""
        client = scope.get("client")
        address = client[0] if client else LOCAL
        if not self._trusted or not self._is_trusted(address):
            return address
        told = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
        for hop in reversed([part.strip() for part in told.split(",") if part.strip()]):
            if parsed_address(hop) is None:  # nobody knows what is behind it
                break
            address = hop
            if not self._is_trusted(hop):
                break
        return address

    def scheme_of(self, scope: Scope) -> str | None:
        """The scheme that the client used, when a trusted proxy tells it."""
        client = scope.get("client")
        if not self._trusted or not self._is_trusted(client[0] if client else LOCAL):
            return None
        told = Headers(scope=scope).get("x-forwarded-proto", "").strip().lower()
        return told if told in ("http", "https") else None

    def _is_trusted(self, address: str) -> bool:
        found = parsed_address(address)
        return found is not None and any(found in network for network in self._trusted)


@lru_cache(maxsize=4096)
def parsed_address(text: str) -> Address | None:
    """The address; one of IPv4 also when it is written as one of IPv6."""
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, ipaddress.IPv6Address) else found


def is_loopback(address: str) -> bool:
    """Whether this machine itself is calling."""
    found = parsed_address(address)
    return found is not None and found.is_loopback


def host_of(address: str) -> str:
    """What stands for all addresses that one host has."""
    found = parsed_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _OF_ONE_HOST), strict=False))
    return str(found) if found is not None else address[:100]
