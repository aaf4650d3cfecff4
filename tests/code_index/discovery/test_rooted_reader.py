"""Nothing outside of the folder is ever seen, whatever links are in it."""

import os
from pathlib import Path

import pytest

from scrubjay.code_index.discovery.rooted_reader import MAX_DEPTH, Beneath, TooDeep
from tests.code_index.discovery.repository import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, {"outside/secret": "secret", "root/a/b/c": "abc", "root/a/d": "d", "root/e": "e"})
    return tmp_path / "root"


def test_files_are_read_in_any_order_and_at_most_as_far_as_asked(root: Path) -> None:
    with Beneath(str(root)) as beneath:
        read = [beneath.read(path, 2) for path in ("a/b/c", "e", "a/d", "a/b/c", "a/d")]
        assert (read, beneath.status("a/b/c").st_size) == ([b"ab", b"e", b"d", b"ab", b"d"], 3)


@pytest.mark.parametrize(
    "path", ["link", "up/secret", "a/up/secret", "loop/loop/e", "../outside/secret", "a/../e", "./e"]
)
def test_links_and_dots_lead_nowhere(root: Path, path: str) -> None:
    (root / "link").symlink_to(root.parent / "outside" / "secret")
    (root / "up").symlink_to(root.parent / "outside")
    (root / "a" / "up").symlink_to(root.parent / "outside")
    (root / "loop").symlink_to(root)
    with Beneath(str(root)) as beneath:
        with pytest.raises(OSError, match=r"."):
            beneath.read(path, 10)
        assert beneath.read("a/d", 10) == b"d"


def test_what_is_no_plain_file_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with Beneath(str(root)) as beneath:
        for path in ("pipe", "a"):
            with pytest.raises(FileNotFoundError):
                beneath.read(path, 10)


def test_very_deep_folders_are_not_entered(root: Path) -> None:
    with Beneath(str(root)) as beneath, pytest.raises(TooDeep):
        beneath.status("d/" * (MAX_DEPTH + 1) + "f")


def test_nothing_stays_open(root: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    with Beneath(str(root)) as beneath:
        beneath.read("a/b/c", 1)
        with pytest.raises(FileNotFoundError):
            beneath.read("a/b/missing/c", 1)
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_after_a_folder_that_is_not_there_others_are_where_they_are(root: Path) -> None:
    with Beneath(str(root)) as beneath:
        with pytest.raises(FileNotFoundError):
            beneath.read("a/missing/c", 1)
        assert (beneath.read("e", 1), beneath.read("a/d", 1)) == (b"e", b"d")
