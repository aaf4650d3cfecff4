"""The SQL files: each query has a comment, is used, and applies the visibility predicate."""

import re
from pathlib import Path

import pytest

import scrubjay
from scrubjay.db.sqlite.checksums import COVERED_TABLES
from scrubjay.db.sqlite.named_queries import load_queries, read_queries

PACKAGE = Path(scrubjay.__path__[0])
FILES = sorted(
    path.relative_to(PACKAGE).with_suffix("").as_posix()
    for path in PACKAGE.rglob("*.sql")
    if path.parent.name != "migrations" and path.stem != "schema"
)
TEXTS = {file: read_queries((PACKAGE / file).with_suffix(".sql")) for file in FILES}
QUERIES = [(file, name) for file in FILES for name in TEXTS[file]]

READS_MEMORIES = re.compile(r"\b(?:FROM|JOIN|UPDATE)\s+memory\b")

# Queries that read memories of every scope, with the reason why that is safe.
UNSCOPED = {
    ("features/memory/queries", "rivals"): "a write reads memories about its own subject in its own audience",
    ("features/memory/queries", "conflicts"): "reads the audience of a visible memory; returns ids only",
    ("features/memory/queries", "supersede"): "changes the memories that `rivals` returned",
    ("features/memory/queries", "restore"): "changes memories superseded by those that `visible_by_id` returned",
    ("features/memory/queries", "add_version"): "copies the memory that `keyed` returned, with its audience",
    (
        "features/memory/queries",
        "lacks_source",
    ): "returns whether the sources of a write still exist, and nothing else",
    ("features/memory/queries", "versions"): "earlier versions of a visible memory; returns row numbers only",
    ("features/memory/queries", "by_ids"): "maintenance (forgetting); returns no content",
    ("features/memory/queries", "revised"): "a write reads the visible memory that it changes, in its audience",
    ("features/transfer/queries", "census"): "maintenance (export); counts",
    ("features/transfer/queries", "moving"): "maintenance (export)",
    ("features/transfer/queries", "known"): "maintenance (import); returns only ids that it was given",
    ("features/transfer/queries", "lacks_successor"): "maintenance (import); returns no content",
    ("features/transfer/staging_queries", "census"): "maintenance (import); counts",
    ("features/transfer/staging_queries", "in_the_way"): "maintenance (import); returns row numbers only",
    ("features/transfer/staging_queries", "without_successor"): "maintenance (import); returns row numbers only",
    ("features/transfer/staging_queries", "copy_memories"): "maintenance (import); copies memories with their audience",
    ("features/transfer/staging_queries", "copy_vectors"): "maintenance (import); copies data of memories",
    ("features/transfer/staging_queries", "copy_uses"): "maintenance (import); copies data of memories",
    ("features/transfer/staging_queries", "copy_links"): "maintenance (import); copies data of memories",
    ("features/transfer/staging_queries", "copy_terms"): "maintenance (import); copies data of memories",
    ("features/transfer/staging_queries", "mentioned"): "maintenance (import); returns ids only",
    ("features/transfer/staging_queries", "mentioned_by_jobs"): "maintenance (import); returns ids only",
    ("features/transfer/staging_queries", "forget_items"): "maintenance (import); returns nothing",
    ("features/transfer/staging_queries", "update_count"): "a count over all scopes",
    ("features/transfer/staging_queries", "erase_terms_next"): "maintenance (import); returns no content",
    ("features/memory/queries", "keyed"): "a write reads its own key in its own audience",
    ("features/memory/queries", "revise"): "changes the memory that `keyed` returned",
    ("features/memory/queries", "erase"): "erases memories that `visible_by_id` returned in the same transaction",
    ("features/memory/queries", "count_memories"): "a count over all scopes",
    ("features/memory/queries", "narrowed"): "row numbers for a page, which are then filtered by visibility",
    ("features/memory/queries", "count_kinds"): "counts over all scopes",
    ("features/memory/queries", "scan"): "maintenance (rebuild)",
    ("features/memory/queries", "not_rebuilt"): "maintenance (rebuild); returns no content",
    ("features/memory/queries", "count_not_rebuilt"): "maintenance (rebuild); a count",
    ("features/memory/queries", "set_traits"): "writes to a visible memory, or to one that is being rebuilt",
    ("features/memory/queries", "add_uses"): "counts earlier answers; returns nothing",
    ("features/embeddings/queries", "count_missing"): "maintenance (embedding); a count",
    ("features/embeddings/queries", "missing"): "maintenance (embedding)",
    ("features/embeddings/queries", "put"): "maintenance (embedding); returns no content",
    ("features/embeddings/queries", "delete_placeholder"): "maintenance (embedding); returns no content",
    ("features/memory/index_queries", "changed_since"): "copies memories with their audience; search filters by it",
    ("features/memory/index_queries", "everything"): "copies memories with their audience; search filters by it",
    ("features/memory/index_queries", "row"): "copies a memory with its audience; search filters by it",
    ("features/memory/index_queries", "row_alone"): "copies a memory with its audience; search filters by it",
    ("features/forgetting/queries", "scan"): "maintenance (forgetting); returns no content",
    ("features/forgetting/queries", "count_strengths"): "maintenance (forgetting); counts",
    ("tooling/jobs/queries", "mentions_forgotten"): "returns whether a memory exists, for a job that named it",
    ("app/store_queries", "not_indexed"): "maintenance (check); a count",
    ("app/store_queries", "orphaned_index_entries"): "maintenance (check); a count",
    ("app/store_queries", "without_vector"): "maintenance (check); a count",
    ("app/store_queries", "miscounted"): "maintenance (check); a count",
    ("app/repair_queries", "is_audience"): "maintenance (repair); returns whether an audience is consistent",
    ("app/repair_queries", "lost_audiences"): "maintenance (repair); returns ids of audiences only",
    ("app/repair_queries", "count_memories"): "maintenance (repair); stores a count",
    ("app/repair_queries", "count_clients"): "maintenance (repair); stores counts",
    ("app/repair_queries", "without_search_data"): "maintenance (repair); a count",
}


