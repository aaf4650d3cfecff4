"""After a memory is forgotten or evicted, no trace of it remains in any file of the store."""

import struct
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.policies import ForgettingRules
from scrubjay.core.progress import Progress, SilentReporter
from scrubjay.features.forgetting.service import Forgetter
from scrubjay.features.memory import sqlite as memories
from scrubjay.features.memory.writes import MemoryWrite
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.search_index.rotation import Rotation
from scrubjay.search_index.token_segments import token
from scrubjay.search_index.vector_codes import encode
from scrubjay.tooling.jobs.models import JobState
from tests.contracts.samples import GLOBAL_ONLY, NOW, ManualClock, link, query, search, write
from tests.contracts.working_items import item

DIMENSIONS = 64
WORDS = ("zanzibarquux", "betelgeusefnord", "xylophonewomble")
LABELS = ("session-kumquat", "Bartholomew", "key-rutabaga", "meta-ocelot", "tag-narwhal", "category-axolotl")
# Texts in other columns or tables.
OTHER_TEXTS = ("details-gecko", "provenance-dingo", "link-wombat", "lemur", "text-of-code-ibex")
Needles = Mapping[str, bytes]


def vector_of(seed: int) -> bytes:
    return np.random.default_rng(seed).standard_normal(DIMENSIONS).astype("<f2").tobytes()


def secret(content: str = " ".join(WORDS), seed: int = 0, **fields: Any) -> MemoryWrite:
    return write(
        content,
        vector=vector_of(seed),
        session_id="session-kumquat",
        speaker="Bartholomew",
        key="key-rutabaga",
        metadata={"about": "meta-ocelot"},
        details={"more": "details-gecko"},
        provenance={"source": "provenance-dingo"},
        tags=("tag-narwhal",),
        category="category-axolotl",
        importance=0.2,
        links=(link("link-wombat::lemur", text="text-of-code-ibex"),),
        **fields,
    )


def needles_of(content: str, seed: int = 0) -> Needles:
    """Return the byte patterns that would reveal the memory: text, terms as in derived files, vectors."""
    words = content.split()
    texts = {text: text.encode() for text in (*words, *LABELS, *OTHER_TEXTS)}
    tokens = {f"token of {word}": struct.pack("<Q", token(word)) for word in words}
    labels = {f"token of {label}": struct.pack("<Q", token(label)) for label in ("tag tag-narwhal",)}
    code = encode(vector_of(seed), Rotation(DIMENSIONS), DIMENSIONS).directions.tobytes()
    return texts | tokens | labels | {"vector": vector_of(seed), "code of the vector": code}


def traces(home: Path, needles: Needles) -> set[str]:
    """Return the patterns found in the present files."""
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    return {name for name, needle in needles.items() if any(needle in content for content in files)}


async def spread_to_all_files(store: SqliteStore, home: Path, needles: Needles) -> None:
    """Put the memory into the log, the database, and a derived file that was appended to."""
    await store.memories.put([write(f"ordinary words {n}", vector=vector_of(n + 9), speaker="Ada") for n in range(30)])
    await search(store, query("ordinary", vector=vector_of(1)))
    await store.memories.compact()
    await search(store, query("zanzibarquux", vector=vector_of(1)))
    assert traces(home, needles) == set(needles), "otherwise the test proves nothing"


async def all_contents(store: SqliteStore) -> list[str]:
    found = await search(store, query("ordinary", *WORDS, vector=vector_of(0), limit=100))
    return sorted(one.memory.content for one in found.candidates)


ORDINARY = sorted(f"ordinary words {n}" for n in range(30))


async def test_no_trace_of_a_forgotten_memory_remains(store: SqliteStore, home: Path) -> None:
    one, needles = secret(), needles_of(" ".join(WORDS))
    await store.memories.put([one])
    await spread_to_all_files(store, home, needles)
    await store.memories.delete(GLOBAL_ONLY, [one.memory.id])
    assert traces(home, needles) == set()
    assert await all_contents(store) == ORDINARY
    assert traces(home, needles) == set()
    assert (await store.check()).problems == []
    await store.close()
    assert traces(home, needles) == set()


async def test_no_trace_remains_in_calls_jobs_and_working_memory(store: SqliteStore, home: Path) -> None:
    one, needles = secret(), needles_of(" ".join(WORDS))
    quoted = {"call": b"in-a-call-pangolin", "job": b"in-a-job-capybara", "payload": b"in-a-payload-tapir"}
    await store.memories.put([one])
    named = frozenset({one.memory.id})
    call = ToolCall(
        tool="recall", arguments={}, result="in-a-call-pangolin", success=True, milliseconds=1, called_at=NOW
    )
    await store.sessions.add_calls([ClientCall("ada", call, named)], None)
    job = await store.jobs.add("summarize_sessions", {"sessionId": "in-a-payload-tapir"}, owner="me")
    await store.jobs.finish(
        job.id,
        "me",
        JobState.COMPLETED,
        progress=Progress(),
        result={"title": f"in-a-job-capybara {WORDS[0]}"},
        memory_ids=named,
    )
    working_item = item("in-mind-platypus", memory_id=one.memory.id)
    await store.working.put(working_item, 10)
    quoted |= {"item": b"in-mind-platypus"}
    await spread_to_all_files(store, home, {**needles, **quoted})
    await store.memories.delete(GLOBAL_ONLY, [one.memory.id])
    assert traces(home, {**needles, **quoted}) == set()


