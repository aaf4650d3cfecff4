"""What is kept of meanings that a service gave: by model and text, counted by index, and never lost lightly."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay.code_index.store import Content, KeptDigest
from scrubjay.code_index.vector_store import KeptBatch, UnembeddedContent, VectorCounts
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.code.sqlite import DATABASE, SqliteCode
from tests.db.sqlite.test_code import ONE, STRANGE, TWO, file, record

MODEL, OTHER = "a-model/8", "another/8"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteCode]:
    """Two contents; an index has both, one of them twice, and another index has one."""
    opened = await SqliteCode.open(tmp_path)
    await opened.keep(1, [KeptDigest(ONE, b"one"), KeptDigest(TWO, b"two")])
    files = [file("a.py"), file(STRANGE), file("b.go", TWO)]
    await opened.write(record(), changed=files, removed=[], edges={})
    await opened.write(record(index_id="idx_b"), changed=[file("c.go", TWO)], removed=[], edges={})
    yield opened
    await opened.close()


async def unembedded(store: SqliteCode, model: str = MODEL, version: int = 1) -> list[Content]:
    return [one.file.content for one in await store.vectors.unembedded(model, version, after=0, limit=9)]


async def test_a_vector_is_kept_once_for_each_model_and_text(store: SqliteCode) -> None:
    await store.vectors.keep(MODEL, {"k1": b"first", "k2": b""})
    await store.vectors.keep(MODEL, {"k1": b"again"})
    await store.vectors.keep(OTHER, {"k1": b"other"})
    assert await store.vectors.vectors(MODEL, ["k1", "k2", "k3", "k1"]) == {"k1": b"first", "k2": b""}
    assert await store.vectors.vectors(OTHER, ["k1", "k2"]) == {"k1": b"other"}


async def test_the_texts_of_a_content_are_kept_in_their_order_for_each_version(store: SqliteCode) -> None:
    await store.vectors.keep_texts(1, {ONE: ["k2", "k1", "k2"], TWO: []})
    await store.vectors.keep_texts(1, {ONE: ["k9"]})
    assert await store.vectors.texts(1, [ONE, TWO, Content("b9", ONE.language)]) == {ONE: ["k2", "k1", "k2"], TWO: []}
    assert await store.vectors.texts(2, [ONE]) == {}


async def test_what_is_not_done_is_listed_with_a_file_that_has_it_a_page_at_a_time(store: SqliteCode) -> None:
    await store.vectors.keep_texts(1, {TWO: ["k1"]})
    (first,) = await store.vectors.unembedded(MODEL, 1, after=0, limit=1)
    assert first == UnembeddedContent(first.place, "idx_a", file(STRANGE), None)
    (second,) = await store.vectors.unembedded(MODEL, 1, after=first.place, limit=9)
    assert second == UnembeddedContent(second.place, "idx_b", file("c.go", TWO), ["k1"])
    assert await store.vectors.unembedded(MODEL, 1, after=second.place, limit=9) == []
    assert await unembedded(store, version=2) == []


async def test_what_is_done_is_done_for_one_model_and_version(store: SqliteCode) -> None:
    await store.vectors.keep_texts(1, {ONE: ["k1"], TWO: ["k2"]})
    await store.vectors.note_done(MODEL, 1, [ONE])
    assert (await unembedded(store), await unembedded(store, OTHER)) == ([TWO], [ONE, TWO])
    await store.vectors.note_done(OTHER, 1, [ONE, TWO])
    assert (await unembedded(store), await unembedded(store, OTHER)) == ([ONE, TWO], [])
    await store.keep(2, [KeptDigest(ONE, b"newer")])
    assert await unembedded(store, OTHER, version=2) == [ONE]


async def test_by_index_it_is_counted_what_is_embedded_pending_and_unread(store: SqliteCode) -> None:
    assert await store.vectors.counts(MODEL, 1) == {"idx_a": VectorCounts(0, 0, 3), "idx_b": VectorCounts(0, 0, 1)}
    await store.vectors.keep_texts(1, {ONE: ["k1", "k2", "k3"]})
    await store.vectors.keep(MODEL, {"k1": b"vector", "k3": b"", "k9": b"of nothing"})
    assert await store.vectors.counts(MODEL, 1) == {"idx_a": VectorCounts(4, 2, 1), "idx_b": VectorCounts(0, 0, 1)}
    assert (await store.vectors.counts(OTHER, 1))["idx_a"] == VectorCounts(0, 6, 1)
    await store.vectors.note_done(MODEL, 1, [ONE])
    assert (await store.vectors.counts(MODEL, 1))["idx_a"] == VectorCounts(6, 0, 1)


async def test_a_model_has_one_batch_until_it_is_forgotten(store: SqliteCode, tmp_path: Path) -> None:
    begun = KeptBatch(model=MODEL, name="ours", texts=7)
    other = KeptBatch(model=OTHER, name="theirs", texts=1, file_id="f")
    for batch in (begun, other, replace(begun, file_id="file-1"), replace(begun, file_id="file-1", batch_id="batch-1")):
        await store.vectors.put_batch(batch)
    again = await SqliteCode.open(tmp_path)
    assert await again.vectors.batch(MODEL) == replace(begun, file_id="file-1", batch_id="batch-1")
    await again.vectors.end_batch(MODEL)
    await again.close()
    assert (await store.vectors.batch(MODEL), await store.vectors.batch(OTHER)) == (None, other)


async def test_vectors_are_swept_that_surely_no_index_has(store: SqliteCode) -> None:
    await store.vectors.keep_texts(1, {ONE: ["k1", "shared"]})
    await store.vectors.keep(MODEL, dict.fromkeys(("k1", "k2", "shared", "gone"), b"vector"))
    keys = ["k1", "k2", "shared", "gone"]
    await store.sweep(1)
    assert {*await store.vectors.vectors(MODEL, keys)} == {*keys}  # one content is not read: it may be its text
    await store.vectors.keep_texts(1, {TWO: ["k2", "shared"]})
    await store.sweep(1)
    assert {*await store.vectors.vectors(MODEL, keys)} == {"k1", "k2", "shared"}
    await store.delete("idx_a")
    await store.sweep(1)
    assert {*await store.vectors.vectors(MODEL, keys)} == {"k2", "shared"}
    assert await store.vectors.texts(1, [ONE]) == {}
    await store.delete("idx_b")
    await store.sweep(1)
    assert await store.vectors.vectors(MODEL, keys) == {}


async def test_no_vector_is_swept_while_indexes_are_as_an_older_version_read_them(store: SqliteCode) -> None:
    await store.vectors.keep_texts(1, {ONE: ["k1"], TWO: ["k2"]})
    await store.vectors.keep(MODEL, {"k1": b"vector", "k2": b"vector"})
    assert await store.sweep(2) == 2
    assert {*await store.vectors.vectors(MODEL, ["k1", "k2"])} == {"k1", "k2"}
    await store.keep(2, [KeptDigest(ONE, b"newer"), KeptDigest(TWO, b"newer")])
    await store.vectors.keep_texts(2, {ONE: ["k1"], TWO: []})
    await store.sweep(2)
    assert {*await store.vectors.vectors(MODEL, ["k1", "k2"])} == {"k1"}


async def test_vectors_and_batches_outlive_the_rest_when_another_version_made_that(
    store: SqliteCode, tmp_path: Path
) -> None:
    await store.vectors.keep_texts(1, {ONE: ["k1"], TWO: ["k2"]})
    await store.vectors.keep(MODEL, {"k1": b"vector"})
    await store.vectors.put_batch(KeptBatch(model=MODEL, name="ours", texts=7))
    connection = Connection(tmp_path / DATABASE, 1.0)
    connection.pragma("user_version", 99)
    connection.close()
    again = await SqliteCode.open(tmp_path)
    assert await again.indexes() == []
    await again.keep(1, [KeptDigest(ONE, b"one")])
    assert await again.vectors.texts(1, [ONE]) == {}
    assert await again.vectors.vectors(MODEL, ["k1"]) == {"k1": b"vector"}
    assert await again.vectors.batch(MODEL) == KeptBatch(model=MODEL, name="ours", texts=7)
    await again.close()


async def test_a_home_from_before_there_were_vectors_gets_their_tables(tmp_path: Path) -> None:
    await (await SqliteCode.open(tmp_path)).close()
    connection = Connection(tmp_path / DATABASE, 1.0)
    for table in ("code_texts", "embedded_text", "embedding_batch"):
        connection.execute(f"DROP TABLE {table}")
    connection.close()
    store = await SqliteCode.open(tmp_path)
    await store.vectors.keep(MODEL, {"k1": b"vector"})
    assert await store.vectors.vectors(MODEL, ["k1"]) == {"k1": b"vector"}
    await store.close()
