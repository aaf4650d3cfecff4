"""A file that was verified is not read completely again while it is unchanged."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from scrubjay.search_index import checksum_cache
from scrubjay.search_index.segment_file import SegmentFile, UnusableFile

KIND = "tests"
LONG_AGO = time.time() + 3600


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "file.bin"
    SegmentFile.write(path, KIND, {}, [({}, {"numbers": np.arange(10_000)})])
    monkeypatch.setattr(checksum_cache.time, "time", lambda: LONG_AGO)  # as seen an hour later
    return path


def open_and_verify(path: Path) -> SegmentFile:
    file = SegmentFile(path, KIND, trusting=True)
    assert file.segments[0].array("numbers").sum() >= 0
    file.mark_verified()
    return file


def flip(path: Path) -> None:
    """Flip a bit of an array, later than the last change of the file; only the checksum reveals it."""
    clock = path.with_name("clock")
    clock.touch()
    while clock.stat().st_ctime_ns <= path.stat().st_ctime_ns:
        clock.touch()
    with path.open("r+b") as file:
        file.seek(-100_000, os.SEEK_END)
        (byte,) = file.read(1)
        file.seek(-100_000, os.SEEK_END)
        file.write(bytes([byte ^ 1]))


def test_the_first_reader_verifies_a_file_and_the_next_trusts_it(path: Path) -> None:
    assert [open_and_verify(path).is_trusted, open_and_verify(path).is_trusted] == [False, True]


def test_a_file_is_verified_if_trust_is_not_requested(path: Path) -> None:
    open_and_verify(path)
    assert not SegmentFile(path, KIND).is_trusted


def test_a_flipped_bit_ends_the_trust_and_is_detected(path: Path) -> None:
    open_and_verify(path)
    flip(path)
    with pytest.raises(UnusableFile, match="damaged numbers"):
        open_and_verify(path)
    with pytest.raises(UnusableFile, match="damaged numbers"):
        open_and_verify(path)


def test_a_damaged_file_is_never_marked_as_verified(path: Path) -> None:
    flip(path)
    with pytest.raises(UnusableFile):
        open_and_verify(path)
    assert not path.with_name("file.bin.whole").exists()


def test_appended_and_replaced_files_are_verified_again(path: Path) -> None:
    file = open_and_verify(path)
    with file.lock() as is_ours:
        assert is_ours
        file.append({}, {"numbers": np.arange(5)})
    assert [open_and_verify(path).is_trusted, open_and_verify(path).is_trusted] == [False, True]
    SegmentFile.write(path, KIND, {}, [({}, {"numbers": np.arange(10_000)})])
    assert not open_and_verify(path).is_trusted


def test_after_a_restart_of_the_machine_files_are_verified_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_and_verify(path)
    monkeypatch.setattr(checksum_cache, "_machine_start", lambda: "another start")
    assert not open_and_verify(path).is_trusted


def test_nothing_is_trusted_if_the_start_of_the_machine_is_unknown(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksum_cache, "_machine_start", lambda: None)
    assert [open_and_verify(path).is_trusted, open_and_verify(path).is_trusted] == [False, False]


def test_a_file_that_changed_just_now_is_not_trusted_yet(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksum_cache.time, "time", lambda: path.stat().st_ctime + 1)
    assert [open_and_verify(path).is_trusted, open_and_verify(path).is_trusted] == [False, False]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"something else"])
def test_a_marker_with_other_content_is_ignored(path: Path, content: bytes) -> None:
    open_and_verify(path)
    path.with_name("file.bin.whole").write_bytes(content)
    assert not open_and_verify(path).is_trusted


def test_a_file_is_usable_if_no_marker_can_be_written(path: Path) -> None:
    path.with_name("file.bin.whole").mkdir()
    assert [open_and_verify(path).is_trusted, open_and_verify(path).is_trusted] == [False, False]
