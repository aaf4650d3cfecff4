"""Record the syntax trees of a sample and the node kinds that the readers use, after a grammar was updated on purpose.

    python -m tests.code_index.parsing.grammar_nodes

Review the difference of `grammar_nodes.json`: a changed tree usually needs a change in `code_index/parsing`.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.languages import load_grammar, load_parser

RECORD = Path(__file__).with_suffix(".json")
CODE = Path(__file__).parents[3] / "src" / "scrubjay" / "code_index"

SAMPLES = {
    Language.PYTHON: (
        "import os\n\nclass A(B):\n    @d\n    def m(self, x: int = 1) -> str:\n        return os.f(x).y\n"
    ),
    Language.JAVASCRIPT: (
        "import a, {b as c} from 'm';\nclass A extends B { m(x = 1) { return c(x).y; } }\nconst f = () => new A();\n"
    ),
    Language.TYPESCRIPT: (
        "import type {T} from 'm';\n"
        "interface I { m(x: T): void }\n"
        "enum E { A }\n"
        "export class A<T> implements I { m(x: T) { g<T>(x); } }\n"
    ),
    Language.TSX: "export const A = ({x}: P) => <B y={x}>text</B>;\n",
    Language.GO: (
        'package p\n\nimport a "m"\n\ntype T struct{ A int }\n\nfunc (t *T) M(x int) error { return a.F(x, t.A) }\n'
    ),
    Language.RUST: (
        "use a::{b, c as d};\nstruct S<T> { x: T }\nimpl<T> Tr for S<T> { fn m(&self) -> u8 { d(self.x)?; v![1] } }\n"
    ),
    Language.JAVA: (
        "package p;\nimport a.B;\nclass A<T> extends B implements C { @D int f; A(int x) { this.m(x); } }\n"
    ),
    Language.C: ('#include "a.h"\n#define M 1\nstruct S { int x; };\nstatic int f(struct S *s) { return g(s->x); }\n'),
    Language.CPP: (
        "namespace n {\ntemplate <class T> class A : public B { public: int m() { return n::f(this->x); } };\n}\n"
    ),
    Language.CSHARP: (
        "using A = B.C;\nnamespace N { class D<T> : E { [F] int G { get; set; } void M(T x) { x.H(); } } }\n"
    ),
    Language.RUBY: (
        "require 'a'\n"
        "module M\n"
        "  class A < B\n"
        "    attr_reader :x\n"
        "    def self.m(y = 1)\n"
        "      C::D.new(y).z\n"
        "    end\n"
        "  end\n"
        "end\n"
    ),
    Language.PHP: (
        "<?php\n"
        "namespace N;\n"
        "use A\\B as C;\n"
        "class D extends C implements E { function m(int $x) { return $this->f(C::g($x)); } }\n"
    ),
    Language.KOTLIN: (
        "package p\n\n"
        "import a.B\n\n"
        "class A<T>(val x: T) : B() {\n"
        "    fun m(y: Int = 1): T {\n"
        "        return f(x).g(y)\n"
        "    }\n"
        "}\n"
    ),
    Language.SWIFT: ("import A\nclass B<T>: C { var x: T\n  func m(_ y: Int) -> T { return self.f(y).x } }\n"),
    Language.SCALA: ("package p\nimport a.{B => C}\nclass A[T](x: T) extends C { def m(y: Int): T = f(x).g(y) }\n"),
    Language.BASH: 'source ./a.sh\nfunction f() { local x="$1"; g "$x" | h; }\n',
    Language.MARKDOWN: "# A\n\ntext\n\n## B\n\n- item\n\n```py\ncode\n```\n",
    Language.JSON: '{"a": [1, true, null], "b": {"c": "d"}}\n',
    Language.YAML: "a:\n  - b: &x 1\n  - 'c'\n",
    Language.SQL: ("CREATE TABLE t (id INT PRIMARY KEY);\nCREATE VIEW v AS SELECT id FROM t WHERE id > 1;\n"),
    Language.HTML: '<html><body><h1 id="a">b</h1><script src="c.js"></script></body></html>\n',
    Language.CSS: "@import 'a';\n.b #c:hover { color: red; }\n@media print { p { margin: 0 } }\n",
}


class GrammarRecord(TypedDict):
    """The tree, node kinds and fields that one grammar must keep."""

    tree: str
    kinds: list[str]
    fields: list[str]


def recorded() -> dict[str, GrammarRecord]:
    return json.loads(RECORD.read_text("utf-8"))


def tree_of(language: Language) -> str:
    """Return the syntax tree of the sample, with its fields."""
    return str(load_parser(language).parse(SAMPLES[language].encode()).root_node)


def kinds_of(language: Language) -> set[str]:
    """Return the names of all named nodes of the grammar."""
    grammar = load_grammar(language)
    return {
        name
        for number in range(grammar.node_kind_count)
        if grammar.node_kind_is_named(number) and (name := grammar.node_kind_for_id(number))
    }


def fields_of(language: Language) -> set[str]:
    grammar = load_grammar(language)
    return {name for number in range(1, grammar.field_count + 1) if (name := grammar.field_name_for_id(number))}


def _literals() -> Iterator[str]:
    for folder in ("parsing", "graph"):
        for path in sorted((CODE / folder).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def main() -> None:
    used = {*_literals()}
    found = {
        language: GrammarRecord(
            tree=tree_of(language),
            kinds=sorted(kinds_of(language) & used),
            fields=sorted(fields_of(language) & used),
        )
        for language in SAMPLES
    }
    RECORD.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
