"""What a few changed files mean for the uses of a repository."""

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
    found = resolve_incrementally({path: old.get(path) for path in changed}, new, leading)
    assert set(found) <= set(new)
    return {path: own for path, own in {**edges, **found}.items() if path in new}


def resolved(sources: Sources) -> dict[str, FileEdges]:
    facts = facts_of(sources)
    return dict(resolve(facts, facts))


BELLS = "class Bell:\n    def ring(self): ...\n\ndef knock(): ...\n"
MAIN = "from bells import Bell, knock\n\ndef press():\n    Bell().ring()\n    knock()\n"
APART = "def alone():\n    return alone()\n"
BEFORE = {"bells.py": BELLS, "main.py": MAIN, "apart.py": APART}


def test_definitions_that_move_are_followed_without_resolving_those_who_use_them(monkeypatch: pytest.MonkeyPatch):
    asked: list[list[str]] = []

    def noted(paths: Sequence[str], facts: Facts, **options: Any) -> Mapping[str, FileEdges]:
        asked.append([*paths])
        return resolve(paths, facts, **options)

    monkeypatch.setattr(incremental, "resolve", noted)
    after = BEFORE | {"bells.py": "def sigh(): ...\n\n" + BELLS}
    assert relinked(BEFORE, after) == resolved(after)
    assert asked == [["bells.py"]]


def test_what_is_gone_is_used_by_nobody_any_more():
    after = BEFORE | {"bells.py": BELLS.replace("knock", "rap")}
    found = relinked(BEFORE, after)
    assert found == resolved(after)
    assert [one.use for one in found["main.py"].unresolved] == ["knock"]


def test_what_is_new_is_found_by_those_who_missed_it():
    before = BEFORE | {"bells.py": BELLS.replace("knock", "rap")}
    assert relinked(before, BEFORE) == resolved(BEFORE)


def test_a_file_that_is_gone_and_one_that_comes():
    without = {path: text for path, text in BEFORE.items() if path != "bells.py"}
    found = relinked(BEFORE, without)
    assert found == resolved(without)
    assert found["main.py"].imports == []
    with_more = BEFORE | {"ringing.py": "from bells import Bell\nBell().ring()\n"}
    assert relinked(BEFORE, with_more) == resolved(with_more)


def test_what_a_file_passes_on_is_found_by_way_of_it_and_no_more_when_it_does_not():
    by_way = {"bells.py": BELLS, "ways.py": "from bells import knock\n", "main.py": "from ways import knock\nknock()\n"}
    without = by_way | {"ways.py": "\n"}
    assert relinked(by_way, without) == resolved(without)
    assert relinked(without, by_way) == resolved(by_way)
    other = by_way | {"ways.py": "from gone import knock\n"}
    assert relinked(by_way, other) == resolved(other)


def test_what_callers_pass_is_followed_into_a_changed_file():
    before = {
        "doors.py": "def open_by(action):\n    return None\n",
        "main.py": "from doors import open_by\n\ndef ring(): ...\n\nopen_by(ring)\n",
    }
    after = before | {"doors.py": "def open_by(action):\n    return action()\n"}
    found = relinked(before, after)
    assert found == resolved(after)
    assert Edge(0, "main.py", 0, UseKind.CALL, 2, Evidence.FLOW, 0.75) in found["doors.py"].edges


@pytest.mark.parametrize(
    ("doors", "users", "opened"),
    [
        (
            "doors.ts",
            {"main.ts": 'import { openBy } from "./doors";\nfunction ring() {}\nopenBy(ring);\n'},
            (
                "export function openBy(action: () => void) {}\n",
                "export function openBy(action: () => void) { action(); }\n",
            ),
        ),
        (
            "doors.go",
            {"main.go": "package house\n\nfunc ring() {}\n\nfunc main() { openBy(ring) }\n"},
            (
                "package house\n\nfunc openBy(action func()) {}\n",
                "package house\n\nfunc openBy(action func()) { action() }\n",
            ),
        ),
    ],
)
def test_what_callers_pass_is_followed_into_a_changed_file_of_other_languages(
    doors: str, users: Sources, opened: tuple[str, str]
):
    before, after = ({doors: text, **users} for text in opened)
    found = relinked(before, after)
    assert found == resolved(after)
    assert [(edge.path, edge.evidence) for edge in found[doors].edges if edge.kind is UseKind.CALL] == [
        (next(iter(users)), Evidence.FLOW)
    ]
    assert relinked(after, before) == resolved(before)


def test_of_more_users_than_are_resolved_anew_none_is_left_with_a_wrong_definition():
    users = {
        f"user{number:02}.py": "from bells import knock\nknock()\n"
        for number in range(incremental.MAX_RESOLVED_AGAIN + 5)
    }
    before = {"bells.py": "def knock(): ...\n", **users}
    after = before | {"bells.py": "def other(): ...\n"}
    found = relinked(before, after)
    assert not any(found[path].edges for path in users)
    for path in users:
        assert [one._replace(use="knock") for one in found[path].unresolved] == [
            Unresolved(-1, "knock", UseKind.CALL, 2)
        ]


NAMES = st.sampled_from(["ring", "knock", "press", "rap"])
FILES = st.sampled_from(["a", "b", "c"])


@st.composite
def sources(draw: st.DrawFn) -> Sources:
    """Files whose functions call those of others by name; none is passed on."""
    found: Sources = {}
    for own in ("a", "b", "c"):
        taken = draw(st.lists(st.tuples(FILES, NAMES), max_size=3, unique=True))
        lines = [f"from {file} import {name}_of_{file}" for file, name in taken if file != own]
        called = [f"{name}_of_{file}" for file, name in taken if file != own]
        for name in draw(st.lists(NAMES, max_size=3, unique=True)):
            lines += [f"def {name}_of_{own}():", *(f"    {one}()" for one in called), "    return 1"]
        found[f"{own}.py"] = "\n".join([*lines, *(f"{name}()" for name in called)]) + "\n"
    return found


@given(sources(), sources(), FILES)
@settings(max_examples=40)
def test_mending_one_file_comes_to_what_resolving_all_comes_to(before: Sources, others: Sources, changed: str):
    after = before | {f"{changed}.py": others[f"{changed}.py"]}
    found, wanted = relinked(before, after), resolved(after)
    for path in after:
        assert (found[path].edges, found[path].imports) == (wanted[path].edges, wanted[path].imports)
        assert {(one.source, one.line) for one in found[path].unresolved} == {
            (one.source, one.line) for one in wanted[path].unresolved
        }
