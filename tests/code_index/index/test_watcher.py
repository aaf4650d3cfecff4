import os
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest

from scrubjay.code_index.discovery.limits import Limits
from scrubjay.code_index.index import watcher as watching
from scrubjay.code_index.index.indexer import IndexOptions, index_id_of
from scrubjay.code_index.index.watcher import CannotHear, Hearing, Refreshed, Watch
from scrubjay.code_index.models import Snapshot
from scrubjay.core.errors import Cancelled
from scrubjay.core.progress import SilentReporter
from tests.code_index.discovery.repository import commit, git, new_repository, write
from tests.code_index.indexes import BOUND, Home, opened


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "QUIET_SECONDS", 0.1)
    monkeypatch.setattr(watching, "GONE_SECONDS", 0.05)


class Heard(Hearing):
    """Notes each burst, and that it was dealt with."""

    bursts: ClassVar[list[set[str]]]
    done: ClassVar[int]

    async def changes(self) -> set[str]:
        type(self).done = len(self.bursts)
        found = await super().changes()
        if found:
            self.bursts.append(found)
        return found


class Watched:
    """A watch at work, and its reporter."""

    def __init__(self, home: Home, root: Path, **settings: Any) -> None:
        class Noting(Heard):
            bursts: ClassVar[list[set[str]]] = []
            done: ClassVar[int] = 0

        self.home, self.root, self.heard = home, root, Noting
        self.looks = 0
        self.message = ""
        self.told = 0.0
        """Of how many builds it was told since when it is watched again."""
        self.stops = False
        options = IndexOptions()

        async def build() -> Refreshed | None:
            built = await home.indexer.build(str(root), "HEAD", options, SilentReporter())
            return Refreshed(len(built.changed), len(built.removed))

        self.watch = Watch(home.code, str(root), options, build, **{"hearing": Noting, **settings})
        self.index_id = index_id_of(str(root), "HEAD", options)

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if total is None:
            self.message = message
            self.told = done if message.startswith("watching") else self.told
        if self.stops:
            raise Cancelled("asked to stop")

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(BOUND):
            while not condition():  # noqa: ASYNC110 - the system has no events that tell of our events
                await anyio.sleep(0.01)

    async def until_built(self, builds: int) -> dict[str, str]:
        """What is in the index once it was built so often, and never more often."""
        await self.until(lambda: self.told >= builds)
        assert self.watch.builds == builds
        return {file.path: file.content.blob[:7] for file in await self.home.store.files(self.index_id)}

    async def until_dealt_with(self, path: Path) -> None:
        """Until it was heard that this changed, and whatever followed from it was done."""
        await self.until(lambda: any(str(path) in burst for burst in self.heard.bursts[: self.heard.done]))


@asynccontextmanager
async def watched(root: Path, home: Path, limits: Limits | None = None, **settings: Any) -> AsyncGenerator[Watched]:
    async with opened(home, limits=limits or Limits()) as inside:
        watched = Watched(inside, root, **settings)
        look = inside.indexer.snapshot

        async def snapshot(*arguments: Any) -> Snapshot:
            watched.looks += 1
            return await look(*arguments)

        setattr(inside.indexer, "snapshot", snapshot)  # noqa: B010
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watched.watch.run, watched)
            yield watched
            tasks.cancel_scope.cancel()


def inotify_watches() -> int:
    """How many folders this process has the system watch."""
    found = 0
    for file in Path("/proc/self/fdinfo").iterdir():
        try:
            found += sum(line.startswith("inotify ") for line in file.read_text().splitlines())
        except OSError:
            continue
    return found


async def no_folder_is_watched() -> None:
    """The system takes a moment to let go of those of before."""
    with anyio.fail_after(BOUND):
        while inotify_watches():  # noqa: ASYNC110 - as above
            await anyio.sleep(0.01)


async def test_108_whatever_changes_is_indexed_and_each_change_is_one_build(tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "a = 1\n", "docs/b.md": "# b\n"})
    async with watched(root, tmp_path / "home") as watch:
        assert [*await watch.until_built(1)] == ["a.py", "docs/b.md"]

        before = await watch.until_built(1)
        write(root, {"a.py": "a = 2\n"})
        after = await watch.until_built(2)
        assert after["a.py"] != before["a.py"]

        write(root, {"deep/er/new.py": "n = 1\n"})  # in folders that nobody watched before
        assert "deep/er/new.py" in await watch.until_built(3)
        (root / "deep/empty").mkdir()
        await watch.until_dealt_with(root / "deep/empty")
        write(root, {"deep/empty/e.py": "e = 1\n"})
        assert "deep/empty/e.py" in await watch.until_built(4)

        (root / "deep").rename(root / "moved")
        assert [*await watch.until_built(5)] == ["a.py", "docs/b.md", "moved/empty/e.py", "moved/er/new.py"]
        write(root, {"moved/er/new.py": "n = 3\n"})
        await watch.until_built(6)
        shutil.rmtree(root / "moved")
        assert [*await watch.until_built(7)] == ["a.py", "docs/b.md"]

        commit(root, "Second")  # changes no file, only of which commit they are
        await watch.until_built(8)
        record = await watch.home.store.index(watch.index_id)
        assert record is not None
        assert (record.commit, record.details["dirty"]) == (git(root, "rev-parse", "HEAD"), 0)


