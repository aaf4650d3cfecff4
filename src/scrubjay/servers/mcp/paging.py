"""Pagination: a cursor names the last entry of the previous page."""

import base64
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

T = TypeVar("T")

PAGE_SIZE: Final = 50


def page_of(
    entries: Sequence[T], name: Callable[[T], str], params: PaginatedRequestParams | None, size: int = PAGE_SIZE
) -> tuple[Sequence[T], str | None]:
    """Return the entries after the cursor, and the next cursor or None at the end."""
    start = 0
    if params is not None and params.cursor is not None:
        start = _position_after(params.cursor, [name(entry) for entry in entries])
    page = entries[start : start + size]
    more = start + size < len(entries)
    return page, base64.urlsafe_b64encode(name(page[-1]).encode()).decode() if more else None


def _position_after(cursor: str, names: Sequence[str]) -> int:
    try:
        return names.index(base64.b64decode(cursor, altchars=b"-_", validate=True).decode()) + 1
    except ValueError:
        raise MCPError(INVALID_PARAMS, "the cursor is invalid; list again without a cursor") from None
