"""What still lacks its meaning: found by what indexes have, so that nothing is queued that nobody needs any more."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from scrubjay.code_index.content_location import place_of
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.index.cancellation import in_thread
from scrubjay.code_index.store import CodeStore, Content, IndexedFile
from scrubjay.code_index.vector_store import CodeVectorStore, UnembeddedContent

# So many contents are looked at together.
AT_ONCE = 50


class Pending(NamedTuple):
    """Some contents, and what of them is to be embedded."""

    texts: Mapping[str, str]
    """By their keys, those without a vector."""
    contents: Sequence[Content]
    """Those that have all their vectors as soon as these texts have them."""
    complete: Sequence[Content]
    """Those that have them already."""


class PendingTexts:
    """Reads what is to be embedded, from the repositories."""

    def __init__(self, store: CodeStore, vectors: CodeVectorStore, model: str) -> None:
        self._store = store
        self._vectors = vectors
        self._model = model

    async def all(self) -> AsyncGenerator[Pending]:
        """All that is pending, some contents at a time. What cannot be read is left out."""

        after = 0
        while part := await self._vectors.unembedded(self._model, VERSION, after=after, limit=AT_ONCE):
            after = part[-1].place
            yield await self._of(part)

    async def read_all(self) -> None:
        """Have the texts of all contents known by their keys; nothing is sent anywhere."""

        after = 0
        while part := await self._vectors.unembedded(self._model, VERSION, after=after, limit=AT_ONCE):
            after = part[-1].place
            await self.read([(one.index_id, one.file) for one in part if one.texts is None])

    async def read(self, files: Sequence[tuple[str, IndexedFile]]) -> dict[Content, list[tuple[str, str]]]:
        """The keys and texts of the chunks of these files, each given with its index; the keys are kept."""
        from scrubjay.code_index.reranking.chunk_texts import key_of, texts_of

        digests = await self._store.digests(VERSION, [*{file.content for _, file in files}])
        found: dict[Content, list[str]] = {}
        for index_id in dict.fromkeys(index_id for index_id, _ in files):
            if (record := await self._store.index(index_id)) is not None:
                own = [file for of, file in files if of == index_id]
                found |= await in_thread(partial(texts_of, place_of(record), own, digests))
        keyed = {content: [(key_of(text), text) for text in texts] for content, texts in found.items()}
        await self._vectors.keep_texts(VERSION, {own: [key for key, _ in texts] for own, texts in keyed.items()})
        return keyed

    async def _of(self, part: Sequence[UnembeddedContent]) -> Pending:
        keys = [key for one in part for key in one.texts or ()]
        known = {*await self._vectors.vectors(self._model, keys)}
        complete = [one.file.content for one in part if one.texts is not None and known.issuperset(one.texts)]
        done = {*complete}
        read = await self.read([(one.index_id, one.file) for one in part if one.file.content not in done])
        texts = {key: text for own in read.values() for key, text in own}
        known = {*await self._vectors.vectors(self._model, [*texts])}
        missing = {key: text for key, text in texts.items() if key not in known}
        return Pending(missing, [*read], complete)