def test_every_query_that_reads_memories_checks_visibility() -> None:
    unguarded = {
        (file, name)
        for file, name in QUERIES
        if READS_MEMORIES.search(TEXTS[file][name]) and not re.search(r"\{([\w./]+\.)?visible\}", TEXTS[file][name])
    }
    assert unguarded == set(UNSCOPED)


def test_the_visibility_rule_is_written_once() -> None:
    using = [(file, name) for file, name in QUERIES if ":session_id" in TEXTS[file][name]]
    assert using == [
        ("app/repair_queries", "is_audience"),  # checks a stored audience; there is no caller
        ("app/repair_queries", "add_audience"),
        ("features/memory/queries", "audiences"),
        ("features/memory/queries", "find_audience"),
        ("features/memory/queries", "add_audience"),
        ("features/memory/queries", "add"),
        ("features/memory/queries", "revise"),
        ("features/working_memory/queries", "in_scope"),
        ("features/working_memory/queries", "in_scope_or_any"),
        ("features/working_memory/queries", "add"),
    ]


READS_ROWS = re.compile(rf"(?<!DELETE )\b(?:FROM|JOIN)\s+({'|'.join(COVERED_TABLES)})\b")

# Queries that read rows which may be damaged, by the reason why that is safe.
ROW_NUMBERS = "returns row numbers, whose rows `read_memories` or `memory_from` checks"
CHECKED_IN_PYTHON = "`memory_from` checks each row"
NUMBERS = "returns or stores counts, ids or references only"
WRITES = "changes or copies rows whose checksum stays as it is"
UNCHECKED = {
    "app/repair_queries": (
        NUMBERS,
        "is_audience lost_audiences count_memories count_steps count_clients without_search_data count_keys",
    ),
    "app/store_queries": (
        NUMBERS,
        "not_indexed orphaned_index_entries without_vector miscounted episodes_not_indexed "
        "orphaned_episode_entries episodes_miscounted",
    ),
    "features/chat/persona_queries": (NUMBERS, "count"),
    "features/discussions/queries": (NUMBERS, "count_open"),
    "features/embeddings/queries": (
        "computes vectors, which show nobody a text; the id of a job",
        "state count_missing missing put delete_placeholder",
    ),
    "features/episodes/patterns/queries": (NUMBERS, "set_vector add_recommendations recommended episode_seq"),
    "features/episodes/queries": (
        "finds candidates, which `by_seq` reads, or counts",
        "bytes seq_at_revision count_of_client count_completed frequency by_words vectors similar_efforts",
    ),
    "features/forgetting/queries": (NUMBERS, "count_strengths"),
    "features/keys/queries": (NUMBERS, "active"),
    "features/knowledge/queries": (
        NUMBERS,
        "has_live_triple delete_unused_entities count_of_client premises "
        "count_outgoing count_incoming named count_search count_triples_of_subjects ids_in_project triples_of_entity "
        "triple_for_deletion expired_triples counts add_inferred add_premises",
    ),
    "features/memory/index_queries": (
        "`memory_from` checks each row that a search chooses",
        "changed_since everything row row_alone",
    ),
    "features/memory/link_queries": (ROW_NUMBERS, "linked linked_among linked_to seq_of"),
    "features/memory/queries": (
        ROW_NUMBERS,
        "passes visible_by_id find sorted_alone narrowed list_newest list_oldest "
        "count_listed history rivals conflicts restore add_version lacks_source versions by_ids find_audience keyed "
        "revised add_uses matching by_seqs count_memories count_kinds scan not_rebuilt count_not_rebuilt",
    ),
    "features/permissions/queries": ("`rules_at` has asked `damaged` before", "holding_at count"),
    "features/sessions/queries": (
        NUMBERS,
        "columns session_at session_after is_final_session delete_sessions calls_of_session calls_ended_between",
    ),
    "features/summaries/queries": ("returns names of sessions and periods without a summary", "sessions periods"),
    "features/tasks/goal_queries": (NUMBERS, "count"),
    "features/tasks/queries": (NUMBERS, "columns matches_filter count is_part planned"),
    "features/transfer/plan_queries": (NUMBERS, "count_tasks count_goals known parent goal_place clear"),
    "features/transfer/queries": (NUMBERS, "projects moving known lacks_successor forget_ended"),
    "features/transfer/staging_queries": (
        WRITES,
        "is_under_way census in_the_way without_successor copy_memories copy_vectors "
        "copy_uses copy_links copy_terms mentioned mentioned_by_jobs forget_items update_count erase_terms_next",
    ),
    "features/working_memory/queries": (NUMBERS, "count moving count_movable"),
    "tooling/jobs/queries": (NUMBERS, "under_way counts mentions_forgotten cancel_of_ended_keys"),
}


