"""Worker processes parse files, and survive files that crash or stall a parser."""

import gc
import subprocess
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.code_index.discovery.contents import blob_id
from scrubjay.code_index.facts.digest import digest, unpack_search_arrays
from scrubjay.code_index.facts.packed_facts import unpack_facts
from scrubjay.code_index.index import worker_pool
from scrubjay.code_index.index.worker_pool import TOO_LONG, Read, Unread, WorkerPool
from scrubjay.code_index.models import FileFacts, Language, Problem
from scrubjay.code_index.store import Content
from scrubjay.core.errors import Unavailable
from tests.code_index.indexes import BOUND, WORKERS, worker_pids

# Parsing this takes tree-sitter minutes.
ENDLESS = b'"' * 100_000
LARGE = b"x = 1\n" * 1_000


def unread(*contents: bytes, language: Language = Language.PYTHON) -> list[Unread]:
    return [(Content(blob_id(content), language), content) for content in contents]


def unparsed(language: Language, lines: int, problem: str) -> FileFacts:
    """Return the facts of a file whose syntax could not be parsed."""
    empty: list[Any] = []
    return FileFacts(language, lines, "", empty, empty, empty, empty, [Problem(0, problem)])


async def all_digested(workers: WorkerPool, contents: Iterable[Unread]) -> list[Read]:
    with anyio.fail_after(BOUND):
        async with aclosing(workers.digest_all(contents)) as batches:
            return [digested async for batch in batches for digested in batch]


def worker_that(expression: str) -> tuple[str, ...]:
    """Return the command of a worker that evaluates an expression instead of parsing.

    In it `c` is the content, `l` the language, and `real` the function that parses.
    """
    program = f"""
import ctypes, os, signal
import scrubjay.code_index.facts.digest as digests
from scrubjay.code_index.index.digest_worker import serve
real = digests.digest
digests.digest = lambda c, l: {expression}
serve()
# scrubjay.code_index.index.digest_worker
"""
    return ("-P", "-c", program)


async def test_workers_compute_each_digest_once_and_like_the_parent_process():
    sources = [b"def f%d():\n    return %d\n" % (number, number) for number in range(100)]
    read = await all_digested(WORKERS, iter(unread(*sources)))
    expected = {content: digest(data, content.language).pack() for content, data in unread(*sources)}
    assert (len(read), dict(read)) == (100, expected)


