"""The meanings of the parts of files that a search found: which are known, and having the others made."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.reranking.embedding_requests import Asking
from scrubjay.code_index.reranking.pending import PendingTexts
from scrubjay.code_index.vector_store import CodeVectorStore

if TYPE_CHECKING:
    from scrubjay.code_index.search.corpus import Corpus
    from scrubjay.code_index.search.ranker import Found


class Parts:
    """By the rows of their chunks."""

    def __init__(self, vectors: CodeVectorStore, pending: PendingTexts, asking: Asking) -> None:
        self._vectors = vectors
        self._pending = pending
        self._asking = asking

    async def known(self, corpus: "Corpus", found: "Sequence[Found]") -> dict[int, bytes]:
        """The vectors that there are."""

        files = {one.chunk: corpus.files[one.file] for one in found if one.chunk >= 0}
        texts = await self._vectors.texts(VERSION, [*{file.content for file in files.values()}])
        keys: dict[int, str] = {}
        for chunk, file in files.items():
            place, own = _place_in_file(corpus, chunk), texts.get(file.content, ())
            if place < len(own):
                keys[chunk] = own[place]
        vectors = await self._vectors.vectors(self._asking.model, [*{*keys.values()}])
        return {chunk: vectors[key] for chunk, key in keys.items() if key in vectors}

    async def lacking(self, corpus: "Corpus", found: "Sequence[Found]") -> "list[Found]":
        """Those without a vector."""
        known = await self.known(corpus, found)
        return [one for one in found if one.chunk >= 0 and one.chunk not in known]

    async def fill(self, index_id: str, corpus: "Corpus", lacking: "Sequence[Found]") -> None:
        """Have the vectors of these made."""
        files = {one.chunk: corpus.files[one.file] for one in lacking}
        read = await self._pending.read([(index_id, file) for file in dict.fromkeys(files.values())])
        texts: dict[str, str] = {}
        for chunk, file in files.items():
            place, own = _place_in_file(corpus, chunk), read.get(file.content, ())
            if place < len(own):
                key, text = own[place]
                texts[key] = text
        await self._asking.ensure(texts)


def _place_in_file(corpus: "Corpus", chunk: int) -> int:
    import numpy as np

    files = corpus.chunks.files
    (first,) = np.searchsorted(files, [int(files[chunk])]).tolist()
    return chunk - first