async def test_no_trace_of_earlier_versions_remains(store: SqliteStore, home: Path) -> None:
    one = secret()
    await store.memories.put([one])
    later = NOW + timedelta(days=1)
    await store.memories.put([secret("quokkafrobnitz", 1, recorded_at=later, updated_at=later)])
    needles = {**needles_of(" ".join(WORDS)), **needles_of("quokkafrobnitz", 1)}
    await spread_to_all_files(store, home, needles)
    await store.memories.delete(GLOBAL_ONLY, [one.memory.id])
    assert traces(home, needles) == set()
    assert await all_contents(store) == ORDINARY


async def test_no_trace_remains_of_linked_code_from_before_it_was_confirmed(store: SqliteStore, home: Path) -> None:
    one = secret()
    await store.memories.put([one])
    needles = {name: name.encode() for name in ("lemur", "text-of-code-ibex")}
    assert traces(home, needles) == set(needles)
    after = [link("another", text="text")]
    assert await store.links.replace_links(GLOBAL_ONLY, one.memory.id, one.memory.links, after)
    assert traces(home, needles) == set()


async def test_no_trace_of_an_evicted_memory_remains(store: SqliteStore, home: Path) -> None:
    needles, clock = needles_of(" ".join(WORDS)), ManualClock()
    await store.memories.put([secret()])
    await spread_to_all_files(store, home, needles)
    clock.advance(10 * 86_400)
    forgetter = Forgetter(store.memories, store.forgetting, ForgettingRules(), clock=clock)
    assert (await forgetter.forget(SilentReporter(), dry_run=True)).forgotten == 1
    assert traces(home, needles) == set(needles), "a dry run erases nothing"
    assert (await forgetter.forget(SilentReporter(), dry_run=False)).forgotten == 1
    assert traces(home, needles) == set()
    assert await all_contents(store) == ORDINARY


@pytest.mark.parametrize("compactor", ["same process", "index loaded before", "index loaded later"])
async def test_compaction_removes_a_forgotten_memory_from_large_files(
    store: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch, compactor: str
) -> None:
    monkeypatch.setattr(memories, "MAX_ROWS_REWRITTEN_AT_ONCE", 0)
    one, needles = secret(), needles_of(" ".join(WORDS))
    await store.memories.put([one])
    await spread_to_all_files(store, home, needles)
    other = await SqliteStore.open(home)
    compacting = store if compactor == "same process" else other
    if compactor == "index loaded before":
        assert len(await all_contents(other)) == 31
    await store.memories.delete(GLOBAL_ONLY, [one.memory.id])
    left = traces(home, needles)
    assert left
    assert not left & {*WORDS, "vector"}, "the log and the database contain nothing of it already"
    if compactor != "same process":
        assert await all_contents(other) == ORDINARY
    assert compacting.memories.needs_compaction(), "the server checks this every minute"
    await compacting.memories.compact()
    assert not compacting.memories.needs_compaction()
    assert traces(home, needles) == set()
    assert (await all_contents(store), await all_contents(other)) == (ORDINARY, ORDINARY)
    await other.close()


async def test_forgetting_the_last_memory_removes_the_derived_files(store: SqliteStore, home: Path) -> None:
    one, needles = secret(), needles_of(" ".join(WORDS))
    await store.memories.put([one])
    await search(store, query("zanzibarquux", vector=vector_of(1)))
    await store.memories.compact()
    assert traces(home, needles) == set(needles)
    await store.memories.erase([one.memory.id])
    assert traces(home, needles) == set()
    assert [path.name for path in (home / "derived").glob("*.bin")] == []
    assert await all_contents(store) == []


async def test_a_tag_that_is_used_again_is_found_again(store: SqliteStore, home: Path) -> None:
    one, needles = secret(), needles_of(" ".join(WORDS))
    await store.memories.put([one])
    await spread_to_all_files(store, home, needles)
    await store.memories.delete(GLOBAL_ONLY, [one.memory.id])
    await store.memories.put([secret("ordinary again")])
    steps: list[Callable[[], Any]] = [lambda: store.memories.compact(), lambda: all_contents(store)]
    for step in steps:
        await step()
        speakers = await store.memories.speakers(GLOBAL_ONLY, "static-test")
        assert sorted(speakers) == ["Ada", "Bartholomew"]
    fresh = await SqliteStore.open(home)
    assert sorted(await fresh.memories.speakers(GLOBAL_ONLY, "static-test")) == ["Ada", "Bartholomew"]
    assert (await fresh.check()).problems == []
    await fresh.close()


async def test_an_erasure_succeeds_even_if_the_derived_files_cannot_be_written(
    store: SqliteStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, needles = secret(), needles_of(" ".join(WORDS))
    await store.memories.put([one])
    await spread_to_all_files(store, home, needles)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("scrubjay.search_index.segment_file.SegmentFile.write", full)
        assert len(await store.memories.delete(GLOBAL_ONLY, [one.memory.id])) == 1
    assert await all_contents(store) == ORDINARY
    assert store.memories.needs_compaction()
    await store.memories.compact()
    assert traces(home, needles) == set()
