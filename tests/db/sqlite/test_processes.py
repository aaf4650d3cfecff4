"""Several processes on one store: fairness, kills and visibility."""

import os
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from tempfile import TemporaryDirectory

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from tests.contracts.samples import GLOBAL_ONLY, query, search, vector, write
from tests.db.sqlite.conftest import Child, Start

BOUND = 30.0


@pytest.fixture
def home() -> Generator[Path]:
    """Return a home on a real disk; other tests may use a file system in memory."""
    with TemporaryDirectory() as folder:
        yield Path(folder) / "home"


def lines_of(children: list[Child]) -> Iterator[tuple[int, str]]:
    """Yield each line that a child prints, with the child's number; end when all children have ended."""
    with DefaultSelector() as selector:
        for number, child in enumerate(children):
            assert child.stdout is not None
            selector.register(child.stdout.fileno(), EVENT_READ, number)
        rest = [b""] * len(children)
        while selector.get_map():
            ready = selector.select(BOUND)
            assert ready, "no child printed anything for a long time"
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fd)
                number: int = key.data
                *complete, rest[number] = (rest[number] + chunk).split(b"\n")
                for line in complete:
                    yield number, line.decode()


def ask(child: Child, line: str) -> str:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()
    return child.stdout.readline().rstrip("\n")


async def test_four_writing_processes_share_the_lock_fairly_without_errors(
    store: SqliteStore, home: Path, start: Start
) -> None:
    children = [start("keep_writing", home) for _ in range(4)]
    begun, counts = set[int](), [0] * 4
    for number, _ in lines_of(children):
        begun.add(number)
        if len(begun) < 4:
            continue  # what counts is what they get while all of them write
        counts[number] += 1
        if sum(counts) >= 1500:
            break
    for child in children:
        assert child.stdin is not None
        child.stdin.close()
    for _ in lines_of(children):
        pass
    assert [child.wait(BOUND) for child in children] == [0] * 4, "a child ended with an error"
    assert min(counts) >= 0.01 * sum(counts), counts
    assert (await store.check()).problems == []


async def test_acknowledged_writes_survive_repeated_kill_9_of_three_writers(home: Path, start: Start) -> None:
    acknowledged: set[str] = set()
    rounds, deadline = 0, time.monotonic() + 10
    while rounds < 3 or time.monotonic() < deadline:
        children = [start("keep_writing", home) for _ in range(3)]
        counts = [0] * 3
        # Each round ends after another number of writes.
        for number, memory_id in lines_of(children):
            acknowledged.add(memory_id)
            counts[number] += 1
            if min(counts) > 0 and sum(counts) >= 20 + 37 * rounds % 100:
                for child in children:
                    child.send_signal(signal.SIGKILL)
        assert [child.wait(BOUND) for child in children] == [-signal.SIGKILL] * 3
        store = await SqliteStore.open(home)
        assert (await store.check()).problems == []
        stored = {memory.id for memory in await store.memories.scan(None, 1_000_000)}
        assert acknowledged - stored == set()
        assert (await search(store, query("number", vector=vector(1, 1)))).texts == len(stored)
        await store.close()
        rounds += 1


async def test_writes_of_one_process_are_visible_to_another_at_once(
    store: SqliteStore, home: Path, start: Start
) -> None:
    other = start("answer", home)
    assert ask(other, "unknown") == ""
    for number in range(10):
        note = write(f"note{number}", vector=vector(1, -number))
        await store.memories.put([note])
        assert ask(other, f"note{number}").split(" | ")[0] == f"note{number}"
        if number % 3 == 0:
            await store.memories.delete(GLOBAL_ONLY, [note.memory.id])
            assert f"note{number}" not in ask(other, f"note{number}").split(" | ")
    await store.memories.put([write("near", vector=vector(1, 0))])
    assert ask(other, "unknown").split(" | ")[:2] == ["near", "note1"]


async def test_a_rebuild_killed_midway_is_resumed(store: SqliteStore, home: Path, start: Start) -> None:
    await store.memories.put([write(f"word{number}", id=f"mem_{number}") for number in range(6)])
    first = start("rebuild_slowly", home)
    assert [ask(first, "") for _ in range(3)] == ["mem_0", "mem_1", "mem_2"]
    first.kill()
    first.wait(BOUND)
    assert (await search(store, query("rebuilt"))).candidates == ()
    await store.memories.put(
        [write("word6", id="mem_6", terms=("word6", "rebuilt"), vector=vector(0, 1), model="rebuilt")]
    )
    await store.memories.delete(GLOBAL_ONLY, ["mem_1", "mem_2"])
    assert (await store.check()).problems == []
    second = start("rebuild_slowly", home)
    assert [ask(second, "") for _ in range(4)] == ["mem_3", "mem_4", "mem_5", "mem_6"]
    assert second.communicate(timeout=BOUND)[0] == "finished\n"
    pool = await search(store, query("rebuilt", vector=vector(0, 1), model="rebuilt"))
    found = {candidate.memory.content: candidate.cosine for candidate in pool.candidates}
    assert found == dict.fromkeys(["word0", "word3", "word4", "word5", "word6"], 1)
    assert pool.frequencies == {"rebuilt": 5}
    assert (await store.check()).problems == []


async def test_a_rebuild_killed_midway_can_be_restarted(store: SqliteStore, home: Path, start: Start) -> None:
    await store.memories.put([write(f"word{number}", id=f"mem_{number}") for number in range(3)])
    first = start("rebuild_slowly", home)
    assert ask(first, "") == "mem_0"
    first.kill()
    first.wait(BOUND)
    assert await store.memories.begin_rebuild(resume=False) is None
    await store.memories.rebuild([(f"mem_{number}", write(f"again{number}").derived) for number in range(3)])
    await store.memories.finish_rebuild()
    pool = await search(store, query("rebuilt", "again0", "again2"))
    assert [candidate.memory.id for candidate in pool.candidates] == ["mem_0", "mem_2"]