async def test_108_what_is_ignored_is_not_watched_and_causes_no_work(tmp_path: Path):
    ignored = ("build/out.py", "deep/__pycache__/a.pyc")
    root = new_repository(
        tmp_path / "repository", {"a.py": "a = 1\n", ".gitignore": "build/\n*.log\n", "deep/b.py": ""}
    )
    write(root, dict.fromkeys(ignored, "x"))
    write(root, {"build/kept.py": "k = 1\n"})
    git(root, "add", "--force", "build/kept.py")  # counts, though it is ignored
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        looks = watch.looks
        write(root, {"noise.log": "x", "picture.png": b"x", ".git/FETCH_HEAD": "x", ".git/objects/ab/cd": "x"})
        write(root, dict.fromkeys(ignored, "y"))
        await watch.until_dealt_with(root / "noise.log")
        await watch.until_dealt_with(root / ".git/FETCH_HEAD")
        assert watch.looks == looks
        write(root, {"build/kept.py": "k = 2\n"})
        await watch.until_built(2)
        write(root, {".gitignore": "*.log\n"})
        assert "build/out.py" in await watch.until_built(3)
        write(root, {"build/out.py": "z"})
        await watch.until_built(4)
        heard = set[str]().union(*watch.heard.bursts)
        assert not {str(root / ".git/objects/ab/cd"), str(root / "deep/__pycache__/a.pyc")} & heard


async def test_108_a_checkout_of_many_files_is_one_build_or_two(tmp_path: Path):
    root = new_repository(tmp_path / "repository", {"a.py": "a = 1\n"})
    git(root, "checkout", "--quiet", "-b", "large")
    write(root, {f"part{number % 20}/m{number}.py": f"x = {number}\n" for number in range(400)})
    commit(root, "Many")
    git(root, "checkout", "--quiet", "main")
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        looks = watch.looks
        (root / ".git/index.lock").touch()  # as git does, until it has written all
        for number in range(400):
            write(root, {f"part{number % 20}/m{number}.py": f"x = {number}\n"})
        await watch.until_dealt_with(root / "part0")
        assert watch.looks == looks
        (root / ".git/index.lock").unlink()
        git(root, "clean", "--quiet", "-fd")
        git(root, "checkout", "--quiet", "large")
        await watch.until(lambda: watch.watch.builds > 1 and watch.message.startswith("watching 21"))
        assert watch.watch.builds <= 3
        assert len(await watch.home.store.files(watch.index_id)) == 401


async def test_108_a_folder_that_goes_and_comes_back_is_watched_again(tmp_path: Path):
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
        root.parent.rename(tmp_path / "gone")  # which nobody who hears only of the folder hears
        await watch.until(lambda: watch.message.startswith("waiting for the folder"))
        write(root, {"d.py": "d = 1\n"})
        assert [*await watch.until_built(5)] == ["d.py"]


async def test_108_a_commit_in_a_worktree_is_noticed_though_git_keeps_it_elsewhere(tmp_path: Path):
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


class Deaf(Hearing):
    async def open(self) -> None:
        raise CannotHear("OS file watch limit reached")


async def test_108_where_nothing_can_be_heard_it_is_looked_every_while_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(watching, "LOOK_SHARE", 0)
    root = tmp_path / "folder"
    write(root, {"a.py": "a = 1\n"})
    async with watched(root, tmp_path / "home", hearing=Deaf) as watch:
        await watch.until(lambda: watch.watch.builds == 1 and "watch limit reached" in watch.message)
        assert watch.message.startswith("looking every 0 seconds, because changes cannot be heard: OS file watch limit")
        write(root, {"b.py": "b = 1\n"})
        await watch.until(lambda: watch.watch.builds == 2)
        assert len(await watch.home.store.files(watch.index_id)) == 2


async def test_108_a_name_that_cannot_be_told_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.05)
    root = tmp_path / "folder"
    write(root, {"a.py": "a = 1\n"})
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        (root / os.fsdecode(b"\xff.py")).write_text("b = 1\n")
        await watch.until(lambda: watch.message.startswith("looking every"))
        assert len(await watch.home.store.files(watch.index_id)) == 2


async def test_108_what_cannot_be_indexed_is_said_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watching, "RETRY_SECONDS", 0.05)
    root = tmp_path / "folder"
    write(root, {"a.py": "a = 1\n", "b.py": "b = 1\n"})
    async with watched(root, tmp_path / "home", Limits(max_files=1)) as watch:
        await watch.until(lambda: watch.looks > 2)  # though nothing changes
        assert "there are more than 1 files to read" in watch.message
        (root / "b.py").unlink()
        assert [*await watch.until_built(1)] == ["a.py"]
        assert "more than" not in watch.message


async def test_108_a_watch_that_is_asked_to_stop_ends_and_leaves_nothing(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {f"{name}/a.py": "a = 1\n" for name in "abc"})
    await no_folder_is_watched()
    async with opened(tmp_path / "home") as home:
        watch = Watched(home, root)
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                with pytest.raises(Cancelled):
                    await watch.watch.run(watch)

            tasks.start_soon(run)
            await watch.until_built(1)
            await watch.until(lambda: inotify_watches() == 4)
            watch.stops = True
        await no_folder_is_watched()


async def test_108_only_a_folder_that_is_no_link_is_watched(tmp_path: Path):
    root, outside = tmp_path / "folder", tmp_path / "outside"
    write(root, {"a.py": "a = 1\n", "inside/c.py": "c = 1\n"})
    write(outside, {"deep/b.py": "b = 1\n"})
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(root)
    await no_folder_is_watched()
    async with watched(root, tmp_path / "home") as watch:
        await watch.until_built(1)
        await watch.until(lambda: inotify_watches() == 2)
        (root / "inside").rename(outside / "moved")  # where it goes on being a folder, but none of ours
        await watch.until_built(2)
        await watch.until(lambda: inotify_watches() == 1)