def test_every_query_that_returns_rows_of_clients_leaves_out_damaged_ones() -> None:
    unchecked: set[tuple[str, str]] = set()
    for file, name in QUERIES:
        path = PACKAGE / file
        expanded = load_queries(str(path.parent / "sqlite.py"), path.name)[name]
        checked = set(re.findall(r"is_intact_row\('(\w+)'", expanded))
        if set(READS_ROWS.findall(TEXTS[file][name])) - checked:
            unchecked.add((file, name))
    assert unchecked == {(file, name) for file, (_, names) in UNCHECKED.items() for name in names.split()}


def test_every_condition_for_intact_rows_is_used() -> None:
    used = {
        name for text in TEXTS.values() for query in text.values() for name in re.findall(r"intact\.(\w+)\}", query)
    }
    assert used == set(TEXTS["db/sqlite/intact"]) == set(COVERED_TABLES)


@pytest.mark.parametrize(("file", "name"), [query for query in QUERIES if query[0] != "db/sqlite/intact"])
def test_every_query_has_a_comment_and_is_used(file: str, name: str) -> None:
    text = TEXTS[file][name]
    assert re.match(r"-- [A-Z].+", text), "begins with a comment"
    fragments = "".join(TEXTS[file].values())
    folder, stem = (PACKAGE / file).parent, Path(file).name
    loads = "load_queries(__file__)" if stem == "queries" else f'load_queries(__file__, "{stem}")'
    code = "".join(path.read_text() for path in folder.glob("*.py") if loads in path.read_text())
    passed_on = rf'_(?:one|all|projects)\((?:connection, )?"{name}"'
    assert f'_SQL["{name}"]' in code or f"{{{name}}}" in fragments or re.search(passed_on, code)


def test_fragments_are_expanded_without_their_comments() -> None:
    find = load_queries(str(PACKAGE / "features/memory/sqlite.py"))["find"]
    assert "{" not in find
    assert "--" not in find
    assert "scope = 'global'" in find
