"""The SQL files: each query explained, used, and behind the one predicate of visibility."""

import re
from pathlib import Path

import pytest

import recollect.storage.sqlite
from recollect.storage.sqlite.named_queries import load_queries, read_queries

PACKAGE = Path(recollect.storage.sqlite.__path__[0])
FILES = sorted(path.stem for path in (PACKAGE / "queries").glob("*.sql"))
QUERIES = [(file, name) for file in FILES for name in read_queries(file)]

READS_MEMORIES = re.compile(r"\b(?:FROM|JOIN|UPDATE)\s+memory\b")

# These read memories without asking who may see them. Each says why that is right.
UNSCOPED = {
    ("memories", "rivals"): "a write looks for its own subject in exactly its own audience",
    ("memories", "conflicts"): "others of the very audience that was found visible; brings ids only",
    ("memories", "supersede"): "changes those that `rivals` found",
    ("memories", "restore"): "changes what gave way, in the same audience, to those that `visible_by_id` found",
    ("memories", "keep_version"): "copies the one that `keyed` found, with its audience",
    ("memories", "lacks_source"): "whether what a write was made of is still there; brings nothing else",
    ("memories", "versions"): "what was found visible, as it was before; brings places only",
    ("memories", "by_ids"): "maintenance: forgetting; brings no content",
    ("memories", "revised"): "a write looks for what it changes, which was found visible, in exactly its audience",
    ("transfer", "census"): "maintenance: moving out; numbers",
    ("transfer", "moving"): "maintenance: moving out",
    ("transfer", "known"): "maintenance: moving in; brings ids only, of those that it was given",
    ("transfer", "lacks_successor"): "maintenance: moving in; brings no content",
    ("staging", "census"): "maintenance: moving in; numbers",
    ("staging", "in_the_way"): "maintenance: moving in; brings places only",
    ("staging", "without_successor"): "maintenance: moving in; brings places only",
    ("staging", "bring_memories"): "maintenance: moving in; copies memories with their audience",
    ("staging", "bring_vectors"): "maintenance: moving in; copies what belongs to them",
    ("staging", "bring_uses"): "maintenance: moving in; copies what belongs to them",
    ("staging", "bring_links"): "maintenance: moving in; copies what belongs to them",
    ("staging", "bring_terms"): "maintenance: moving in; copies what belongs to them",
    ("staging", "told_of"): "maintenance: moving in; brings ids only",
    ("staging", "told_of_by_jobs"): "maintenance: moving in; brings ids only",
    ("staging", "forget_items"): "maintenance: moving in; brings nothing",
    ("staging", "count_anew"): "a number over all scopes",
    ("staging", "erase_terms_next"): "maintenance: moving in; brings no content",
    ("memories", "keyed"): "a write looks for its own key in exactly its own audience",
    ("memories", "revise"): "changes the one that `keyed` found",
    ("memories", "erase"): "erases those that `visible_by_id` found in the same transaction",
    ("memories", "count_memories"): "a number over all scopes",
    ("memories", "narrowed"): "places for a page, which is then chosen by who may see it",
    ("memories", "count_kinds"): "numbers over all scopes",
    ("memories", "scan"): "maintenance: rebuilding",
    ("memories", "not_rebuilt"): "maintenance: rebuilding; brings no content",
    ("memories", "count_not_rebuilt"): "maintenance: rebuilding; a number",
    ("memories", "keep_traits"): "writes what was found visible, or is being rebuilt",
    ("memories", "note_uses"): "counts what was answered before; brings nothing back",
    ("embeddings", "count_lacking"): "maintenance: embedding; a number",
    ("embeddings", "lacking"): "maintenance: embedding",
    ("embeddings", "keep"): "maintenance: embedding; brings no content",
    ("embeddings", "no_longer_without"): "maintenance: embedding; brings no content",
    ("memory_index", "changed_since"): "copies memories with their audience; search chooses by audience",
    ("memory_index", "everything"): "copies memories with their audience; search chooses by audience",
    ("forgetting", "ageing"): "maintenance: forgetting; brings no content",
    ("forgetting", "vitals"): "maintenance: forgetting; numbers",
    ("sessions", "tells_of_forgotten"): "whether one is there at all, for a call that told of it before",
    ("store", "not_indexed"): "maintenance: checking; a number",
    ("store", "indexed_in_vain"): "maintenance: checking; a number",
    ("store", "without_vector"): "maintenance: checking; a number",
    ("store", "miscounted"): "maintenance: checking; a number",
}


def test_every_query_that_reads_memories_asks_who_may_see_them() -> None:
    unguarded = {
        (file, name)
        for file, name in QUERIES
        if READS_MEMORIES.search(read_queries(file)[name])
        and not re.search(r"\{(\w+\.)?visible\}", read_queries(file)[name])
    }
    assert unguarded == set(UNSCOPED)


def test_who_sees_what_is_said_once() -> None:
    said = [(file, name) for file, name in QUERIES if ":session_id" in read_queries(file)[name]]
    assert said == [
        ("memories", "audiences"),
        ("memories", "find_audience"),
        ("memories", "add_audience"),
        ("memories", "add"),
        ("memories", "revise"),
        ("working", "there"),
        ("working", "there_or_anywhere"),
        ("working", "add"),
    ]


@pytest.mark.parametrize(("file", "name"), QUERIES)
def test_every_query_says_what_it_is_for_and_is_used(file: str, name: str) -> None:
    text = read_queries(file)[name]
    assert re.match(r"-- [A-Z].+", text), "begins with a comment"
    fragments = "".join(read_queries(file).values())
    code = "".join(path.read_text() for path in PACKAGE.glob("*.py") if f'load_queries("{file}")' in path.read_text())
    passed_on = rf'_(?:one|all|projects)\((?:connection, )?"{name}"'
    assert f'_SQL["{name}"]' in code or f"{{{name}}}" in fragments or re.search(passed_on, code)


def test_fragments_are_put_in_without_their_comments() -> None:
    find = load_queries("memories")["find"]
    assert "{" not in find
    assert "--" not in find
    assert "scope = 'global'" in find
