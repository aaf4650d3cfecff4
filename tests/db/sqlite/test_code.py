"""Stored repositories: shared contents, and indexes that change atomically."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scrubjay.code_index.models import FileTrait, Language
from scrubjay.code_index.store import Content, IndexedFile, IndexRecord, StoredDigest, StoredEdges
from scrubjay.core.paths import CODE_DATABASE
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.code.sqlite import SCHEMA, SqliteCode

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ONE, TWO = Content("b1", Language.PYTHON), Content("b2", Language.GO)
STRANGE = "a\udcff\nb.py"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteCode]:
    opened = await SqliteCode.open(tmp_path)
    yield opened
    await opened.close()


def record(generation: int = 1, index_id: str = "idx_a") -> IndexRecord:
    return IndexRecord(
        id=index_id,
        root="/repo",
        rev="HEAD",
        options={"excludes": ["ö"]},
        generation=generation,
        commit="c0ffee" if generation > 1 else None,
        created_at=NOW,
        updated_at=NOW + timedelta(seconds=generation),
        details={"files": generation},
    )


def file(path: str, content: Content = ONE, generation: int = 1, *, dirty: bool = False) -> IndexedFile:
    return IndexedFile(path, content, 7, FileTrait.TEST | FileTrait.EXAMPLE, dirty, generation)


async def test_a_digest_is_stored_once_per_content_and_version(store: SqliteCode) -> None:
    await store.put_digests(1, [StoredDigest(ONE, b"one"), StoredDigest(ONE, b"again"), StoredDigest(TWO, b"two")])
    await store.put_digests(2, [StoredDigest(ONE, b"newer")])
    assert await store.with_digest(1, [ONE, TWO, Content("b1", Language.GO)]) == {ONE, TWO}
    assert await store.digests(1, [ONE, TWO]) == {ONE: b"one", TWO: b"two"}
    assert await store.digests(2, [ONE, TWO]) == {ONE: b"newer"}


async def test_an_index_changes_from_one_complete_state_to_the_next(store: SqliteCode, tmp_path: Path) -> None:
    assert await store.index("idx_a") is None
    files = [file("a.py"), file(STRANGE), file("z.py")]
    assert await store.write(record(), changed=files, removed=[], edges={"a.py": StoredEdges(b"edges")})
    assert await store.index("idx_a") == record()
    assert await store.files("idx_a") == sorted(files, key=lambda one: one.path.encode("utf-8", "surrogateescape"))
    changed = file("a.py", TWO, 2, dirty=True)
    assert await store.write(record(2), changed=[changed], removed=["z.py"], edges={STRANGE: StoredEdges(b"more")})
    other = await SqliteCode.open(tmp_path)
    assert await other.files("idx_a", after_generation=1) == [changed]
    assert set(await other.paths("idx_a")) == {"a.py", STRANGE}
    assert await other.edges("idx_a") == {"a.py": b"edges", STRANGE: b"more"}
    assert await other.edges("idx_a", [STRANGE, "none"]) == {STRANGE: b"more"}
    # One file changed; for the other, only the target of an edge changed.
    assert await other.edges("idx_a", after_generation=1) == {"a.py": b"edges", STRANGE: b"more"}
    assert await store.write(record(3), changed=[], removed=[], edges={"a.py": StoredEdges(b"new")})
    assert await other.edges("idx_a", after_generation=2) == {"a.py": b"new"}
    assert await other.edges("idx_a", after_generation=3) == {}
    assert await other.indexes() == [replace(record(3), created_at=NOW)]
    await other.close()


async def test_a_state_already_written_by_another_process_is_not_written_again(store: SqliteCode) -> None:
    assert await store.write(record(), changed=[file("a.py")], removed=[], edges={})
    for late in (record(1), record(3)):
        assert not await store.write(late, changed=[file("b.py")], removed=["a.py"], edges={"a.py": StoredEdges(b"x")})
    assert await store.paths("idx_a") == ["a.py"]
    assert await store.index("idx_a") == record()


async def test_rows_that_no_index_needs_are_deleted(store: SqliteCode) -> None:
    await store.put_digests(2, [StoredDigest(ONE, b"one"), StoredDigest(TWO, b"two")])
    await store.put_digests(1, [StoredDigest(ONE, b"old")])
    await store.write(record(), changed=[file("a.py")], removed=[], edges={})
    await store.write(record(index_id="idx_b"), changed=[file("b.go", TWO)], removed=[], edges={})
    assert await store.sweep(2) == 1  # the digest of the older version
    assert await store.delete("idx_b")
    assert not await store.delete("idx_b")
    assert await store.files("idx_b") == []
    assert await store.sweep(2) == 1
    assert await store.with_digest(2, [ONE, TWO]) == {ONE}


async def test_files_are_found_by_their_references_and_definitions(store: SqliteCode) -> None:
    await store.put_digests(1, [StoredDigest(ONE, b"one", ["run", "stop"]), StoredDigest(TWO, b"two", ["run"])])
    await store.put_digests(2, [StoredDigest(ONE, b"newer", ["leave"])])
    files = [file("a.py"), file("b.go", TWO), file(STRANGE)]
    edges = {"a.py": StoredEdges(b"x", ["b.go", STRANGE, "gone.py"]), STRANGE: StoredEdges(b"y", ["b.go"])}
    await store.write(record(), changed=files, removed=[], edges=edges)
    await store.write(record(index_id="idx_b"), changed=files, removed=[], edges={})
    assert await store.dependents_of("idx_a", ["b.go"]) == ["a.py", STRANGE]
    assert await store.dependents_of("idx_a", [STRANGE, "none"]) == ["a.py"]
    assert await store.dependents_of("idx_b", ["b.go"]) == []
    named = await store.files_defining("idx_a", 1, ["run", "stop", "leave"])
    assert named == {"run": ["a.py", STRANGE, "b.go"], "stop": ["a.py", STRANGE]}
    assert await store.files_defining("idx_a", 2, ["leave"]) == {"leave": ["a.py", STRANGE]}
    await store.write(record(2), changed=[], removed=["a.py"], edges={})
    assert await store.dependents_of("idx_a", ["b.go"]) == [STRANGE]
    await store.delete("idx_b")
    await store.sweep(1)
    assert await store.dependents_of("idx_a", ["b.go"]) == [STRANGE]
    assert await store.files_defining("idx_a", 1, ["run"]) == {"run": [STRANGE, "b.go"]}
    assert await store.files_defining("idx_a", 2, ["leave"]) == {}


async def test_rows_of_an_older_version_are_rebuilt(tmp_path: Path) -> None:
    store = await SqliteCode.open(tmp_path)
    await store.put_digests(1, [StoredDigest(ONE, b"one")])
    await store.close()
    connection = Connection(tmp_path / CODE_DATABASE, 1.0)
    connection.pragma("user_version", SCHEMA - 1)
    connection.close()
    store = await SqliteCode.open(tmp_path)
    assert await store.with_digest(1, [ONE]) == set()
    await store.put_digests(1, [StoredDigest(ONE, b"one")])
    assert await store.with_digest(1, [ONE]) == {ONE}
    await store.close()
