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
from scrubjay.code_index.facts import digest_cache as fresh_digests
from scrubjay.code_index.facts import facts_cache as recent_facts
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.index import indexer as indexing
from scrubjay.code_index.index import linker as linking
from scrubjay.code_index.index.indexer import IndexOptions
from scrubjay.code_index.index.worker_pool import Workers
from scrubjay.code_index.models import Language
from scrubjay.code_index.store import Content
from scrubjay.core.errors import Cancelled
from scrubjay.features.code.sqlite import SqliteCode
from scrubjay.tooling.context import CallContext
from tests.code_index.discovery.repository import commit, git, new_repository, write
from tests.code_index.indexes import BOUND, Home, opened, whole, worker_pids

ENDLESS = b'"' * 100_000
# A worker alone would take twice as long to give up; the bar is one second on a machine that does nothing else.
SOON = 5.0


@pytest.fixture
async def home(tmp_path: Path) -> AsyncGenerator[Home]:
    async with opened(tmp_path / "home") as home:
        yield home


class Doing:
    """A reporter that does something when a stage begins."""

    def __init__(self, stage: str, what: Callable[[], None]) -> None:
        self._stage, self._what = stage, what

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if message.startswith(self._stage):
            self._stage = "never again"
            self._what()


class Stopping:
    """A reporter that is asked to stop once something is so, and counts its reports since."""

    def __init__(self, condition: Callable[[str], bool]) -> None:
        self._condition = condition
        self.asked_at: float | None = None

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if self.asked_at is None and self._condition(message):
            self.asked_at = anyio.current_time()
        if self.asked_at is not None:
            raise Cancelled("asked to stop")


def kept(monkeypatch: pytest.MonkeyPatch) -> list[Content]:
    """All contents that digests are kept of from now on."""
    contents: list[Content] = []
    keep = SqliteCode.keep

    async def keeping(self: SqliteCode, version: int, batch: Any) -> None:
        contents.extend(content for content, *_ in batch)
        await keep(self, version, batch)

    monkeypatch.setattr(SqliteCode, "keep", keeping)
    return contents


async def paths(home: Home, index_id: str) -> list[str]:
    return [*await home.store.paths(index_id)]


async def names(home: Home, index_id: str) -> dict[str, list[str]]:
    """What each file of the index defines."""
    facts = await home.indexer.facts(await home.store.files(index_id))
    return {path: [symbol.name for symbol in own.symbols] for path, own in facts.items()}


# -- files that change meanwhile -------------------------------------------------------------------


async def test_what_changes_or_goes_while_it_is_indexed_is_not_claimed_and_is_there_the_next_time(
    home: Home, tmp_path: Path
):
    root = tmp_path / "folder"
    write(root, {"changes.py": "def old(): pass\n", "goes.py": "def goes(): pass\n", "stays.py": "def stays(): pass\n"})

    def change() -> None:
        write(root, {"changes.py": "def young(): pass\n"})
        (root / "goes.py").unlink()

    first = await home.build(root, reporter=Doing("read", change))
    assert await paths(home, first.record.id) == ["stays.py"]
    assert (first.record.details["files"], first.record.details["skipped"]) == (1, 2)
    assert await home.indexer.behind(first.snapshot, first.record) == (set(), [])
    second = await home.build(root)
    assert (second.changed, second.removed) == (["changes.py"], [])
    assert await paths(home, second.record.id) == ["changes.py", "stays.py"]
    assert await home.found(second, "young") == ["changes.py"]


async def test_a_file_that_the_index_had_and_that_changes_while_it_is_read_again_is_left_out(
    home: Home, tmp_path: Path
):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n", "b.py": "def other(): pass\n"})
    await home.build(root)
    write(root, {"a.py": "def two(): pass\n"})
    built = await home.build(root, reporter=Doing("read", lambda: write(root, {"a.py": "def three(): pass\n"})))
    assert (built.changed, built.removed) == ([], ["a.py"])
    assert await names(home, built.record.id) == {"b.py": ["other"]}
    assert "a.py" not in await home.found(built, "one two three")
    assert await names(home, (await home.build(root)).record.id) == {"a.py": ["three"], "b.py": ["other"]}


async def test_what_is_committed_is_indexed_as_it_is_in_the_commit_though_the_file_changes_meanwhile(
    home: Home, tmp_path: Path
):
    root = new_repository(tmp_path / "repository", {"a.py": "def committed(): pass\n"})
    built = await home.build(root, reporter=Doing("read", lambda: write(root, {"a.py": "def changed(): pass\n"})))
    assert await paths(home, built.record.id) == ["a.py"]
    assert await names(home, built.record.id) == {"a.py": ["committed"]}


