"""Fetch pages: follow redirects with a check of each, retry transient failures, and limit the size of responses."""

import codecs
import json
import random
import re
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import anyio
import anyio.to_thread

from scrubjay.core.errors import Forbidden, InvalidRequest, TooLarge, Unavailable
from scrubjay.core.lazy import lazy_module
from scrubjay.features.workspace.web.addresses import HostPolicy, WebAddress, parse_url

if TYPE_CHECKING:
    import httpcore2
    import httpx2

    from scrubjay.features.workspace.web import connections
else:
    httpcore2 = lazy_module("httpcore2")
    httpx2 = lazy_module("httpx2")
    connections = lazy_module("scrubjay.features.workspace.web.connections")

MAX_REDIRECTS = 10
RETRIES = 3
# Maximum delay before the first retry; it doubles for each one. Delays are random, so that many clients spread out.
FIRST_WAIT_SECONDS = 0.1
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_RETRYABLE_REASONS = frozenset({"refused", "unreachable"})
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# Headers for routing and framing; a caller could use them to smuggle requests.
_RESERVED_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade", "expect"}
    | {"keep-alive", "accept-encoding", "proxy-authorization", "proxy-connection"}
)
# Sent to other origins after a redirect. Any other header may hold a secret for the first server.
_CROSS_ORIGIN_HEADERS = frozenset({"accept", "accept-language", "user-agent"})
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_SNIFFED_BYTES = 4_096

Headers = Sequence[tuple[str, str]]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WebRequest:
    """A request to send."""

    url: str
    method: str = "GET"
    headers: Headers = ()
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class WebResponse:
    """A response, possibly cut at the maximum size."""

    url: str
    """The final URL after redirects."""
    status: int
    headers: Headers
    body: bytes
    truncated: bool
    redirects: int

    @property
    def content_type(self) -> str:
        return next((value for name, value in self.headers if name == "content-type"), "")

    @property
    def text(self) -> str:
        """The body, decoded with its declared encoding."""
        return self.body.decode(self._encoding, "replace")

    @property
    def _encoding(self) -> str:
        sniffed = self.body[:_SNIFFED_BYTES].decode("latin-1") if "html" in self.content_type else ""
        for declaration in (self.content_type, sniffed):
            if (charset := _CHARSET.search(declaration)) is not None:
                try:
                    found = codecs.lookup(charset[1])
                except LookupError:
                    continue
                if found._is_text_encoding:  # pyright: ignore[reportPrivateUsage] - excludes codecs such as `hex`
                    return found.name
        return "utf-8-sig"


