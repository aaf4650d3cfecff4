"""Vectors are computed once per model and text, and cached within a size limit."""

from collections.abc import Sequence

import pytest

from scrubjay.core.errors import Unavailable
from scrubjay.models.embedding_cache import ENTRY_BYTES, CachingEmbedder, VectorCache


class CountingEmbedder:
    """An embedder that records the texts of each call."""

    def __init__(self, model: str, dimensions: int = 2) -> None:
        self.model = model
        self.dimensions = dimensions
        self.calls: list[list[str]] = []
        self.down = False
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.calls.append(list(texts))
        if self.down:
            raise Unavailable("down")
        return [f"{self.model}:{text}".encode() if text else b"" for text in texts]

    async def close(self) -> None:
        self.closed = True


async def test_only_unknown_texts_are_embedded_and_each_only_once() -> None:
    inner = CountingEmbedder("m")
    embedder = CachingEmbedder(inner, VectorCache(10_000))
    assert await embedder.embed(["a", "b", "a"]) == [b"m:a", b"m:b", b"m:a"]
    assert await embedder.embed(["c", "", "b", "c"]) == [b"m:c", b"", b"m:b", b"m:c"]
    assert await embedder.embed(["", "a"]) == [b"", b"m:a"]
    assert inner.calls == [["a", "b"], ["c", ""]]
    assert (embedder.model, embedder.dimensions) == ("m", 2)


async def test_models_that_share_a_cache_have_separate_vectors() -> None:
    cache = VectorCache(10_000)
    one, other = CountingEmbedder("one"), CountingEmbedder("other")
    assert await CachingEmbedder(one, cache).embed(["a"]) == [b"one:a"]
    assert await CachingEmbedder(other, cache).embed(["a"]) == [b"other:a"]
    assert await CachingEmbedder(one, cache).embed(["a"]) == [b"one:a"]
    assert (one.calls, other.calls) == ([["a"]], [["a"]])


async def test_069_a_model_of_the_same_name_with_other_dimensions_has_separate_vectors() -> None:
    cache = VectorCache(10_000)
    short, long = CountingEmbedder("m", 2), CountingEmbedder("m", 4)
    for embedder in (short, long, short):
        await CachingEmbedder(embedder, cache).embed(["a"])
    assert (short.calls, long.calls) == ([["a"]], [["a"]])


def test_the_least_recently_used_vector_is_evicted() -> None:
    cache = VectorCache(3 * (ENTRY_BYTES + 100))
    for text in "abc":
        cache.put("m", text, text.encode() * 100)
    assert cache.get("m", "a") == b"a" * 100
    cache.put("m", "d", b"d" * 100)
    assert {text: cache.get("m", text) for text in "abcd"} == {
        "a": b"a" * 100,
        "b": None,
        "c": b"c" * 100,
        "d": b"d" * 100,
    }
    assert cache.held_bytes == 3 * (ENTRY_BYTES + 100)


def test_the_cache_never_exceeds_its_size_and_counts_a_replaced_vector_once() -> None:
    cache = VectorCache(2 * ENTRY_BYTES + 150)
    cache.put("m", "a", b"x" * 100)
    cache.put("m", "a", b"y" * 50)
    assert (cache.held_bytes, len(cache), cache.get("m", "a")) == (ENTRY_BYTES + 50, 1, b"y" * 50)
    cache.put("m", "b", b"z" * 100)
    assert len(cache) == 2
    cache.put("m", "huge", b"z" * 100_000)
    assert (cache.held_bytes, len(cache)) == (0, 0)


async def test_a_failure_is_not_cached() -> None:
    inner = CountingEmbedder("m")
    embedder = CachingEmbedder(inner, VectorCache(10_000))
    inner.down = True
    with pytest.raises(Unavailable):
        await embedder.embed(["a"])
    inner.down = False
    assert await embedder.embed(["a"]) == [b"m:a"]


async def test_closing_closes_the_wrapped_embedder() -> None:
    inner = CountingEmbedder("m")
    await CachingEmbedder(inner, VectorCache(0)).close()
    assert inner.closed


async def test_a_cache_of_size_zero_stores_nothing() -> None:
    inner = CountingEmbedder("m")
    embedder = CachingEmbedder(inner, VectorCache(0))
    assert await embedder.embed(["a"]) == await embedder.embed(["a"]) == [b"m:a"]
    assert inner.calls == [["a"], ["a"]]
