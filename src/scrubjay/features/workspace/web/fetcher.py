"""Fetching pages: redirects one by one, what may work tried again, and no more of an answer than is wanted."""

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
from scrubjay.features.workspace.web.addresses import Place, Reach, place_of

if TYPE_CHECKING:
    import httpcore2
    import httpx2

MOST_REDIRECTS = 10
RETRIES = 3
# Waits between tries: up to a tenth of a second, two, four, chosen at random so that many clients spread out.
FIRST_WAIT_SECONDS = 0.1
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_WORTH_ANOTHER_TRY = frozenset({"refused", "unreachable"})
_MOVED = frozenset({301, 302, 303, 307, 308})
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# What says where a message goes and where it ends is ours to say.
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade", "expect"}
    | {"keep-alive", "accept-encoding", "proxy-authorization", "proxy-connection"}
)
# All else of a caller's headers may be a secret that is meant for one server.
_FOR_EVERYBODY = frozenset({"accept", "accept-language", "user-agent"})
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_SNIFFED_BYTES = 4_096

Headers = Sequence[tuple[str, str]]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for."""

    url: str
    method: str = "GET"
    headers: Headers = ()
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came."""

    url: str
    """Where it came from, after redirects."""
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
        """The body as text, in the encoding that it says it has."""
        return self.body.decode(self._encoding, "replace")

    @property
    def _encoding(self) -> str:
        sniffed = self.body[:_SNIFFED_BYTES].decode("latin-1") if "html" in self.content_type else ""
        for told in (self.content_type, sniffed):
            if (named := _CHARSET.search(told)) is not None:
                try:
                    found = codecs.lookup(named[1])
                except LookupError:
                    continue
                if found._is_text_encoding:  # pyright: ignore[reportPrivateUsage] - `hex` and the like are none
                    return found.name
        return "utf-8-sig"


