from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.facts_cache import RecentFacts
from scrubjay.code_index.facts.packed_facts import facts_in
from scrubjay.code_index.models import Language
from scrubjay.code_index.store import CodeStore, Content

CONTENTS = {
    Content(f"{number:040}", Language.PYTHON): digest(f"x{number} = 1\n".encode(), Language.PYTHON).packed()
    for number in range(4)
}


class Store:
    """Digests, and which were asked for."""

    def __init__(self) -> None:
        self.asked: list[Content] = []

    async def digests(self, version: int, contents: Sequence[Content]) -> Mapping[Content, bytes]:
        assert version == VERSION
        self.asked += contents
        return {content: CONTENTS[content] for content in contents if content in CONTENTS}


async def test_facts_are_taken_out_of_the_store_once_as_long_as_there_is_room(tmp_path: Path) -> None:
    store = Store()
    kept = cast(CodeStore, store)
    one, two, three, four = CONTENTS
    gone = Content("0" * 39 + "9", Language.GO)
    recent = RecentFacts(most_bytes=3 * max(len(facts_in(packed)) for packed in CONTENTS.values()))
    assert await recent.of([one, two, gone], kept) == {each: facts_in(CONTENTS[each]) for each in (one, two)}
    assert await recent.of([two, three, two], kept) == {each: facts_in(CONTENTS[each]) for each in (two, three)}
    assert store.asked == [one, two, gone, three]
    await recent.of([one], kept)
    await recent.of([four], kept)  # there is no room for all four, and nobody needed the second for the longest
    store.asked.clear()
    await recent.of([one, three, four, two], kept)
    assert store.asked == [two]
