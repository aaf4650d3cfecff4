"""How changes of a few files update the edges of a repository."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.code_index.discovery.languages import language_by_name
from scrubjay.code_index.graph import incremental
from scrubjay.code_index.graph.incremental import resolve_incrementally
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import Edge, Evidence, Facts, FileEdges, FileFacts, Language, Unresolved, UseKind
from scrubjay.code_index.parsing.reader import read_facts

Sources = dict[str, str]


def facts_of(sources: Sources) -> dict[str, FileFacts]:
    return {path: read_facts(text.encode(), language_by_name(path) or Language.TEXT) for path, text in sources.items()}


def relinked(before: Sources, after: Sources) -> dict[str, FileEdges]:
    """Return all edges after a change that was resolved incrementally."""
    old, new = facts_of(before), facts_of(after)
    edges = dict(resolve(old, old))
    changed = {path for path in {**before, **after} if before.get(path) != after.get(path)}
    leading = {
        path: own
        for path, own in edges.items()
        if changed & {*own.imports, *(edge.path for edge in own.edges)} or path in changed
    }
    updated = resolve_incrementally({path: old.get(path) for path in changed}, new, leading)
    assert set(updated) <= set(new)
    return {path: own for path, own in {**edges, **updated}.items() if path in new}


def resolved(sources: Sources) -> dict[str, FileEdges]:
    facts = facts_of(sources)
    return dict(resolve(facts, facts))


BELLS = "class Bell:\n    def ring(self): ...\n\ndef knock(): ...\n"
MAIN = "from bells import Bell, knock\n\ndef press():\n    Bell().ring()\n    knock()\n"
UNRELATED = "def alone():\n    return alone()\n"
BEFORE = {"bells.py": BELLS, "main.py": MAIN, "unrelated.py": UNRELATED}


def test_edges_follow_moved_definitions_without_resolving_their_users_again(monkeypatch: pytest.MonkeyPatch):
    resolved_paths: list[list[str]] = []

    def recording_resolve(paths: Sequence[str], facts: Facts, **options: Any) -> Mapping[str, FileEdges]:
        resolved_paths.append([*paths])
        return resolve(paths, facts, **options)

    monkeypatch.setattr(incremental, "resolve", recording_resolve)
    after = BEFORE | {"bells.py": "def sigh(): ...\n\n" + BELLS}
    assert relinked(BEFORE, after) == resolved(after)
    assert resolved_paths == [["bells.py"]]


def test_uses_of_a_removed_definition_become_unresolved():
    after = BEFORE | {"bells.py": BELLS.replace("knock", "rap")}
    edges = relinked(BEFORE, after)
    assert edges == resolved(after)
    assert [unresolved.use for unresolved in edges["main.py"].unresolved] == ["knock"]


def test_a_new_definition_resolves_uses_that_were_unresolved():
    before = BEFORE | {"bells.py": BELLS.replace("knock", "rap")}
    assert relinked(before, BEFORE) == resolved(BEFORE)


def test_a_removed_file_and_an_added_file_update_the_edges():
    without = {path: text for path, text in BEFORE.items() if path != "bells.py"}
    edges = relinked(BEFORE, without)
    assert edges == resolved(without)
    assert edges["main.py"].imports == []
    with_more = BEFORE | {"ringing.py": "from bells import Bell\nBell().ring()\n"}
    assert relinked(BEFORE, with_more) == resolved(with_more)


def test_a_re_exported_name_is_resolved_only_while_it_is_re_exported():
    re_exporting = {
        "bells.py": BELLS,
        "ways.py": "from bells import knock\n",
        "main.py": "from ways import knock\nknock()\n",
    }
    without = re_exporting | {"ways.py": "\n"}
    assert relinked(re_exporting, without) == resolved(without)
    assert relinked(without, re_exporting) == resolved(re_exporting)
    other = re_exporting | {"ways.py": "from gone import knock\n"}
    assert relinked(re_exporting, other) == resolved(other)


def test_arguments_of_callers_are_followed_into_a_changed_file():
    before = {
        "actions.py": "def open_by(action):\n    return None\n",
        "main.py": "from actions import open_by\n\ndef ring(): ...\n\nopen_by(ring)\n",
    }
    after = before | {"actions.py": "def open_by(action):\n    return action()\n"}
    edges = relinked(before, after)
    assert edges == resolved(after)
    assert Edge(0, "main.py", 0, UseKind.CALL, 2, Evidence.FLOW, 0.75) in edges["actions.py"].edges


@pytest.mark.parametrize(
    ("path", "users", "versions"),
    [
        (
            "actions.ts",
            {"main.ts": 'import { openBy } from "./actions";\nfunction ring() {}\nopenBy(ring);\n'},
            (
                "export function openBy(action: () => void) {}\n",
                "export function openBy(action: () => void) { action(); }\n",
            ),
        ),
        (
            "actions.go",
            {"main.go": "package house\n\nfunc ring() {}\n\nfunc main() { openBy(ring) }\n"},
            (
                "package house\n\nfunc openBy(action func()) {}\n",
                "package house\n\nfunc openBy(action func()) { action() }\n",
            ),
        ),
    ],
)
def test_arguments_of_callers_are_followed_into_a_changed_file_of_other_languages(
    path: str, users: Sources, versions: tuple[str, str]
):
    before, after = ({path: text, **users} for text in versions)
    edges = relinked(before, after)
    assert edges == resolved(after)
    assert [(edge.path, edge.evidence) for edge in edges[path].edges if edge.kind is UseKind.CALL] == [
        (next(iter(users)), Evidence.FLOW)
    ]
    assert relinked(after, before) == resolved(before)


def test_users_beyond_the_limit_of_repeated_resolution_keep_no_wrong_edges():
    users = {
        f"user{number:02}.py": "from bells import knock\nknock()\n" for number in range(incremental.MAX_REPEATED + 5)
    }
    before = {"bells.py": "def knock(): ...\n", **users}
    after = before | {"bells.py": "def other(): ...\n"}
    edges = relinked(before, after)
    assert not any(edges[path].edges for path in users)
    for path in users:
        assert [unresolved._replace(use="knock") for unresolved in edges[path].unresolved] == [
            Unresolved(-1, "knock", UseKind.CALL, 2)
        ]


NAMES = st.sampled_from(["ring", "knock", "press", "rap"])
FILES = st.sampled_from(["a", "b", "c"])


@st.composite
def sources(draw: st.DrawFn) -> Sources:
    """Draw files whose functions call those of other files by name. No function is passed as a value."""
    files: Sources = {}
    for own in ("a", "b", "c"):
        imported = draw(st.lists(st.tuples(FILES, NAMES), max_size=3, unique=True))
        lines = [f"from {file} import {name}_of_{file}" for file, name in imported if file != own]
        called = [f"{name}_of_{file}" for file, name in imported if file != own]
        for name in draw(st.lists(NAMES, max_size=3, unique=True)):
            lines += [f"def {name}_of_{own}():", *(f"    {one}()" for one in called), "    return 1"]
        files[f"{own}.py"] = "\n".join([*lines, *(f"{name}()" for name in called)]) + "\n"
    return files


@given(sources(), sources(), FILES)
@settings(max_examples=40)
def test_incremental_resolution_of_one_file_equals_full_resolution(before: Sources, others: Sources, changed: str):
    after = before | {f"{changed}.py": others[f"{changed}.py"]}
    edges, expected = relinked(before, after), resolved(after)
    for path in after:
        assert (edges[path].edges, edges[path].imports) == (expected[path].edges, expected[path].imports)
        assert {(unresolved.source, unresolved.line) for unresolved in edges[path].unresolved} == {
            (unresolved.source, unresolved.line) for unresolved in expected[path].unresolved
        }
