"""Code with holes matches by syntax in every language with a parser."""

from typing import Any

import pytest

from scrubjay.code_index.models import Language
from scrubjay.code_index.pattern_search.code_pattern import CODE_LANGUAGES
from scrubjay.code_index.pattern_search.messages import Structure
from scrubjay.code_index.pattern_search.tree_match import StructureFinder
from scrubjay.core.errors import InvalidRequest

L = Language
CASES: list[tuple[Language, str, str, list[dict[str, Any]]]] = [
    (L.PYTHON, "$F($$$ARGS, timeout=$T)", "a(1)\nb(2, timeout=3)\nc(timeout=4,)\n", [
        {"F": ["b"], "ARGS": ["2"], "T": ["3"]},
        {"F": ["c"], "ARGS": [], "T": ["4"]},
    ]),
    (L.PYTHON, "def $NAME($$$P):\n    $$$BODY", "async def f(a, b=1):\n    # why\n    x = 1\n    return x\n", [
        {"NAME": ["f"], "P": ["a", "b=1"], "BODY": ["x = 1", "return x"]},
    ]),
    (L.JAVASCRIPT, "const $X = await $F($$$A);", "async function f() { const y = await g(1, 2) }", [
        {"X": ["y"], "F": ["g"], "A": ["1", "2"]},
    ]),
    (L.TYPESCRIPT, "function $F($$$P): $R { $$$ }", "function a(x: number): string { return '' }", [
        {"F": ["a"], "P": ["x: number"], "R": ["string"]},
    ]),
    (L.TSX, "<$T onClick={$H} />", "const a = <Button onClick={go} />", [{"T": ["Button"], "H": ["go"]}]),
    (L.GO, "if err != nil { return $$$R }", "package m\nfunc f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n}", [
        {"R": ["err"]},
    ]),
    (L.GO, "func ($R $T) $M($$$P) error { $$$ }", "package m\nfunc (s *S) Run(a int) error { return nil }", [
        {"R": ["s"], "T": ["*S"], "M": ["Run"], "P": ["a int"]},
    ]),
    (L.RUST, "$X.unwrap()", "fn f() { let a = b.c().unwrap(); }", [{"X": ["b.c()"]}]),
    (L.RUST, "$X.unwrap()", "cfg_net! { fn f() { let a = b.c().unwrap(); } }", [{"X": ["b.c()"]}]),
    (L.RUST, "match $X { $$$ARMS }", "fn f() { match a { 1 => 2, _ => 3 } }", [
        {"X": ["a"], "ARMS": ["1 => 2,", "_ => 3"]},
    ]),
    (L.JAVA, "public $T $N($$$P) { $$$ }", "class A { public int m(int a, String b) { return 1; } }", [
        {"T": ["int"], "N": ["m"], "P": ["int a", "String b"]},
    ]),
    (L.C, "if ($P == NULL) { $$$B }", "int f() { if (p == NULL) { return 1; } }", [{"P": ["p"], "B": ["return 1;"]}]),
    (L.CPP, "std::move($X)", "void f() { auto a = std::move(b); }", [{"X": ["b"]}]),
    (L.CSHARP, "public $T $N($$$P) { $$$ }", "class A { public int M(int a) { return 1; } }", [
        {"T": ["int"], "N": ["M"], "P": ["int a"]},
    ]),
    (L.RUBY, "class $N < $B\n  $$$\nend", "class A < B::C\n  def x; end\nend\n", [{"N": ["A"], "B": ["B::C"]}]),
    (L.PHP, "$X = $Y[$Z]", '<?php\nfunction f() { $c = $d["x"]; }', [{"X": ["$c"], "Y": ["$d"], "Z": ['"x"']}]),
    (L.PHP, "$this->$M($$$A)", "<?php class A { function f() { $this->go(1); } }", [{"M": ["go"], "A": ["1"]}]),
    (L.KOTLIN, "fun $F($$$P): $T { $$$ }", 'fun a(x: Int): String { return "" }', [
        {"F": ["a"], "P": ["x: Int"], "T": ["String"]},
    ]),
    (L.SWIFT, "guard let $X = $Y else { $$$ }", "func f() { guard let a = b else { return } }", [
        {"X": ["a"], "Y": ["b"]},
    ]),
    (L.SCALA, "def $F($$$P): $T = $B", "object A { def f(x: Int): String = x.toString }", [
        {"F": ["f"], "P": ["x: Int"], "T": ["String"], "B": ["x.toString"]},
    ]),
    (L.BASH, "grep $A $B", "if true; then grep -r foo; fi\n", [{"A": ["-r"], "B": ["foo"]}]),
]  # fmt: skip


def captures(language: Language, pattern: str, code: str) -> list[dict[str, Any]]:
    _, matches = StructureFinder(Structure(pattern, language)).find(code.encode(), 0, 100)
    return [one.captures for one in matches]


@pytest.mark.parametrize(("language", "pattern", "code", "expected"), CASES)
def test_every_language_is_searched_by_its_structure(
    language: Language, pattern: str, code: str, expected: list[dict[str, Any]]
) -> None:
    assert captures(language, pattern, code) == expected


def test_every_language_with_code_has_a_case() -> None:
    assert {language for language, *_ in CASES} == CODE_LANGUAGES


def test_holes_with_one_name_match_equal_code_and_an_underscore_matches_anything() -> None:
    assert captures(L.PYTHON, "$X == $X", "a.b == a . b\na == c\n") == [{"X": ["a.b"]}]
    assert captures(L.PYTHON, "$_ == $_", "a == c\n") == [{}]


def test_several_statements_match_as_siblings() -> None:
    code = "def f():\n    h = open('x')\n    g(h)\n    h.close()\n    k = open('y')\n"
    _, (match,) = StructureFinder(Structure("$A = open($_)\n$$$\n$A.close()", L.PYTHON)).find(code.encode(), 0, 9)
    assert (match.first_line, match.last_line, match.captures) == (2, 4, {"A": ["h"]})


def test_unnamed_tokens_and_comments_may_differ_but_nothing_else() -> None:
    assert captures(L.PYTHON, "f($A)", "f(1, 2)\nf(3,)\nf(  # three\n  4)\n") == [{"A": ["3"]}, {"A": ["4"]}]
    assert captures(L.PYTHON, "import $A", "import a, b\nimport c\n") == [{"A": ["c"]}]
    assert captures(L.PYTHON, "$A + $B", "a - b\nc + d\n") == [{"A": ["c"], "B": ["d"]}]
    assert captures(L.JAVASCRIPT, "let $X = 1", "const a = 1\nlet b = 1\n") == [{"X": ["b"]}]


def test_a_deeply_nested_file_is_searched() -> None:
    code = "f(" * 3_000 + "g(1)" + ")" * 3_000
    assert captures(L.PYTHON, "g($X)", code) == [{"X": ["1"]}]


@pytest.mark.parametrize(
    ("pattern", "language"),
    [("$X", L.PYTHON), ("$$$", L.GO), ("def (", L.PYTHON), ("f(" * 200 + ")" * 200, L.PYTHON), ("a: 1", L.YAML)],
)
def test_an_invalid_pattern_is_rejected(pattern: str, language: Language) -> None:
    with pytest.raises(InvalidRequest, match=r"pattern:|language:"):
        StructureFinder(Structure(pattern, language))
