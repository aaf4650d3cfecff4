"""Temporary files of killed processes are removed, and those of running ones are not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.temporary_files import remove_abandoned, temporary_beside

KILLED_WRITER = """
import os, signal, sys
from pathlib import Path
import numpy as np
from scrubjay.search_index.segment_file import SegmentFile

def contents():
    yield {}, {"values": np.zeros(100_000)}
    os.kill(os.getpid(), signal.SIGKILL)

SegmentFile.write(Path(sys.argv[1]), "test", {}, contents())
"""
FOLDERS = ("", "derived", "derived/sandbox", "derived/skills", "backups")


def make_old(path: Path, seconds: float) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        return process.pid


async def test_what_a_killed_writer_of_a_derived_file_left_is_removed_at_a_later_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    target = home / "derived" / "memories-potion-256-3.bin"
    done = subprocess.run([sys.executable, "-c", KILLED_WRITER, str(target)])  # noqa: ASYNC221
    assert done.returncode == -signal.SIGKILL
    [left] = target.parent.iterdir()
    assert left.name.startswith(f"{target.name}.")
    await (await SqliteStore.open(home)).close()
    assert left.exists(), "a process in another container might be writing it"
    make_old(left, 100)
    await (await SqliteStore.open(home)).close()
    assert not left.exists()


@pytest.mark.parametrize("folder", FOLDERS)
async def test_every_folder_of_the_home_is_cleaned(tmp_path: Path, folder: str) -> None:
    parent = tmp_path / "home" / folder
    parent.mkdir(parents=True)
    left = parent / f"file.bin.{ended_process()}.3b419b49"
    left.write_bytes(b"unfinished")
    make_old(left, 100)
    await (await SqliteStore.open(tmp_path / "home")).close()
    assert not left.exists()


@pytest.mark.parametrize(
    ("name", "age", "is_removed"),
    [
        ("file.bin.{ended}.3b419b49", 100, True),
        ("scrubjay.db.{ended}.3b419b49-wal", 100, True),
        ("scrubjay.db.{ended}.3b419b49-shm", 100, True),
        ("a folder.{ended}.3b419b49/", 4000, True),
        ("a folder.{ended}.3b419b49/", 100, False),
        ("file.bin.99999999999.3b419b49", 100, False),  # no process id has this many digits
        ("file.bin.{ended}.3b419b49", 10, False),
        ("file.bin.{running}.3b419b49", 100, False),
        ("file.bin.{running}.3b419b49", 100_000, True),  # the id belongs to another process by now
        ("file.bin.{ended}.3b419b4", 100, False),
        ("file.bin.{ended}.3B419B49", 100, False),
        ("file.bin", 100_000, False),
        ("scrubjay.db", 100_000, False),
        ("audit.jsonl.1", 100_000, False),
        ("scrubjay-2026-01-31.12.00000000.jsonl", 100_000, False),
    ],
)
def test_only_old_files_of_ended_processes_are_removed(tmp_path: Path, name: str, age: float, is_removed: bool) -> None:
    path = tmp_path / name.format(ended=ended_process(), running=os.getpid())
    if name.endswith("/"):
        path.mkdir()
        (path / "inner").touch()
    else:
        path.touch()
    make_old(path, age)
    assert remove_abandoned([tmp_path, tmp_path / "missing"]) == ([path] if is_removed else [])
    assert path.exists() is not is_removed


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "kept"
    target.mkdir()
    link = tmp_path / f"file.{ended_process()}.3b419b49"
    link.symlink_to(target)
    os.utime(link, (0, 0), follow_symlinks=False)
    assert remove_abandoned([tmp_path]) == [link]
    assert target.exists()


def test_a_temporary_file_of_this_process_is_kept(tmp_path: Path) -> None:
    path = temporary_beside(tmp_path / "x.bin")
    path.touch()
    make_old(path, 3600)
    assert remove_abandoned([tmp_path]) == []
