"""Search over the index: whatever happens to its file, the answers are the same."""

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
from scrubjay.features.memory.models import Derived, MemoryFilter, MemoryWrite
from scrubjay.search_index.segment_file import SegmentFile
from tests.contracts.samples import MODEL, NOBODY_IN_PARTICULAR, FoundPool, query, search, vector, write
from tests.db.sqlite.conftest import names_in

FILE = f"memories-{MODEL}-8-{FORMAT_VERSION}.bin"
HERE = Visibility("prj_a")


def meaning(number: int) -> bytes:
    """Vectors that point all over the place, each a few times."""
    return vector(*(math.sin((number % 90 + 1) * (place + 1)) for place in range(8)))


def memory(number: int, like: int | None = None, **fields: Any) -> MemoryWrite:
    if number % 3:
        fields = {"scope": Scope.PROJECT, "project_id": f"prj_{'ab'[number % 2]}", **fields}
    means = meaning(number if like is None else like)
    return write(f"memory {number}", id=f"mem_{number:05}", vector=means, **fields)


async def rebuild(store: SqliteStore) -> None:
    """Write the file of vectors."""
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
    """A few questions of each kind."""
    return [
        await search(store, query("7", vector=meaning(number), visibility=visibility, filter=wanted, limit=7))
        for number in (1, 50, 200)
        for visibility in (NOBODY_IN_PARTICULAR, HERE, Visibility("prj_b"))
        for wanted in FILTERS
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


async def test_a_good_file_is_used_and_what_it_misses_comes_from_the_store(
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


def flipped(place: int) -> Callable[[bytes], bytes]:
    def flip(content: bytes) -> bytes:
        changed = bytearray(content)
        changed[place] ^= 4
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
async def test_a_damaged_file_is_noticed_made_anew_and_changes_no_answer(
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
    await filled.memories.delete(NOBODY_IN_PARTICULAR, ["mem_00000", "mem_00003"])
    await rebuild(filled)
    expected = await answers(filled)
    assert path.read_bytes() != old
    path.write_bytes(old)
    assert await after_reopening(home) == expected


async def test_a_file_of_another_life_of_the_store_is_not_used(filled: SqliteStore, home: Path, tmp_path: Path) -> None:
    """As many changes, but others: what a backup that was put back and written to again looks like."""
    twin = await SqliteStore.open(tmp_path / "twin")
    await twin.memories.put([memory(number, like=number * 7 + 3) for number in range(340)])
    expected = await answers(twin)
    await twin.close()
    shutil.copytree(home / "derived", tmp_path / "twin" / "derived")
    assert await after_reopening(tmp_path / "twin") == expected


async def test_a_shortened_log_is_noticed_by_copies_in_memory_and_in_files(filled: SqliteStore, home: Path) -> None:
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


async def test_the_log_does_not_grow_for_ever(store: SqliteStore, home: Path) -> None:
    await store.memories.put([memory(0)])
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 102000) "
        "INSERT INTO memory_change (seq) SELECT 1 FROM n"
    )
    kept, first, last = connection.execute("SELECT count(*), min(revision), max(revision) FROM memory_change")[0]
    connection.close()
    assert last == 102_001
    assert kept == last - first + 1
    assert 100_000 <= kept <= 101_000
    found = await search(store, query(vector=meaning(0)))
    assert [candidate.memory.id for candidate in found.candidates] == ["mem_00000"]


async def test_what_a_file_misses_is_appended_to_it_once_it_is_much(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "derived" / FILE
    monkeypatch.setattr(memories, "SOON_REWRITTEN", 0)
    before = path.read_bytes()
    await filled.memories.delete(HERE, [f"mem_{number:05}" for number in range(30, 60)])
    expected = await after_reopening(home)
    assert path.read_bytes() == before
    monkeypatch.setattr(memory_index, "FEW_CHANGES", 10)
    assert await after_reopening(home) == expected
    after = path.read_bytes()
    assert after.startswith(before.rstrip(b"\0"))
    assert len(after) > len(before)
    monkeypatch.setattr(MemoryIndex, "_read_everything", None)
    monkeypatch.setattr(MemoryIndex, "_changed_since", nothing_changed)  # nothing is read but the file
    assert await after_reopening(home) == expected


@pytest.mark.parametrize("few_changes", [1, 7, 40])
async def test_answers_are_the_same_from_any_number_of_segments(
    store: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch, few_changes: int
) -> None:
    """Two processes keep one file, whichever of them finds that it misses much."""
    monkeypatch.setattr(memory_index, "FEW_CHANGES", few_changes)
    monkeypatch.setattr(memory_index, "MANY_SEGMENTS", 5)
    other = await SqliteStore.open(home)
    dice = random.Random(few_changes)
    for turn in range(15):
        writer, reader = dice.sample([store, other], 2)
        numbers = range(turn * 20, turn * 20 + 20)
        fields: dict[str, Any] = {
            "session_id": dice.choice(["s", "t", None]),
            "speaker": dice.choice(["Ann", "Ben", None]),
            "category": dice.choice(["x", "y", None]),
            "tags": tuple(dice.sample(["p", "q r", "s"], 2)),
        }
        await writer.memories.put([memory(number, **fields) for number in numbers])
        gone = [f"mem_{dice.randrange(turn * 20 + 20):05}" for _ in range(5)]
        await reader.memories.delete(dice.choice([HERE, Visibility("prj_b")]), gone)
        if turn % 4 == 3:
            await dice.choice([writer, reader]).memories.compact()
        assert await answers(reader) == await answers(writer)
        if turn % 5 == 2:
            with monkeypatch.context() as patch:
                patch.setattr(MemoryIndex, "_read_file", no_file)
                from_nothing = await after_reopening(home)
            assert await after_reopening(home) == from_nothing == await answers(store)
            assert (await store.check()).problems == []
    await other.close()


async def test_a_scattered_index_is_compacted_while_searches_go_on(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_index, "FEW_CHANGES", 5)
    monkeypatch.setattr(memory_index, "MANY_SEGMENTS", 3)
    path = home / "derived" / FILE
    for turn in range(3):
        assert not filled.memories.is_scattered()
        await filled.memories.put([memory(5000 + turn * 10 + number) for number in range(10)])
        await answers(filled)
    assert filled.memories.is_scattered()
    expected, before = await answers(filled), path.stat()
    (file,) = await filled.memories.compact()
    assert await answers(filled) == expected == await after_reopening(home)
    assert not filled.memories.is_scattered()
    assert (path.stat().st_ino != before.st_ino, path.stat().st_size) == (True, file.bytes)
    assert file.rows == (await filled.memories.counts()).memories


async def test_much_that_is_dead_makes_an_index_scattered(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await answers(filled)
    monkeypatch.setattr(memories, "SOON_REWRITTEN", 0)
    monkeypatch.setattr(memory_index, "FEW_CHANGES", 20)
    await filled.memories.delete(HERE, [f"mem_{number:05}" for number in range(0, 300, 3)])
    await answers(filled)
    assert filled.memories.is_scattered()
    size = (home / "derived" / FILE).stat().st_size
    (file,) = await filled.memories.compact()
    assert file.bytes < size
    await answers(filled)
    assert not filled.memories.is_scattered()


async def test_who_waits_for_the_lock_looks_again_before_appending(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_index, "FEW_CHANGES", 5)
    connection = Connection(home / "scrubjay.db", 5, read_only=True)
    first, second = (MemoryIndex(home / "derived", MODEL, 16) for _ in range(2))
    for index in (first, second):
        index.refresh(connection)
    await filled.memories.put([memory(5000 + number) for number in range(10)])
    for index in (first, second):
        index.refresh(connection)
    locked = SegmentFile.locked

    def locked_too_late(file: SegmentFile) -> Any:
        monkeypatch.setattr(SegmentFile, "locked", locked)
        second.keep_up_file()
        return locked(file)

    monkeypatch.setattr(SegmentFile, "locked", locked_too_late)
    first.keep_up_file()
    assert len(SegmentFile(home / "derived" / FILE, f"memories of {MODEL}, 16, format {FORMAT_VERSION}").segments) == 2
    await filled.memories.put([memory(6000 + number) for number in range(10)])
    first.refresh(connection)
    first.keep_up_file()
    assert [*MemoryIndex(home / "derived", MODEL, 16).problems(connection)] == []
    connection.close()
    assert await after_reopening(home) == await answers(filled)


async def test_many_readers_append_and_compact_at_once_without_harm(
    store: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(memory_index, "FEW_CHANGES", 3)
    monkeypatch.setattr(memory_index, "MANY_SEGMENTS", 3)
    stores = [store, await SqliteStore.open(home), await SqliteStore.open(home)]
    found: list[str] = []

    async def keep_asking(own: SqliteStore, numbers: range) -> None:
        for number in numbers:
            await own.memories.put([memory(number, scope=Scope.GLOBAL, project_id=None)])
            pool = await search(own, query(str(number), limit=1))
            found.append(pool.candidates[0].memory.content)

    async def keep_compacting(own: SqliteStore) -> None:
        for _ in range(25):
            await own.memories.compact()

    async with anyio.create_task_group() as tasks:
        for place, own in enumerate(stores):
            tasks.start_soon(keep_asking, own, range(place * 100, place * 100 + 80))
        tasks.start_soon(keep_compacting, stores[2])
        tasks.start_soon(keep_compacting, stores[0])
    assert sorted(found) == sorted(f"memory {place * 100 + number}" for place in range(3) for number in range(80))
    assert await answers(store) == await answers(stores[1]) == await after_reopening(home)
    assert (await store.check()).problems == []
    assert "made anew" not in caplog.text  # no file was ever damaged
    for own in stores[1:]:
        await own.close()


async def test_a_file_that_another_process_appends_to_is_left_to_it(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await answers(filled)
    path = home / "derived" / FILE
    before = path.read_bytes()
    monkeypatch.setattr(memory_index, "FEW_CHANGES", 5)
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


async def test_without_a_place_for_the_file_answers_are_the_same(
    filled: SqliteStore, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = await answers(filled)
    shutil.rmtree(home / "derived")
    (home / "derived").write_text("in the way")
    await filled.memories.put([memory(number + 1000, scope=Scope.SESSION, session_id="s") for number in range(1100)])
    found = await after_reopening(home)
    assert [hits(pool) for pool in found] == [hits(pool) for pool in expected]
    assert "could not be written" in caplog.text


async def test_a_rebuild_that_cannot_write_its_file_says_so(filled: SqliteStore, home: Path) -> None:
    shutil.rmtree(home / "derived")
    (home / "derived").write_text("in the way")
    with pytest.raises(Unavailable, match="could not be written"):
        await rebuild(filled)
    assert (await filled.check()).problems == []


async def test_memories_changed_over_and_over_do_not_pile_up(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_index, "FEW_CHANGES", 20)
    reader = await SqliteStore.open(home)
    for turn in range(40):
        await filled.memories.put(
            [
                write(f"turn {turn} of {name}", key=name, vector=meaning(turn + place))
                for place, name in enumerate("uvwxyz")
            ]
        )
        pool = await search(reader, query(vector=meaning(turn), limit=1))
        assert pool.candidates[0].cosine == pytest.approx(1, abs=1e-5)
    assert await answers(reader) == await after_reopening(home)
    await reader.close()


async def test_a_rebuild_removes_files_that_nothing_needs_any_more(filled: SqliteStore, home: Path) -> None:
    (home / "derived" / "memories-forgotten-8-1.bin").write_bytes(b"old")
    (home / "derived" / f"{FILE}.123.abcd").write_bytes(b"left by a killed process")
    await filled.memories.begin_rebuild(resume=False)
    derived = Derived(passages=((),), traits=0, vector=vector(1, 2), model="new")
    await filled.memories.rebuild([(found.id, derived) for found in await filled.memories.scan(None, 1000)])
    (file,) = await filled.memories.finish_rebuild()
    assert names_in(home / "derived") == [file.name]
    assert (file.rows, file.bytes) == (
        (await filled.memories.counts()).memories,
        (home / "derived" / file.name).stat().st_size,
    )


async def test_words_that_many_memories_have_say_the_same_when_they_are_asked_for_again(
    filled: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked(store: SqliteStore) -> list[FoundPool]:
        return [
            await search(store, query(text, vector=meaning(7), visibility=visibility, limit=40))
            for text in ("memory 7", "memory 12 second", "memory memory 7")
            for visibility in (NOBODY_IN_PARTICULAR, HERE)
        ]

    first, again = await asked(filled), await asked(filled)
    monkeypatch.setattr(memory_index, "MOST_COMMON", 1)  # the next one takes the place of the one before
    few = await asked(filled)
    await filled.memories.put([memory(302)])
    changed = await asked(filled)
    monkeypatch.setattr(memory_index, "COMMON_SHARE", 0)  # none is common
    reopened = await SqliteStore.open(home)
    try:
        without = await asked(reopened)
    finally:
        await reopened.close()
    assert first == again == few
    assert changed == without
    assert changed != first
