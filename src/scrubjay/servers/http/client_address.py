"""Client addresses. Forwarding headers are trusted only from the proxies named in the settings."""

import ipaddress
import re
from collections.abc import Sequence
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.types import Scope

from scrubjay.core import ip_addresses
from scrubjay.core.ip_addresses import Address

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# A connection without an address came over a Unix socket, so it is local.
LOCAL = "127.0.0.1"
# A trusted proxy sent something that is not an address: neither local nor a single host.
UNKNOWN = "unknown"
# Prefix length of the IPv6 network that a single host or household controls.
_IPV6_HOST_PREFIX = 64
# An address with an optional port, as proxies write it.
_WITH_PORT = re.compile(r"(?:\[([^\[\]]+)\]|([0-9.]+))(?::\d{1,5})?", re.ASCII)
# Headers that proxies add.
_PROXY_HEADERS = frozenset({b"x-forwarded-for", b"forwarded", b"x-real-ip", b"via"})


def parse_network(text: str) -> Network:
    """Parse an address or a network such as 10.0.0.0/8; raise `ValueError` for anything else."""
    return ipaddress.ip_network(text.strip(), strict=False)


class AddressResolver:
    """Determines the client address of a request, also behind trusted proxies."""

    def __init__(self, trusted_proxies: Sequence[str] = ()) -> None:
        self._trusted = tuple(map(parse_network, trusted_proxies))

    def of(self, scope: Scope) -> str:
        """Return the nearest address that is not a trusted proxy; entries further left may be forged."""
        peer = _peer(scope)
        if not self._trusted or not self._is_trusted(peer):
            return peer
        address = peer
        forwarded = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
        for hop in reversed([_without_port(part.strip()) for part in forwarded.split(",") if part.strip()]):
            if parsed_address(hop) is None:  # the client behind the proxy is unknown
                return UNKNOWN
            if is_loopback(hop) and not is_loopback(peer):  # the proxy's own machine, which is not this one
                break
            address = hop
            if not self._is_trusted(hop):
                break
        return address

    def is_single_host(self, address: str) -> bool:
        """Return True when the address is one host; behind a proxy are many, and one must not get all blocked."""
        return address != UNKNOWN and not self._is_trusted(address)

    def is_from_untrusted_proxy(self, scope: Scope) -> bool:
        """Return True when an unknown proxy forwarded the request, so that the peer address is not the client's."""
        marked = any(name in _PROXY_HEADERS for name, _ in scope["headers"])
        return marked and not self._is_trusted(_peer(scope))

    def scheme_of(self, scope: Scope) -> str | None:
        """Return the scheme that the client used, when a trusted proxy reports it."""
        if not self._trusted or not self._is_trusted(_peer(scope)):
            return None
        scheme = Headers(scope=scope).get("x-forwarded-proto", "").strip().lower()
        return scheme if scheme in ("http", "https") else None

    def _is_trusted(self, address: str) -> bool:
        found = parsed_address(address)
        return found is not None and any(found in network for network in self._trusted)


def _peer(scope: Scope) -> str:
    """Return the peer address of the connection."""
    client = scope.get("client")
    return client[0] if client else LOCAL


def _without_port(hop: str) -> str:
    matched = _WITH_PORT.fullmatch(hop)
    return (matched[1] or matched[2]) if matched else hop


@lru_cache(maxsize=4096)
def parsed_address(text: str) -> Address | None:
    """Parse an address; IPv4-mapped IPv6 becomes IPv4."""
    found = ip_addresses.parse_address(text)
    return None if found is None else ip_addresses.unmapped(found)


is_loopback = lru_cache(maxsize=4096)(ip_addresses.is_loopback)


@lru_cache(maxsize=4096)
def host_of(address: str) -> str:
    """Return the key under which all addresses of one host are counted."""
    found = parsed_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _IPV6_HOST_PREFIX), strict=False))
    return str(found) if found is not None else address[:100]
