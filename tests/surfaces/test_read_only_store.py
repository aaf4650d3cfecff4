"""A store on a file system that is mounted read-only can be read and checked, and refuses writes."""

import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.surfaces.callers import PROGRAM, environment


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments], env=environment(home), cwd=home.parent, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Path]:
    """Mount a file system, where the machine allows it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "tmpfs", disk]).returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def test_127_a_read_only_store_can_be_read_and_checked(disk: Path) -> None:
    home = disk / "home"
    assert run(home, "memory", "remember", "The ferry leaves at nine.").returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert "The ferry leaves at nine." in run(home, "memory", "recall", "when does the ferry leave?").stdout
    assert run(home, "store", "check").stdout.startswith("The store is intact.")
    refused = run(home, "memory", "remember", "too late")
    assert refused.returncode != 0
    assert "the store is on a read-only file system; nothing was changed" in refused.stderr
    backup = run(home, "store", "backup", str(disk.parent / "copy.db"))
    assert (backup.returncode, backup.stderr) == (0, "")
