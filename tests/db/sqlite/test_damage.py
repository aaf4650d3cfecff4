"""Damage in the file of a store: it is found row by row, and damaged rows are never returned."""

import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from scrubjay.app import sqlite_maintenance
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import StoreUnusable
from scrubjay.db.sqlite.checksums import COVERED_TABLES, DamagedRow, checked_columns
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import load_migrations, migrate
from scrubjay.features.hooks.hook_reader import FIRST_VERSION_WITH_CHECKSUMS, open_hook_reader
from scrubjay.features.memory.erasure import iterate_memories
from scrubjay.features.memory.models import Memory
from tests.contracts.samples import EVERYTHING, GLOBAL_ONLY, link, query, vector, write

MEMORIES = 60
# Stands in the table of memories alone, not in its text index.
MARK = b"only-in-rows"


@pytest.fixture
async def filled(home: Path) -> Path:
    """Return a closed store with memories of many sizes, whose log is in the database file."""
    store = await SqliteStore.open(home)
    for number in range(MEMORIES):
        content = f"drawer number {number} " * (1 + number % 40)
        metadata = {"mark": MARK.decode(), "number": number}
        links = (link(f"a.py::f{number}", text="code"),) if number % 5 == 0 else ()
        await store.memories.put(
            [write(content, id=f"mem_{number}", metadata=metadata, vector=vector(number, 1), links=links)]
        )
    await store.close()
    return home


def flip(home: Path, seed: int, flips: int, *, page_with: bytes | None = None) -> None:
    """Flip bits of the database: anywhere, or in the pages with these bytes."""
    choose, path = random.Random(seed), home / "scrubjay.db"
    data = bytearray(path.read_bytes())
    pages = [page for page in range(0, len(data), 4096) if page_with is None or page_with in data[page : page + 4096]]
    for _ in range(flips):
        data[choose.choice(pages) + choose.randrange(4096)] ^= 1 << choose.randrange(8)
    path.write_bytes(data)


def check(home: Path) -> list[str]:
    return [*sqlite_maintenance.check_store(home / "scrubjay.db", home / "derived", 5.0).problems]


def replace_bytes(home: Path, before: bytes, after: bytes) -> None:
    path = home / "scrubjay.db"
    data = path.read_bytes()
    assert before in data
    assert len(before) == len(after)
    path.write_bytes(data.replace(before, after))


# -- the triggers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", COVERED_TABLES)
def test_the_checksum_of_a_table_covers_every_column(tmp_path: Path, table: str) -> None:
    connection = Connection(tmp_path / "scrubjay.db", 5.0)
    migrate(connection, load_migrations())
    columns = [(row[1], row[2]) for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "checksum"]
    for event, prefix in (("added", ""), ("changed", ""), ("changed", "OLD.")):
        name = {"name": f"{table}_checksum_{event}"}
        sql = re.sub(r"\s+", " ", connection.value("SELECT sql FROM sqlite_schema WHERE name = :name", name))
        assert checked_columns(columns, prefix) in sql
        if event == "changed":
            assert f"UPDATE OF {', '.join(name for name, _ in columns)} ON {table}" in sql
    connection.close()


async def test_existing_rows_get_a_checksum_by_the_migration(empty_home: Path) -> None:
    connection = Connection(empty_home / "scrubjay.db", 5.0)
    migrate(connection, load_migrations()[:18])
    connection.execute(
        """INSERT INTO audience (id, scope) VALUES (1, 'global');
        INSERT INTO memory (id, audience_id, importance, confidence, recorded_at, updated_at, tags, metadata, content)
        VALUES ('mem_1', 1, 1, 0.1, 5, 5, '[]', '{}', 'Größe: 5 ≠ 6'), ('mem_2', 1, 0, 1, 5, 5, '["a"]', '{}', '')"""
    )
    connection.close()
    store = await SqliteStore.open(empty_home)
    assert {one.content for one in await store.memories.find(GLOBAL_ONLY, EVERYTHING, 9)} == {"Größe: 5 ≠ 6", ""}
    await store.close()
    assert [one for one in check(empty_home) if "checksum" in one] == []


