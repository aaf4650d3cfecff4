"""Facts are cached within a size limit."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.facts_cache import FactsCache
from scrubjay.code_index.facts.packed_facts import extract_facts
from scrubjay.code_index.models import Language
from scrubjay.code_index.store import CodeStore, Content

CONTENTS = {
    Content(f"{number:040}", Language.PYTHON): digest(f"x{number} = 1\n".encode(), Language.PYTHON).pack()
    for number in range(4)
}


class Store:
    """A store of digests that records the requests."""

    def __init__(self) -> None:
        self.requests: list[Content] = []

    async def digests(self, version: int, contents: Sequence[Content]) -> Mapping[Content, bytes]:
        assert version == VERSION
        self.requests += contents
        return {content: CONTENTS[content] for content in contents if content in CONTENTS}


async def test_facts_are_read_from_the_store_once_while_they_fit_the_cache(tmp_path: Path) -> None:
    store = Store()
    as_store = cast(CodeStore, store)
    one, two, three, four = CONTENTS
    missing = Content("0" * 39 + "9", Language.GO)
    cache = FactsCache(max_bytes=3 * max(len(extract_facts(packed)) for packed in CONTENTS.values()))
    assert await cache.load([one, two, missing], as_store) == {
        each: extract_facts(CONTENTS[each]) for each in (one, two)
    }
    assert await cache.load([two, three, two], as_store) == {
        each: extract_facts(CONTENTS[each]) for each in (two, three)
    }
    assert store.requests == [one, two, missing, three]
    await cache.load([one], as_store)
    await cache.load([four], as_store)  # exceeds the limit: the second, least recently used, is evicted
    store.requests.clear()
    await cache.load([one, three, four, two], as_store)
    assert store.requests == [two]
