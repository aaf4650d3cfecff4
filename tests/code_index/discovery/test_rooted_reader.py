"""Files outside of the folder cannot be read, whatever links it contains."""

import os
from pathlib import Path

import pytest

from scrubjay.code_index.discovery.rooted_reader import MAX_DEPTH, RootedReader, TooDeep
from tests.code_index.discovery.repository import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, {"outside/secret": "secret", "root/a/b/c": "abc", "root/a/d": "d", "root/e": "e"})
    return tmp_path / "root"


def test_files_are_read_in_any_order_up_to_a_limit(root: Path) -> None:
    with RootedReader(str(root)) as rooted:
        read = [rooted.read(path, 2) for path in ("a/b/c", "e", "a/d", "a/b/c", "a/d")]
        assert (read, rooted.status("a/b/c").st_size) == ([b"ab", b"e", b"d", b"ab", b"d"], 3)


@pytest.mark.parametrize(
    "path", ["link", "up/secret", "a/up/secret", "loop/loop/e", "../outside/secret", "a/../e", "./e"]
)
def test_links_and_dots_are_not_followed(root: Path, path: str) -> None:
    (root / "link").symlink_to(root.parent / "outside" / "secret")
    (root / "up").symlink_to(root.parent / "outside")
    (root / "a" / "up").symlink_to(root.parent / "outside")
    (root / "loop").symlink_to(root)
    with RootedReader(str(root)) as rooted:
        with pytest.raises(OSError, match=r"."):
            rooted.read(path, 10)
        assert rooted.read("a/d", 10) == b"d"


def test_reading_a_fifo_or_folder_does_not_block(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with RootedReader(str(root)) as rooted:
        for path in ("pipe", "a"):
            with pytest.raises(FileNotFoundError):
                rooted.read(path, 10)


def test_very_deep_folders_are_not_entered(root: Path) -> None:
    with RootedReader(str(root)) as rooted, pytest.raises(TooDeep):
        rooted.status("d/" * (MAX_DEPTH + 1) + "f")


def test_no_descriptor_stays_open(root: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    with RootedReader(str(root)) as rooted:
        rooted.read("a/b/c", 1)
        with pytest.raises(FileNotFoundError):
            rooted.read("a/b/missing/c", 1)
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_other_files_can_be_read_after_a_missing_folder(root: Path) -> None:
    with RootedReader(str(root)) as rooted:
        with pytest.raises(FileNotFoundError):
            rooted.read("a/missing/c", 1)
        assert (rooted.read("e", 1), rooted.read("a/d", 1)) == (b"e", b"d")
