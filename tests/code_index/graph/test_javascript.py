"""Resolution of calls in JavaScript and TypeScript files."""

from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import Edge, Evidence, FileEdges, Unresolved, UseKind
from tests.code_index.graph.cases import calls_found, facts_of


def test_an_edge_has_the_line_evidence_and_confidence_of_the_call():
    facts = facts_of(
        {"a.js": "import { b } from './b.js';\n\nfunction run() { b(); }\n", "b.js": "export function b() {}\n"}
    )
    assert resolve(["a.js"], facts) == {
        "a.js": FileEdges([Edge(0, "b.js", 0, UseKind.CALL, 3, Evidence.IMPORTED, 0.95)], [], ["b.js"])
    }


def test_a_call_of_a_library_is_listed_with_its_name():
    facts = facts_of({"a.js": "import { get } from 'axios';\nget();\n"})
    assert resolve(["a.js"], facts)["a.js"].unresolved == [Unresolved(-1, "get", UseKind.CALL, 2, "axios")]


def test_the_last_assignment_counts_unless_it_is_in_a_branch():
    assert calls_found({"a.js": "function a() {}\nfunction b() {}\nlet f = a;\nf = b;\nf();\n"}) == {"a.js -> b"}
    assert calls_found({"a.js": "function a() {}\nfunction b() {}\nlet f = a;\nif (x) f = b;\nf();\n"}) == {
        "a.js -> a",
        "a.js -> b",
    }


def test_two_instances_of_a_class_are_distinguished():
    source = "class Box { constructor(f) { this.f = f; } }\nfunction a() {}\nfunction b() {}\n"
    source += "const one = new Box(a);\nconst two = new Box(b);\ntwo.f();\n"
    assert calls_found({"a.js": source}) == {"a.js -> Box.constructor", "a.js -> b"}


def test_objects_made_by_a_constructor_function_have_the_methods_of_its_prototype():
    source = "function Box() {}\nBox.prototype.open = function () { this.shut(); };\n"
    source += "Box.prototype.shut = function () {};\nnew Box().open();\n"
    assert calls_found({"a.js": source}) == {"a.js -> Box", "a.js -> open", "open -> shut"}


def test_commonjs_modules_export_what_they_assign():
    sources = {
        "a.js": "const { one } = require('./b');\nconst b = require('./b');\none();\nb.two();\nrequire('./c')();\n",
        "b.js": "exports.one = function () {};\nmodule.exports.two = () => 1;\n",
        "c.js": "module.exports = function () {};\n",
    }
    assert calls_found(sources) == {"a.js -> one", "a.js -> two", "a.js -> exports"}


def test_call_apply_and_bind_resolve_to_the_function_itself():
    source = "function f(g) { g(); }\nfunction h() {}\nf.call(null, h);\nf.apply(null, [h]);\n"
    source += "const b = f.bind(null, h);\nb();\n"
    assert calls_found({"a.js": source}) == {"a.js -> f", "f -> h"}


def test_generators_and_spread_arguments_pass_functions_on():
    source = "function a() {}\nfunction b() {}\nfunction* all() { yield a; yield* [b]; }\n"
    source += "for (const f of all()) f();\nfunction both(x, y) { y(); }\nboth(...[a, b]);\n"
    assert calls_found({"a.js": source}) == {"a.js -> all", "a.js -> a", "a.js -> b", "a.js -> both", "both -> b"}


def test_a_function_passed_to_an_array_method_or_a_timer_is_called():
    source = "function a() {}\nfunction b() {}\n[1].map(a);\nsetTimeout(b, 1);\n"
    assert calls_found({"a.js": source}) == {"a.js -> a", "a.js -> b"}


def test_the_edges_of_a_file_do_not_depend_on_which_other_files_are_resolved():
    sources = {
        "a.js": "import { add, run } from './b.js';\nfunction mine() {}\nadd(mine);\nrun();\n",
        "b.js": "const all = [];\nexport function add(f) { all.push(f); }\nexport function run() { all[0](); }\n",
        "c.js": "import { add } from './b.js';\nimport './a.js';\nfunction yours() {}\nadd(yours);\n",
    }
    facts = facts_of(sources)
    together = resolve(sorted(facts), facts)
    assert resolve(sorted(facts, reverse=True), facts) == together
    assert {path: resolve([path], facts)[path] for path in facts} == together


def test_modules_that_import_each_other_are_resolved():
    sources = {
        "a.js": "import { b } from './b.js';\nexport function a() { b(); }\n",
        "b.js": "import { a } from './a.js';\nexport function b() { a(); }\n",
    }
    assert calls_found(sources) == {"a -> b", "b -> a"}


def test_recursion_and_deep_nesting_terminate():
    for source in (
        "function f(g) { return f(() => g(f)); }\nf(f);\n",
        "f(" * 4_000 + ")" * 4_000,
        "[" * 4_000,
        "x" + ".y()" * 4_000,
        "if (a) {" * 2_000,
        "function a() {" * 2_000,
        "a => " * 2_000 + "1",
    ):
        facts = facts_of({"a.js": source})
        assert set(resolve(["a.js"], facts)) == {"a.js"}


def test_inheriting_throwing_and_reading_are_edges():
    sources = {
        "a.ts": "import { Base, LIMIT } from './b';\nclass A extends Base {}\nfunction f() { throw new A(); }\n"
        "f(LIMIT);\n",
        "b.ts": "export class Base {}\nexport const LIMIT = 3;\n",
    }
    facts = facts_of(sources)
    found = {(edge.kind, facts[edge.path].symbols[edge.target].name) for edge in resolve(["a.ts"], facts)["a.ts"].edges}
    assert found == {
        (UseKind.INHERIT, "Base"),
        (UseKind.RAISE, "A"),
        (UseKind.NEW, "A"),
        (UseKind.CALL, "f"),
        (UseKind.READ, "LIMIT"),
    }