# -- what cannot be read ---------------------------------------------------------------------------


async def test_a_binary_with_the_name_of_a_source_is_left_out_and_is_not_looked_at_again(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = new_repository(tmp_path / "repository", {"film.ts": b"\x00\x47" * 500, "a.ts": "export const a = 1\n"})
    first = await home.build(root)
    assert (await paths(home, first.record.id), first.record.details["skipped"]) == (["a.ts"], 1)
    monkeypatch.setattr("scrubjay.code_index.discovery.contents.read_contents", None)
    second = await home.build(root)
    assert (second.record, second.changed) == (first.record, ())
    snapshot = await home.indexer.snapshot(str(root), "HEAD", IndexOptions())
    assert await home.indexer.behind(snapshot, second.record) == (set(), [])


async def test_a_binary_that_becomes_text_is_read(home: Home, tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"film.ts": b"\x00\x47" * 500})
    await home.build(root)
    write(root, {"film.ts": "export const film = 1\n"})
    built = await home.build(root)
    assert (await paths(home, built.record.id), built.record.details["binaries"]) == (["film.ts"], {})


async def test_a_file_whose_object_is_damaged_is_left_out_until_it_is_whole_again(home: Home, tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "def good(): pass\n", "b.py": "def damaged(): pass\n"})
    blob = git(root, "rev-parse", "HEAD:b.py")
    thing = root / ".git" / "objects" / blob[:2] / blob[2:]
    intact = thing.read_bytes()
    thing.chmod(0o600)
    thing.write_bytes(intact[:-9] + b"damaged!!")
    first = await home.build(root, rev="main")
    assert await paths(home, first.record.id) == ["a.py"]
    assert (await home.build(root, rev="main")).record == first.record
    thing.write_bytes(intact)
    assert await paths(home, (await home.build(root, rev="main")).record.id) == ["a.py", "b.py"]


async def test_the_index_says_which_file_took_too_long_and_has_it_as_text(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"endless.tsx": ENDLESS + b"\n// needle\n", "broken.py": "class (:\n", "fine.py": "def fine(): pass\n"})
    async with opened(tmp_path / "home", Workers(1, file_seconds=0.4)) as home:
        built = await home.build(root)
        assert built.record.details["unparsed"] == {"endless.tsx": "took too long"}
        assert built.record.details["broken"] == ["broken.py", "endless.tsx"]
        assert await home.found(built, "needle") == ["endless.tsx"]


# -- digests that are not there --------------------------------------------------------------------


