"""Vectors of texts that were embedded before, kept in memory."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from scrubjay.models.embedding import Embedder

# What Python keeps for one entry beside the vector: key, digest, objects and their place in the dictionary.
ENTRY_BYTES = 400

_Key = tuple[str, bytes]


class VectorCache:
    """The vectors used most recently, by model and text, as many as fit. Vectors of a model never grow old."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._vectors: OrderedDict[_Key, bytes] = OrderedDict()
        self._bytes = 0

    @property
    def held_bytes(self) -> int:
        """How much is kept; never more than was allowed."""
        return self._bytes

    def get(self, model: str, text: str) -> bytes | None:
        key = _key(model, text)
        if (vector := self._vectors.get(key)) is not None:
            self._vectors.move_to_end(key)
        return vector

    def put(self, model: str, text: str, vector: bytes) -> None:
        key = _key(model, text)
        if (replaced := self._vectors.pop(key, None)) is not None:
            self._bytes -= ENTRY_BYTES + len(replaced)
        self._vectors[key] = vector
        self._bytes += ENTRY_BYTES + len(vector)
        while self._bytes > self._max_bytes:
            _, dropped = self._vectors.popitem(last=False)
            self._bytes -= ENTRY_BYTES + len(dropped)

    def __len__(self) -> int:
        return len(self._vectors)


class CachingEmbedder:
    """Asks another embedder only for what the cache does not hold."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache
        # A service can have a model of the same name whose vectors are longer.
        self._kept_under = f"{embedder.model}/{embedder.dimensions}"

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        found = {text: vector for text in texts if (vector := self._cache.get(self._kept_under, text)) is not None}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        if missing:
            made = await self._embedder.embed(missing)
            for text, vector in zip(missing, made, strict=True):
                self._cache.put(self._kept_under, text, vector)
                found[text] = vector
        return [found[text] for text in texts]

    async def close(self) -> None:
        await self._embedder.close()


def _key(model: str, text: str) -> _Key:
    """A digest, so that long texts take no space and what was confided is not kept a second time."""
    return model, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
