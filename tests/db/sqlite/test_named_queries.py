"""The SQL files: each query explained, used, and behind the one predicate of visibility."""

import re
from pathlib import Path

import pytest

import scrubjay
from scrubjay.db.sqlite.named_queries import load_queries, read_queries

PACKAGE = Path(scrubjay.__path__[0])
FILES = sorted(
    path.relative_to(PACKAGE).with_suffix("").as_posix()
    for path in PACKAGE.rglob("*.sql")
    if path.parent.name != "migrations"
)
TEXTS = {file: read_queries((PACKAGE / file).with_suffix(".sql")) for file in FILES}
QUERIES = [(file, name) for file in FILES for name in TEXTS[file]]

READS_MEMORIES = re.compile(r"\b(?:FROM|JOIN|UPDATE)\s+memory\b")

# These read memories without asking who may see them. Each says why that is right.
UNSCOPED = {
    ("features/memory/queries", "rivals"): "a write looks for its own subject in exactly its own audience",
    ("features/memory/queries", "conflicts"): "others of the very audience that was found visible; brings ids only",
    ("features/memory/queries", "supersede"): "changes those that `rivals` found",
    (
        "features/memory/queries",
        "restore",
    ): "changes what gave way, in the same audience, to those that `visible_by_id` found",
    ("features/memory/queries", "keep_version"): "copies the one that `keyed` found, with its audience",
    ("features/memory/queries", "lacks_source"): "whether what a write was made of is still there; brings nothing else",
    ("features/memory/queries", "versions"): "what was found visible, as it was before; brings places only",
    ("features/memory/queries", "by_ids"): "maintenance: forgetting; brings no content",
    (
        "features/memory/queries",
        "revised",
    ): "a write looks for what it changes, which was found visible, in exactly its audience",
    ("features/transfer/queries", "census"): "maintenance: moving out; numbers",
    ("features/transfer/queries", "moving"): "maintenance: moving out",
    ("features/transfer/queries", "known"): "maintenance: moving in; brings ids only, of those that it was given",
    ("features/transfer/queries", "lacks_successor"): "maintenance: moving in; brings no content",
    ("features/transfer/staging_queries", "census"): "maintenance: moving in; numbers",
    ("features/transfer/staging_queries", "in_the_way"): "maintenance: moving in; brings places only",
    ("features/transfer/staging_queries", "without_successor"): "maintenance: moving in; brings places only",
    (
        "features/transfer/staging_queries",
        "bring_memories",
    ): "maintenance: moving in; copies memories with their audience",
    ("features/transfer/staging_queries", "bring_vectors"): "maintenance: moving in; copies what belongs to them",
    ("features/transfer/staging_queries", "bring_uses"): "maintenance: moving in; copies what belongs to them",
    ("features/transfer/staging_queries", "bring_links"): "maintenance: moving in; copies what belongs to them",
    ("features/transfer/staging_queries", "bring_terms"): "maintenance: moving in; copies what belongs to them",
    ("features/transfer/staging_queries", "told_of"): "maintenance: moving in; brings ids only",
    ("features/transfer/staging_queries", "told_of_by_jobs"): "maintenance: moving in; brings ids only",
    ("features/transfer/staging_queries", "forget_items"): "maintenance: moving in; brings nothing",
    ("features/transfer/staging_queries", "count_anew"): "a number over all scopes",
    ("features/transfer/staging_queries", "erase_terms_next"): "maintenance: moving in; brings no content",
    ("features/memory/queries", "keyed"): "a write looks for its own key in exactly its own audience",
    ("features/memory/queries", "revise"): "changes the one that `keyed` found",
    ("features/memory/queries", "erase"): "erases those that `visible_by_id` found in the same transaction",
    ("features/memory/queries", "count_memories"): "a number over all scopes",
    ("features/memory/queries", "narrowed"): "places for a page, which is then chosen by who may see it",
    ("features/memory/queries", "count_kinds"): "numbers over all scopes",
    ("features/memory/queries", "scan"): "maintenance: rebuilding",
    ("features/memory/queries", "not_rebuilt"): "maintenance: rebuilding; brings no content",
    ("features/memory/queries", "count_not_rebuilt"): "maintenance: rebuilding; a number",
    ("features/memory/queries", "keep_traits"): "writes what was found visible, or is being rebuilt",
    ("features/memory/queries", "note_uses"): "counts what was answered before; brings nothing back",
    ("features/embeddings/queries", "count_lacking"): "maintenance: embedding; a number",
    ("features/embeddings/queries", "lacking"): "maintenance: embedding",
    ("features/embeddings/queries", "keep"): "maintenance: embedding; brings no content",
    ("features/embeddings/queries", "no_longer_without"): "maintenance: embedding; brings no content",
    (
        "features/memory/index_queries",
        "changed_since",
    ): "copies memories with their audience; search chooses by audience",
    ("features/memory/index_queries", "everything"): "copies memories with their audience; search chooses by audience",
    ("features/forgetting/queries", "ageing"): "maintenance: forgetting; brings no content",
    ("features/forgetting/queries", "vitals"): "maintenance: forgetting; numbers",
    ("tooling/jobs/queries", "mentions_forgotten"): "whether one is there at all, for a call that told of it before",
    ("app/store_queries", "not_indexed"): "maintenance: checking; a number",
    ("app/store_queries", "indexed_in_vain"): "maintenance: checking; a number",
    ("app/store_queries", "without_vector"): "maintenance: checking; a number",
    ("app/store_queries", "miscounted"): "maintenance: checking; a number",
}


def test_every_query_that_reads_memories_asks_who_may_see_them() -> None:
    unguarded = {
        (file, name)
        for file, name in QUERIES
        if READS_MEMORIES.search(TEXTS[file][name]) and not re.search(r"\{([\w./]+\.)?visible\}", TEXTS[file][name])
    }
    assert unguarded == set(UNSCOPED)


def test_who_sees_what_is_said_once() -> None:
    said = [(file, name) for file, name in QUERIES if ":session_id" in TEXTS[file][name]]
    assert said == [
        ("features/memory/queries", "audiences"),
        ("features/memory/queries", "find_audience"),
        ("features/memory/queries", "add_audience"),
        ("features/memory/queries", "add"),
        ("features/memory/queries", "revise"),
        ("features/working_memory/queries", "there"),
        ("features/working_memory/queries", "there_or_anywhere"),
        ("features/working_memory/queries", "add"),
    ]


@pytest.mark.parametrize(("file", "name"), QUERIES)
def test_every_query_says_what_it_is_for_and_is_used(file: str, name: str) -> None:
    text = TEXTS[file][name]
    assert re.match(r"-- [A-Z].+", text), "begins with a comment"
    fragments = "".join(TEXTS[file].values())
    folder, stem = (PACKAGE / file).parent, Path(file).name
    loads = "load_queries(__file__)" if stem == "queries" else f'load_queries(__file__, "{stem}")'
    code = "".join(path.read_text() for path in folder.glob("*.py") if loads in path.read_text())
    passed_on = rf'_(?:one|all|projects)\((?:connection, )?"{name}"'
    assert f'_SQL["{name}"]' in code or f"{{{name}}}" in fragments or re.search(passed_on, code)


def test_fragments_are_put_in_without_their_comments() -> None:
    find = load_queries(str(PACKAGE / "features/memory/sqlite.py"))["find"]
    assert "{" not in find
    assert "--" not in find
    assert "scope = 'global'" in find
