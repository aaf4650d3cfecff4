"""Files that Python 3.11 cannot parse still give their definitions, imports and uses."""

import random
from pathlib import Path

import pytest

import scrubjay
from scrubjay.code_index.models import Language, SymbolKind
from scrubjay.code_index.parsing import python_recovery
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.broken_python import BROKEN, LONG
from tests.code_index.parsing.parsing_helpers import symbols_of, uses_of

OWN = sorted(Path(scrubjay.__file__).parent.joinpath("core").rglob("*.py"))
SYMBOLS = {
    "a half-typed function header": ["function first", "function second", "function third"],
    "a function name alone": ["function first", "function sec", "class Third", "method Third.run", "field Third.x"],
    "a half-typed method with a body": ["class Store", "method Store.load", "method Store.save"],
    "a call that is not closed": ["function first", "function second"],
    "an attribute being typed": ["class Store", "method Store.load", "method Store.read"],
    "a condition without a colon": ["function first", "function second"],
    "a header without a body": ["function first", "function second", "class Third"],
    "try without except": ["function first", "function second"],
    "merge conflict": ["function first", "function second"],
    "merge conflict around definitions": [
        "class Store", "method Store.load", "method Store.ours", "method Store.theirs", "method Store.save",
    ],
    "an unfinished import": ["function first"],
    "an unfinished mapping": ["constant TABLE", "function second"],
    "an unfinished decorator": ["function first", "class Second"],
    "python 2": ["class Error", "function first", "function second"],
    "tabs and spaces": ["class Store", "method Store.load", "method Store.save"],
    "type aliases and parameters": ["type Pair", "type Name", "function first", "class Box", "method Box.get"],
    "exceptions without brackets": ["function first"],
    "quotes within a formatted string": ["function first"],
}  # fmt: skip
OTHER_VERSIONS = {
    "python 2", "tabs and spaces", "type aliases and parameters", "exceptions without brackets",
    "quotes within a formatted string",
}  # fmt: skip


@pytest.mark.parametrize("name", SYMBOLS)
def test_definitions_around_broken_syntax_are_found(name: str) -> None:
    content = BROKEN[name].encode()
    assert python_recovery.parse(content) is None
    facts = read_facts(content, Language.PYTHON)
    assert symbols_of(facts) == SYMBOLS[name]
    assert bool(facts.problems) == (name not in OTHER_VERSIONS)
    assert facts.flow


@pytest.mark.parametrize("name", sorted(name for name in BROKEN if name.endswith("in the middle")))
def test_one_error_in_a_long_file_costs_no_definition(name: str) -> None:
    known = symbols_of(read_facts(LONG.encode(), Language.PYTHON))
    facts = read_facts(BROKEN[name].encode(), Language.PYTHON)
    assert symbols_of(facts) == known
    assert len(facts.problems) == 1


def test_a_docstring_without_an_end_does_not_swallow_the_methods_below() -> None:
    known = symbols_of(read_facts(LONG.encode(), Language.PYTHON))
    assert symbols_of(read_facts(BROKEN["a docstring that is not closed"].encode(), Language.PYTHON)) == known


def test_both_sides_of_a_merge_conflict_belong_to_the_function_around_it() -> None:
    facts = read_facts(BROKEN["merge conflict"].encode(), Language.PYTHON)
    assert uses_of(facts) == ["5 first: call ours", "7 first: call theirs", "11 second: call first"]
    assert [tuple(problem) for problem in facts.problems] == [(4, "unresolved merge conflict")]


def test_python_2_statements_are_read() -> None:
    assert uses_of(read_facts(BROKEN["python 2"].encode(), Language.PYTHON)) == [
        "3 Error: inherit Exception",
        "8 first: read log",
        "10 first: call run",
        "11 first: catch IOError",
        "11 first: catch OSError",
        "12 first: raise Error",
        "13 first: catch ValueError",
        "19 second: call sorted",
        "19 second: read table",
    ]


def test_syntax_of_python_3_12_to_3_14_is_read() -> None:
    generic = read_facts(BROKEN["type aliases and parameters"].encode(), Language.PYTHON)
    assert uses_of(generic)[:4] == ["1 Pair: type tuple", "1 Pair: type T", "1 Pair: type T", "2 Name: type str"]
    assert [symbol.signature for symbol in generic.symbols][:3] == [
        "type Pair[T] = tuple[T, T]",
        "type Name = str | Other",
        "def first[T: Base](value: T) -> T",
    ]
    assert uses_of(read_facts(BROKEN["exceptions without brackets"].encode(), Language.PYTHON))[1:3] == [
        "4 first: catch KeyError",
        "4 first: catch errors.Missing",
    ]
    formatted = read_facts(BROKEN["quotes within a formatted string"].encode(), Language.PYTHON)
    assert uses_of(formatted) == [
        "2 first: call .join",
        "2 first: call names",
        "2 first: call .join",
        "3 first: read value",
    ]


def test_positions_are_those_of_the_original_file() -> None:
    content = BROKEN["tabs and spaces"].encode()
    facts = read_facts(content, Language.PYTHON)
    load = next(symbol for symbol in facts.symbols if symbol.name == "load")
    assert content[load.span.start : load.span.end].decode() == "def load(self):\n\tprint 'tab'\n\treturn read(self)"
    assert [content[use.start :].split(b"(")[0] for use in facts.uses] == [b"read"]


def test_a_file_that_is_cut_off_keeps_the_definitions_before_the_cut() -> None:
    rng = random.Random(20)
    kinds = {SymbolKind.FUNCTION, SymbolKind.CLASS, SymbolKind.METHOD}
    for path in OWN:
        content = path.read_bytes()
        symbols = [symbol for symbol in read_facts(content, Language.PYTHON).symbols if symbol.kind in kinds]
        for _ in range(3):
            cut = rng.randrange(len(content) + 1)
            found = {(symbol.name, symbol.line) for symbol in read_facts(content[:cut], Language.PYTHON).symbols}
            missing = [one for one in symbols if one.span.end < cut and (one.name, one.line) not in found]
            assert not missing, (path, cut)


def test_a_file_without_any_python_has_a_problem_and_no_symbols() -> None:
    facts = read_facts(b"<<< %%% ???\n}{ ][\n", Language.PYTHON)
    assert not facts.symbols
    assert facts.problems
