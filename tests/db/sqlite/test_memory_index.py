"""Search over the memory index: answers do not depend on the state of its file."""

import fcntl
import math
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.embeddings.index_files import FORMAT_VERSION
from scrubjay.features.memory import index as memory_index
from scrubjay.features.memory import sqlite as memories
from scrubjay.features.memory.index import MemoryIndex
from scrubjay.features.memory.models import MemoryFilter
from scrubjay.features.memory.writes import MemoryWrite, SearchData
from scrubjay.search_index.segment_file import SegmentFile
from tests.contracts.samples import GLOBAL_ONLY, MODEL, FoundPool, query, search, vector, write
from tests.db.sqlite.conftest import names_in

FILE = f"memories-{MODEL}-8-{FORMAT_VERSION}.bin"
HERE = Visibility("prj_a")


def meaning(number: int) -> bytes:
    """Return vectors in many directions, each a few times."""
    return vector(*(math.sin((number % 90 + 1) * (axis + 1)) for axis in range(8)))


def memory(number: int, like: int | None = None, **fields: Any) -> MemoryWrite:
    if number % 3:
        fields = {"scope": Scope.PROJECT, "project_id": f"prj_{'ab'[number % 2]}", **fields}
    embedding = meaning(number if like is None else like)
    return write(f"memory {number}", id=f"mem_{number:05}", vector=embedding, **fields)


async def rebuild(store: SqliteStore) -> None:
    """Write the vector file."""
    await store.memories.begin_rebuild(resume=False)
    everything = await store.memories.scan(None, 10_000)
    await store.memories.rebuild([(found.id, memory(int(found.id[4:])).derived) for found in everything])
    await store.memories.finish_rebuild()


def hits(pool: FoundPool) -> list[tuple[str, float | None]]:
    return [(candidate.memory.id, candidate.cosine) for candidate in pool.candidates]


def nothing_changed(*_: object) -> list[Any]:
    return []


def no_file(*_: object) -> None:
    return None


FILTERS = [
    MemoryFilter(),
    MemoryFilter(scope=Scope.PROJECT),
    MemoryFilter(category="x", tags=("q r",)),
    MemoryFilter(speaker="Ann"),
    MemoryFilter(from_session="s"),
]


async def answers(store: SqliteStore) -> list[FoundPool]:
    """Return the answers to a few questions of each kind."""
    return [
        await search(store, query("7", vector=meaning(number), visibility=visibility, filter=memory_filter, limit=7))
        for number in (1, 50, 200)
        for visibility in (GLOBAL_ONLY, HERE, Visibility("prj_b"))
        for memory_filter in FILTERS
    ]


@pytest.fixture
async def filled(store: SqliteStore, home: Path) -> SqliteStore:
    """A store of 300 memories with a file of their vectors, some of them changed and deleted after it was written."""
    await store.memories.put([memory(number) for number in range(280)])
    await rebuild(store)
    await store.memories.put([memory(number) for number in range(280, 300)])
    await store.memories.put([memory(301, key="k", terms=("first",))])
    await store.memories.put([memory(301, like=3, key="k", terms=("second",))])
    await store.memories.delete(HERE, [f"mem_{number:05}" for number in range(10, 30)])
    assert names_in(home / "derived") == [FILE]
    return store


async def after_reopening(home: Path) -> list[FoundPool]:
    reopened = await SqliteStore.open(home)
    try:
        return await answers(reopened)
    finally:
        await reopened.close()


async def test_an_intact_file_is_used_and_newer_rows_are_read_from_the_store(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "derived" / FILE).rename(home / FILE)
    expected = await after_reopening(home)
    assert sum(len(pool.candidates) for pool in expected) > 100
    (home / FILE).rename(home / "derived" / FILE)

    def refuse(index: MemoryIndex, connection: Connection) -> None:
        raise AssertionError("everything was read from the store")

    monkeypatch.setattr(MemoryIndex, "_read_everything", refuse)
    assert await after_reopening(home) == expected
    (home / "derived" / FILE).unlink()
    with pytest.raises(AssertionError, match="everything"):
        await after_reopening(home)


PAGE = 65_536


