"""Cache digests that were just made: an index build reads them twice more before it finishes."""

from collections.abc import Iterable, Sequence

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.store import CodeStore, Content

# Digests above this total are read from the store again.
MAX_BYTES = 64_000_000


class DigestCache:
    """Packed digests by content, up to `max_bytes` in total."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._fresh: dict[Content, bytes] = {}
        self._bytes = 0

    def add(self, made: Iterable[tuple[Content, bytes]]) -> None:
        """Cache these digests while there is room. They are in the store by the time they are looked up."""
        for content, digest in made:
            if content not in self._fresh and self._bytes + len(digest) <= self._max_bytes:
                self._fresh[content] = digest
                self._bytes += len(digest)

    def clear(self) -> None:
        """Drop all digests."""
        self._fresh = {}
        self._bytes = 0

    async def load(self, contents: Sequence[Content], store: CodeStore) -> dict[Content, bytes]:
        """Return the digests of these contents that exist, from the cache or else from the store."""
        fresh = self._fresh
        found = {content: fresh[content] for content in contents if content in fresh}
        missing = [content for content in contents if content not in found]
        return {**found, **await store.digests(VERSION, missing)} if missing else found
