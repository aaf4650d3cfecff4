"""Indexes are built correctly while files change, builds run concurrently, or a build is cancelled."""

import os
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.code_index import service
from scrubjay.code_index.facts import digest_cache, facts_cache
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.index import indexer, linker
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.index.worker_pool import WorkerPool
from scrubjay.code_index.models import Language
from scrubjay.code_index.store import Content
from scrubjay.core.errors import Cancelled
from scrubjay.features.code.sqlite import SqliteCode
from scrubjay.tooling.context import CallContext
from tests.code_index.discovery.repository import commit, git, new_repository, write
from tests.code_index.indexes import BOUND, Home, index_contents, opened, worker_pids

ENDLESS = b'"' * 100_000
# A worker alone would take twice as long to fail; on an idle machine, stopping takes one second.
SOON = 5.0


@pytest.fixture
async def home(tmp_path: Path) -> AsyncGenerator[Home]:
    async with opened(tmp_path / "home") as home:
        yield home


class RunOnStage:
    """A reporter that runs a function when a stage begins."""

    def __init__(self, stage: str, function: Callable[[], None]) -> None:
        self._stage, self._function = stage, function

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if message.startswith(self._stage):
            self._stage = "never again"
            self._function()


class CancelWhen:
    """A reporter that cancels the work when a condition holds, and records when."""

    def __init__(self, condition: Callable[[str], bool]) -> None:
        self._condition = condition
        self.cancelled_at: float | None = None

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if self.cancelled_at is None and self._condition(message):
            self.cancelled_at = anyio.current_time()
        if self.cancelled_at is not None:
            raise Cancelled("stop requested")


def record_stored(monkeypatch: pytest.MonkeyPatch) -> list[Content]:
    """Return a list that receives the content of every digest stored from now on."""
    contents: list[Content] = []
    put_digests = SqliteCode.put_digests

    async def put_and_record(self: SqliteCode, version: int, batch: Any) -> None:
        contents.extend(content for content, *_ in batch)
        await put_digests(self, version, batch)

    monkeypatch.setattr(SqliteCode, "put_digests", put_and_record)
    return contents


async def paths(home: Home, index_id: str) -> list[str]:
    return [*await home.store.paths(index_id)]


async def names(home: Home, index_id: str) -> dict[str, list[str]]:
    """Return the names that each file of the index defines."""
    facts = await home.indexer.facts(await home.store.files(index_id))
    return {path: [symbol.name for symbol in own.symbols] for path, own in facts.items()}


# -- files that change during a build ------------------------------------------------------------------


async def test_a_file_changed_or_removed_during_a_build_is_skipped_until_the_next_build(home: Home, tmp_path: Path):
    root = tmp_path / "folder"
    write(
        root,
        {
            "changed.py": "def old(): pass\n",
            "removed.py": "def removed(): pass\n",
            "unchanged.py": "def unchanged(): pass\n",
        },
    )

    def change() -> None:
        write(root, {"changed.py": "def new(): pass\n"})
        (root / "removed.py").unlink()

    first = await home.build(root, reporter=RunOnStage("read", change))
    assert await paths(home, first.record.id) == ["unchanged.py"]
    assert (first.record.details["files"], first.record.details["skipped"]) == (1, 2)
    assert await home.indexer.changes_since(first.snapshot, first.record) == (set(), [])
    second = await home.build(root)
    assert (second.changed, second.removed) == (["changed.py"], [])
    assert await paths(home, second.record.id) == ["changed.py", "unchanged.py"]
    assert await home.found(second, "new") == ["changed.py"]


async def test_an_indexed_file_that_changes_while_it_is_read_again_is_left_out(home: Home, tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n", "b.py": "def other(): pass\n"})
    await home.build(root)
    write(root, {"a.py": "def two(): pass\n"})
    built = await home.build(root, reporter=RunOnStage("read", lambda: write(root, {"a.py": "def three(): pass\n"})))
    assert (built.changed, built.removed) == ([], ["a.py"])
    assert await names(home, built.record.id) == {"b.py": ["other"]}
    assert "a.py" not in await home.found(built, "one two three")
    assert await names(home, (await home.build(root)).record.id) == {"a.py": ["three"], "b.py": ["other"]}


async def test_a_committed_file_is_indexed_as_committed_even_if_it_changes_during_the_build(home: Home, tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "def committed(): pass\n"})
    built = await home.build(root, reporter=RunOnStage("read", lambda: write(root, {"a.py": "def changed(): pass\n"})))
    assert await paths(home, built.record.id) == ["a.py"]
    assert await names(home, built.record.id) == {"a.py": ["committed"]}


# -- unreadable files ------------------------------------------------------------------------------