async def test_small_files_are_digested_without_a_worker(monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a process is started")

    monkeypatch.setattr(subprocess, "Popen", refused)
    files = unread(b"", b"\n", b"def f(): pass\n")
    assert await all_digested(WorkerPool(), []) == []
    assert await all_digested(WorkerPool(), files) == [
        (content, digest(data, Language.PYTHON).pack()) for content, data in files
    ]


async def test_after_a_large_run_one_worker_remains(monkeypatch: pytest.MonkeyPatch):
    workers, before = WorkerPool(2), worker_pids()
    workers.start_ahead(2)
    await all_digested(workers, unread(LARGE))
    readers = worker_pids() - before
    monkeypatch.setattr(worker_pool, "MANY_BYTES", len(LARGE))
    await all_digested(workers, unread(LARGE + b"#"))
    left = worker_pids() - before
    assert (len(readers), len(left)) == (2, 1)
    assert left < readers
    workers.stop_idle()
    assert worker_pids() - before == set()


async def test_a_worker_that_read_much_exits_soon_and_is_replaced(monkeypatch: pytest.MonkeyPatch):
    program = f"""
import scrubjay.code_index.index.digest_worker as digesting
digesting.MANY_BYTES, digesting.WORN_SECONDS = {len(LARGE)}, 0.01
digesting.serve()
"""
    monkeypatch.setattr(worker_pool, "PROGRAM", ("-P", "-c", program))
    workers = WorkerPool(1)
    await all_digested(workers, unread(LARGE))
    (idle,) = workers._idle  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(TimeoutError):
        idle.wait(0.2)
    await all_digested(workers, unread(LARGE + b"#"))
    assert idle.wait(BOUND) == 0
    await all_digested(workers, unread(LARGE + b"##"))
    (another,) = workers._idle  # pyright: ignore[reportPrivateUsage]
    assert another is not idle
    workers.stop_idle()


async def test_workers_started_ahead_are_used(monkeypatch: pytest.MonkeyPatch):
    started: list[int] = []
    start = subprocess.Popen

    def recording_start(*arguments: Any, **options: Any) -> Any:
        process: Any = start(*arguments, **options)
        started.append(process.pid)
        return process

    workers = WorkerPool(2)
    monkeypatch.setattr(subprocess, "Popen", recording_start)
    workers.start_ahead(5)
    workers.start_ahead(1)
    await all_digested(workers, unread(LARGE))
    taken = [workers.take(), workers.take()]
    for worker in taken:
        worker.stop()
    assert sorted(worker.pid for worker in taken) == sorted(started)


async def test_a_file_that_takes_too_long_is_read_as_text_and_others_are_parsed():
    endless = unread(ENDLESS, language=Language.TSX)
    files = [*unread(b"def before(): pass\n"), *endless, *unread(b"def after(): pass\n")]
    read = dict(await all_digested(WorkerPool(1, file_seconds=0.4), files))
    facts = [unpack_facts(read[content]) for content, _ in files]
    assert facts[1] == unparsed(Language.TSX, 1, TOO_LONG)
    assert len(unpack_search_arrays(read[endless[0][0]]).spans) > 10
    assert [[symbol.name for symbol in own.symbols] for own in facts] == [["before"], [], ["after"]]


async def test_a_file_that_kills_a_worker_or_fails_affects_no_other_file(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_pool, "PROGRAM", worker_that("eval(c[2:]) if c.startswith(b'##') else real(c, l)"))
    hostile = {
        b"##ctypes.string_at(0)": "killed its parser process (SIGSEGV)",
        b"##bytearray(3 * 10**9)": "failed (MemoryError)",
        b"##1/0": "failed (ZeroDivisionError)",
    }
    files = unread(LARGE, *hostile, b"def after(): pass\n")
    read = await all_digested(WorkerPool(1), files)
    assert sorted(content.blob for content, _ in read) == sorted(content.blob for content, _ in files)
    facts = {data: unpack_facts(dict(read)[content]) for content, data in files}
    assert {data: facts[data].problems for data in hostile} == {
        data: [Problem(0, problem)] for data, problem in hostile.items()
    }
    assert (len(facts[LARGE].symbols), facts[b"def after(): pass\n"].problems) == (1, [])


async def test_a_content_that_cannot_be_read_even_as_text_is_recorded_with_its_problem(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_pool, "PROGRAM", worker_that("setattr(digests, 'cut_chunk_arrays', None) or 1/0"))
    [(_, read)] = await all_digested(WorkerPool(1), unread(LARGE))
    assert unpack_facts(read) == unparsed(Language.PYTHON, 1000, "failed (ZeroDivisionError)")
    assert [len(array) for array in unpack_search_arrays(read)] == [0, 0, 1, 0, 0, 0, 0]


async def test_a_file_is_still_parsed_when_its_worker_is_killed_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    killed = tmp_path / "killed"
    expression = (
        f"real(c, l) if os.path.exists({str(killed)!r}) else (open({str(killed)!r}, 'w'), os.kill(os.getpid(), 9))"
    )
    monkeypatch.setattr(worker_pool, "PROGRAM", worker_that(expression))
    [(_, read)] = await all_digested(WorkerPool(1), unread(LARGE))
    assert (killed.exists(), read) == (True, digest(LARGE, Language.PYTHON).pack())


async def test_workers_that_always_fail_to_start_are_reported(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_pool, "PROGRAM", ("-S", "-c", "raise SystemExit(3)"))
    with pytest.raises(Unavailable, match=r"do not work: each killed its parser process \(3\)"):
        await all_digested(WorkerPool(1), unread(LARGE))


async def test_a_worker_imports_nothing_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("multiprocessing.py", "pickle.py", "select.py", "numpy.py", "scrubjay/__init__.py", "site.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("open('run', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    assert len(await all_digested(WorkerPool(1), unread(LARGE))) == 1
    assert not (tmp_path / "run").exists()


async def test_the_caller_can_cancel_while_a_digest_takes_long_and_no_worker_remains():
    before = worker_pids()
    workers = WorkerPool(2)
    contents = iter(unread(ENDLESS, *[b"#%d\n" % number + LARGE for number in range(200)], language=Language.TSX))
    with anyio.fail_after(BOUND):
        async with aclosing(workers.digest_all(contents)) as batches:
            async for batch in batches:
                if not batch:
                    break
            working = worker_pids() - before
    assert (len(working), worker_pids() - before) == (2, set())


async def test_idle_workers_are_reused_and_end_with_their_pool():
    before = worker_pids()
    workers = WorkerPool(1)
    await all_digested(workers, unread(LARGE))
    waiting = worker_pids() - before
    await all_digested(workers, unread(LARGE + b"y = 2\n"))
    assert (len(waiting), worker_pids() - before) == (1, waiting)
    del workers
    gc.collect()
    assert worker_pids().isdisjoint(waiting)
