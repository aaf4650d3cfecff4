"""Texts without a vector, derived from the indexes, so that no queue can hold texts that are no longer needed."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.code_index.content_location import contents_of
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.index.cancellation import run_in_thread
from scrubjay.code_index.store import CodeStore, Content, IndexedFile
from scrubjay.code_index.vector_store import CodeVectorStore, UnembeddedContent
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    from scrubjay.code_index.reranking import chunk_texts
else:
    chunk_texts = lazy_module("scrubjay.code_index.reranking.chunk_texts")


# Contents processed at a time.
AT_ONCE = 50


class Pending(NamedTuple):
    """Some contents, and their texts to embed."""

    texts: Mapping[str, str]
    """Texts without a vector, by key."""
    contents: Sequence[Content]
    """Contents that are complete once these texts are embedded."""
    complete: Sequence[Content]
    """Contents that are complete already."""


class PendingTexts:
    """Reads the texts to embed from the repositories."""

    def __init__(self, store: CodeStore, vectors: CodeVectorStore, model: str) -> None:
        self._store = store
        self._vectors = vectors
        self._model = model

    async def all(self) -> AsyncGenerator[Pending]:
        """Yield what is pending, some contents at a time; unreadable contents are left out."""

        after = 0
        while part := await self._vectors.unembedded(self._model, VERSION, after=after, limit=AT_ONCE):
            after = part[-1].row_id
            yield await self._of(part)

    async def read_all(self) -> None:
        """Store the text keys of all contents; sends nothing to a service."""

        after = 0
        while part := await self._vectors.unembedded(self._model, VERSION, after=after, limit=AT_ONCE):
            after = part[-1].row_id
            await self.read([(one.index_id, one.file) for one in part if one.texts is None])

    async def read(self, files: Sequence[tuple[str, IndexedFile]]) -> dict[Content, list[tuple[str, str]]]:
        """Return key and text of each chunk of these files, given with their index ids, and store the keys."""
        digests = await self._store.digests(VERSION, [*{file.content for _, file in files}])
        found: dict[Content, list[str]] = {}
        for index_id in dict.fromkeys(index_id for index_id, _ in files):
            if (record := await self._store.index(index_id)) is not None:
                own = [file for of, file in files if of == index_id]
                found |= await run_in_thread(partial(chunk_texts.texts_of, contents_of(record), own, digests))
        keyed = {content: [(chunk_texts.key_of(text), text) for text in texts] for content, texts in found.items()}
        await self._vectors.put_texts(VERSION, {own: [key for key, _ in texts] for own, texts in keyed.items()})
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
