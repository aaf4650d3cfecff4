"""Resolution of calls by names, scopes and declared types."""

from typing import Any

import pytest

from scrubjay.code_index.graph.callback_flow import CallbackFlow
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import Edge, Evidence, FileEdges, Unresolved, UseKind
from tests.code_index.graph.cases import calls_found, facts_of

_CASES = {
    "java": (
        {
            "app/Box.java": "package app;\nimport app.lock.Lock;\npublic class Box extends Base {\n"
            "  private Lock lock = new Lock();\n  void open() { lock.turn(); shut(); helper(); }\n"
            "  void shut() {}\n}\n",
            "app/Base.java": "package app;\npublic class Base {\n  void helper() {}\n}\n",
            "app/lock/Lock.java": "package app.lock;\npublic class Lock {\n  public Lock() {}\n"
            "  public void turn() {}\n}\n",
        },
        {"Box -> Lock.Lock", "Box.open -> Lock.turn", "Box.open -> Box.shut", "Box.open -> Base.helper"},
    ),
    "csharp": (
        {
            "Box.cs": "namespace App {\nclass Lock { public void Turn() {} }\n"
            "class Box {\n  void Open() { var x = new Lock(); x.Turn(); Shut(); }\n  void Shut() {}\n}\n}\n"
        },
        {"Box.Open -> App.Lock", "Box.Open -> Lock.Turn", "Box.Open -> Box.Shut"},
    ),
    "c": (
        {
            "main.c": '#include "store.h"\nstatic void helper(void) {}\n'
            "int main(void) { helper(); open_store(); return 0; }\n",
            "store.h": "void open_store(void);\n",
            "store.c": '#include "store.h"\nvoid open_store(void) {}\n',
        },
        {"main -> helper", "main -> open_store"},
    ),
    "cpp": (
        {
            "box.cpp": "class Lock { public: void turn() {} };\n"
            "void run(Lock& lock) { lock.turn(); Lock other; other.turn(); }\n"
        },
        {"run -> Lock.turn"},
    ),
    "ruby": (
        {
            "box.rb": "class Lock\n  def turn\n  end\nend\n\nclass Box\n  def open\n    lock = Lock.new\n"
            "    lock.turn\n"
            "    shut\n  end\n\n  def shut\n  end\nend\n"
        },
        {"Box.open -> Lock", "Box.open -> Lock.turn", "Box.open -> Box.shut"},
    ),
    "php": (
        {
            "box.php": "<?php\nclass Lock { function turn() {} }\nclass Box {\n  private Lock $lock;\n"
            "  function open() { $this->lock->turn(); $this->shut(); }\n  function shut() {}\n}\n"
        },
        {"Box.open -> Lock.turn", "Box.open -> Box.shut"},
    ),
    "kotlin": (
        {
            "box.kt": "class Lock { fun turn() {} }\nclass Box(private val lock: Lock) {\n"
            "  fun open() { lock.turn() }\n}\n"
        },
        {"Box.open -> Lock.turn"},
    ),
    "swift": (
        {
            "box.swift": "class Lock { func turn() {} }\nclass Box {\n  let lock: Lock\n"
            "  func open() { self.lock.turn() }\n}\n"
        },
        {"Box.open -> Lock.turn"},
    ),
    "scala": (
        {"box.scala": "class Lock { def turn() = 1 }\nclass Box(lock: Lock) {\n  def open() = { lock.turn() }\n}\n"},
        {"Box.open -> Lock.turn"},
    ),
    "bash": ({"run.sh": "helper() { echo a; }\nmain() { helper; }\nmain\n"}, {"main -> helper", "run.sh -> main"}),
}


@pytest.mark.parametrize("language", _CASES)
def test_calls_are_resolved_by_scopes_and_declared_types(language: str):
    sources, calls = _CASES[language]
    assert calls_found(sources) == calls


def test_an_edge_has_the_line_evidence_and_confidence_of_the_call():
    facts = facts_of(
        {"a.go": "package a\ntype Box struct{}\nfunc (b *Box) Open() {}\nfunc run(b *Box) {\n\tb.Open()\n}\n"}
    )
    edges = resolve(["a.go"], facts)["a.go"]
    names = [symbol.name for symbol in facts["a.go"].symbols]
    assert [edge for edge in edges.edges if edge.kind is UseKind.CALL] == [
        Edge(names.index("run"), "a.go", names.index("Open"), UseKind.CALL, 5, Evidence.RECEIVER, 0.9)
    ]