async def test_a_binary_named_like_a_source_file_is_skipped_and_not_read_again(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = new_repository(tmp_path / "repository", {"film.ts": b"\x00\x47" * 500, "a.ts": "export const a = 1\n"})
    first = await home.build(root)
    assert (await paths(home, first.record.id), first.record.details["skipped"]) == (["a.ts"], 1)
    monkeypatch.setattr("scrubjay.code_index.discovery.contents.read_contents", None)
    second = await home.build(root)
    assert (second.record, second.changed) == (first.record, ())
    snapshot = await home.indexer.snapshot(str(root), "HEAD", IndexOptions())
    assert await home.indexer.changes_since(snapshot, second.record) == (set(), [])


async def test_a_binary_that_becomes_text_is_read(home: Home, tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"film.ts": b"\x00\x47" * 500})
    await home.build(root)
    write(root, {"film.ts": "export const film = 1\n"})
    built = await home.build(root)
    assert (await paths(home, built.record.id), built.record.details["binaries"]) == (["film.ts"], {})


async def test_a_file_with_a_damaged_object_is_skipped_until_the_object_is_restored(home: Home, tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "def good(): pass\n", "b.py": "def damaged(): pass\n"})
    blob = git(root, "rev-parse", "HEAD:b.py")
    object_file = root / ".git" / "objects" / blob[:2] / blob[2:]
    intact = object_file.read_bytes()
    object_file.chmod(0o600)
    object_file.write_bytes(intact[:-9] + b"damaged!!")
    first = await home.build(root, rev="main")
    assert await paths(home, first.record.id) == ["a.py"]
    assert (await home.build(root, rev="main")).record == first.record
    object_file.write_bytes(intact)
    assert await paths(home, (await home.build(root, rev="main")).record.id) == ["a.py", "b.py"]


async def test_a_file_that_took_too_long_is_listed_and_indexed_as_text(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"endless.tsx": ENDLESS + b"\n// needle\n", "broken.py": "class (:\n", "fine.py": "def fine(): pass\n"})
    async with opened(tmp_path / "home", WorkerPool(1, file_seconds=0.4)) as home:
        built = await home.build(root)
        assert built.record.details["unparsed"] == {"endless.tsx": "took too long"}
        assert built.record.details["broken"] == ["broken.py", "endless.tsx"]
        assert await home.found(built, "needle") == ["endless.tsx"]


# -- missing digests -------------------------------------------------------------------------------


