"""A digest contains the facts, words and vectors of one file, and survives packing."""

import gc
from collections.abc import Sequence

import numpy as np
import pytest

from scrubjay.code_index.facts.digest import digest, unpack_digest
from scrubjay.code_index.facts.packed_facts import unpack_facts
from scrubjay.code_index.facts.tokenizer import tokenize
from scrubjay.code_index.index.gc_pause import gc_paused
from scrubjay.code_index.models import Language
from scrubjay.code_index.term_counts.models import NAME_WEIGHT
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
def test_a_packed_digest_is_unpacked_unchanged(content: bytes, language: Language) -> None:
    original = digest(content, language)
    unpacked = unpack_digest(original.pack())
    assert as_lists(unpacked.facts.symbols) == as_lists(original.facts.symbols)
    assert as_lists(unpacked.facts.imports) == as_lists(original.facts.imports)
    assert as_lists(unpacked.facts.uses) == as_lists(original.facts.uses)
    assert as_lists(unpacked.facts.problems) == as_lists(original.facts.problems)
    assert as_lists(unpacked.facts.exports) == as_lists(original.facts.exports)
    assert (unpacked.facts.language, unpacked.facts.lines, unpacked.facts.doc, unpacked.facts.flow) == (
        original.facts.language,
        original.facts.lines,
        original.facts.doc,
        original.facts.flow,
    )
    for own, other in zip(unpacked.arrays, original.arrays, strict=True):
        assert own.dtype == other.dtype
        np.testing.assert_array_equal(own, other)


def as_lists(things: Sequence[object]) -> list[tuple[type, object]]:
    return [(type(thing), thing) for thing in things]


def test_unpacked_kinds_are_enumeration_members() -> None:
    facts = unpack_facts(digest(SOURCE, Language.PYTHON).pack())
    assert [repr(symbol.kind) for symbol in facts.symbols] == [
        "<SymbolKind.VARIABLE: 'variable'>",
        "<SymbolKind.CLASS: 'class'>",
        "<SymbolKind.FIELD: 'field'>",
        "<SymbolKind.METHOD: 'method'>",
    ]
    assert {type(use.kind).__name__ for use in facts.uses} == {"UseKind"}


def test_words_are_counted_and_defined_names_count_more() -> None:
    searchable = digest(b"def root_model(model):\n    return model\n", Language.PYTHON).arrays
    counted = dict(zip(searchable.words.tolist(), searchable.counts.tolist(), strict=True))
    expected = {"def": 1, "root": 1, "model": 3, "=rootmodel": 1, "return": 1}
    for word in tokenize("root_model"):
        expected[word] += NAME_WEIGHT
    assert counted == {token(word): count for word, count in expected.items()}


def test_non_ascii_words_are_counted_too() -> None:
    searchable = digest("größe größe naïve_name".encode(), Language.TEXT).arrays
    counted = dict(zip(searchable.words.tolist(), searchable.counts.tolist(), strict=True))
    assert counted == {token(word): 1 for word in tokenize("naïve_name")} | {token(tokenize("größe")[0]): 2}


@pytest.mark.parametrize("collecting", [True, False])
def test_the_garbage_collector_is_restored_afterwards(*, collecting: bool) -> None:
    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        with gc_paused():
            assert not gc.isenabled()
        with pytest.raises(ZeroDivisionError), gc_paused():
            _ = 1 / 0
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()
