"""The store counts memories by client, and rolls back a write beyond the quota."""

from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import QuotaExceeded
from scrubjay.core.policies import StorageQuota
from scrubjay.db.sqlite.connections import Connection, in_transaction
from scrubjay.db.sqlite.schema import load_migrations, migrate
from scrubjay.features.memory.quota_rows import count_client_memories, enforce_quota
from tests.contracts.samples import GLOBAL_ONLY, write

ADA, GRACE = {"client": "ada"}, {"client": "grace", "tool": "remember"}


def counted(home: Path) -> dict[str, int]:
    connection = Connection(home / "scrubjay.db", 1.0, read_only=True)
    try:
        return {client: count_client_memories(connection, client) for client in ("ada", "grace", "")}
    finally:
        connection.close()


async def test_memories_are_counted_by_client(store: SqliteStore, home: Path) -> None:
    of_ada = [write(f"note {number}", provenance=ADA) for number in range(3)]
    keyed = write("tea at four", key="tea", provenance=ADA)
    await store.memories.put([*of_ada, keyed, write("note", provenance=GRACE), write("of nobody")])
    assert counted(home) == {"ada": 4, "grace": 1, "": 1}
    await store.memories.put([write("tea at five", key="tea", provenance=ADA)])
    assert counted(home) == {"ada": 4, "grace": 1, "": 1}, "the replaced version does not count"
    await store.memories.put([write("tea at six", key="tea", provenance=GRACE)])
    assert counted(home) == {"ada": 3, "grace": 2, "": 1}, "the memory belongs to its last writer"
    await store.memories.delete(GLOBAL_ONLY, [keyed.memory.id, of_ada[0].memory.id])
    assert counted(home) == {"ada": 2, "grace": 1, "": 1}
    await store.memories.erase([one.memory.id for one in of_ada])
    assert counted(home) == {"ada": 0, "grace": 1, "": 1}


async def test_memories_of_an_older_store_are_counted_when_it_is_opened(home: Path) -> None:
    store = await SqliteStore.open(home)
    await store.memories.put([write("a", provenance=ADA), write("b", provenance=ADA), write("c")])
    await store.close()
    connection = Connection(home / "scrubjay.db", 1.0)
    for name in ("memory_counted", "memory_discounted", "memory_counted_elsewhere"):
        connection.execute(f"DROP TRIGGER {name}")
    for table in ("client_memories", "forgetting"):
        connection.execute(f"DROP TABLE {table}")
    counting = next(step for step in load_migrations() if step.name == "quotas_and_forgetting")
    connection.execute(counting.sql)
    connection.close()
    assert counted(home) == {"ada": 2, "grace": 0, "": 1}


def test_a_write_beyond_the_quota_is_rolled_back(tmp_path: Path) -> None:
    connection = Connection(tmp_path / "scrubjay.db", 1.0)
    migrate(connection, load_migrations())

    def add(ids: list[str]) -> None:
        def work(connection: Connection) -> None:
            for memory_id in ids:
                connection.execute(
                    "INSERT INTO memory (id, audience_id, importance, confidence, recorded_at, updated_at, tags,"
                    " metadata, content, provenance)"
                    " VALUES (:id, 1, 0, 0, 0, 0, '[]', '{}', '', json_object('client', 'ada'))",
                    {"id": memory_id},
                )
            enforce_quota(connection, StorageQuota("ada", 2))

        in_transaction(connection, work)

    connection.execute("INSERT INTO audience (id, scope) VALUES (1, 'global')")
    add(["one"])
    with pytest.raises(QuotaExceeded) as refused:
        add(["two", "three"])
    assert refused.value.details == {"client": "ada", "limit": 2}
    assert connection.execute("SELECT id FROM memory") == [("one",)]
    add(["two"])
    assert count_client_memories(connection, "ada") == 2
    connection.close()