async def test_a_new_digest_version_computes_all_digests_again(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    await home.build(root)
    for module in (indexer, linker, digest_cache, facts_cache, service):
        monkeypatch.setattr(module, "VERSION", VERSION + 1)
    contents = record_stored(monkeypatch)
    built = await home.build(root)
    assert (built.changed, len(contents), await home.found(built, "one")) == (["a.py"], 1, ["a.py"])


async def test_a_digest_removed_during_a_build_is_computed_by_the_next_build(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    write_index = SqliteCode.write

    async def sweeping(self: SqliteCode, *args: Any, **kwargs: Any) -> bool:
        await self.sweep(VERSION)
        return await write_index(self, *args, **kwargs)

    monkeypatch.setattr(SqliteCode, "write", sweeping)
    await home.build(root)
    monkeypatch.undo()
    built = await home.build(root)
    assert (built.changed, await home.found(built, "one")) == (["a.py"], ["a.py"])


# -- concurrent builds -----------------------------------------------------------------------------


async def test_one_of_several_concurrent_builds_reads_the_files_and_all_return_its_result(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "folder"
    write(root, {f"m{number}.py": f"def f{number}(): pass\n" for number in range(60)})
    contents = record_stored(monkeypatch)
    records: list[Any] = []

    async def build(own: Home) -> None:
        records.append((await own.build(root)).record)

    async with opened(tmp_path / "home") as other, anyio.create_task_group() as tasks:
        for own in (home, other, home):
            tasks.start_soon(build, own)
    assert (len(contents), len(set(contents))) == (60, 60)
    assert records == [records[0]] * 3
    assert records[0].generation == 1


async def test_a_build_that_waited_takes_a_new_snapshot(home: Home, tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"a.py": "def old(): pass\n"})
    index_id = (await home.build(root)).record.id
    waits = anyio.Event()

    class Waiting:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if "waiting" in message:
                waits.set()

    async def build() -> None:
        await home.build(root, reporter=Waiting())

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks, home.indexer.lock(index_id, Waiting()):
            tasks.start_soon(build)
            await waits.wait()
            write(root, {"a.py": "def new(): pass\n"})
    assert await names(home, index_id) == {"a.py": ["new"]}


# -- cancellation ----------------------------------------------------------------------------------


async def test_cancelling_a_build_with_a_hanging_worker_stops_at_once_and_ends_its_workers(
    tmp_path: Path,
):
    root = tmp_path / "folder"
    write(root, {f"endless{number}.tsx": ENDLESS * 3 + b"%d" % number for number in range(3)})
    before = worker_pids()
    seen: set[int] = set()

    def all_workers_run(message: str) -> bool:
        seen.update(worker_pids() - before)
        return len(seen) == 2

    reporter = CancelWhen(all_workers_run)
    async with opened(tmp_path / "home", WorkerPool(2)) as home:
        with pytest.raises(Cancelled):
            await home.build(root, reporter=reporter)
        assert reporter.cancelled_at is not None
        assert anyio.current_time() - reporter.cancelled_at < SOON
        assert (len(seen), worker_pids() - before) == (2, set())
        assert await home.store.indexes() == []


async def test_cancelling_an_index_stops_its_job_and_its_workers(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {f"endless{number}.tsx": ENDLESS * 3 + b"%d" % number for number in range(3)})
    before = worker_pids()
    context = CallContext(surface="python")
    async with running(Settings(home=tmp_path / "home")) as application:
        call = application.dispatcher.call
        begun = (await call("ensure_repo_index", {"path": str(root)}, context)).model_dump()
        with anyio.fail_after(BOUND):
            while not worker_pids() - before:  # noqa: ASYNC110 - other processes have no events
                await anyio.sleep(0.01)
        with anyio.fail_after(SOON):
            cancelled = (await call("cancel", {"index_id": begun["index_id"]}, context)).model_dump()
        assert (begun["state"], cancelled["ok"], worker_pids() - before) == ("running", True, set())
        job = (await call("get_job", {"job_id": begun["job_id"]}, context)).model_dump()
        assert job["state"] == "cancelled"
        again = (await call("cancel", {"index_id": begun["index_id"]}, context)).model_dump()
        assert again == {"ok": False, "message": "Pipeline not found"}


@pytest.mark.parametrize(
    "where", ["scrubjay.code_index.index.indexer.take_snapshot", "scrubjay.code_index.index.linker.resolve"]
)
async def test_a_build_can_be_cancelled_while_it_reports_nothing(
    where: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    entered, ended = threading.Event(), threading.Event()

    def endless(*_: object, should_stop: Callable[[], bool] = ended.is_set, **__: object) -> None:
        entered.set()
        while not should_stop() and not ended.wait(0.01):
            pass
        raise Cancelled("cancelled")

    monkeypatch.setattr(where, endless)
    try:
        with pytest.raises(Cancelled):
            await home.build(root, reporter=CancelWhen(lambda _: entered.is_set()))
    finally:
        ended.set()


async def test_after_cancelling_at_any_report_the_next_build_equals_a_clean_one(home: Home, tmp_path: Path):
    root = new_repository(
        tmp_path / "repository", {f"m{n}.py": f"import m{n + 1}\ndef f{n}(): m{n + 1}.f{n + 1}()\n" for n in range(8)}
    )
    async with opened(tmp_path / "clean") as clean:
        expected = await index_contents(clean, await clean.build(root), ["f3"])
    stop_at = 0
    for stop_at in range(40):
        reports = 0

        def is_due(_: str) -> bool:
            nonlocal reports
            reports += 1
            return reports > stop_at  # noqa: B023 - called before the next one

        with suppress(Cancelled):
            await home.build(root, reporter=CancelWhen(is_due))
            break
    assert 5 < stop_at < 39
    assert await index_contents(home, await home.build(root), ["f3"]) == expected
    assert (await home.build(root)).changed == ()


async def test_a_commit_that_changes_no_file_is_detected(home: Home, tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "def one(): pass\n"})
    await home.build(root)
    os.chmod(root / "a.py", 0o755)  # noqa: PTH101
    new = commit(root, "Executable")
    built = await home.build(root)
    assert (built.record.commit, built.record.generation, built.changed) == (new, 2, [])


async def test_workers_start_ahead_for_a_large_repository_without_an_index(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
):
    events: list[object] = []

    def start_ahead(workers: WorkerPool, count: int) -> None:
        events.append(count)

    root = new_repository(tmp_path / "repository", {"one.py": "def one(): pass\n"})
    monkeypatch.setattr(WorkerPool, "start_ahead", start_ahead)
    await home.build(root)
    assert events == []
    monkeypatch.setattr(indexer, "LARGE_GIT_INDEX", 1)
    reporter = RunOnStage("acquire", lambda: events.append("listing"))
    await home.build(root, languages=(Language.PYTHON,), reporter=reporter)
    assert events == [home.indexer.workers.count, "listing"]
    await home.build(root, languages=(Language.PYTHON,))
    assert len(events) == 2


async def test_a_file_that_returns_to_an_earlier_state_is_detected_as_changed(home: Home, tmp_path: Path):
    root = new_repository(tmp_path / "root", {"a.py": "def one(): ...\n", "b.py": "def two(): ...\n"})
    first = await home.indexer.snapshot(str(root), "HEAD", IndexOptions())
    built = await home.build(root)
    (root / "a.py").write_text("def three(): ...\n")
    changed = await home.build(root)
    assert changed.changed == ["a.py"]
    # The same objects as in the first index, which differ from what the index has now.
    assert await home.indexer.changes_since(first, changed.record) == ({"a.py"}, [])
    assert await home.indexer.changes_since(changed.snapshot, changed.record) == (set(), [])
    (root / "b.py").unlink()
    gone = await home.indexer.snapshot(str(root), "HEAD", IndexOptions())
    assert await home.indexer.changes_since(gone, changed.record) == (set(), ["b.py"])
    assert built.record.generation + 1 == changed.record.generation
