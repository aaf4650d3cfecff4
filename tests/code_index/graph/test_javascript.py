from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import Edge, Evidence, FileEdges, Unresolved, UseKind
from tests.code_index.graph.cases import calls_found, facts_of


def test_an_edge_tells_where_the_call_is_and_why_it_is_believed():
    facts = facts_of(
        {"a.js": "import { b } from './b.js';\n\nfunction run() { b(); }\n", "b.js": "export function b() {}\n"}
    )
    assert resolve(["a.js"], facts) == {
        "a.js": FileEdges([Edge(0, "b.js", 0, UseKind.CALL, 3, Evidence.IMPORTED, 0.95)], [], ["b.js"])
    }


def test_a_call_of_a_library_is_listed_with_its_name():
    facts = facts_of({"a.js": "import { get } from 'axios';\nget();\n"})
    assert resolve(["a.js"], facts)["a.js"].unresolved == [Unresolved(-1, "get", UseKind.CALL, 2, "axios")]


def test_the_last_assignment_counts_where_no_choice_is_between():
    assert calls_found({"a.js": "function a() {}\nfunction b() {}\nlet f = a;\nf = b;\nf();\n"}) == {"a.js -> b"}
    assert calls_found({"a.js": "function a() {}\nfunction b() {}\nlet f = a;\nif (x) f = b;\nf();\n"}) == {
        "a.js -> a",
        "a.js -> b",
    }


def test_two_instances_of_a_class_are_told_apart():
    source = "class Box { constructor(f) { this.f = f; } }\nfunction a() {}\nfunction b() {}\n"
    source += "const one = new Box(a);\nconst two = new Box(b);\ntwo.f();\n"
    assert calls_found({"a.js": source}) == {"a.js -> Box.constructor", "a.js -> b"}


def test_prototypes_give_methods_to_what_a_function_makes():
    source = "function Box() {}\nBox.prototype.open = function () { this.shut(); };\n"
    source += "Box.prototype.shut = function () {};\nnew Box().open();\n"
    assert calls_found({"a.js": source}) == {"a.js -> Box", "a.js -> open", "open -> shut"}


def test_modules_of_common_js_export_what_they_assign():
    sources = {
        "a.js": "const { one } = require('./b');\nconst b = require('./b');\none();\nb.two();\nrequire('./c')();\n",
        "b.js": "exports.one = function () {};\nmodule.exports.two = () => 1;\n",
        "c.js": "module.exports = function () {};\n",
    }
    assert calls_found(sources) == {"a.js -> one", "a.js -> two", "a.js -> exports"}


def test_call_apply_and_bind_lead_to_the_function_itself():
    source = "function f(g) { g(); }\nfunction h() {}\nf.call(null, h);\nf.apply(null, [h]);\n"
    source += "const b = f.bind(null, h);\nb();\n"
    assert calls_found({"a.js": source}) == {"a.js -> f", "f -> h"}


def test_generators_and_spread_hand_functions_on():
    source = "function a() {}\nfunction b() {}\nfunction* all() { yield a; yield* [b]; }\n"
    source += "for (const f of all()) f();\nfunction both(x, y) { y(); }\nboth(...[a, b]);\n"
    assert calls_found({"a.js": source}) == {"a.js -> all", "a.js -> a", "a.js -> b", "a.js -> both", "both -> b"}


def test_a_function_given_to_a_method_of_arrays_or_a_timer_is_called():
    source = "function a() {}\nfunction b() {}\n[1].map(a);\nsetTimeout(b, 1);\n"
    assert calls_found({"a.js": source}) == {"a.js -> a", "a.js -> b"}


def test_what_a_file_leads_to_does_not_depend_on_which_other_files_are_resolved():
    sources = {
        "a.js": "import { add, run } from './b.js';\nfunction mine() {}\nadd(mine);\nrun();\n",
        "b.js": "const all = [];\nexport function add(f) { all.push(f); }\nexport function run() { all[0](); }\n",
        "c.js": "import { add } from './b.js';\nimport './a.js';\nfunction yours() {}\nadd(yours);\n",
    }
    facts = facts_of(sources)
    whole = resolve(sorted(facts), facts)
    assert resolve(sorted(facts, reverse=True), facts) == whole
    assert {path: resolve([path], facts)[path] for path in facts} == whole


def test_modules_that_import_each_other_are_resolved():
    sources = {
        "a.js": "import { b } from './b.js';\nexport function a() { b(); }\n",
        "b.js": "import { a } from './a.js';\nexport function b() { a(); }\n",
    }
    assert calls_found(sources) == {"a -> b", "b -> a"}


def test_recursion_and_deep_nesting_end():
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


def test_inheriting_throwing_and_reading_are_edges_too():
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
