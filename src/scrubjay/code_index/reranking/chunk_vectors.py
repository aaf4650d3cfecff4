"""Vectors of the chunks that a search found: read the stored ones, request the others."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.reranking.embedding_requests import EmbeddingRequests
from scrubjay.code_index.reranking.pending import PendingTexts
from scrubjay.code_index.vector_store import CodeVectorStore
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np

    from scrubjay.code_index.search.corpus import Corpus
    from scrubjay.code_index.search.ranker import RankedFile
else:
    np = lazy_module("numpy")


class ChunkVectors:
    """Chunk vectors by chunk row."""

    def __init__(self, vectors: CodeVectorStore, pending: PendingTexts, requests: EmbeddingRequests) -> None:
        self._vectors = vectors
        self._pending = pending
        self._requests = requests

    async def known(self, corpus: "Corpus", found: "Sequence[RankedFile]") -> dict[int, bytes]:
        """Return the stored vectors by chunk row."""

        files = {one.chunk: corpus.files[one.file] for one in found if one.chunk >= 0}
        texts = await self._vectors.texts(VERSION, [*{file.content for file in files.values()}])
        keys: dict[int, str] = {}
        for chunk, file in files.items():
            place, own = _place_in_file(corpus, chunk), texts.get(file.content, ())
            if place < len(own):
                keys[chunk] = own[place]
        vectors = await self._vectors.vectors(self._requests.model, [*{*keys.values()}])
        return {chunk: vectors[key] for chunk, key in keys.items() if key in vectors}

    async def missing(self, corpus: "Corpus", found: "Sequence[RankedFile]") -> "list[RankedFile]":
        """Return the results whose chunk has no vector."""
        known = await self.known(corpus, found)
        return [one for one in found if one.chunk >= 0 and one.chunk not in known]

    async def fill(self, index_id: str, corpus: "Corpus", missing: "Sequence[RankedFile]") -> None:
        """Embed the chunks of these results and store the vectors."""
        files = {one.chunk: corpus.files[one.file] for one in missing}
        read = await self._pending.read([(index_id, file) for file in dict.fromkeys(files.values())])
        texts: dict[str, str] = {}
        for chunk, file in files.items():
            place, own = _place_in_file(corpus, chunk), read.get(file.content, ())
            if place < len(own):
                key, text = own[place]
                texts[key] = text
        await self._requests.ensure(texts)


def _place_in_file(corpus: "Corpus", chunk: int) -> int:
    files = corpus.chunks.files
    (first,) = np.searchsorted(files, [int(files[chunk])]).tolist()
    return chunk - first
