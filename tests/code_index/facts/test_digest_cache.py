"""New digests are cached within a size limit, until the cache is cleared."""

from collections.abc import Sequence
from typing import Any, cast

from scrubjay.code_index.facts.digest_cache import DigestCache
from scrubjay.code_index.models import Language
from scrubjay.code_index.store import CodeStore, Content

ONE, TWO, THREE = (Content(name * 40, Language.PYTHON) for name in "abc")


class Store:
    """A store with all digests that records the requests."""

    def __init__(self) -> None:
        self.requests: list[Sequence[Content]] = []

    async def digests(self, version: int, contents: Sequence[Content]) -> dict[Content, bytes]:
        self.requests.append(contents)
        return dict.fromkeys(contents, b"stored")


async def test_only_uncached_digests_are_read_from_the_store():
    store, cache = Store(), DigestCache(max_bytes=10)
    cache.add([(ONE, b"fresh"), (TWO, b"too large"), (ONE, b"again"), (THREE, b"other")])
    as_store: Any = cast(CodeStore, store)
    assert await cache.load([ONE, THREE], as_store) == {ONE: b"fresh", THREE: b"other"}
    assert store.requests == []
    assert await cache.load([ONE, TWO], as_store) == {ONE: b"fresh", TWO: b"stored"}
    assert store.requests == [[TWO]]


async def test_cleared_digests_are_read_from_the_store_and_make_room():
    store, cache = Store(), DigestCache(max_bytes=10)
    cache.add([(ONE, b"0123456789")])
    cache.clear()
    cache.add([(TWO, b"0123456789")])
    assert await cache.load([ONE, TWO], cast(CodeStore, store)) == {ONE: b"stored", TWO: b"0123456789"}
    assert store.requests == [[ONE]]
