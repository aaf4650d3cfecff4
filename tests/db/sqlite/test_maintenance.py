"""Verification and backup of a store."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from scrubjay.app import sqlite_maintenance
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Conflict
from scrubjay.db.database import CheckReport
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import load_migrations
from scrubjay.features.embeddings.index_files import FORMAT_VERSION
from scrubjay.search_index.segment_file import SegmentFile
from tests.contracts.samples import GLOBAL_ONLY, MODEL, vector, write
from tests.db.sqlite.conftest import Start, names_in

DAMAGES = {
    "DELETE FROM memory_vector WHERE seq = 1": "1 memories have no vector",
    "DELETE FROM memory_terms WHERE rowid = 1": "1 memories are not in the text index",
    "INSERT INTO memory_terms (rowid, terms) VALUES (99, 'x')": "1 entries of the text index have no memory",
    "UPDATE memory_terms_content SET c0 = 'other words' WHERE id = 2": "memory_terms",
    "UPDATE memory_terms_data SET block = zeroblob(length(block)) WHERE id > 100": "memory_terms",
    "UPDATE meta SET value = 7 WHERE name = 'memories'": "there are 3 memories, but the stored count is 7",
    "PRAGMA foreign_keys = OFF; UPDATE memory SET audience_id = 99 WHERE seq = 1": "1 rows of memory refer",
}


@pytest.fixture
async def filled(store: SqliteStore) -> SqliteStore:
    await store.memories.put([write(f"memory number {number}", vector=vector(number, 1)) for number in range(3)])
    return store


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_check_finds_inconsistent_rows(filled: SqliteStore, home: Path, damage: str) -> None:
    assert (await filled.check()).problems == []
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.execute(damage)
    connection.close()
    problems = (await filled.check()).problems
    assert [problem for problem in problems if DAMAGES[damage] in problem] != []


async def test_a_check_finds_a_derived_file_that_differs_from_the_store(filled: SqliteStore, home: Path) -> None:
    await filled.memories.begin_rebuild(resume=False)
    for found in await filled.memories.scan(None, 10):
        derived = write(found.content, vector=vector(1, 2)).derived
        await filled.memories.rebuild([(found.id, derived)])
    (file,) = await filled.memories.finish_rebuild()
    await filled.memories.put([write("not in the file yet", vector=vector(1, 1))])
    assert (await filled.check()).problems == []
    path = home / "derived" / file.name
    kind = f"memories of {MODEL}, 4, format {FORMAT_VERSION}"
    (segment,) = SegmentFile(path, kind).segments
    changed = segment.array("importance").copy()
    changed[0] += 0.25
    SegmentFile.write(path, kind, {}, [(segment.meta, {**segment.arrays, "importance": changed})])
    assert (await filled.check()).problems == [f"{file.name} has 1 entries that differ from the store"]
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.execute("UPDATE memory_change SET mark = mark + 1")
    connection.close()
    assert (await filled.check()).problems == [f"{file.name} is too old to be used and will be rebuilt"]


async def test_a_backup_made_during_writes_is_complete_and_can_replace_the_store(
    filled: SqliteStore, home: Path, tmp_path: Path, start: Start
) -> None:
    child = start("keep_writing", home)
    assert child.stdout is not None
    before = {child.stdout.readline().strip() for _ in range(20)}
    info = await filled.backup(tmp_path / "copy.db")
    child.communicate(timeout=20)
    assert info == type(info)(
        "sqlite", str(tmp_path / "copy.db"), len(load_migrations()), (tmp_path / "copy.db").stat().st_size
    )
    (tmp_path / "restored").mkdir()
    shutil.copy(tmp_path / "copy.db", tmp_path / "restored" / "scrubjay.db")
    restored = await SqliteStore.open(tmp_path / "restored")
    assert (await restored.check()).problems == []
    ids = {memory.id for memory in await restored.memories.scan(None, 100_000)}
    assert before <= ids <= {memory.id for memory in await filled.memories.scan(None, 100_000)}
    await restored.memories.put([write("a later memory")])
    await restored.close()


async def test_a_backup_is_private_and_appears_only_when_complete(
    filled: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"
    target_exists: list[bool] = []
    check_store = sqlite_maintenance.check_store

    def check(database: Path, derived: Path | None, busy_seconds: float) -> CheckReport:
        target_exists.append(target.exists())
        return check_store(database, derived, busy_seconds)

    monkeypatch.setattr(sqlite_maintenance, "check_store", check)
    await filled.backup(target)
    assert target_exists == [False]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.parametrize("links", [True, False])
async def test_a_target_created_during_the_copy_is_not_overwritten(
    filled: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    target = tmp_path / "copies" / "copy.db"
    target.parent.mkdir()
    check_store = sqlite_maintenance.check_store

    def check(database: Path, derived: Path | None, busy_seconds: float) -> CheckReport:
        target.write_text("another file")
        return check_store(database, derived, busy_seconds)

    def no_links(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(sqlite_maintenance, "check_store", check)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(Conflict):
        await filled.backup(target)
    assert (names_in(target.parent), target.read_text()) == (["copy.db"], "another file")


async def test_a_file_system_without_hard_links_can_hold_a_backup(
    filled: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", no_links)
    (tmp_path / "copies").mkdir()
    await filled.backup(tmp_path / "copies" / "copy.db")
    assert names_in(tmp_path / "copies") == ["copy.db"]


async def test_a_backup_of_a_damaged_store_fails_and_leaves_nothing(
    filled: SqliteStore, home: Path, tmp_path: Path
) -> None:
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.execute("DELETE FROM memory_vector WHERE seq = 1")
    connection.close()
    (tmp_path / "copies").mkdir()
    with pytest.raises(Exception, match="1 memories have no vector"):
        await filled.backup(tmp_path / "copies" / "copy.db")
    assert names_in(tmp_path / "copies") == []


async def traces(home: Path, words: list[str]) -> list[str]:
    content = (home / "scrubjay.db").read_bytes()
    # The index stores common prefixes once, so only the rest of each word is searched for.
    return [word for word in words if word[2:].encode() in content]


@pytest.mark.parametrize("revise", [False, True])
async def test_no_trace_of_an_erased_memory_or_its_versions_remains_in_the_file(home: Path, revise: bool) -> None:
    store = await SqliteStore.open(home)
    secret = write("zanzibarquux betelgeusefnord", key="secret", metadata={"mindbogglingwomble": 1})
    await store.memories.put([secret])
    for turn in range(18):  # until the index has merged it into a large part that is rarely merged again
        await store.memories.put([write(f"ordinary words {turn} {number}") for number in range(10)])
    await store.vacuum()
    words = ["zanzibarquux", "betelgeusefnord", "mindbogglingwomble"]
    assert await traces(home, words) == words
    if revise:
        await store.memories.put([write("harmless", key="secret", given=frozenset({"metadata"}))])
    await store.memories.delete(GLOBAL_ONLY, [secret.memory.id])
    await store.close()
    assert names_in(home) == ["scrubjay.db", "scrubjay.lock"]
    assert await traces(home, words) == []
