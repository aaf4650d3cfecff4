"""Making a page readable without letting it keep us busy: what is large is read in a process that can be ended."""

import anyio.to_thread

from scrubjay.core.errors import TooLarge, Unavailable
from scrubjay.features.workspace.isolated import work_apart
from scrubjay.features.workspace.web.markdown import markdown_parts, to_markdown

# Python's parser takes the square of what it is given for some broken pages: of so little, still no time.
SMALL_CHARACTERS = 5_000
SECONDS = 10.0


async def readable(html: str, base_url: str = "", *, max_characters: int, seconds: float = SECONDS) -> str:
    """The page as Markdown."""
    if len(html) > max_characters:
        raise TooLarge(
            f"the page has more than {max_characters} characters", hint="the operator can raise SCRUBJAY_WEB_MAX_BYTES"
        )
    if len(html) <= SMALL_CHARACTERS:
        return await anyio.to_thread.run_sync(to_markdown, html, base_url)
    done = await work_apart(markdown_parts, {"html": html, "base_url": base_url}, seconds=seconds)
    if not done.values:
        raise Unavailable(
            "the page takes too long to be read" if done.timed_out else "the page cannot be read",
            hint="format text gives it as it is",
            details={"reason": "unreadable"},
        )
    return done.values[0]
