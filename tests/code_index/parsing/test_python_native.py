"""The native reader finds the same facts in a Python file as the Python reader."""

import ast
import random
import sysconfig
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import scrubjay
from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.facts_json import SerializedUses
from scrubjay.code_index.facts.line_starts import python_line_starts
from scrubjay.code_index.facts.packed_facts import pack_facts
from scrubjay.code_index.models import FileFacts, Language, Use, UseKind
from scrubjay.code_index.parsing import python_native, python_recovery
from scrubjay.code_index.parsing.reader import read_facts
from scrubjay.native.library import use_library
from tests.code_index.parsing.python_sources import SOURCES

OWN = sorted(Path(scrubjay.__file__).parent.rglob("*.py"))
MANY = 50_000
STANDARD = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
DECLINED = {
    "form feeds", "a mark at the beginning", "a mark before a definition", "a mark before a docstring", "wide names",
    "control signs", "a backslash before a statement", "texts that are no types",
}  # fmt: skip
"""Sources that the native reader may decline, because they are rare."""


def read_with_python(content: bytes) -> FileFacts:
    """Read a file without the native reader."""
    use_library(False)
    try:
        return read_facts(content, Language.PYTHON)
    finally:
        use_library(True)


def fstrings(content: bytes) -> list[tuple[int, int]]:
    module, starts = python_recovery.parse(content), python_line_starts(content)
    return [
        (starts[node.lineno] + node.col_offset, starts[node.end_lineno or 0] + (node.end_col_offset or 0))
        for node in ast.walk(module or ast.Module([], []))
        if isinstance(node, ast.JoinedStr)
    ]


def split(uses: Sequence[Use], texts: Sequence[tuple[int, int]]) -> tuple[list[Use], Counter[tuple[str, str, int]]]:
    """Return the uses outside of these spans, and the others without their positions."""
    inside = [any(start <= use.start < end for start, end in texts) for use in uses]
    pairs = [*zip(uses, inside, strict=True)]
    others = Counter((use.kind.value, use.path, use.container) for use, is_inside in pairs if is_inside)
    return [use for use, is_inside in pairs if not is_inside], others


def is_same(content: bytes, facts: FileFacts) -> bool:
    """Return whether the Python reader finds the same facts, except for positions of names in f-strings."""
    known = replace(read_with_python(content), flow=b"")
    facts = replace(facts, flow=b"")
    if known == facts:
        return pack_facts(known, []) == pack_facts(facts, [])
    texts = fstrings(content)
    return replace(known, uses=()) == replace(facts, uses=()) and split(known.uses, texts) == split(facts.uses, texts)


def compare_readers(contents: Iterable[bytes]) -> Counter[str]:
    """Count the files that the native reader accepts, and check that both readers agree on them."""
    counted: Counter[str] = Counter()
    for content in contents:
        facts = python_native.read(content)
        counted["declined" if facts is None else "read"] += 1
        if facts is not None:
            assert not facts.problems
            assert is_same(content, facts), content[:2000].decode()
    return counted


@pytest.mark.parametrize("name", SOURCES)
def test_both_readers_agree_on_small_sources(name: str) -> None:
    content = SOURCES[name].encode()
    assert python_recovery.parse(content) is not None
    facts = python_native.read(content)
    assert facts is not None or name in DECLINED
    assert facts is None or is_same(content, facts)
    inside = content.replace(b"\n", b"\n    ")
    compare_readers([b"def around(self, a):\n    " + inside, b"class Around:\n    " + inside])


@pytest.mark.parametrize("name", sorted(set(SOURCES) - {"formatted texts"}))
def test_digests_of_small_sources_are_equal(name: str) -> None:
    content = SOURCES[name].encode()
    packed = digest(content, Language.PYTHON).pack()
    use_library(False)
    try:
        assert packed == digest(content, Language.PYTHON).pack()
    finally:
        use_library(True)


def test_both_readers_agree_on_our_sources() -> None:
    counted = compare_readers(path.read_bytes() for path in OWN[::8])
    assert counted["declined"] <= counted["read"] / 50


def test_both_readers_agree_on_the_standard_library() -> None:
    counted = compare_readers(path.read_bytes() for path in STANDARD[::5])
    assert counted["declined"] <= counted["read"] / 100


def test_hardly_any_file_of_the_standard_library_is_declined() -> None:
    read = [python_native.read(path.read_bytes()) is not None for path in STANDARD]
    assert sum(read) >= len(read) * 0.99