def flipped(offset: int) -> Callable[[bytes], bytes]:
    def flip(content: bytes) -> bytes:
        changed = bytearray(content)
        changed[offset] ^= 4
        return bytes(changed)

    return flip


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "a few bytes": lambda content: content[:10],
    "half": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-1],
    "of zeros": lambda content: bytes(len(content)),
    "without a segment": lambda content: content[:PAGE],
    "bit flipped in the magic": flipped(0),
    "bit flipped in the header": lambda content: content.replace(b'"revision": ', b'"revision":1'),
    "bit flipped in the record": flipped(PAGE + 9),
    "bit flipped in the description": flipped(PAGE + 100),
    "bit flipped in the arrays": flipped(PAGE + 12_000),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_file_is_detected_and_rebuilt_without_changing_answers(
    filled: SqliteStore, home: Path, damage: str
) -> None:
    expected = await answers(filled)
    await filled.close()
    path = home / "derived" / FILE
    good = path.read_bytes()
    path.write_bytes(DAMAGES[damage](good))
    assert path.read_bytes() != good
    reopened = await SqliteStore.open(home)
    assert len((await reopened.check()).problems) == 1
    assert await answers(reopened) == expected
    assert (await reopened.check()).problems == []
    assert path.read_bytes() != DAMAGES[damage](good)
    await reopened.close()
    assert await after_reopening(home) == expected


async def test_a_file_of_another_format_or_model_is_not_used(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = await answers(filled)
    path = home / "derived" / FILE
    monkeypatch.setattr("scrubjay.features.embeddings.index_files.FORMAT_VERSION", FORMAT_VERSION + 1)
    newer = path.with_name(path.name.replace(f"-{FORMAT_VERSION}.bin", f"-{FORMAT_VERSION + 1}.bin"))
    shutil.copy(path, newer)
    assert await after_reopening(home) == expected
    assert newer.read_bytes() != path.read_bytes()
    monkeypatch.undo()
    await filled.memories.put([write("foreign", id="mem_foreign", vector=vector(*[1] * 8), model="other/model")])
    shutil.copy(path, home / "derived" / FILE.replace(MODEL, "other%2Fmodel"))
    reopened = await SqliteStore.open(home)
    pool = await search(reopened, query(vector=vector(*[1] * 8), model="other/model"))
    assert [candidate.memory.id for candidate in pool.candidates] == ["mem_foreign"]
    await reopened.close()


async def test_an_old_copy_of_the_file_is_brought_up_to_date(filled: SqliteStore, home: Path) -> None:
    path = home / "derived" / FILE
    old = path.read_bytes()
    await filled.memories.delete(GLOBAL_ONLY, ["mem_00000", "mem_00003"])
    await rebuild(filled)
    expected = await answers(filled)
    assert path.read_bytes() != old
    path.write_bytes(old)
    assert await after_reopening(home) == expected


async def test_a_file_from_before_a_restored_backup_is_not_used(
    filled: SqliteStore, home: Path, tmp_path: Path
) -> None:
    """Both stores have the same number of changes with other contents, like a restored backup with later writes."""
    twin = await SqliteStore.open(tmp_path / "twin")
    await twin.memories.put([memory(number, like=number * 7 + 3) for number in range(340)])
    expected = await answers(twin)
    await twin.close()
    shutil.copytree(home / "derived", tmp_path / "twin" / "derived")
    assert await after_reopening(tmp_path / "twin") == expected


async def test_copies_in_memory_and_in_files_detect_a_shortened_log(filled: SqliteStore, home: Path) -> None:
    reader = await SqliteStore.open(home)
    best = [pool.candidates[-1].memory.id for pool in await answers(reader) if pool.candidates]
    assert len(await filled.memories.delete(HERE, best)) > 1
    await filled.memories.put([memory(400)])
    expected = await answers(filled)
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.execute("DELETE FROM memory_change WHERE revision < (SELECT max(revision) FROM memory_change)")
    connection.close()
    assert await answers(reader) == expected
    assert await answers(filled) == expected
    assert await after_reopening(home) == expected
    await reader.close()


async def test_the_change_log_does_not_grow_without_limit(store: SqliteStore, home: Path) -> None:
    await store.memories.put([memory(0)])
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 102000) "
        "INSERT INTO memory_change (seq) SELECT 1 FROM n"
    )
    count, first, last = connection.execute("SELECT count(*), min(revision), max(revision) FROM memory_change")[0]
    connection.close()
    assert last == 102_001
    assert count == last - first + 1
    assert 100_000 <= count <= 101_000
    found = await search(store, query(vector=meaning(0)))
    assert [candidate.memory.id for candidate in found.candidates] == ["mem_00000"]