async def test_a_program_that_reads_otherwise_reads_all_files_again(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    await home.build(root)
    for who in (indexing, linking, fresh_digests, recent_facts, service):
        monkeypatch.setattr(who, "VERSION", VERSION + 1)
    contents = kept(monkeypatch)
    built = await home.build(root)
    assert (built.changed, len(contents), await home.found(built, "one")) == (["a.py"], 1, ["a.py"])


async def test_what_is_swept_away_while_it_is_indexed_is_read_again_the_next_time(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    write_index = SqliteCode.write

    async def sweeping(self: SqliteCode, *given: Any, **named: Any) -> bool:
        await self.sweep(VERSION)
        return await write_index(self, *given, **named)

    monkeypatch.setattr(SqliteCode, "write", sweeping)
    await home.build(root)
    monkeypatch.undo()
    built = await home.build(root)
    assert (built.changed, await home.found(built, "one")) == (["a.py"], ["a.py"])


# -- several at once -------------------------------------------------------------------------------


async def test_of_several_that_build_the_same_index_at_once_one_reads_and_all_have_it(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "folder"
    write(root, {f"m{number}.py": f"def f{number}(): pass\n" for number in range(60)})
    contents = kept(monkeypatch)
    found: list[Any] = []

    async def build(own: Home) -> None:
        found.append((await own.build(root)).record)

    async with opened(tmp_path / "home") as other, anyio.create_task_group() as tasks:
        for own in (home, other, home):
            tasks.start_soon(build, own)
    assert (len(contents), len(set(contents))) == (60, 60)
    assert found == [found[0]] * 3
    assert found[0].generation == 1


async def test_whoever_waited_indexes_what_there_is_then_not_what_there_was_before(home: Home, tmp_path: Path):
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
        async with anyio.create_task_group() as tasks, home.indexer.alone(index_id, Waiting()):
            tasks.start_soon(build)
            await waits.wait()
            write(root, {"a.py": "def young(): pass\n"})
    assert await names(home, index_id) == {"a.py": ["young"]}


# -- being stopped ---------------------------------------------------------------------------------


async def test_a_build_that_is_asked_to_stop_while_a_worker_hangs_stops_at_once_and_its_workers_are_gone(
    tmp_path: Path,
):
    root = tmp_path / "folder"
    write(root, {f"endless{number}.tsx": ENDLESS * 3 + b"%d" % number for number in range(3)})
    before = worker_pids()
    seen: set[int] = set()

    def hangs(message: str) -> bool:
        seen.update(worker_pids() - before)
        return len(seen) == 2

    reporter = Stopping(hangs)
    async with opened(tmp_path / "home", Workers(2)) as home:
        with pytest.raises(Cancelled):
            await home.build(root, reporter=reporter)
        assert reporter.asked_at is not None
        assert anyio.current_time() - reporter.asked_at < SOON
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
    "where", ["scrubjay.code_index.discovery.snapshot.take_snapshot", "scrubjay.code_index.graph.resolver.resolve"]
)
async def test_a_build_that_is_asked_to_stop_stops_where_it_has_nothing_to_report(
    where: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    entered, ended = threading.Event(), threading.Event()

    def endless(*_: object, should_stop: Callable[[], bool] = ended.is_set, **__: object) -> None:
        entered.set()
        while not should_stop() and not ended.wait(0.01):
            pass
        raise Cancelled("it was told to stop")

    monkeypatch.setattr(where, endless)
    try:
        with pytest.raises(Cancelled):
            await home.build(root, reporter=Stopping(lambda _: entered.is_set()))
    finally:
        ended.set()


async def test_after_being_stopped_at_any_report_the_next_build_makes_what_a_clean_one_makes(
    home: Home, tmp_path: Path
):
    root = new_repository(
        tmp_path / "repository", {f"m{n}.py": f"import m{n + 1}\ndef f{n}(): m{n + 1}.f{n + 1}()\n" for n in range(8)}
    )
    async with opened(tmp_path / "clean") as clean:
        expected = await whole(clean, await clean.build(root), ["f3"])
    stop_at = 0
    for stop_at in range(40):
        reports = 0

        def is_due(_: str) -> bool:
            nonlocal reports
            reports += 1
            return reports > stop_at  # noqa: B023 - called before the next one

        with suppress(Cancelled):
            await home.build(root, reporter=Stopping(is_due))
            break
    assert 5 < stop_at < 39
    assert await whole(home, await home.build(root), ["f3"]) == expected
    assert (await home.build(root)).changed == ()


async def test_a_commit_that_changes_no_file_is_noticed(home: Home, tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "def one(): pass\n"})
    await home.build(root)
    os.chmod(root / "a.py", 0o755)  # noqa: PTH101
    new = commit(root, "Executable")
    built = await home.build(root)
    assert (built.record.commit, built.record.generation, built.changed) == (new, 2, [])


async def test_readers_start_at_once_for_a_large_repository_that_has_no_index(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
):
    happened: list[object] = []

    def get_ready(workers: Workers, count: int) -> None:
        happened.append(count)

    root = new_repository(tmp_path / "repository", {"one.py": "def one(): pass\n"})
    monkeypatch.setattr(Workers, "get_ready", get_ready)
    await home.build(root)
    assert happened == []
    monkeypatch.setattr(indexing, "LARGE_GIT_INDEX", 1)
    looking = Doing("acquire", lambda: happened.append("looking"))
    await home.build(root, languages=(Language.PYTHON,), reporter=looking)
    assert happened == [home.indexer.workers.count, "looking"]
    await home.build(root, languages=(Language.PYTHON,))
    assert len(happened) == 2


async def test_a_file_that_is_as_it_was_before_the_last_change_is_seen_to_have_changed_again(
    home: Home, tmp_path: Path
):
    root = new_repository(tmp_path / "root", {"a.py": "def one(): ...\n", "b.py": "def two(): ...\n"})
    first = await home.indexer.snapshot(str(root), "HEAD", IndexOptions())
    built = await home.build(root)
    (root / "a.py").write_text("def three(): ...\n")
    changed = await home.build(root)
    assert changed.changed == ["a.py"]
    # The same object as was indexed at first: it is not what the index has now.
    assert await home.indexer.behind(first, changed.record) == ({"a.py"}, [])
    assert await home.indexer.behind(changed.snapshot, changed.record) == (set(), [])
    (root / "b.py").unlink()
    gone = await home.indexer.snapshot(str(root), "HEAD", IndexOptions())
    assert await home.indexer.behind(gone, changed.record) == (set(), ["b.py"])
    assert built.record.generation + 1 == changed.record.generation