@dataclass(frozen=True)
class Fetcher:
    """Fetches from the public web, and from the hosts that the owner named."""

    reach: Reach
    max_body_bytes: int
    user_agent: str
    sleep: Sleep = anyio.sleep
    random: Callable[[], float] = field(default=random.random)

    async def fetch(self, asked: Asked, *, seconds: float) -> Fetched:
        """The answer, whatever its status; all tries and redirects together take no longer than these seconds."""
        with anyio.move_on_after(seconds):
            tries = 0
            while True:
                failure: Unavailable | None = None
                fetched: Fetched | None = None
                try:
                    fetched = await self._follow(asked, seconds)
                except Unavailable as error:
                    failure = error
                tries += 1
                is_transient = (
                    fetched.status in _TRANSIENT
                    if fetched is not None
                    else failure is not None and failure.details.get("reason") in _WORTH_ANOTHER_TRY
                )
                if is_transient and tries <= RETRIES and asked.method == "GET":
                    await self.sleep(FIRST_WAIT_SECONDS * 2 ** (tries - 1) * self.random())
                    continue
                if fetched is None:
                    raise failure or _timed_out(seconds)
                return fetched
        raise _timed_out(seconds)

    async def _follow(self, asked: Asked, seconds: float) -> Fetched:
        for redirects in range(MOST_REDIRECTS + 1):
            place = place_of(asked.url)
            fetched = await self._once(asked, place, seconds, redirects)
            location = next((value for name, value in fetched.headers if name == "location"), None)
            if fetched.status not in _MOVED or location is None:
                return fetched
            asked = _redirected(asked, place, fetched.status, location)
        raise Unavailable(
            f"the address redirects more than {MOST_REDIRECTS} times", details={"reason": "too_many_redirects"}
        )

    async def _once(self, asked: Asked, place: Place, seconds: float, redirects: int) -> Fetched:
        import httpcore2

        from scrubjay.features.workspace.web.connections import CheckedNetwork, unreachable

        sent = [
            ("User-Agent", self.user_agent),
            ("Accept", "*/*"),
            ("Accept-Encoding", "gzip, deflate"),
            *(() if asked.content is None else (("Content-Type", "application/json"),)),
            *asked.headers,
        ]
        given = {name.lower(): (name, value) for name, value in sent}
        url = _sendable(asked.url)
        timeout = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
        context = await anyio.to_thread.run_sync(lambda: self._tls) if place.scheme == "https" else None
        try:
            async with (
                httpcore2.AsyncConnectionPool(
                    ssl_context=context, max_connections=1, network_backend=CheckedNetwork(self.reach)
                ) as pool,
                pool.stream(
                    asked.method,
                    str(url),
                    headers=[("Host", url.netloc.decode("ascii")), *given.values()],
                    content=asked.content,
                    extensions={"timeout": timeout},
                ) as response,
            ):
                headers = [
                    (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers
                ]
                body, truncated = await self._body(response, headers)
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise _timed_out(seconds) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise unreachable(place.host, error) from error
        return Fetched(asked.url, response.status, headers, body, truncated, redirects)

    async def _body(self, response: "httpcore2.Response", headers: Headers) -> tuple[bytes, bool]:
        """As much of it as is wanted, unpacked; and whether there was more."""
        coding = next((value.strip().lower() for name, value in headers if name == "content-encoding"), "identity")
        unpack = None
        if coding in ("gzip", "x-gzip", "deflate"):
            unpack = zlib.decompressobj(-zlib.MAX_WBITS if coding == "deflate" else 32 + zlib.MAX_WBITS)
        elif coding != "identity":
            raise Unavailable(f"the answer is packed as {coding[:20]!r}, which was not asked for")
        body = bytearray()
        async for some in response.aiter_stream():
            if unpack is not None:
                left = self.max_body_bytes + 1 - len(body)
                try:
                    some = unpack.decompress(some, left)
                except zlib.error:
                    if coding != "deflate" or body:
                        raise Unavailable("the answer is packed wrongly", details={"reason": "broken_answer"}) from None
                    unpack = zlib.decompressobj()  # some say deflate and mean zlib
                    some = unpack.decompress(some, left)
            body += some
            if len(body) > self.max_body_bytes:
                return bytes(body[: self.max_body_bytes]), True
        return bytes(body), False

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()


def json_of(fetched: Fetched) -> Any:
    """What a JSON answer holds."""
    if fetched.truncated:
        raise TooLarge(
            "the answer is larger than what is read of one", hint="the operator can raise SCRUBJAY_WEB_MAX_BYTES"
        )
    try:
        return json.loads(fetched.text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Unavailable(
            "Invalid JSON response",
            hint="format text tells what it is",
            details={"reason": "broken_answer", "status": fetched.status, "content_type": fetched.content_type[:100]},
        ) from error


def checked_headers(given: Sequence[tuple[str, str]]) -> Headers:
    """Headers that a caller may send."""
    for name, value in given:
        if not _HEADER_NAME.fullmatch(name) or not value.isprintable() or not value.isascii():
            raise InvalidRequest(f"headers: {name[:100]!r} cannot be sent", hint="printable ASCII, one line")
        if name.lower() in _OURS:
            raise Forbidden(f"headers: {name[:100]} is not for callers to set")
    return given


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _redirected(asked: Asked, place: Place, status: int, location: str) -> Asked:
    """The next request. What may be a secret is only for the server that it was given for."""
    url = urljoin(asked.url, location).partition("#")[0]
    headers = asked.headers
    if place_of(url).origin != place.origin:
        headers = [(name, value) for name, value in headers if name.lower() in _FOR_EVERYBODY]
    if status in (307, 308):
        return Asked(url, asked.method, headers, asked.content)
    return Asked(url, "GET", [(name, value) for name, value in headers if name.lower() != "content-type"])


def _sendable(url: str) -> "httpx2.URL":
    """The address in ASCII: names by IDNA, all else percent-encoded."""
    import httpx2

    try:
        return httpx2.URL(url.partition("#")[0])
    except httpx2.InvalidURL as error:
        raise InvalidRequest("url: is no address of the web", hint="such as https://example.com/page") from error


def _timed_out(seconds: float) -> Unavailable:
    return Unavailable(
        "Request timed out",
        hint="give it more time by `timeout`",
        details={"reason": "timeout", "timeout_ms": round(seconds * 1000)},
    )


def headers_as_told(headers: Headers) -> Mapping[str, str]:
    """Each header once; several of one name are joined, as HTTP has it."""
    told: dict[str, str] = {}
    for name, value in headers:
        told[name] = f"{told[name]}, {value}" if name in told else value
    return told