def mutants(seed: int, many: int) -> Iterable[bytes]:
    """Yield sources in which something is removed, doubled, moved or inserted."""
    chosen = random.Random(seed)
    sources = [source.encode() for source in SOURCES.values() if len(source) < 4000]
    signs = [*b"()[]{}.,:;=@*#\"'\\\n\t axf01-+|!~", 0xC3, 0x80]
    for _ in range(many):
        content = chosen.choice(sources)
        for _ in range(chosen.randint(1, 3)):
            lines = content.split(b"\n")
            place, other = (chosen.randrange(len(lines)) for _ in range(2))
            match chosen.randrange(5):
                case 0:
                    del lines[place]
                case 1:
                    lines.insert(other, lines[place])
                case 2:
                    lines[place] = b" " * chosen.randrange(8) + lines[place].lstrip()
                case _:
                    line = lines[place]
                    at, behind = sorted(chosen.randrange(len(line) + 1) for _ in range(2))
                    put = bytes([chosen.choice(signs)]) if chosen.random() < 0.6 else b""
                    lines[place] = line[:at] + put + line[behind if behind - at < 4 else at :]
            content = b"\n".join(lines)
        yield content


@pytest.mark.parametrize("seed", range(4))
def test_randomly_changed_sources_give_the_same_facts_or_are_declined(seed: int) -> None:
    counted = compare_readers(mutants(seed, 300))
    assert counted["read"] > 60


@pytest.mark.parametrize(
    "content",
    [
        b"def f(:\n",
        b"x = 1\r\n",
        "größe = 1\n".encode(),
        b"# coding: latin-1\nx = '\xe9'\n",
        b"x = '\xe9'\n",
        b"x = 1\0\n",
        b"type X = int\n",
        b"def f[T](): ...\n",
        b"x = " + b"(" * 300 + b")" * 300,
        b"x = " + b"+".join([b"a"] * 5000) + b"\n",
        b"".join(b" " * i + b"if x:\n" for i in range(150)) + b" " * 150 + b"y\n",
        b"a" + b".b" * 5000 + b"\n",
        b"if a: b\n" + b"elif c: d\n" * 5000,
        b"from " + b"." * 2000 + b" import a\n",
        b"def f(a: f'{b}'): ...\n",
    ],
)
def test_unusual_files_are_left_to_the_python_reader(content: bytes) -> None:
    assert python_native.read(content) is None
    assert read_facts(content, Language.PYTHON) == read_with_python(content)


def test_the_native_reader_is_not_used_when_disabled() -> None:
    assert python_native.read(b"x = 1\n") is not None
    use_library(False)
    try:
        assert python_native.read(b"x = 1\n") is None
    finally:
        use_library(True)


def test_a_class_with_many_fields_is_read() -> None:
    """So many fields that comparing each with all others would take hours."""
    content = b"class C:\n" + b"".join(b"    f%d = 1\n" % i for i in range(MANY)) + b"    def m(self):\n"
    facts = python_native.read(content + b"".join(b"        self.g%d = 1\n" % i for i in range(MANY)))
    assert facts is not None
    assert len(facts.symbols) == 2 * MANY + 2
    assert len(facts.uses) == MANY


def test_a_function_with_many_variables_is_read() -> None:
    facts = python_native.read(b"def f():\n" + b"".join(b"    v%d = w%d(v%d)\n" % (i, i, i) for i in range(MANY)))
    assert facts is not None
    assert [use.kind for use in facts.uses] == [UseKind.CALL] * MANY


def test_a_file_with_many_exports_on_one_line_is_read() -> None:
    named, defined = (
        b", ".join(b"'e%d'" % i for i in range(MANY)),
        b"; ".join(b"e%d = 1" % i for i in range(2 * MANY)),
    )
    facts = python_native.read(b"__all__ = [" + named + b"]\n" + defined)
    assert facts is not None
    assert sum(symbol.exported for symbol in facts.symbols) == MANY


def test_uses_that_are_only_stored_never_become_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"import a\n\n\ndef f(b):\n    return a.c(b)\n"
    expected = read_with_python(content)
    fresh = digest(content, Language.PYTHON)

    def fail(_: object) -> list[Use]:
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr("scrubjay.code_index.facts.facts_json.build_uses", fail)
        assert fresh.pack()
        with pytest.raises(AssertionError):
            len(fresh.facts.uses)
    uses = fresh.facts.uses
    assert isinstance(uses, SerializedUses)
    assert uses == expected.uses
    assert expected.uses == uses
    assert (uses[0], uses[:], len(uses), [*uses]) == (expected.uses[0], expected.uses, 1, expected.uses)
    assert repr(uses) == repr(expected.uses)
    assert uses != []


def test_serialized_facts_are_not_reused_after_a_change() -> None:
    facts = python_native.read(b"def f(): ...\n")
    assert facts is not None
    changed = replace(facts, symbols=[facts.symbols[0]._replace(name="g")])
    assert pack_facts(changed, []) == pack_facts(replace(changed, uses=[*changed.uses]), [])
    assert pack_facts(changed, []) != pack_facts(facts, [])
