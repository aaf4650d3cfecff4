"""Convert pages to Markdown in bounded time: large pages in a child process that can be killed."""

import anyio.to_thread

from scrubjay.core.errors import TooLarge, Unavailable
from scrubjay.features.workspace.isolated import run_isolated
from scrubjay.features.workspace.web.markdown import convert_isolated, to_markdown

# Python's parser takes quadratic time for some broken pages; below this size that is still negligible.
MAX_INLINE_CHARACTERS = 5_000
SECONDS = 10.0


async def convert_page(html: str, base_url: str = "", *, max_characters: int, seconds: float = SECONDS) -> str:
    """Return a page as Markdown; raise `TooLarge` or `Unavailable` if it exceeds the limit of size or time."""
    if len(html) > max_characters:
        raise TooLarge(
            f"the page has more than {max_characters} characters", hint="the operator can raise SCRUBJAY_WEB_MAX_BYTES"
        )
    if len(html) <= MAX_INLINE_CHARACTERS:
        return await anyio.to_thread.run_sync(to_markdown, html, base_url)
    done = await run_isolated(convert_isolated, {"html": html, "base_url": base_url}, seconds=seconds)
    if not done.values:
        raise Unavailable(
            "converting the page takes too long" if done.timed_out else "the page cannot be converted",
            hint="use the format text to get the unchanged page",
            details={"reason": "unreadable"},
        )
    return done.values[0]
