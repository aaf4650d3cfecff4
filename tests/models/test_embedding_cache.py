"""Vectors are made once for each model and text, and kept within bounds."""

from collections.abc import Sequence

import pytest

from scrubjay.core.errors import Unavailable
from scrubjay.models.embedding_cache import ENTRY_BYTES, CachingEmbedder, VectorCache


class Counting:
    """An embedder that remembers what it was asked."""

    def __init__(self, model: str, dimensions: int = 2) -> None:
        self.model = model
        self.dimensions = dimensions
        self.asked: list[list[str]] = []
        self.down = False
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.asked.append(list(texts))
        if self.down:
            raise Unavailable("down")
        return [f"{self.model}:{text}".encode() if text else b"" for text in texts]

    async def close(self) -> None:
        self.closed = True


async def test_only_what_is_not_known_is_asked_for_and_each_text_once() -> None:
    inner = Counting("m")
    embedder = CachingEmbedder(inner, VectorCache(10_000))
    assert await embedder.embed(["a", "b", "a"]) == [b"m:a", b"m:b", b"m:a"]
    assert await embedder.embed(["c", "", "b", "c"]) == [b"m:c", b"", b"m:b", b"m:c"]
    assert await embedder.embed(["", "a"]) == [b"", b"m:a"]
    assert inner.asked == [["a", "b"], ["c", ""]]
    assert (embedder.model, embedder.dimensions) == ("m", 2)


async def test_models_that_share_a_cache_never_see_each_others_vectors() -> None:
    cache = VectorCache(10_000)
    one, other = Counting("one"), Counting("other")
    assert await CachingEmbedder(one, cache).embed(["a"]) == [b"one:a"]
    assert await CachingEmbedder(other, cache).embed(["a"]) == [b"other:a"]
    assert await CachingEmbedder(one, cache).embed(["a"]) == [b"one:a"]
    assert (one.asked, other.asked) == ([["a"]], [["a"]])


async def test_069_a_model_of_the_same_name_with_other_dimensions_is_another_one() -> None:
    cache = VectorCache(10_000)
    short, long = Counting("m", 2), Counting("m", 4)
    for embedder in (short, long, short):
        await CachingEmbedder(embedder, cache).embed(["a"])
    assert (short.asked, long.asked) == ([["a"]], [["a"]])


def test_what_was_not_used_for_longest_makes_room() -> None:
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


def test_it_never_holds_more_than_was_allowed_and_counts_a_replaced_vector_once() -> None:
    cache = VectorCache(2 * ENTRY_BYTES + 150)
    cache.put("m", "a", b"x" * 100)
    cache.put("m", "a", b"y" * 50)
    assert (cache.held_bytes, len(cache), cache.get("m", "a")) == (ENTRY_BYTES + 50, 1, b"y" * 50)
    cache.put("m", "b", b"z" * 100)
    assert len(cache) == 2
    cache.put("m", "huge", b"z" * 100_000)
    assert (cache.held_bytes, len(cache)) == (0, 0)


async def test_a_failure_is_not_remembered() -> None:
    inner = Counting("m")
    embedder = CachingEmbedder(inner, VectorCache(10_000))
    inner.down = True
    with pytest.raises(Unavailable):
        await embedder.embed(["a"])
    inner.down = False
    assert await embedder.embed(["a"]) == [b"m:a"]


async def test_closing_closes_the_one_behind_it() -> None:
    inner = Counting("m")
    await CachingEmbedder(inner, VectorCache(0)).close()
    assert inner.closed


async def test_a_cache_of_no_size_keeps_nothing() -> None:
    inner = Counting("m")
    embedder = CachingEmbedder(inner, VectorCache(0))
    assert await embedder.embed(["a"]) == await embedder.embed(["a"]) == [b"m:a"]
    assert inner.asked == [["a"], ["a"]]
