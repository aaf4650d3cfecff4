"""What was just made is at hand without the store, as much as there is room for, until it is forgotten."""

from collections.abc import Sequence
from typing import Any, cast

from scrubjay.code_index.facts.digest_cache import FreshDigests
from scrubjay.code_index.models import Language
from scrubjay.code_index.store import CodeStore, Content

ONE, TWO, THREE = (Content(name * 40, Language.PYTHON) for name in "abc")


class Store:
    """Has all of them, and tells which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Sequence[Content]] = []

    async def digests(self, version: int, contents: Sequence[Content]) -> dict[Content, bytes]:
        self.asked.append(contents)
        return dict.fromkeys(contents, b"kept")


async def test_the_store_is_asked_only_for_what_is_not_at_hand():
    store, fresh = Store(), FreshDigests(most_bytes=10)
    fresh.note([(ONE, b"made1"), (TWO, b"too large"), (ONE, b"again"), (THREE, b"made3")])
    of: Any = cast(CodeStore, store)
    assert await fresh.of([ONE, THREE], of) == {ONE: b"made1", THREE: b"made3"}
    assert store.asked == []
    assert await fresh.of([ONE, TWO], of) == {ONE: b"made1", TWO: b"kept"}
    assert store.asked == [[TWO]]


async def test_what_was_forgotten_is_asked_for_and_makes_room():
    store, fresh = Store(), FreshDigests(most_bytes=10)
    fresh.note([(ONE, b"0123456789")])
    fresh.forget()
    fresh.note([(TWO, b"0123456789")])
    assert await fresh.of([ONE, TWO], cast(CodeStore, store)) == {ONE: b"kept", TWO: b"0123456789"}
    assert store.asked == [[ONE]]