def test_a_rare_name_is_guessed_and_a_common_one_is_not():
    source = "package a\ntype Box struct{}\nfunc (b *Box) Unfold() {}\nfunc (b *Box) Update() {}\n"
    facts = facts_of({"a.go": source + "func run(x any) { x.Unfold(); x.Update() }\n"})
    edges = resolve(["a.go"], facts)["a.go"]
    calls = [edge for edge in edges.edges if edge.kind is UseKind.CALL]
    assert [(edge.evidence, edge.confidence) for edge in calls] == [(Evidence.UNIQUE, 0.4)]
    assert [(each.use, each.external) for each in edges.unresolved] == [("x.Update", "")]


def test_a_call_of_a_library_is_listed_with_its_name():
    facts = facts_of({"a.go": 'package a\nimport "fmt"\nfunc run() { fmt.Println() }\n'})
    assert resolve(["a.go"], facts)["a.go"].unresolved == [Unresolved(0, "fmt.Println", UseKind.CALL, 3, "fmt")]


def test_empty_and_broken_files_have_no_edges():
    facts = facts_of({"a.go": "", "b.rs": "\x00(((", "c.java": "}}}}"})
    assert resolve(facts, facts) == {path: FileEdges([], [], []) for path in facts}


def test_the_edges_of_a_file_do_not_depend_on_which_other_files_are_resolved():
    sources = {
        "src/lib.rs": "mod a;\nmod b;\n",
        "src/a.rs": "pub struct A;\nimpl A { pub fn go(&self) { crate::b::run(); } }\n",
        "src/b.rs": "use crate::a::A;\npub fn run() { let a: A = A; a.go(); }\n",
    }
    facts = facts_of(sources)
    together = resolve(facts, facts)
    assert {path: resolve([path], facts)[path] for path in facts} == together


def test_two_types_of_one_name_are_distinguished_by_package():
    store = "package {}\ntype Store struct{{}}\nfunc (s *Store) Fetch() {{}}\n"
    facts = facts_of(
        {
            "a.go": 'package a\nimport "example.com/app/two"\nfunc run(s *two.Store) { s.Fetch() }\n',
            "one/s.go": store.format("one"),
            "two/s.go": store.format("two"),
        }
    )
    calls = [edge for edge in resolve(["a.go"], facts)["a.go"].edges if edge.kind is UseKind.CALL]
    assert [(edge.path, edge.evidence) for edge in calls] == [("two/s.go", Evidence.RECEIVER)]


def test_a_type_whose_base_is_a_part_of_itself_does_not_recurse() -> None:
    facts = facts_of(
        {"a.rs": "trait Error: Error::Base {}\nfn go(error: &dyn Error) { error.run(); Error::Base::make(); }\n"}
    )
    assert {edge.kind for edge in resolve(["a.rs"], facts)["a.rs"].edges} <= {UseKind.TYPE, UseKind.INHERIT}


def test_an_inherent_method_takes_precedence_over_a_trait_method_of_the_same_name() -> None:
    source = """trait Pilot { fn fly(&self); }
struct Human;
impl Pilot for Human { fn fly(&self) {} }
impl Human { fn fly(&self) {} }
fn run(h: &Human) { h.fly(); }
"""
    facts = facts_of({"src/lib.rs": source})
    calls = [edge for edge in resolve(["src/lib.rs"], facts)["src/lib.rs"].edges if edge.kind is UseKind.CALL]
    assert [facts["src/lib.rs"].symbols[edge.target].line for edge in calls] == [4]


def test_a_long_chain_of_function_values_is_not_followed_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"x{number} := x{number - 1}()" for number in range(1, 1_000)]
    source = "package a\nfunc run(x0 func()) {\n" + "\n".join(lines) + "\n}\n"
    visits: list[int] = []
    sources = CallbackFlow._sources  # pyright: ignore[reportPrivateUsage]

    def counting(self: CallbackFlow, *arguments: Any) -> Any:
        visits.append(1)
        return sources(self, *arguments)

    monkeypatch.setattr(CallbackFlow, "_sources", counting)
    facts = facts_of({"a.go": source})
    assert resolve(["a.go"], facts)["a.go"].edges == []
    assert len(visits) < 30 * len(lines)


def test_a_rust_function_may_be_re_exported_under_the_name_of_its_module():
    sources = {
        "src/lib.rs": "pub mod fs;\nmod all;\n",
        "src/fs/mod.rs": "mod metadata;\npub use self::metadata::metadata;\n",
        "src/fs/metadata.rs": "pub fn metadata() {}\npub fn other() {}\n",
        "src/all.rs": "use crate::fs;\nfn run() { crate::fs::metadata(); }\nfn again() { fs::metadata(); }\n"
        "fn deeper() { fs::metadata::other(); }\n",
    }
    assert calls_found(sources) == {"run -> metadata", "again -> metadata", "deeper -> other"}
