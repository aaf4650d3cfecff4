"""Watched folders are indexed again when files, folders or commits change."""

import os
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest

from scrubjay.code_index.discovery.limits import IndexLimits
from scrubjay.code_index.index import watcher
from scrubjay.code_index.index.options import IndexOptions, index_id_of
from scrubjay.code_index.index.watcher import FolderEvents, FolderWatcher, RefreshResult, WatchUnsupported
from scrubjay.code_index.models import Snapshot
from scrubjay.core.errors import Cancelled
from scrubjay.core.progress import SilentReporter
from tests.code_index.discovery.repository import commit, git, new_repository, write
from tests.code_index.indexes import BOUND, Home, opened


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "DEBOUNCE_SECONDS", 0.1)
    monkeypatch.setattr(watcher, "GONE_SECONDS", 0.05)


class RecordedEvents(FolderEvents):
    """Records each burst of events, and when it was handled."""

    bursts: ClassVar[list[set[str]]]
    done: ClassVar[int]

    async def changes(self) -> set[str]:
        type(self).done = len(self.bursts)
        paths = await super().changes()
        if paths:
            self.bursts.append(paths)
        return paths


class Watched:
    """A running watcher and its reporter."""

    def __init__(self, home: Home, root: Path, **settings: Any) -> None:
        class Recorder(RecordedEvents):
            bursts: ClassVar[list[set[str]]] = []
            done: ClassVar[int] = 0

        self.home, self.root, self.events = home, root, Recorder
        self.snapshots = 0
        self.message = ""
        self.reported_builds = 0.0
        """Number of builds at the last report that it is watching."""
        self.cancels = False
        options = IndexOptions()

        async def build() -> RefreshResult | None:
            built = await home.indexer.build(str(root), "HEAD", options, SilentReporter())
            return RefreshResult(len(built.changed), len(built.removed))

        self.watch = FolderWatcher(home.code, str(root), options, build, **{"open_events": Recorder, **settings})
        self.index_id = index_id_of(str(root), "HEAD", options)

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if total is None:
            self.message = message
            self.reported_builds = done if message.startswith("watching") else self.reported_builds
        if self.cancels:
            raise Cancelled("stop requested")

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(BOUND):
            while not condition():  # noqa: ASYNC110 - the system does not report how our events are handled
                await anyio.sleep(0.01)

    async def until_built(self, builds: int) -> dict[str, str]:
        """Wait for this many builds, and return the contents of the index."""
        await self.until(lambda: self.reported_builds >= builds)
        assert self.watch.builds == builds
        return {file.path: file.content.blob[:7] for file in await self.home.store.files(self.index_id)}

    async def until_handled(self, path: Path) -> None:
        """Wait until a change of this path was noticed and handled."""
        await self.until(lambda: any(str(path) in burst for burst in self.events.bursts[: self.events.done]))


@asynccontextmanager
async def watched(
    root: Path, home: Path, limits: IndexLimits | None = None, **settings: Any
) -> AsyncGenerator[Watched]:
    async with opened(home, limits=limits or IndexLimits()) as index_home:
        watched = Watched(index_home, root, **settings)
        take_snapshot = index_home.indexer.snapshot

        async def snapshot(*arguments: Any) -> Snapshot:
            watched.snapshots += 1
            return await take_snapshot(*arguments)

        setattr(index_home.indexer, "snapshot", snapshot)  # noqa: B010
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watched.watch.run, watched)
            yield watched
            tasks.cancel_scope.cancel()


def inotify_watches() -> int:
    """Return the number of folders this process watches."""
    count = 0
    for file in Path("/proc/self/fdinfo").iterdir():
        try:
            count += sum(line.startswith("inotify ") for line in file.read_text().splitlines())
        except OSError:
            continue
    return count


async def wait_until_nothing_is_watched() -> None:
    """Wait until the system has removed the watches of earlier tests."""
    with anyio.fail_after(BOUND):
        while inotify_watches():  # noqa: ASYNC110 - as above
            await anyio.sleep(0.01)


