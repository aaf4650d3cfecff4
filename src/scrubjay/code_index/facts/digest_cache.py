"""Digests that were just made are needed twice more before an index is there: they are kept at hand until then."""

from collections.abc import Iterable, Sequence

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.store import CodeStore, Content

# More than this is read from the store again.
MOST_BYTES = 64_000_000


class FreshDigests:
    """Packed digests by content."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._fresh: dict[Content, bytes] = {}
        self._bytes = 0

    def note(self, made: Iterable[tuple[Content, bytes]]) -> None:
        """Keep these at hand, as far as there is room: before they are asked for, they are in the store as well."""
        for content, digest in made:
            if content not in self._fresh and self._bytes + len(digest) <= self._most_bytes:
                self._fresh[content] = digest
                self._bytes += len(digest)

    def forget(self) -> None:
        """Nobody needs them any more."""
        self._fresh = {}
        self._bytes = 0

    async def of(self, contents: Sequence[Content], store: CodeStore) -> dict[Content, bytes]:
        """Those of these contents, as far as there are any; what is not at hand is taken out of the store."""

        fresh = self._fresh
        found = {content: fresh[content] for content in contents if content in fresh}
        missing = [content for content in contents if content not in found]
        return {**found, **await store.digests(VERSION, missing)} if missing else found
