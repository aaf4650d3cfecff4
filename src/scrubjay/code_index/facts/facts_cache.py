"""Cache the packed facts of recently used files: edits tend to return to the same files and their neighbours."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.store import CodeStore, Content
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    from scrubjay.code_index.facts import packed_facts
else:
    packed_facts = lazy_module("scrubjay.code_index.facts.packed_facts")


# Packed size; unpacked facts take ten times as much.
MAX_BYTES = 24_000_000


class FactsCache:
    """Packed facts by content; evicts the least recently used above `max_bytes`."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._known: dict[Content, bytes] = {}
        self._bytes = 0

    async def load(self, contents: Iterable[Content], store: CodeStore) -> Mapping[Content, bytes]:
        """Return the facts of these contents that exist, from the cache or else from the store."""
        wanted = [*dict.fromkeys(contents)]
        found = {content: self._known[content] for content in wanted if content in self._known}
        missing = [content for content in wanted if content not in found]
        if missing:
            found |= {
                content: packed_facts.extract_facts(digest)
                for content, digest in (await store.digests(VERSION, missing)).items()
            }
        for content, facts in found.items():
            self._add(content, facts)
        return found

    def _add(self, content: Content, facts: bytes) -> None:
        if self._known.pop(content, None) is None:
            self._bytes += len(facts)
        self._known[content] = facts
        while self._bytes > self._max_bytes:
            self._bytes -= len(self._known.pop(next(iter(self._known))))
