import gc
from collections.abc import Sequence

import numpy as np
import pytest

from scrubjay.code_index.facts.digest import digest, unpacked
from scrubjay.code_index.facts.packed_facts import unpacked_facts
from scrubjay.code_index.facts.words import words_of
from scrubjay.code_index.index.gc_pause import uncollected
from scrubjay.code_index.models import Language
from scrubjay.code_index.term_counts.models import WORTH_OF_NAMES
from scrubjay.search_index.token_segments import token

SOURCE = b'''"""Cafe \xc3\xa9."""
import os
from .models import User as Person

__all__ = ["Login"]


@decorated
class Login(Person):
    """How one gets in."""

    count: int = 0

    def begin(self, name="x"):
        raise ValueError(os.path.join(name))
'''


@pytest.mark.parametrize(
    ("content", "language"),
    [
        (SOURCE, Language.PYTHON),
        (b"def broken(:\n", Language.PYTHON),
        (b"export const a = (b) => b.c()\n", Language.TYPESCRIPT),
        (b"# Title\n\ntext\n", Language.MARKDOWN),
        (b"", Language.PYTHON),
        (b"plain \xff text", Language.TEXT),
    ],
)
def test_what_was_packed_is_unpacked_as_it_was(content: bytes, language: Language) -> None:
    made = digest(content, language)
    read = unpacked(made.packed())
    assert as_lists(read.facts.symbols) == as_lists(made.facts.symbols)
    assert as_lists(read.facts.imports) == as_lists(made.facts.imports)
    assert as_lists(read.facts.uses) == as_lists(made.facts.uses)
    assert as_lists(read.facts.problems) == as_lists(made.facts.problems)
    assert as_lists(read.facts.exports) == as_lists(made.facts.exports)
    assert (read.facts.language, read.facts.lines, read.facts.doc, read.facts.flow) == (
        made.facts.language,
        made.facts.lines,
        made.facts.doc,
        made.facts.flow,
    )
    for own, other in zip(read.searchable, made.searchable, strict=True):
        assert own.dtype == other.dtype
        np.testing.assert_array_equal(own, other)


def as_lists(things: Sequence[object]) -> list[tuple[type, object]]:
    return [(type(thing), thing) for thing in things]


def test_kinds_are_members_of_their_enums_again() -> None:
    facts = unpacked_facts(digest(SOURCE, Language.PYTHON).packed())
    assert [repr(symbol.kind) for symbol in facts.symbols] == [
        "<SymbolKind.VARIABLE: 'variable'>",
        "<SymbolKind.CLASS: 'class'>",
        "<SymbolKind.FIELD: 'field'>",
        "<SymbolKind.METHOD: 'method'>",
    ]
    assert {type(use.kind).__name__ for use in facts.uses} == {"UseKind"}


def test_words_are_counted_and_those_of_what_is_defined_count_more() -> None:
    searchable = digest(b"def root_model(model):\n    return model\n", Language.PYTHON).searchable
    counted = dict(zip(searchable.words.tolist(), searchable.counts.tolist(), strict=True))
    expected = {"def": 1, "root": 1, "model": 3, "=rootmodel": 1, "return": 1}
    for word in words_of("root_model"):
        expected[word] += WORTH_OF_NAMES
    assert counted == {token(word): count for word, count in expected.items()}


def test_words_of_text_that_is_not_plain_are_counted_too() -> None:
    searchable = digest("größe größe naïve_name".encode(), Language.TEXT).searchable
    counted = dict(zip(searchable.words.tolist(), searchable.counts.tolist(), strict=True))
    assert counted == {token(word): 1 for word in words_of("naïve_name")} | {token(words_of("größe")[0]): 2}


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_afterwards_as_it_was_before(*, collecting: bool) -> None:
    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        with uncollected():
            assert not gc.isenabled()
        with pytest.raises(ZeroDivisionError), uncollected():
            _ = 1 / 0
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()
