"""The hosts that a server answers, and the origins of web pages that may use it."""

import re
from collections.abc import Sequence
from typing import Final

from starlette.types import Scope

from scrubjay.core.errors import Forbidden
from scrubjay.servers.http.cors import DEFAULT_PORTS, AllowedOrigins
from scrubjay.tooling.validation import printable

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(?::(\d{1,5}))?", re.ASCII)
# An origin as browsers send it: a default port is left out, and a port has no leading zero.
_ORIGIN = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(?::([1-9]\d{0,4}))?", re.ASCII)
_HTTP_SCHEMES = {"ws": "http", "wss": "https"}


class HostCheck:
    """Refuses unknown hosts and the pages of other origins, on every path and for every protocol.

    Unknown hosts, because DNS rebinding lets a web page reach a loopback server under the page's own host name. Other
    origins, because a server without keys takes every local request for the owner's: also that of a page which another
    program serves on another port of this machine.
    """

    def __init__(self, allowed_hosts: Sequence[str], origins: AllowedOrigins) -> None:
        self._hosts = LOOPBACK_NAMES | {host.lower() for host in allowed_hosts}
        self._origins = origins

    def check(self, scope: Scope) -> None:
        """Raise `Forbidden` for an unknown host, and for an origin that is neither allowed nor the server's own."""
        hosts = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        matched = _AUTHORITY.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if matched is None or matched[1] not in self._hosts:
            raise Forbidden(
                f"this server does not serve the host {printable(', '.join(hosts))!r}",
                hint="use a loopback address, or add the host to the server's allowed hosts",
            )
        for origin in [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]:
            if origin not in self._origins and not _is_own(origin, matched[1], matched[2], scope.get("scheme", "http")):
                raise Forbidden(
                    f"pages from the origin {printable(origin)!r} may not use this server",
                    hint="open the page from this server, or add its origin to the server's allowed origins",
                )


def _is_own(origin: str, host: str, port: str | None, scheme: str) -> bool:
    """Return True when a page of this origin comes from the host and port that the request was sent to.

    Another name of the same address is another origin: `localhost` may be 127.0.0.1 for us and ::1, with another
    server, for the browser.
    """
    matched = _ORIGIN.fullmatch(origin.lower())
    if matched is None or matched[2] != host:
        return False
    own_port = port or DEFAULT_PORTS[_HTTP_SCHEMES.get(scheme, scheme)]
    return (matched[3] or DEFAULT_PORTS[matched[1]]) == own_port