async def test_missing_rows_are_appended_to_a_file_once_there_are_many(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "derived" / FILE
    monkeypatch.setattr(memories, "MAX_ROWS_REWRITTEN_AT_ONCE", 0)
    before = path.read_bytes()
    await filled.memories.delete(HERE, [f"mem_{number:05}" for number in range(30, 60)])
    expected = await after_reopening(home)
    assert path.read_bytes() == before
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", 10)
    assert await after_reopening(home) == expected
    after = path.read_bytes()
    assert after.startswith(before.rstrip(b"\0"))
    assert len(after) > len(before)
    monkeypatch.setattr(MemoryIndex, "_read_everything", None)
    monkeypatch.setattr(MemoryIndex, "_changed_since", nothing_changed)  # only the file is read
    assert await after_reopening(home) == expected


@pytest.mark.parametrize("few_changes", [1, 7, 40])
async def test_answers_do_not_depend_on_the_number_of_segments(
    store: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch, few_changes: int
) -> None:
    """Two processes maintain one file; either can append missing rows."""
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", few_changes)
    monkeypatch.setattr(memory_index, "MAX_SEGMENTS", 5)
    other = await SqliteStore.open(home)
    rng = random.Random(few_changes)
    for turn in range(15):
        writer, reader = rng.sample([store, other], 2)
        numbers = range(turn * 20, turn * 20 + 20)
        fields: dict[str, Any] = {
            "session_id": rng.choice(["s", "t", None]),
            "speaker": rng.choice(["Ann", "Ben", None]),
            "category": rng.choice(["x", "y", None]),
            "tags": tuple(rng.sample(["p", "q r", "s"], 2)),
        }
        await writer.memories.put([memory(number, **fields) for number in numbers])
        gone = [f"mem_{rng.randrange(turn * 20 + 20):05}" for _ in range(5)]
        await reader.memories.delete(rng.choice([HERE, Visibility("prj_b")]), gone)
        if turn % 4 == 3:
            await rng.choice([writer, reader]).memories.compact()
        assert await answers(reader) == await answers(writer)
        if turn % 5 == 2:
            with monkeypatch.context() as patch:
                patch.setattr(MemoryIndex, "_read_file", no_file)
                from_nothing = await after_reopening(home)
            assert await after_reopening(home) == from_nothing == await answers(store)
            assert (await store.check()).problems == []
    await other.close()


async def test_a_fragmented_index_is_compacted_while_searches_continue(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", 5)
    monkeypatch.setattr(memory_index, "MAX_SEGMENTS", 3)
    path = home / "derived" / FILE
    for turn in range(3):
        assert not filled.memories.needs_compaction()
        await filled.memories.put([memory(5000 + turn * 10 + number) for number in range(10)])
        await answers(filled)
    assert filled.memories.needs_compaction()
    expected, before = await answers(filled), path.stat()
    (file,) = await filled.memories.compact()
    assert await answers(filled) == expected == await after_reopening(home)
    assert not filled.memories.needs_compaction()
    assert (path.stat().st_ino != before.st_ino, path.stat().st_size) == (True, file.bytes)
    assert file.rows == (await filled.memories.counts()).memories


async def test_many_deleted_rows_make_an_index_fragmented(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await answers(filled)
    monkeypatch.setattr(memories, "MAX_ROWS_REWRITTEN_AT_ONCE", 0)
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", 20)
    await filled.memories.delete(HERE, [f"mem_{number:05}" for number in range(0, 300, 3)])
    await answers(filled)
    assert filled.memories.needs_compaction()
    size = (home / "derived" / FILE).stat().st_size
    (file,) = await filled.memories.compact()
    assert file.bytes < size
    await answers(filled)
    assert not filled.memories.needs_compaction()


async def test_after_waiting_for_the_lock_a_process_checks_again_before_appending(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", 5)
    connection = Connection(home / "scrubjay.db", 5, read_only=True)
    first, second = (MemoryIndex(home / "derived", MODEL, 16) for _ in range(2))
    for index in (first, second):
        index.refresh(connection)
    await filled.memories.put([memory(5000 + number) for number in range(10)])
    for index in (first, second):
        index.refresh(connection)
    lock = SegmentFile.lock

    def lock_after_second(file: SegmentFile) -> Any:
        monkeypatch.setattr(SegmentFile, "lock", lock)
        second.update_file()
        return lock(file)

    monkeypatch.setattr(SegmentFile, "lock", lock_after_second)
    first.update_file()
    assert len(SegmentFile(home / "derived" / FILE, f"memories of {MODEL}, 16, format {FORMAT_VERSION}").segments) == 2
    await filled.memories.put([memory(6000 + number) for number in range(10)])
    first.refresh(connection)
    first.update_file()
    assert [*MemoryIndex(home / "derived", MODEL, 16).problems(connection)] == []
    connection.close()
    assert await after_reopening(home) == await answers(filled)


async def test_concurrent_appends_and_compactions_do_no_damage(
    store: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", 3)
    monkeypatch.setattr(memory_index, "MAX_SEGMENTS", 3)
    stores = [store, await SqliteStore.open(home), await SqliteStore.open(home)]
    contents: list[str] = []

    async def keep_searching(own: SqliteStore, numbers: range) -> None:
        for number in numbers:
            await own.memories.put([memory(number, scope=Scope.GLOBAL, project_id=None)])
            pool = await search(own, query(str(number), limit=1))
            contents.append(pool.candidates[0].memory.content)

    async def keep_compacting(own: SqliteStore) -> None:
        for _ in range(25):
            await own.memories.compact()

    async with anyio.create_task_group() as tasks:
        for number, own in enumerate(stores):
            tasks.start_soon(keep_searching, own, range(number * 100, number * 100 + 80))
        tasks.start_soon(keep_compacting, stores[2])
        tasks.start_soon(keep_compacting, stores[0])
    assert sorted(contents) == sorted(
        f"memory {process * 100 + number}" for process in range(3) for number in range(80)
    )
    assert await answers(store) == await answers(stores[1]) == await after_reopening(home)
    assert (await store.check()).problems == []
    assert "rebuilding a derived file" not in caplog.text  # no file was ever damaged
    for own in stores[1:]:
        await own.close()


async def test_a_process_does_not_append_while_another_one_does(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await answers(filled)
    path = home / "derived" / FILE
    before = path.read_bytes()
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", 5)
    with path.open("rb") as held:
        fcntl.flock(held.fileno(), fcntl.LOCK_EX)
        await filled.memories.put([memory(5000 + number) for number in range(10)])
        expected = await answers(filled)
        assert path.read_bytes() == before
    assert await answers(filled) == expected
    assert path.read_bytes() != before


async def test_a_small_store_has_no_file_until_it_grows(store: SqliteStore, home: Path) -> None:
    await store.memories.put([memory(number) for number in range(20)])
    await answers(store)
    assert not (home / "derived").exists()
    await store.memories.put([memory(number) for number in range(20, 1100)])
    expected = await after_reopening(home)
    assert (home / "derived" / FILE).exists()
    assert await answers(store) == expected
    assert (await store.check()).problems == []


async def test_answers_are_the_same_if_the_file_cannot_be_written(
    filled: SqliteStore, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = await answers(filled)
    shutil.rmtree(home / "derived")
    (home / "derived").write_text("a file instead of a folder")
    await filled.memories.put([memory(number + 1000, scope=Scope.SESSION, session_id="s") for number in range(1100)])
    found = await after_reopening(home)
    assert [hits(pool) for pool in found] == [hits(pool) for pool in expected]
    assert "could not be written" in caplog.text


async def test_a_rebuild_reports_that_it_cannot_write_its_file(filled: SqliteStore, home: Path) -> None:
    shutil.rmtree(home / "derived")
    (home / "derived").write_text("a file instead of a folder")
    with pytest.raises(Unavailable, match="could not be written"):
        await rebuild(filled)
    assert (await filled.check()).problems == []


async def test_repeated_changes_of_a_memory_do_not_accumulate(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", 20)
    reader = await SqliteStore.open(home)
    for turn in range(40):
        await filled.memories.put(
            [
                write(f"turn {turn} of {name}", key=name, vector=meaning(turn + offset))
                for offset, name in enumerate("uvwxyz")
            ]
        )
        pool = await search(reader, query(vector=meaning(turn), limit=1))
        assert pool.candidates[0].cosine == pytest.approx(1, abs=1e-5)
    assert await answers(reader) == await after_reopening(home)
    await reader.close()


async def test_a_rebuild_removes_obsolete_files(filled: SqliteStore, home: Path) -> None:
    (home / "derived" / "memories-forgotten-8-1.bin").write_bytes(b"old")
    (home / "derived" / f"{FILE}.123.abcd").write_bytes(b"left by a killed process")
    await filled.memories.begin_rebuild(resume=False)
    derived = SearchData(passages=((),), traits=0, vector=vector(1, 2), model="new")
    await filled.memories.rebuild([(found.id, derived) for found in await filled.memories.scan(None, 1000)])
    (file,) = await filled.memories.finish_rebuild()
    assert names_in(home / "derived") == [file.name]
    assert (file.rows, file.bytes) == (
        (await filled.memories.counts()).memories,
        (home / "derived" / file.name).stat().st_size,
    )


async def test_cached_frequent_words_give_the_same_scores(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def pools_of(store: SqliteStore) -> list[FoundPool]:
        return [
            await search(store, query(text, vector=meaning(7), visibility=visibility, limit=40))
            for text in ("memory 7", "memory 12 second", "memory memory 7")
            for visibility in (GLOBAL_ONLY, HERE)
        ]

    first, again = await pools_of(filled), await pools_of(filled)
    monkeypatch.setattr(memory_index, "MAX_CACHED_WORDS", 1)  # each word evicts the previous one
    few = await pools_of(filled)
    await filled.memories.put([memory(302)])
    changed = await pools_of(filled)
    monkeypatch.setattr(memory_index, "COMMON_WORD_DIVISOR", 0)  # no word is common
    reopened = await SqliteStore.open(home)
    try:
        without = await pools_of(reopened)
    finally:
        await reopened.close()
    assert first == again == few
    assert changed == without
    assert changed != first