async def test_108_every_change_is_indexed_by_one_build(tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "a = 1\n", "docs/b.md": "# b\n"})
    async with watched(root, tmp_path / "home") as watch:
        assert [*await watch.until_built(1)] == ["a.py", "docs/b.md"]

        before = await watch.until_built(1)
        write(root, {"a.py": "a = 2\n"})
        after = await watch.until_built(2)
        assert after["a.py"] != before["a.py"]

        write(root, {"deep/er/new.py": "n = 1\n"})  # in folders that were not watched before
        assert "deep/er/new.py" in await watch.until_built(3)
        (root / "deep/empty").mkdir()
        await watch.until_handled(root / "deep/empty")
        write(root, {"deep/empty/e.py": "e = 1\n"})
        assert "deep/empty/e.py" in await watch.until_built(4)

        (root / "deep").rename(root / "moved")
        assert [*await watch.until_built(5)] == ["a.py", "docs/b.md", "moved/empty/e.py", "moved/er/new.py"]
        write(root, {"moved/er/new.py": "n = 3\n"})
        await watch.until_built(6)
        shutil.rmtree(root / "moved")
        assert [*await watch.until_built(7)] == ["a.py", "docs/b.md"]

        commit(root, "Second")  # changes no file, only the commit
        await watch.until_built(8)
        record = await watch.home.store.index(watch.index_id)
        assert record is not None
        assert (record.commit, record.details["dirty"]) == (git(root, "rev-parse", "HEAD"), 0)


async def test_108_ignored_files_are_not_watched_and_cause_no_work(tmp_path: Path):
    ignored = ("build/out.py", "deep/__pycache__/a.pyc")
    root = new_repository(
        tmp_path / "repository", {"a.py": "a = 1\n", ".gitignore": "build/\n*.log\n", "deep/b.py": ""}
    )
    write(root, dict.fromkeys(ignored, "x"))
    write(root, {"build/kept.py": "k = 1\n"})
    git(root, "add", "--force", "build/kept.py")  # tracked, although it is ignored
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        snapshots = watch.snapshots
        write(root, {"noise.log": "x", "picture.png": b"x", ".git/FETCH_HEAD": "x", ".git/objects/ab/cd": "x"})
        write(root, dict.fromkeys(ignored, "y"))
        await watch.until_handled(root / "noise.log")
        await watch.until_handled(root / ".git/FETCH_HEAD")
        assert watch.snapshots == snapshots
        write(root, {"build/kept.py": "k = 2\n"})
        await watch.until_built(2)
        write(root, {".gitignore": "*.log\n"})
        assert "build/out.py" in await watch.until_built(3)
        write(root, {"build/out.py": "z"})
        await watch.until_built(4)
        noticed = set[str]().union(*watch.events.bursts)
        assert not {str(root / ".git/objects/ab/cd"), str(root / "deep/__pycache__/a.pyc")} & noticed


async def test_108_a_checkout_of_many_files_is_one_build_or_two(tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "a = 1\n"})
    git(root, "checkout", "--quiet", "-b", "large")
    write(root, {f"part{number % 20}/m{number}.py": f"x = {number}\n" for number in range(400)})
    commit(root, "Many")
    git(root, "checkout", "--quiet", "main")
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        snapshots = watch.snapshots
        (root / ".git/index.lock").touch()  # git holds this until it has written everything
        for number in range(400):
            write(root, {f"part{number % 20}/m{number}.py": f"x = {number}\n"})
        await watch.until_handled(root / "part0")
        assert watch.snapshots == snapshots
        (root / ".git/index.lock").unlink()
        git(root, "clean", "--quiet", "-fd")
        git(root, "checkout", "--quiet", "large")
        await watch.until(lambda: watch.watch.builds > 1 and watch.message.startswith("watching 21"))
        assert watch.watch.builds <= 3
        assert len(await watch.home.store.files(watch.index_id)) == 401


