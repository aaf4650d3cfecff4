"""Poll the resources that clients have subscribed to, and report changes. Nothing is polled without subscriptions."""

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

import anyio

from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import ScrubjayError

logger = logging.getLogger("scrubjay.mcp")


class ResourceWatcher:
    """Polls subscribed resources and compares their fingerprints."""

    def __init__(
        self, fingerprint: Callable[[str], Awaitable[str]], notify: Callable[[str], Awaitable[None]], seconds: float
    ) -> None:
        """`fingerprint` returns a text that changes with the resource; `notify` is called after each change."""
        self._fingerprint = fingerprint
        self._notify = notify
        self._seconds = seconds
        self._watched: Counter[str] = Counter()
        self._fingerprints: dict[str, str] = {}
        self._added = anyio.Event()

    async def add(self, uri: str) -> None:
        """Watch a resource from now on; each call needs its own `remove`."""
        self._watched[uri] += 1
        try:
            if uri not in self._fingerprints:
                self._fingerprints[uri] = await self._current_fingerprint(uri)
        except BaseException:
            self.remove(uri)
            raise
        self._added.set()

    def remove(self, uri: str) -> None:
        self._watched[uri] -= 1
        if self._watched[uri] <= 0:
            del self._watched[uri]
            self._fingerprints.pop(uri, None)

    @asynccontextmanager
    async def watching(self, uris: Iterable[str]) -> AsyncGenerator[None]:
        """Watch these resources inside the context."""
        added: list[str] = []
        try:
            for uri in uris:
                await self.add(uri)
                added.append(uri)
            yield
        finally:
            for uri in added:
                self.remove(uri)

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            if not self._watched:
                self._added = anyio.Event()
                await self._added.wait()
            await anyio.sleep(self._seconds)
            for uri in list(self._watched):
                current = await self._current_fingerprint(uri)
                if uri in self._fingerprints and self._fingerprints[uri] != current:
                    self._fingerprints[uri] = current
                    await self._notify(uri)

    async def _current_fingerprint(self, uri: str) -> str:
        try:
            return await self._fingerprint(uri)
        except ScrubjayError as error:  # an unreadable resource may become readable, which is a change too
            return error.code
        except Exception as error:  # a bug: one resource must not end the server
            logger.error("a resource could not be checked for changes", extra=error_fields(error))
            return "broken"
