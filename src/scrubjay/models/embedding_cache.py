"""In-memory LRU cache of embeddings."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from scrubjay.models.embedding import Embedder

# Memory of an entry besides the vector: key, digest, objects and dictionary slot.
ENTRY_BYTES = 400

_Key = tuple[str, bytes]


class VectorCache:
    """The most recently used vectors by model and text, up to a size. Entries never expire."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._vectors: OrderedDict[_Key, bytes] = OrderedDict()
        self._bytes = 0

    @property
    def held_bytes(self) -> int:
        """Bytes in use; never more than the limit."""
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
    """Embeds with another embedder only what the cache lacks."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache
        # A service can offer one model name with several vector lengths.
        self._cache_name = f"{embedder.model}/{embedder.dimensions}"

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        found = {text: vector for text in texts if (vector := self._cache.get(self._cache_name, text)) is not None}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        if missing:
            made = await self._embedder.embed(missing)
            for text, vector in zip(missing, made, strict=True):
                self._cache.put(self._cache_name, text, vector)
                found[text] = vector
        return [found[text] for text in texts]

    async def close(self) -> None:
        await self._embedder.close()


def _key(model: str, text: str) -> _Key:
    """Return a key with a digest of the text, so that long and private texts are not kept."""
    return model, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
