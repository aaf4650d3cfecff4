"""Tells clients that a resource changed: looks at those that somebody waits for, and at nothing while nobody does."""

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

import anyio

from scrubjay.core.error_location import place_of
from scrubjay.core.errors import ScrubjayError

logger = logging.getLogger("scrubjay.mcp")


class Watch:
    """What is waited for, by address, and what told its last state."""

    def __init__(
        self, mark: Callable[[str], Awaitable[str]], tell: Callable[[str], Awaitable[None]], seconds: float
    ) -> None:
        """`mark` gives something that differs whenever the resource does; `tell` is called when it did."""
        self._mark = mark
        self._tell = tell
        self._seconds = seconds
        self._waited: Counter[str] = Counter()
        self._marks: dict[str, str] = {}
        self._begun = anyio.Event()

    async def add(self, uri: str) -> None:
        """Wait for what happens from now on."""
        self._waited[uri] += 1
        try:
            if uri not in self._marks:
                self._marks[uri] = await self._present(uri)
        except BaseException:
            self.remove(uri)
            raise
        self._begun.set()

    def remove(self, uri: str) -> None:
        self._waited[uri] -= 1
        if self._waited[uri] <= 0:
            del self._waited[uri]
            self._marks.pop(uri, None)

    @asynccontextmanager
    async def holding(self, uris: Iterable[str]) -> AsyncGenerator[None]:
        """Wait for these for as long as this is entered."""
        held: list[str] = []
        try:
            for uri in uris:
                await self.add(uri)
                held.append(uri)
            yield
        finally:
            for uri in held:
                self.remove(uri)

    async def run(self) -> None:
        """Look, again and again."""
        while True:
            if not self._waited:
                self._begun = anyio.Event()
                await self._begun.wait()
            await anyio.sleep(self._seconds)
            for uri in list(self._waited):
                found = await self._present(uri)
                if uri in self._marks and self._marks[uri] != found:
                    self._marks[uri] = found
                    await self._tell(uri)

    async def _present(self, uri: str) -> str:
        try:
            return await self._mark(uri)
        except ScrubjayError as error:  # what cannot be had now may come; that is a change too
            return error.code
        except Exception as error:  # a bug: one resource must not end the server
            logger.error("a resource could not be looked at", extra=place_of(error))
            return "broken"
