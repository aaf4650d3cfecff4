"""Facts of files that were needed lately: whoever changes a file soon changes it, or its neighbour, again."""

from collections.abc import Iterable, Mapping

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.store import CodeStore, Content

# As they are kept, which is a tenth of what they take when they are unpacked.
MOST_BYTES = 24_000_000


class RecentFacts:
    """Packed facts by content; of those that nobody needed the longest, none are kept."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._known: dict[Content, bytes] = {}
        self._bytes = 0

    async def of(self, contents: Iterable[Content], store: CodeStore) -> Mapping[Content, bytes]:
        """Those of these contents, as far as there are any; what is not known is taken out of the store."""
        from scrubjay.code_index.facts.packed_facts import facts_in

        wanted = [*dict.fromkeys(contents)]
        found = {content: self._known[content] for content in wanted if content in self._known}
        missing = [content for content in wanted if content not in found]
        if missing:
            found |= {content: facts_in(digest) for content, digest in (await store.digests(VERSION, missing)).items()}
        for content, facts in found.items():
            self._note(content, facts)
        return found

    def _note(self, content: Content, facts: bytes) -> None:
        if self._known.pop(content, None) is None:
            self._bytes += len(facts)
        self._known[content] = facts
        while self._bytes > self._most_bytes:
            self._bytes -= len(self._known.pop(next(iter(self._known))))
