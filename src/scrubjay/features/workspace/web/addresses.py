"""Which addresses may be reached: those of the public network, and the hosts that the owner names."""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio

from scrubjay.core.errors import Forbidden, InvalidRequest, Unavailable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Ways to write an address of the older network as one of the newer: what such a one leads to is what counts.
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
# All that was ever given out to be public.
_GIVEN_OUT = ipaddress.IPv6Network("2000::/3")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
MAX_URL = 8_192


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes."""

    scheme: str
    host: str
    """In small letters, without brackets."""
    port: int

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Reach:
    """What may be reached."""

    allowed_hosts: Sequence[str] = ()
    """Names, or names with a port, whose addresses are not looked at: the owner knows them."""

    async def addresses(self, host: str, port: int) -> list[str]:
        """The addresses to connect to, all of them looked at; `Forbidden` when one of them is not public."""
        try:
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Unavailable(
                "DNS resolution failed",
                hint=f"see whether {host[:200]} is written right, and whether this machine is online",
                details={"reason": "dns", "host": host[:200]},
            ) from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not self.is_allowed(host, port):
            for address in addresses:
                refuse_unless_public(host, address)
        return addresses

    def is_allowed(self, host: str, port: int) -> bool:
        """Whether the owner named it. Names are compared, not looked up: what a name means can change."""
        written = f"[{host}]" if ":" in host else host
        names = {host, written, f"{written}:{port}"}
        return any(allowed.lower() in names for allowed in self.allowed_hosts)


def place_of(url: str) -> Place:
    """Where an address of the web leads; what is none is refused."""
    if len(url) > MAX_URL:
        raise InvalidRequest(f"url: has more than {MAX_URL} characters")
    if any(char <= " " or char == "\x7f" for char in url):
        raise InvalidRequest("url: has spaces or control characters in it", hint="write them as %20 and the like")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise InvalidRequest("url: is no address of the web", hint="such as https://example.com/page") from None
    if parts.scheme not in ("http", "https"):
        raise InvalidRequest(
            f"url: only http and https are fetched, not {parts.scheme[:20] or 'an address without either'}",
            hint="such as https://example.com/page",
            details={"reason": "scheme"},
        )
    if not host or port == 0:
        raise InvalidRequest("url: names no host", hint="such as https://example.com/page")
    if parts.username is not None or parts.password is not None or "\\" in url:
        raise InvalidRequest(
            "url: holds a name or a password before the host", hint="send an Authorization header instead"
        )
    return Place(parts.scheme, host, port or (443 if parts.scheme == "https" else 80))


def refuse_unless_public(host: str, address: str) -> None:
    """Raise `Forbidden` for an address that is of this machine, of a private network, or of nobody."""
    if not is_public(address):
        raise Forbidden(
            f"{host[:200]} leads to {address}, which is not of the public network",
            hint="the operator can allow the host by its name: SCRUBJAY_WEB_ALLOWED_HOSTS",
            details={"reason": "not_public", "host": host[:200], "address": address},
        )


def is_public(address: str) -> bool:
    try:
        whole = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_public(meant) for meant in _meant(whole))


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in _GIVEN_OUT:
        return False
    return address.is_global and not (
        address.is_multicast
        or address.is_reserved
        or address.is_loopback
        or address.is_link_local
        or address.is_private
        or address.is_unspecified
    )


def _meant(address: Address) -> list[Address]:
    """The address, or the ones of the older network that it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address.sixtofour is not None:
        return [address.sixtofour]
    if address.teredo is not None:
        return list(address.teredo)
    if any(address in network for network in _NAT64) or address in _COMPATIBLE:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return [address]
