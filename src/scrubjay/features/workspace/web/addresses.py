"""Protection against server-side request forgery: only public addresses and hosts that the owner allowed."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio

from scrubjay.core.errors import Forbidden, InvalidRequest, Unavailable
from scrubjay.core.ip_addresses import is_public

MAX_URL = 8_192


@dataclass(frozen=True, slots=True)
class WebAddress:
    """Scheme, host and port of a URL."""

    scheme: str
    host: str
    """In lower case, without brackets."""
    port: int

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The hosts that may be reached."""

    allowed_hosts: Sequence[str] = ()
    """Host names, optionally with a port, whose addresses are not checked."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host; raise `Forbidden` if one of them is not public."""
        try:
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Unavailable(
                "DNS resolution failed",
                hint=f"check the spelling of {host[:200]} and the network connection of the server",
                details={"reason": "dns", "host": host[:200]},
            ) from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not self.is_allowed(host, port):
            for address in addresses:
                refuse_unless_public(host, address)
        return addresses

    def is_allowed(self, host: str, port: int) -> bool:
        """Return True if the owner allowed the host. Names are compared, not resolved: resolution can change."""
        bracketed = f"[{host}]" if ":" in host else host
        names = {host, bracketed, f"{bracketed}:{port}"}
        return any(allowed.lower() in names for allowed in self.allowed_hosts)


def parse_url(url: str) -> WebAddress:
    """Return scheme, host and port of a URL; raise `InvalidRequest` for an invalid or unsupported one."""
    if len(url) > MAX_URL:
        raise InvalidRequest(f"url: has more than {MAX_URL} characters")
    if any(char <= " " or char == "\x7f" for char in url):
        raise InvalidRequest("url: contains spaces or control characters", hint="percent-encode them, such as %20")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise InvalidRequest("url: is not a valid URL", hint="such as https://example.com/page") from None
    if parts.scheme not in ("http", "https"):
        raise InvalidRequest(
            f"url: the scheme must be http or https, not {parts.scheme[:20] or 'missing'}",
            hint="such as https://example.com/page",
            details={"reason": "scheme"},
        )
    if not host or port == 0:
        raise InvalidRequest("url: has no host", hint="such as https://example.com/page")
    if parts.username is not None or parts.password is not None or "\\" in url:
        raise InvalidRequest("url: contains a user name or password", hint="send an Authorization header instead")
    return WebAddress(parts.scheme, host, port or (443 if parts.scheme == "https" else 80))


def refuse_unless_public(host: str, address: str) -> None:
    """Raise `Forbidden` for a loopback, private, reserved or unassigned address."""
    if not is_public(address):
        raise Forbidden(
            f"{host[:200]} resolves to {address}, which is not a public address",
            hint="the operator can allow the host with SCRUBJAY_WEB_ALLOWED_HOSTS",
            details={"reason": "not_public", "host": host[:200], "address": address},
        )
