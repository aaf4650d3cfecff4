import gc
import subprocess
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.code_index.discovery.contents import blob_id
from scrubjay.code_index.facts.digest import digest, unpacked_searchable
from scrubjay.code_index.facts.packed_facts import unpacked_facts
from scrubjay.code_index.index import worker_pool as module
from scrubjay.code_index.index.worker_pool import TOO_LONG, Read, Unread, Workers
from scrubjay.code_index.models import FileFacts, Language, Problem
from scrubjay.code_index.store import Content
from scrubjay.core.errors import Unavailable
from tests.code_index.indexes import BOUND, WORKERS, worker_pids

# What tree-sitter needs minutes for.
ENDLESS = b'"' * 100_000
LARGE = b"x = 1\n" * 1_000


def unread(*contents: bytes, language: Language = Language.PYTHON) -> list[Unread]:
    return [(Content(blob_id(content), language), content) for content in contents]


def unparsed(language: Language, lines: int, problem: str) -> FileFacts:
    """What is known of a file whose syntax could not be read."""
    nothing: list[Any] = []
    return FileFacts(language, lines, "", nothing, nothing, nothing, nothing, [Problem(0, problem)])


async def all_digested(workers: Workers, contents: Iterable[Unread]) -> list[Read]:
    with anyio.fail_after(BOUND):
        async with aclosing(workers.digested(contents)) as batches:
            return [one async for batch in batches for one in batch]


def worker_that(does: str) -> tuple[str, ...]:
    """A worker that does something instead of reading a content by its syntax: `c` is the content, `real` reads it."""
    program = f"""
import ctypes, os, signal
import scrubjay.code_index.facts.digest as made
from scrubjay.code_index.index.digest_worker import serve
real = made.digest
made.digest = lambda c, l: {does}
serve()
# scrubjay.code_index.index.digest_worker
"""
    return ("-P", "-c", program)


async def test_workers_make_the_same_digests_as_this_process_each_once():
    sources = [b"def f%d():\n    return %d\n" % (number, number) for number in range(100)]
    read = await all_digested(WORKERS, iter(unread(*sources)))
    expected = {content: digest(data, content.language).packed() for content, data in unread(*sources)}
    assert (len(read), dict(read)) == (100, expected)