async def test_108_a_folder_that_is_removed_and_restored_is_watched_again(tmp_path: Path):
    root = tmp_path / "around" / "folder"
    write(root, {"a.py": "a = 1\n"})
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        shutil.rmtree(root)
        await watch.until(lambda: watch.message.startswith("waiting for the folder"))
        write(root, {"b.py": "b = 1\n"})
        assert [*await watch.until_built(2)] == ["b.py"]
        other = tmp_path / "other"
        write(other, {"c.py": "c = 1\n"})
        root.rename(tmp_path / "away")
        other.rename(root)
        assert [*await watch.until_built(3)] == ["c.py"]
        write(root, {"c.py": "c = 2\n"})
        await watch.until_built(4)
        root.parent.rename(tmp_path / "gone")  # causes no event in the folder itself
        await watch.until(lambda: watch.message.startswith("waiting for the folder"))
        write(root, {"d.py": "d = 1\n"})
        assert [*await watch.until_built(5)] == ["d.py"]


async def test_108_a_commit_in_a_worktree_is_detected(tmp_path: Path):
    main = new_repository(tmp_path / "main", {"a.py": "a = 1\n"})
    root = tmp_path / "tree"
    git(main, "worktree", "add", "--quiet", str(root), "-b", "side/branch")
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        git(root, "commit", "--quiet", "--allow-empty", "--message", "Nothing")
        await watch.until_built(2)
        record = await watch.home.store.index(watch.index_id)
        assert record is not None
        assert record.commit == git(root, "rev-parse", "HEAD")


class UnsupportedEvents(FolderEvents):
    async def open(self) -> None:
        raise WatchUnsupported("OS file watch limit reached")


async def test_108_without_file_events_the_folder_is_polled_and_the_reason_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watcher, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(watcher, "POLL_SHARE", 0)
    root = tmp_path / "folder"
    write(root, {"a.py": "a = 1\n"})
    async with watched(root, tmp_path / "home", open_events=UnsupportedEvents) as watch:
        await watch.until(lambda: watch.watch.builds == 1 and "watch limit reached" in watch.message)
        assert watch.message.startswith("polling every 0 seconds, because file events are not supported: OS file watch")
        write(root, {"b.py": "b = 1\n"})
        await watch.until(lambda: watch.watch.builds == 2)
        assert len(await watch.home.store.files(watch.index_id)) == 2


async def test_108_a_file_name_that_is_not_utf8_leads_to_polling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watcher, "POLL_SECONDS", 0.05)
    root = tmp_path / "folder"
    write(root, {"a.py": "a = 1\n"})
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        (root / os.fsdecode(b"\xff.py")).write_text("b = 1\n")
        await watch.until(lambda: watch.message.startswith("polling every"))
        assert len(await watch.home.store.files(watch.index_id)) == 2


async def test_108_a_failed_refresh_is_reported_and_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watcher, "RETRY_SECONDS", 0.05)
    root = tmp_path / "folder"
    write(root, {"a.py": "a = 1\n", "b.py": "b = 1\n"})
    async with watched(root, tmp_path / "home", IndexLimits(max_files=1)) as watch:
        await watch.until(lambda: watch.snapshots > 2)  # without any change
        assert "there are more than 1 files to read" in watch.message
        (root / "b.py").unlink()
        assert [*await watch.until_built(1)] == ["a.py"]
        assert "more than" not in watch.message


async def test_108_a_cancelled_watcher_stops_and_leaves_no_watches(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {f"{name}/a.py": "a = 1\n" for name in "abc"})
    await wait_until_nothing_is_watched()
    async with opened(tmp_path / "home") as home:
        watch = Watched(home, root)
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                with pytest.raises(Cancelled):
                    await watch.watch.run(watch)

            tasks.start_soon(run)
            await watch.until_built(1)
            await watch.until(lambda: inotify_watches() == 4)
            watch.cancels = True
        await wait_until_nothing_is_watched()


async def test_108_symbolic_links_are_not_watched(tmp_path: Path):
    root, outside = tmp_path / "folder", tmp_path / "outside"
    write(root, {"a.py": "a = 1\n", "inside/c.py": "c = 1\n"})
    write(outside, {"deep/b.py": "b = 1\n"})
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(root)
    await wait_until_nothing_is_watched()
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        await watch.until(lambda: inotify_watches() == 2)
        (root / "inside").rename(outside / "moved")  # out of the watched tree
        await watch.until_built(2)
        await watch.until(lambda: inotify_watches() == 1)