async def test_every_kind_of_write_keeps_the_checksums_right(store: SqliteStore, home: Path) -> None:
    memories = store.memories
    await memories.put(
        [
            write("one ünïcode 𝄞", id="mem_1", importance=1, confidence=0, subject="door", links=(link("a.py::f"),)),
            write("two", id="mem_2", key="k", tags=("a", "b"), metadata={"x": [1.5, None]}, vector=vector(1, 2)),
            write("three", id="mem_3", subject="door"),
        ]
    )
    await memories.put([write("two again", key="k")])
    await memories.put([write("two", key="k", importance=0.25)])
    await memories.protect(GLOBAL_ONLY, ["mem_2"], protected=True)
    await memories.delete(GLOBAL_ONLY, ["mem_3"])
    assert [one for one in check(home) if "vector" not in one] == []
    assert len(await memories.find(GLOBAL_ONLY, EVERYTHING, 9)) == 2


async def test_a_change_of_a_damaged_row_does_not_hide_the_damage(filled: Path) -> None:
    replace_bytes(filled, b"drawer number 7 drawer", b"erawer number 7 drawer")
    connection = Connection(filled / "scrubjay.db", 5.0)
    connection.execute("UPDATE memory SET protected = 1, importance = 0.9")
    connection.close()
    assert [one for one in check(filled) if "its checksum" in one] == [
        "memory mem_7 (row 8): its checksum does not match its values"
    ]


# -- check and reads -----------------------------------------------------------------------------------


async def test_a_changed_letter_is_named_and_its_memory_is_left_out(filled: Path) -> None:
    assert check(filled) == []
    replace_bytes(filled, b"drawer number 7 drawer", b"erawer number 7 drawer")
    problems = check(filled)
    assert "memory mem_7 (row 8): its checksum does not match its values" in problems
    store = await SqliteStore.open(filled)
    page = await store.memories.page(GLOBAL_ONLY, EVERYTHING, newest_first=True, limit=200, offset=0)
    assert (page.total, len(page.memories), page.damaged) == (MEMORIES, MEMORIES - 1, 1)
    assert "mem_7" not in {one.id for one in page.memories}
    assert len(await store.memories.find(GLOBAL_ONLY, EVERYTHING, 200)) == MEMORIES - 1
    with pytest.raises(DamagedRow, match="mem_7"):
        await store.memories.get(GLOBAL_ONLY, "mem_7")
    await store.close()


