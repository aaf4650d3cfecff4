"""No tool returns a row that is not what was written: it leaves the row out, and says so."""

import random
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.app.store_repair import repair_store
from scrubjay.core.errors import StoreUnusable, Unauthenticated
from scrubjay.db.sqlite.checksums import COVERED_TABLES
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.hooks.hook_reader import open_hook_reader
from scrubjay.features.keys.authenticator import KeyAuthenticator
from scrubjay.features.keys.store import KeyStore
from tests.app.full_store import MARK, Read, fill_store, merge_log, perform
from tests.surfaces.callers import python_caller

# For each table the column that is damaged below: what its rows say, or whom they belong to.
COLUMNS: Mapping[str, str] = {
    "memory": "content",
    "audience": "scope",
    "memory_link": "name",
    "project": "name",
    "session": "client",
    "working_item": "content",
    "task": "title",
    "goal": "title",
    "milestone": "title",
    "episode": "task_description",
    "episode_step": "action",
    "pattern": "form",
    "entity": "name",
    "triple": "predicate",
    "agent_message": "content",
    "agent_reply": "content",
    "persona": "content",
    "permission_rule": "pattern",
    "tool_call": "result",
    "job": "result",
    "access_key": "name",
}
DAMAGE: Mapping[str, bytes] = {"another letter": b"!wrong!", "text that is not UTF-8": b"!wrong\xff"}
# Links are read only with the code that they name, and keys by no tool.
UNREAD = {"memory_link", "access_key"}

# Tables without checksums, each with the reason.
NOT_COVERED: Mapping[str, str] = {
    "meta": "counts and state of jobs",
    "memory_change": "numbers",
    "memory_vector": "can be computed again",
    "memory_use": "numbers, which influence ranking only",
    "embedding_model": "a setting, which is checked against the vectors",
    "write_once": "receipts of writes, kept for a week",
    "client_memories": "counts",
    "forgetting": "counts",
    "client_session": "references",
    "client_project": "references",
    "tool_call_memory": "references",
    "job_memory": "references",
    "tool_usage": "counts",
    "access_revision": "a count",
    "agent_prompt": "waits for the answer to one prompt, then it is deleted",
    "entity_name": "computed from entities, apart from aliases",
    "entity_word": "computed from entities",
    "inferred": "computed from triples",
    "inferred_rest": "references",
    "knowledge_graph": "counts",
    "episode_vector": "can be computed again",
    "incoming_plan": "the file of a running import, which has a checksum",
    "pattern_evidence": "references",
    "pattern_recommendation": "references",
    "pattern_vector": "can be computed again",
    "learned_episode": "references",
    "schema_history": "versions",
}


@pytest.fixture(scope="module")
async def full(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> tuple[bytes, list[Read]]:
    """Return the database of a store with rows of every kind, and the calls that read them."""
    home, folder = tmp_path_factory.mktemp("full"), tmp_path_factory.mktemp("zoo")
    async with python_caller(home) as call:
        reads = await fill_store(call, home, folder)
    return merge_log(home), reads


def damage_every_row(home: Path, table: str, damage: bytes) -> None:
    """Change the text of every row, as a failing disk would: without its checksum."""
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.execute(f"PRAGMA ignore_check_constraints = 1; DROP TRIGGER {table}_checksum_changed")
    column = COLUMNS[table]
    connection.execute(
        f"UPDATE {table} SET {column} = CAST(CAST({column} AS BLOB) || :damage AS TEXT)", {"damage": damage}
    )
    connection.close()


def test_every_table_has_checksums_or_a_reason_why_not(full: tuple[bytes, list[Read]], tmp_path: Path) -> None:
    (tmp_path / "scrubjay.db").write_bytes(full[0])
    connection = Connection(tmp_path / "scrubjay.db", 5.0)
    tables = {
        name
        for (name,) in connection.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*'"
        )
    }
    with_checksum = {
        table
        for table in tables
        if connection.execute(f"SELECT 1 FROM pragma_table_info('{table}') WHERE name = 'checksum'")
    }
    rows = {table for table in with_checksum if connection.value(f"SELECT count(*) FROM {table}")}
    connection.close()
    assert set(COVERED_TABLES) == with_checksum == tables - set(NOT_COVERED)
    assert rows == set(COLUMNS) == with_checksum, "the tests below damage rows of every table"


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("table", COLUMNS)
async def test_damaged_rows_of_a_table_are_left_out_of_every_answer_which_says_so(
    full: tuple[bytes, list[Read]], tmp_path: Path, table: str, damage: str
) -> None:
    intact, reads = full
    (tmp_path / "scrubjay.db").write_bytes(intact)
    damage_every_row(tmp_path, table, DAMAGE[damage])
    async with python_caller(tmp_path) as call:
        outcomes = await perform(call, reads)
    assert [one.text for one in outcomes if one.error is not None and one.error.code == "internal"] == []
    assert [one for one in outcomes if "!wrong" in one.text] == []
    assert any(one.says_damaged for one in outcomes) or table in UNREAD
    missing = [one for one in outcomes if one.error is not None and one.error.code == "not_found"]
    assert missing == [], "what is damaged is not reported as missing"


