"""A file that was found whole is not read through again, as long as nothing touched it."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from scrubjay.search_index import checksum_cache as found_whole
from scrubjay.search_index.segment_file import SegmentFile, UnusableFile

KIND = "tests"
LONG_AGO = time.time() + 3600


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "file.bin"
    SegmentFile.write(path, KIND, {}, [({}, {"numbers": np.arange(10_000)})])
    monkeypatch.setattr(found_whole.time, "time", lambda: LONG_AGO)  # as seen an hour later
    return path


def opened(path: Path) -> SegmentFile:
    file = SegmentFile(path, KIND, trusting=True)
    assert file.segments[0].array("numbers").sum() >= 0
    file.note_whole()
    return file


def flip(path: Path) -> None:
    """A bit of an array, which only its checksum tells, at a later moment than the last change of the file."""
    clock = path.with_name("clock")
    clock.touch()
    while clock.stat().st_ctime_ns <= path.stat().st_ctime_ns:
        clock.touch()
    with path.open("r+b") as file:
        file.seek(-100_000, os.SEEK_END)
        (byte,) = file.read(1)
        file.seek(-100_000, os.SEEK_END)
        file.write(bytes([byte ^ 1]))


def test_the_first_to_read_a_file_looks_at_all_of_it_and_the_next_need_not(path: Path) -> None:
    assert [opened(path).is_trusted, opened(path).is_trusted] == [False, True]


def test_what_nobody_wants_trusted_is_looked_at(path: Path) -> None:
    opened(path)
    assert not SegmentFile(path, KIND).is_trusted


def test_a_flipped_bit_ends_the_trust_and_is_noticed(path: Path) -> None:
    opened(path)
    flip(path)
    with pytest.raises(UnusableFile, match="damaged numbers"):
        opened(path)
    with pytest.raises(UnusableFile, match="damaged numbers"):
        opened(path)


def test_a_damaged_file_is_never_noted(path: Path) -> None:
    flip(path)
    with pytest.raises(UnusableFile):
        opened(path)
    assert not path.with_name("file.bin.whole").exists()


def test_what_was_appended_or_replaced_is_looked_at(path: Path) -> None:
    file = opened(path)
    with file.locked() as is_ours:
        assert is_ours
        file.append({}, {"numbers": np.arange(5)})
    assert [opened(path).is_trusted, opened(path).is_trusted] == [False, True]
    SegmentFile.write(path, KIND, {}, [({}, {"numbers": np.arange(10_000)})])
    assert not opened(path).is_trusted


def test_after_a_start_of_the_machine_everything_is_looked_at_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(path)
    monkeypatch.setattr(found_whole, "_machine_start", lambda: "another start")
    assert not opened(path).is_trusted


def test_without_knowing_when_the_machine_started_nothing_is_trusted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_whole, "_machine_start", lambda: None)
    assert [opened(path).is_trusted, opened(path).is_trusted] == [False, False]


def test_a_file_that_was_changed_just_now_is_not_trusted_yet(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_whole.time, "time", lambda: path.stat().st_ctime + 1)
    assert [opened(path).is_trusted, opened(path).is_trusted] == [False, False]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"something else"])
def test_a_note_that_says_something_else_is_not_believed(path: Path, content: bytes) -> None:
    opened(path)
    path.with_name("file.bin.whole").write_bytes(content)
    assert not opened(path).is_trusted


def test_where_no_note_can_be_left_the_file_is_used_all_the_same(path: Path) -> None:
    path.with_name("file.bin.whole").mkdir()
    assert [opened(path).is_trusted, opened(path).is_trusted] == [False, False]
