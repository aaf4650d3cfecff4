"""Security headers of every response."""

from collections.abc import Iterable

Header = tuple[bytes, bytes]

_ALWAYS: tuple[Header, ...] = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
_UNLESS_SET: tuple[Header, ...] = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


def with_security_headers(given: Iterable[Header]) -> list[Header]:
    """Return these headers with the security headers; a header that the response has set is kept."""
    headers = [*given]
    present = {name for name, _ in headers}
    return [*headers, *_ALWAYS, *(header for header in _UNLESS_SET if header[0] not in present)]
