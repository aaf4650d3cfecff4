"""Files of the store are private, also in a home that others may list."""

import os
import stat
from collections.abc import Generator
from pathlib import Path

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext
from tests.code_index.discovery.repository import write

OTHERS = 0o077


@pytest.fixture(autouse=True)
def usual_umask() -> Generator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def readable_by_others(home: Path) -> list[str]:
    """Return the files and folders that other users can read, unless a folder of the store above them is private."""
    found: list[str] = []
    waiting = [home]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            if stat.S_IMODE(path.lstat().st_mode) & OTHERS:
                found.append(str(path.relative_to(home)))
                if path.is_dir():
                    waiting.append(path)
    return found


async def use_store(home: Path, root: Path, export: str = "first.jsonl") -> list[str]:
    """Write to the store in every way that makes files; return what others can read meanwhile."""
    async with running(Settings(home=home)) as app:
        context = CallContext(surface="python", client="test")
        await app.dispatcher.call("remember", {"content": "We deploy on Fridays"}, context)
        await app.dispatcher.call("export_database", {"path": export}, context)
        await app.dispatcher.call("build_repo_index", {"path": str(root)}, context)
        await app.dispatcher.call("recall", {"query": "When do we deploy?"}, context)
        found = readable_by_others(home)
    return found + readable_by_others(home)


async def test_every_file_of_the_store_is_private_in_a_home_that_was_made_beforehand(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "code"
    home.mkdir(mode=0o755)
    write(root, {"a.py": "def one(): pass\n"})
    assert await use_store(home, root) == []
    assert {"scrubjay.db", "code.db"} <= {path.name for path in home.iterdir()}


async def test_files_and_folders_that_an_earlier_version_left_readable_are_tightened(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "code"
    home.mkdir(mode=0o755)
    write(root, {"a.py": "def one(): pass\n"})
    await use_store(home, root)
    for path in home.iterdir():
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert readable_by_others(home)
    assert await use_store(home, root, "second.jsonl") == []
    (home / "notes-of-the-owner.txt").write_text("not ours")
    await use_store(home, root, "third.jsonl")
    assert readable_by_others(home) == ["notes-of-the-owner.txt"]