async def test_a_store_whose_only_key_is_damaged_stays_closed_also_after_a_repair(
    full: tuple[bytes, list[Read]], tmp_path: Path
) -> None:
    (tmp_path / "scrubjay.db").write_bytes(full[0])
    damage_every_row(tmp_path, "access_key", DAMAGE["another letter"])
    for lost in ([], ["access_key key_1 (row 1): its checksum does not match its values; the key is revoked"]):
        if lost:
            assert repair_store(tmp_path, 5.0, only_report=False).lost == lost
        store = await SqliteStore.open(tmp_path)
        authenticator = KeyAuthenticator(partial(_keys_of, store))
        with pytest.raises(Unauthenticated):
            await authenticator.authenticate(None)
        assert not await authenticator.has_active_key()
        await store.close()


async def _keys_of(store: SqliteStore) -> KeyStore:
    return store.keys


async def test_a_damaged_rule_makes_no_decision_possible_instead_of_allowing_what_it_denies(
    full: tuple[bytes, list[Read]], tmp_path: Path
) -> None:
    (tmp_path / "scrubjay.db").write_bytes(full[0])
    damage_every_row(tmp_path, "permission_rule", DAMAGE["another letter"])
    with open_hook_reader(tmp_path / "scrubjay.db") as reader, pytest.raises(StoreUnusable, match="permission_rule"):
        reader.rules(["/zoo"])
    store = await SqliteStore.open(tmp_path)
    with pytest.raises(StoreUnusable, match="permission_rule"):
        await store.permissions.holding_at(["/zoo"])
    await store.close()


async def test_memories_are_read_and_written_although_the_index_of_code_is_damaged(
    full: tuple[bytes, list[Read]], tmp_path: Path
) -> None:
    (tmp_path / "scrubjay.db").write_bytes(full[0])
    (tmp_path / "code.db").write_bytes(random.Random(1).randbytes(30_000))
    writes = [
        Read("remember", {"content": f"`feed` in {MARK}.py is slow", "key": "key-7"}),
        Read("correct", {"what_was_wrong": "enclosure 0", "what_is_right": "enclosure 9"}),
        Read("forget", {"key": "key-1"}),
    ]
    reads = [read for read in full[1] if read.tool not in ("review_stale", "ask_mimo", "health_check")]
    async with python_caller(tmp_path) as call:
        outcomes = await perform(call, [*reads, *writes])
    assert [(one.read, one.text) for one in outcomes if one.error is not None] == []
    assert any("were not compared with their code: code.db is damaged" in one.text for one in outcomes)


def test_a_store_that_has_another_schema_than_it_says_is_refused(
    full: tuple[bytes, list[Read]], tmp_path: Path
) -> None:
    data = bytearray(full[0])
    data[60:64] = (12).to_bytes(4, "big")  # the field `user_version`
    (tmp_path / "scrubjay.db").write_bytes(data)
    with pytest.raises(StoreUnusable, match="damaged"):
        anyio.run(partial(SqliteStore.open, tmp_path))


@pytest.mark.parametrize("seed", range(24))
async def test_reads_of_a_store_with_flipped_bits_never_fail_unexpectedly(
    full: tuple[bytes, list[Read]], tmp_path: Path, seed: int
) -> None:
    choose, (intact, reads) = random.Random(seed), full
    data = bytearray(intact)
    for _ in range(2 ** (seed % 8)):
        data[choose.randrange(100, len(data))] ^= 1 << choose.randrange(8)
    (tmp_path / "scrubjay.db").write_bytes(data)
    assert await unexpected_failures(tmp_path, reads) == []


async def unexpected_failures(home: Path, reads: list[Read]) -> list[Any]:
    """Return the outcomes of these calls that are neither answers nor errors which the store explains."""
    failures: list[Any] = []
    try:
        async with python_caller(home) as call:
            for outcome in await perform(call, reads):
                if outcome.error is not None and outcome.error.code not in ("store_unusable", "not_found"):
                    failures.append((outcome.read.tool, outcome.text))
    except Exception as error:
        failures.append(("close", repr(error)))
    return failures