CHANGES = {
    "text that is not UTF-8": (b"drawer number 7 drawer", b"\xff\xfeawer number 7 drawer"),
    "a digit of the metadata": (b'"number":7}', b'"number":8}'),
    "metadata that are not JSON": (b'"number":7}', b'"number":7{'),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_damage_in_one_row_does_not_hide_the_others(filled: Path, change: str) -> None:
    replace_bytes(filled, *CHANGES[change])
    assert [one for one in check(filled) if one.startswith("memory mem_7 (row 8): ")] != []
    store = await SqliteStore.open(filled)
    page = await store.memories.page(GLOBAL_ONLY, EVERYTHING, newest_first=False, limit=200, offset=0)
    assert (len(page.memories), page.damaged) == (MEMORIES - 1, 1)
    read = await store.memories.in_snapshot(
        query("drawer", vector=vector(1, 1), limit=100), lambda view: view.read(view.candidates().handles.tolist())
    )
    assert len(read) == MEMORIES - 1
    await store.close()


@pytest.mark.parametrize("kind", ["gendral", None, 7])
async def test_a_damaged_column_of_the_search_index_leaves_out_one_row_and_says_so(filled: Path, kind: object) -> None:
    connection = Connection(filled / "scrubjay.db", 5.0)
    connection.execute(
        """DROP TRIGGER memory_revised; PRAGMA writable_schema = 1; PRAGMA ignore_check_constraints = 1;
        UPDATE sqlite_schema SET sql = replace(sql, 'kind TEXT NOT NULL', 'kind ANY') WHERE name = 'memory'"""
    )
    connection.close()
    connection = Connection(filled / "scrubjay.db", 5.0)
    connection.execute("UPDATE memory SET kind = :kind WHERE seq = 8", {"kind": kind})
    connection.close()
    store = await SqliteStore.open(filled)
    pool = await store.memories.in_snapshot(
        query("drawer", vector=vector(1, 1), limit=100), lambda view: view.candidates()
    )
    assert (len(pool.handles), pool.damaged) == (MEMORIES - 1, 1)
    # Until the row is repaired, no file hides that it is missing.
    assert not [*(filled / "derived").glob("memories-*.bin")]
    await store.close()


@pytest.mark.parametrize(("flips", "seeds"), [(1, 80), (6, 80), (40, 40)])
async def test_a_check_of_a_file_with_flipped_bits_ends_with_findings(filled: Path, flips: int, seeds: int) -> None:
    intact = (filled / "scrubjay.db").read_bytes()
    found = 0
    for seed in range(seeds):
        (filled / "scrubjay.db").write_bytes(intact)
        flip(filled, seed, flips)
        found += bool(check(filled))
    # Free space of pages and unused bytes hold no data, so not every flip is damage.
    assert found > seeds * {1: 0.05, 6: 0.3, 40: 0.9}[flips]


@pytest.mark.parametrize("seed", range(25))
async def test_reads_of_a_damaged_store_return_intact_rows_or_say_that_it_is_damaged(filled: Path, seed: int) -> None:
    flip(filled, seed, 30, page_with=MARK)
    store = await SqliteStore.open(filled)
    found: list[Memory] = []
    drawers = query("drawer", vector=vector(1, 1), limit=100)
    with suppress(StoreUnusable):
        page = await store.memories.page(GLOBAL_ONLY, EVERYTHING, newest_first=True, limit=200, offset=0)
        found += page.memories
        assert page.damaged
        read = await store.memories.in_snapshot(drawers, lambda view: view.read(view.candidates().handles.tolist()))
        found += read.values()
    for number in range(MEMORIES):
        with suppress(StoreUnusable):
            found += filter(None, [await store.memories.get(GLOBAL_ONLY, f"mem_{number}")])
    for one in found:
        number = int(one.id.removeprefix("mem_"))
        assert (one.content, one.metadata["number"]) == (f"drawer number {number} " * (1 + number % 40), number)
    await store.close()


def test_a_hook_reads_a_store_that_has_no_checksums_yet(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "scrubjay.db", 5.0)
    migrate(connection, load_migrations()[: FIRST_VERSION_WITH_CHECKSUMS - 1])
    connection.execute(
        """INSERT INTO audience (id, scope) VALUES (1, 'global');
        INSERT INTO memory (id, audience_id, importance, confidence, recorded_at, updated_at, tags, metadata, content)
        VALUES ('mem_1', 1, 1, 0.1, 5, 5, '[]', '{}', 'a note');
        INSERT INTO permission_rule (id, effect, tool_name, match_type, pattern, created_at, created_by)
        VALUES ('rule_1', 'deny', 'Bash', 'prefix', 'rm', 1, 'owner')"""
    )
    connection.close()
    with open_hook_reader(tmp_path / "scrubjay.db") as reader:
        assert [note.content for note in reader.latest(None, ["general"], 9)] == ["a note"]
        assert [rule.id for rule in reader.rules(["/"])] == ["rule_1"]


async def test_a_hook_leaves_out_a_damaged_memory(filled: Path) -> None:
    replace_bytes(filled, b"drawer number 7 drawer", b"erawer number 7 drawer")
    with open_hook_reader(filled / "scrubjay.db") as reader:
        assert len(reader.latest(None, ["general"], 2 * MEMORIES)) == MEMORIES - 1


async def test_an_earlier_version_of_a_memory_gets_no_copy_of_a_damaged_link(filled: Path) -> None:
    replace_bytes(filled, b"a.py::f5", b"b.py::f5")
    store = await SqliteStore.open(filled)
    await store.memories.put([write("drawer five", key="k", links=(link("a.py::f9", text="code"),))])
    connection = Connection(filled / "scrubjay.db", 5.0)
    connection.execute("UPDATE memory SET key = NULL WHERE key = 'k'; UPDATE memory SET key = 'k' WHERE id = 'mem_5'")
    connection.close()
    await store.memories.put([write("drawer five is empty", key="k")])
    await store.close()
    connection = Connection(filled / "scrubjay.db", 5.0)
    assert connection.value("SELECT count(*) FROM memory_link WHERE name = 'b.py::f5'") <= 1
    connection.close()


async def test_memories_of_a_damaged_store_are_iterated_once_each(filled: Path) -> None:
    replace_bytes(filled, b"drawer number 7 drawer", b"erawer number 7 drawer")
    store = await SqliteStore.open(filled)
    found = [one.id async for one in iterate_memories(store.memories, GLOBAL_ONLY, EVERYTHING)]
    assert sorted(found) == sorted({f"mem_{number}" for number in range(MEMORIES)} - {"mem_7"})
    await store.close()