@dataclass(frozen=True)
class Fetcher:
    """Fetches from public hosts and from hosts that the owner allowed."""

    host_policy: HostPolicy
    max_body_bytes: int
    user_agent: str
    sleep: Sleep = anyio.sleep
    random: Callable[[], float] = field(default=random.random)

    async def fetch(self, request: WebRequest, *, seconds: float) -> WebResponse:
        """Return the response, whatever its status. The time limit includes redirects and retries.

        Only GET is retried. Raise `Unavailable` without a response, and `Forbidden` for a host that is not allowed.
        """
        with anyio.move_on_after(seconds):
            attempts = 0
            while True:
                failure: Unavailable | None = None
                response: WebResponse | None = None
                try:
                    response = await self._follow(request, seconds)
                except Unavailable as error:
                    failure = error
                attempts += 1
                is_transient = (
                    response.status in _TRANSIENT
                    if response is not None
                    else failure is not None and failure.details.get("reason") in _RETRYABLE_REASONS
                )
                if is_transient and attempts <= RETRIES and request.method == "GET":
                    await self.sleep(FIRST_WAIT_SECONDS * 2 ** (attempts - 1) * self.random())
                    continue
                if response is None:
                    raise failure or _timed_out(seconds)
                return response
        raise _timed_out(seconds)

    async def _follow(self, request: WebRequest, seconds: float) -> WebResponse:
        for redirects in range(MAX_REDIRECTS + 1):
            address = parse_url(request.url)
            response = await self._send(request, address, seconds, redirects)
            location = next((value for name, value in response.headers if name == "location"), None)
            if response.status not in _REDIRECT_STATUSES or location is None:
                return response
            request = _redirected(request, address, response.status, location)
        raise Unavailable(f"more than {MAX_REDIRECTS} redirects", details={"reason": "too_many_redirects"})

    async def _send(self, request: WebRequest, address: WebAddress, seconds: float, redirects: int) -> WebResponse:
        defaults = [
            ("User-Agent", self.user_agent),
            ("Accept", "*/*"),
            ("Accept-Encoding", "gzip, deflate"),
            *(() if request.content is None else (("Content-Type", "application/json"),)),
            *request.headers,
        ]
        by_name = {name.lower(): (name, value) for name, value in defaults}
        url = _ascii_url(request.url)
        timeout = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
        context = await anyio.to_thread.run_sync(lambda: self._tls) if address.scheme == "https" else None
        try:
            async with (
                httpcore2.AsyncConnectionPool(
                    ssl_context=context,
                    max_connections=1,
                    network_backend=connections.CheckedNetworkBackend(self.host_policy),
                ) as pool,
                pool.stream(
                    request.method,
                    str(url),
                    headers=[("Host", url.netloc.decode("ascii")), *by_name.values()],
                    content=request.content,
                    extensions={"timeout": timeout},
                ) as response,
            ):
                headers = [
                    (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers
                ]
                body, truncated = await self._read_body(response, headers)
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise _timed_out(seconds) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise connections.connection_error(address.host, error) from error
        return WebResponse(request.url, response.status, headers, body, truncated, redirects)

    async def _read_body(self, response: "httpcore2.Response", headers: Headers) -> tuple[bytes, bool]:
        """Return the decompressed body up to the maximum size, and True if there was more."""
        coding = next((value.strip().lower() for name, value in headers if name == "content-encoding"), "identity")
        decompressor = None
        if coding in ("gzip", "x-gzip", "deflate"):
            decompressor = zlib.decompressobj(-zlib.MAX_WBITS if coding == "deflate" else 32 + zlib.MAX_WBITS)
        elif coding != "identity":
            raise Unavailable(f"the response has the unsupported content encoding {coding[:20]!r}")
        body = bytearray()
        async for chunk in response.aiter_stream():
            if decompressor is not None:
                left = self.max_body_bytes + 1 - len(body)
                try:
                    chunk = decompressor.decompress(chunk, left)
                except zlib.error:
                    if coding != "deflate" or body:
                        raise Unavailable(
                            "the response has an invalid content encoding", details={"reason": "broken_answer"}
                        ) from None
                    decompressor = zlib.decompressobj()  # some servers send zlib data as "deflate"
                    chunk = decompressor.decompress(chunk, left)
            body += chunk
            if len(body) > self.max_body_bytes:
                return bytes(body[: self.max_body_bytes]), True
        return bytes(body), False

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()


def parse_json(response: WebResponse) -> Any:
    """Return the value of a JSON response."""
    if response.truncated:
        raise TooLarge("the response is larger than the limit", hint="the operator can raise SCRUBJAY_WEB_MAX_BYTES")
    try:
        return json.loads(response.text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Unavailable(
            "Invalid JSON response",
            hint="use the format text to see the response",
            details={"reason": "broken_answer", "status": response.status, "content_type": response.content_type[:100]},
        ) from error


def check_headers(headers: Sequence[tuple[str, str]]) -> Headers:
    """Return the headers; raise `InvalidRequest` or `Forbidden` for one that callers may not send."""
    for name, value in headers:
        if not _HEADER_NAME.fullmatch(name) or not value.isprintable() or not value.isascii():
            raise InvalidRequest(
                f"headers: {name[:100]!r} is invalid", hint="use printable ASCII characters on one line"
            )
        if name.lower() in _RESERVED_HEADERS:
            raise Forbidden(f"headers: {name[:100]} is set by the server and cannot be changed")
    return headers


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _redirected(request: WebRequest, address: WebAddress, status: int, location: str) -> WebRequest:
    """Return the request after a redirect, without possible secrets if the origin changes."""
    url = urljoin(request.url, location).partition("#")[0]
    headers = request.headers
    if parse_url(url).origin != address.origin:
        headers = [(name, value) for name, value in headers if name.lower() in _CROSS_ORIGIN_HEADERS]
    if status in (307, 308):
        return WebRequest(url, request.method, headers, request.content)
    return WebRequest(url, "GET", [(name, value) for name, value in headers if name.lower() != "content-type"])


def _ascii_url(url: str) -> "httpx2.URL":
    """Return the URL in ASCII: the host in IDNA, everything else percent-encoded."""
    try:
        return httpx2.URL(url.partition("#")[0])
    except httpx2.InvalidURL as error:
        raise InvalidRequest("url: is not a valid URL", hint="such as https://example.com/page") from error


def _timed_out(seconds: float) -> Unavailable:
    return Unavailable(
        "Request timed out",
        hint="set a longer `timeout`",
        details={"reason": "timeout", "timeout_ms": round(seconds * 1000)},
    )


def joined_headers(headers: Headers) -> Mapping[str, str]:
    """Return one value per header name; repeated headers are joined with commas, as HTTP defines."""
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined
