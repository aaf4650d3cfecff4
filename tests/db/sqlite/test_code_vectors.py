"""Stored embeddings of code: by model and text, counted by index, and not lost on upgrades."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay.code_index.store import Content, StoredDigest
from scrubjay.code_index.vector_store import StoredBatch, UnembeddedContent, VectorCounts
from scrubjay.core.paths import CODE_DATABASE
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.code.sqlite import SCHEMA, SqliteCode
from tests.db.sqlite.test_code import ONE, STRANGE, TWO, file, record

MODEL, OTHER = "a-model/8", "another/8"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteCode]:
    """Store two contents: one index has both, one of them twice; another index has one."""
    store = await SqliteCode.open(tmp_path)
    await store.put_digests(1, [StoredDigest(ONE, b"one"), StoredDigest(TWO, b"two")])
    files = [file("a.py"), file(STRANGE), file("b.go", TWO)]
    await store.write(record(), changed=files, removed=[], edges={})
    await store.write(record(index_id="idx_b"), changed=[file("c.go", TWO)], removed=[], edges={})
    yield store
    await store.close()


async def unembedded(store: SqliteCode, model: str = MODEL, version: int = 1) -> list[Content]:
    return [content.file.content for content in await store.vectors.unembedded(model, version, after=0, limit=9)]


async def test_a_vector_is_stored_once_per_model_and_text(store: SqliteCode) -> None:
    await store.vectors.put_vectors(MODEL, {"k1": b"first", "k2": b""})
    await store.vectors.put_vectors(MODEL, {"k1": b"again"})
    await store.vectors.put_vectors(OTHER, {"k1": b"other"})
    assert await store.vectors.vectors(MODEL, ["k1", "k2", "k3", "k1"]) == {"k1": b"first", "k2": b""}
    assert await store.vectors.vectors(OTHER, ["k1", "k2"]) == {"k1": b"other"}


async def test_the_texts_of_a_content_are_stored_in_order_per_version(store: SqliteCode) -> None:
    await store.vectors.put_texts(1, {ONE: ["k2", "k1", "k2"], TWO: []})
    await store.vectors.put_texts(1, {ONE: ["k9"]})
    assert await store.vectors.texts(1, [ONE, TWO, Content("b9", ONE.language)]) == {ONE: ["k2", "k1", "k2"], TWO: []}
    assert await store.vectors.texts(2, [ONE]) == {}


async def test_pending_texts_are_listed_in_pages_with_a_file_that_contains_them(store: SqliteCode) -> None:
    await store.vectors.put_texts(1, {TWO: ["k1"]})
    (first,) = await store.vectors.unembedded(MODEL, 1, after=0, limit=1)
    assert first == UnembeddedContent(first.row_id, "idx_a", file(STRANGE), None)
    (second,) = await store.vectors.unembedded(MODEL, 1, after=first.row_id, limit=9)
    assert second == UnembeddedContent(second.row_id, "idx_b", file("c.go", TWO), ["k1"])
    assert await store.vectors.unembedded(MODEL, 1, after=second.row_id, limit=9) == []
    assert await unembedded(store, version=2) == []


async def test_texts_are_done_per_model_and_version(store: SqliteCode) -> None:
    await store.vectors.put_texts(1, {ONE: ["k1"], TWO: ["k2"]})
    await store.vectors.mark_complete(MODEL, 1, [ONE])
    assert (await unembedded(store), await unembedded(store, OTHER)) == ([TWO], [ONE, TWO])
    await store.vectors.mark_complete(OTHER, 1, [ONE, TWO])
    assert (await unembedded(store), await unembedded(store, OTHER)) == ([ONE, TWO], [])
    await store.put_digests(2, [StoredDigest(ONE, b"newer")])
    assert await unembedded(store, OTHER, version=2) == [ONE]


async def test_embedded_pending_and_unread_texts_are_counted_by_index(store: SqliteCode) -> None:
    assert await store.vectors.counts(MODEL, 1) == {"idx_a": VectorCounts(0, 0, 3), "idx_b": VectorCounts(0, 0, 1)}
    await store.vectors.put_texts(1, {ONE: ["k1", "k2", "k3"]})
    await store.vectors.put_vectors(MODEL, {"k1": b"vector", "k3": b"", "k9": b"of nothing"})
    assert await store.vectors.counts(MODEL, 1) == {"idx_a": VectorCounts(4, 2, 1), "idx_b": VectorCounts(0, 0, 1)}
    assert (await store.vectors.counts(OTHER, 1))["idx_a"] == VectorCounts(0, 6, 1)
    await store.vectors.mark_complete(MODEL, 1, [ONE])
    assert (await store.vectors.counts(MODEL, 1))["idx_a"] == VectorCounts(6, 0, 1)


async def test_a_model_has_one_batch_until_it_is_deleted(store: SqliteCode, tmp_path: Path) -> None:
    started = StoredBatch(model=MODEL, name="ours", texts=7)
    other = StoredBatch(model=OTHER, name="theirs", texts=1, file_id="f")
    for batch in (
        started,
        other,
        replace(started, file_id="file-1"),
        replace(started, file_id="file-1", batch_id="batch-1"),
    ):
        await store.vectors.put_batch(batch)
    again = await SqliteCode.open(tmp_path)
    assert await again.vectors.batch(MODEL) == replace(started, file_id="file-1", batch_id="batch-1")
    await again.vectors.end_batch(MODEL)
    await again.close()
    assert (await store.vectors.batch(MODEL), await store.vectors.batch(OTHER)) == (None, other)


async def test_vectors_that_no_index_uses_are_deleted(store: SqliteCode) -> None:
    await store.vectors.put_texts(1, {ONE: ["k1", "shared"]})
    await store.vectors.put_vectors(MODEL, dict.fromkeys(("k1", "k2", "shared", "gone"), b"vector"))
    keys = ["k1", "k2", "shared", "gone"]
    await store.sweep(1)
    assert {*await store.vectors.vectors(MODEL, keys)} == {*keys}  # the unread content may contain these texts
    await store.vectors.put_texts(1, {TWO: ["k2", "shared"]})
    await store.sweep(1)
    assert {*await store.vectors.vectors(MODEL, keys)} == {"k1", "k2", "shared"}
    await store.delete("idx_a")
    await store.sweep(1)
    assert {*await store.vectors.vectors(MODEL, keys)} == {"k2", "shared"}
    assert await store.vectors.texts(1, [ONE]) == {}
    await store.delete("idx_b")
    await store.sweep(1)
    assert await store.vectors.vectors(MODEL, keys) == {}


async def test_no_vector_is_deleted_while_an_index_is_of_an_older_version(store: SqliteCode) -> None:
    await store.vectors.put_texts(1, {ONE: ["k1"], TWO: ["k2"]})
    await store.vectors.put_vectors(MODEL, {"k1": b"vector", "k2": b"vector"})
    assert await store.sweep(2) == 2
    assert {*await store.vectors.vectors(MODEL, ["k1", "k2"])} == {"k1", "k2"}
    await store.put_digests(2, [StoredDigest(ONE, b"newer"), StoredDigest(TWO, b"newer")])
    await store.vectors.put_texts(2, {ONE: ["k1"], TWO: []})
    await store.sweep(2)
    assert {*await store.vectors.vectors(MODEL, ["k1", "k2"])} == {"k1"}


async def test_vectors_and_batches_survive_a_change_of_the_index_version(store: SqliteCode, tmp_path: Path) -> None:
    await store.vectors.put_texts(1, {ONE: ["k1"], TWO: ["k2"]})
    await store.vectors.put_vectors(MODEL, {"k1": b"vector"})
    await store.vectors.put_batch(StoredBatch(model=MODEL, name="ours", texts=7))
    connection = Connection(tmp_path / CODE_DATABASE, 1.0)
    connection.pragma("user_version", SCHEMA - 1)
    connection.close()
    again = await SqliteCode.open(tmp_path)
    assert await again.indexes() == []
    await again.put_digests(1, [StoredDigest(ONE, b"one")])
    assert await again.vectors.texts(1, [ONE]) == {}
    assert await again.vectors.vectors(MODEL, ["k1"]) == {"k1": b"vector"}
    assert await again.vectors.batch(MODEL) == StoredBatch(model=MODEL, name="ours", texts=7)
    await again.close()


async def test_an_older_home_gets_the_tables_for_vectors(tmp_path: Path) -> None:
    await (await SqliteCode.open(tmp_path)).close()
    connection = Connection(tmp_path / CODE_DATABASE, 1.0)
    for table in ("code_texts", "embedded_text", "embedding_batch"):
        connection.execute(f"DROP TABLE {table}")
    connection.close()
    store = await SqliteCode.open(tmp_path)
    await store.vectors.put_vectors(MODEL, {"k1": b"vector"})
    assert await store.vectors.vectors(MODEL, ["k1"]) == {"k1": b"vector"}
    await store.close()