async def test_nothing_to_read_and_a_few_small_files_need_no_worker(monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a process is started")

    monkeypatch.setattr(subprocess, "Popen", refused)
    files = unread(b"", b"\n", b"def f(): pass\n")
    assert await all_digested(Workers(), []) == []
    assert await all_digested(Workers(), files) == [
        (content, digest(data, Language.PYTHON).packed()) for content, data in files
    ]


async def test_after_much_was_read_one_worker_is_left(monkeypatch: pytest.MonkeyPatch):
    workers, before = Workers(2), worker_pids()
    workers.get_ready(2)
    await all_digested(workers, unread(LARGE))
    readers = worker_pids() - before
    monkeypatch.setattr(module, "MANY_BYTES", len(LARGE))
    await all_digested(workers, unread(LARGE + b"#"))
    left = worker_pids() - before
    assert (len(readers), len(left)) == (2, 1)
    assert left < readers
    workers.end_idle()
    assert worker_pids() - before == set()


async def test_a_worker_that_has_read_much_ends_soon_and_another_one_waits(monkeypatch: pytest.MonkeyPatch):
    program = f"""
import scrubjay.code_index.index.digest_worker as digesting
digesting.MANY_BYTES, digesting.WORN_SECONDS = {len(LARGE)}, 0.01
digesting.serve()
"""
    monkeypatch.setattr(module, "PROGRAM", ("-P", "-c", program))
    workers = Workers(1)
    await all_digested(workers, unread(LARGE))
    (waiting,) = workers._idle  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.process.wait(0.2)
    await all_digested(workers, unread(LARGE + b"#"))
    assert waiting.process.wait(BOUND) == 0
    await all_digested(workers, unread(LARGE + b"##"))
    (another,) = workers._idle  # pyright: ignore[reportPrivateUsage]
    assert another is not waiting
    workers.end_idle()


async def test_workers_that_are_got_ready_are_those_that_read(monkeypatch: pytest.MonkeyPatch):
    started: list[int] = []
    start = subprocess.Popen

    def counted(*arguments: Any, **options: Any) -> Any:
        process: Any = start(*arguments, **options)
        started.append(process.pid)
        return process

    workers = Workers(2)
    monkeypatch.setattr(subprocess, "Popen", counted)
    workers.get_ready(5)
    workers.get_ready(1)
    await all_digested(workers, unread(LARGE))
    taken = [workers.take(), workers.take()]
    for worker in taken:
        worker.end()
    assert sorted(worker.process.pid for worker in taken) == sorted(started)


async def test_a_file_that_takes_too_long_is_read_as_text_and_says_so_and_its_neighbours_are_read():
    endless = unread(ENDLESS, language=Language.TSX)
    files = [*unread(b"def before(): pass\n"), *endless, *unread(b"def after(): pass\n")]
    read = dict(await all_digested(Workers(1, file_seconds=0.4), files))
    facts = [unpacked_facts(read[content]) for content, _ in files]
    assert facts[1] == unparsed(Language.TSX, 1, TOO_LONG)
    assert len(unpacked_searchable(read[endless[0][0]]).spans) > 10
    assert [[symbol.name for symbol in own.symbols] for own in facts] == [["before"], [], ["after"]]


async def test_what_ends_a_worker_or_cannot_be_read_hurts_no_other_file(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PROGRAM", worker_that("eval(c[2:]) if c.startswith(b'##') else real(c, l)"))
    hostile = {
        b"##ctypes.string_at(0)": "ended its reader (SIGSEGV)",
        b"##bytearray(3 * 10**9)": "failed (MemoryError)",
        b"##1/0": "failed (ZeroDivisionError)",
    }
    files = unread(LARGE, *hostile, b"def after(): pass\n")
    read = await all_digested(Workers(1), files)
    assert sorted(content.blob for content, _ in read) == sorted(content.blob for content, _ in files)
    facts = {data: unpacked_facts(dict(read)[content]) for content, data in files}
    assert {data: facts[data].problems for data in hostile} == {
        data: [Problem(0, why)] for data, why in hostile.items()
    }
    assert (len(facts[LARGE].symbols), facts[b"def after(): pass\n"].problems) == (1, [])


async def test_text_that_cannot_be_read_either_is_known_by_its_problem(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PROGRAM", worker_that("setattr(made, 'chunks_of', None) or 1/0"))
    [(_, read)] = await all_digested(Workers(1), unread(LARGE))
    assert unpacked_facts(read) == unparsed(Language.PYTHON, 1000, "failed (ZeroDivisionError)")
    assert [len(array) for array in unpacked_searchable(read)] == [0, 0, 1, 0, 0, 0, 0]


async def test_a_worker_that_somebody_else_kills_costs_no_file_its_syntax(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    killed = tmp_path / "killed"
    does = f"real(c, l) if os.path.exists({str(killed)!r}) else (open({str(killed)!r}, 'w'), os.kill(os.getpid(), 9))"
    monkeypatch.setattr(module, "PROGRAM", worker_that(does))
    [(_, read)] = await all_digested(Workers(1), unread(LARGE))
    assert (killed.exists(), read) == (True, digest(LARGE, Language.PYTHON).packed())


async def test_workers_that_never_work_are_said_not_to_work(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PROGRAM", ("-S", "-c", "raise SystemExit(3)"))
    with pytest.raises(Unavailable, match=r"do not work: each ended its reader \(3\)"):
        await all_digested(Workers(1), unread(LARGE))


async def test_a_worker_runs_nothing_of_the_folder_that_the_server_works_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("multiprocessing.py", "pickle.py", "select.py", "numpy.py", "scrubjay/__init__.py", "site.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("open('run', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    assert len(await all_digested(Workers(1), unread(LARGE))) == 1
    assert not (tmp_path / "run").exists()


async def test_whoever_waits_is_asked_again_and_again_and_when_nobody_waits_no_worker_is_left():
    before = worker_pids()
    workers = Workers(2)
    contents = iter(unread(ENDLESS, *[b"#%d\n" % number + LARGE for number in range(200)], language=Language.TSX))
    with anyio.fail_after(BOUND):
        async with aclosing(workers.digested(contents)) as batches:
            async for batch in batches:
                if not batch:
                    break
            working = worker_pids() - before
    assert (len(working), worker_pids() - before) == (2, set())


async def test_workers_wait_for_the_next_files_and_end_with_whom_they_belong_to():
    before = worker_pids()
    workers = Workers(1)
    await all_digested(workers, unread(LARGE))
    waiting = worker_pids() - before
    await all_digested(workers, unread(LARGE + b"y = 2\n"))
    assert (len(waiting), worker_pids() - before) == (1, waiting)
    del workers
    gc.collect()
    assert worker_pids() == before
