"""A derived file gives correct data or an error, whatever happened to it."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.search_index import segment_file
from scrubjay.search_index.segment_file import Contents, Segment, SegmentFile, UnusableFile

KIND = "model-8"
Plain = tuple[dict[str, Any], dict[str, tuple[str, tuple[int, ...], bytes]]]


def contents(number: int) -> Contents:
    """Return a segment with arrays of many types; the larger ones do not fill their last block."""
    rng = np.random.default_rng(number)
    return (
        {"number": number, "mark": -number},
        {
            "words": rng.integers(0, 2**64, 1500, dtype=np.uint64),
            "bytes": rng.integers(-127, 128, (33, 7), dtype=np.int8),
            "flags": rng.random(5) < 0.5,
            "halves": rng.random(3).astype(np.float16),
            "foreign": rng.integers(0, 2**31, 4).astype(">i4"),
            "nothing": np.empty((0, 4), dtype=np.float32),
        },
    )


def plain(meta: Any, arrays: Any) -> Plain:
    """Return comparable values."""
    native: dict[str, NDArray[Any]] = {
        name: array.astype(array.dtype.newbyteorder("<")) for name, array in dict(arrays).items()
    }
    return dict(meta), {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in native.items()}


def read(file: SegmentFile) -> list[Plain]:
    return [plain(segment.meta, segment.arrays) for segment in file.segments]


def expected(*numbers: int) -> list[Plain]:
    return [plain(*contents(number)) for number in numbers]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "derived" / "some.segments"


@pytest.fixture
def file(path: Path) -> SegmentFile:
    """A file of two segments, one of them appended."""
    written = SegmentFile.write(path, KIND, {"rows": 8}, [contents(1)])
    written.append(*contents(2))
    return written


def used_bytes(file: SegmentFile) -> list[int]:
    """Return the offsets of all non-zero bytes; the others only fill pages."""
    content = np.frombuffer(file.path.read_bytes(), dtype=np.uint8)
    return [int(offset) for offset in np.flatnonzero(content)]


# -- writing ---------------------------------------------------------------------------------------


def test_written_and_appended_segments_are_read_back(file: SegmentFile, path: Path) -> None:
    again = SegmentFile(path, KIND)
    assert (again.parameters, read(again)) == ({"rows": 8}, expected(1, 2))
    assert (read(file), file.size, again.size) == (expected(1, 2), path.stat().st_size, path.stat().st_size)


def test_an_empty_file_can_be_appended_to(path: Path) -> None:
    SegmentFile.write(path, KIND, {}, []).append(*contents(3))
    assert read(SegmentFile(path, KIND)) == expected(3)


def test_arrays_are_aligned_read_only_views(file: SegmentFile) -> None:
    arrays = [array for segment in file.segments for array in segment.arrays.values() if array.size]
    assert {array.ctypes.data % 64 for array in arrays} == {0}
    assert not any(array.flags.writeable or array.flags.owndata for array in arrays)
    assert file.segments[0].array("words") is file.segments[0].array("words")


def test_segments_appended_by_another_process_are_read_by_refresh(file: SegmentFile, path: Path) -> None:
    assert file.refresh() == []
    program = f"""
        from pathlib import Path
        from tests.search_index.test_segment_file import KIND, contents
        from scrubjay.search_index.segment_file import SegmentFile
        file = SegmentFile(Path({str(path)!r}), KIND)
        file.append(*contents(3))
        file.append(*contents(4))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)
    assert read(file) == expected(1, 2)
    assert [segment.meta["number"] for segment in file.refresh()] == [3, 4]
    assert read(file) == expected(1, 2, 3, 4)


def test_appending_requires_a_refresh_first(file: SegmentFile, path: Path) -> None:
    SegmentFile(path, KIND).append(*contents(3))
    with pytest.raises(ValueError, match="refresh"):
        file.append(*contents(4))
    file.append(*contents(4))
    assert read(SegmentFile(path, KIND)) == expected(1, 2, 3, 4)


def test_appending_to_a_file_that_was_just_replaced_fails(
    file: SegmentFile, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SegmentFile.write(path, KIND, {"rows": 9}, [contents(7)])
    before = path.read_bytes()
    monkeypatch.setattr(file, "refresh", list)  # the file is replaced right after the refresh
    with pytest.raises(UnusableFile, match="was replaced"):
        file.append(*contents(4))
    assert path.read_bytes() == before


def test_the_lock_is_exclusive_and_fails_on_a_replaced_file(file: SegmentFile, path: Path) -> None:
    other = SegmentFile(path, KIND)
    with file.lock() as first, other.lock() as second:
        assert (first, second) == (True, False)
    with other.lock() as second:
        assert second
    SegmentFile.write(path, KIND, {}, [contents(7)])
    with file.lock() as first:
        assert not first


def test_a_written_file_stays_open_if_it_is_replaced_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def replace_and_be_replaced(temporary: Path, target: Path) -> Path:
        replaced = replace(temporary, target)
        monkeypatch.setattr(Path, "replace", replace)
        SegmentFile.write(path, KIND, {}, [contents(9)])
        return replaced

    monkeypatch.setattr(Path, "replace", replace_and_be_replaced)
    assert read(SegmentFile.write(path, KIND, {}, [contents(1)])) == expected(1)
    assert read(SegmentFile(path, KIND)) == expected(9)


def test_abandoned_temporary_files_are_removed(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    abandoned, fresh = path.with_name(f"{path.name}.123.abcdef01"), path.with_name(f"{path.name}.124.abcdef02")
    for left in (abandoned, fresh):
        left.write_bytes(b"half of it")
    os.utime(abandoned, (0, 0))
    SegmentFile.write(path, KIND, {}, [contents(7)])
    assert sorted(left.name for left in path.parent.iterdir()) == sorted([path.name, fresh.name])


def test_a_replaced_file_stays_readable_for_processes_that_have_it_open(file: SegmentFile, path: Path) -> None:
    old = [segment.array("words") for segment in file.segments]
    SegmentFile.write(path, KIND, {"rows": 9}, [contents(7)])
    assert [array.tobytes() for array in old] == [contents(number)[1]["words"].tobytes() for number in (1, 2)]
    with pytest.raises(UnusableFile, match="was replaced"):
        file.refresh()
    with pytest.raises(UnusableFile, match="was replaced"):
        file.append(*contents(8))
    assert read(SegmentFile(path, KIND)) == expected(7)


def test_a_file_that_cannot_be_completed_does_not_appear(file: SegmentFile, path: Path) -> None:
    def fail() -> Iterator[Contents]:
        yield contents(5)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        SegmentFile.write(path, KIND, {}, fail())
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert (file.refresh(), read(SegmentFile(path, KIND))) == ([], expected(1, 2))


def test_parameters_must_fit_on_a_page(path: Path) -> None:
    with pytest.raises(ValueError, match="page"):
        SegmentFile.write(path, KIND, {"long": "x" * 100_000}, [])
    assert list(path.parent.iterdir()) == []


# -- crashes ---------------------------------------------------------------------------------------


def test_a_segment_exists_only_once_it_is_completely_on_disk(
    file: SegmentFile, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment_counts: list[int] = []
    fsync = os.fsync

    def count_segments(descriptor: int) -> None:
        fsync(descriptor)
        segment_counts.append(len(SegmentFile(path, KIND).segments))

    monkeypatch.setattr(segment_file.os, "fsync", count_segments)
    file.append(*contents(3))
    assert segment_counts == [2, 3]


@pytest.mark.parametrize("zeros", [False, True], ids=["truncated", "never written"])
def test_an_append_interrupted_at_any_byte_leaves_the_earlier_segments(
    file: SegmentFile, path: Path, zeros: bool
) -> None:
    end = file.size
    file.append(*contents(3))
    content = bytearray(path.read_bytes())
    content[end] = 0  # written last
    ends = [*range(end, end + 80), *range(end + 80, end + 900, 7), *range(end + 900, len(content), 4_001), len(content)]
    for cut in ends:
        path.write_bytes(content[:cut] + bytes(len(content) - cut if zeros else 0))
        assert read(SegmentFile(path, KIND)) == expected(1, 2)
    for cut in (end, end + 1, end + 40, end + 5_000, len(content)):
        path.write_bytes(content[:cut] + bytes(len(content) - cut if zeros else 0))
        again = SegmentFile(path, KIND)
        again.append({"short": True}, {})
        again.append(*contents(4))
        assert read(SegmentFile(path, KIND)) == [*expected(1, 2), ({"short": True}, {}), *expected(4)]


def test_an_unfinished_segment_is_removed_however_long_it_is(file: SegmentFile, path: Path) -> None:
    with path.open("ab") as torn:
        torn.write(b"\0" + b"x" * 500_000)
    file.append(*contents(3))
    assert (path.stat().st_size, read(SegmentFile(path, KIND))) == (file.size, expected(1, 2, 3))


def test_a_process_killed_while_appending_loses_no_finished_segment(path: Path) -> None:
    SegmentFile.write(path, KIND, {}, [])
    program = f"""
        from itertools import count
        from pathlib import Path
        from tests.search_index.test_segment_file import KIND, contents
        from scrubjay.search_index.segment_file import SegmentFile
        file = SegmentFile(Path({str(path)!r}), KIND)
        for number in count(len(file.segments)):
            file.append(*contents(number))
            print(number, flush=True)
    """
    finished = -1
    for last in (1, 4, 9):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            while finished < last:
                finished = int(child.stdout.readline())
            child.send_signal(signal.SIGKILL)
            finished = max([finished, *map(int, child.stdout.read().split())])
        stored = read(SegmentFile(path, KIND))
        assert len(stored) in (finished + 1, finished + 2)
        assert stored == expected(*range(len(stored)))
        finished = len(stored) - 1


# -- damage ----------------------------------------------------------------------------------------


def test_every_flipped_bit_is_detected(file: SegmentFile, path: Path) -> None:
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    offsets = used_bytes(file)
    assert len(offsets) > 24_000
    for offset in [*offsets[:400], *offsets[400::61]]:
        bit = 1 << int(rng.integers(8))
        content[offset] ^= bit
        path.write_bytes(content)
        with pytest.raises(UnusableFile):
            read(SegmentFile(path, KIND))
        content[offset] ^= bit
    path.write_bytes(content)
    assert read(SegmentFile(path, KIND)) == expected(1, 2)


@pytest.mark.parametrize(
    ("first", "second", "size"),
    [(0, 8, 8), (8, 4096, 8), (0, 4096, 8), (0, 4096, 4096), (512, 4096, 2048), (8192, 0, 8), (3, 5000, 1)],
)
def test_swapped_data_is_detected(path: Path, first: int, second: int, size: int) -> None:
    values = np.random.default_rng(5).integers(0, 2**64, 1500, dtype=np.uint64)
    SegmentFile.write(path, KIND, {}, [({}, {"values": values})])
    content = path.read_bytes()
    start = content.index(values.tobytes())
    one, other = slice(start + first, start + first + size), slice(start + second, start + second + size)
    swapped = bytearray(content)
    swapped[one], swapped[other] = content[other], content[one]
    assert swapped != content
    path.write_bytes(swapped)
    [segment] = SegmentFile(path, KIND).segments
    with pytest.raises(UnusableFile, match="has damaged values"):
        segment.array("values")


@pytest.mark.parametrize("bits", [(63, 64 + 63), (63, 64 * 512 + 63), (62, 62 + 64 * 3)])
def test_two_flips_that_cancel_out_in_a_sum_are_detected(path: Path, bits: tuple[int, int]) -> None:
    """The highest bits of two words add up to nothing in a sum of 64 bits."""
    values = np.zeros(1500, dtype=np.uint64)
    SegmentFile.write(path, KIND, {}, [({"tell": "here"}, {"values": values})])
    content = bytearray(path.read_bytes())
    start = content.index(b"here")
    start += len(content[start : start + 4096].rstrip(b"\0"))
    start += -start % 64
    for bit in bits:
        content[start + bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    with pytest.raises(UnusableFile, match="has damaged values"):
        read(SegmentFile(path, KIND))


def test_a_truncated_file_is_unusable_or_has_its_earlier_segments(file: SegmentFile, path: Path) -> None:
    content = path.read_bytes()
    second = file.size - 65_536
    first = second - 65_536
    outcomes: dict[str, list[int]] = {}
    for cut in (0, 100, first - 1, first, first + 63, first + 64, second - 1, second, second + 63, second + 64, -1):
        path.write_bytes(content[:cut])
        try:
            outcome = str([segment.meta["number"] for segment in SegmentFile(path, KIND).segments])
        except UnusableFile as error:
            outcome = str(error)
        outcomes.setdefault(outcome, []).append(cut)
    assert outcomes == {
        "is too short": [0, 100, first - 1],
        "[]": [first, first + 63],
        "was truncated": [first + 64, second - 1, second + 64, -1],
        "[1]": [second, second + 63],
    }


def test_a_file_truncated_while_open_is_detected_by_refresh(file: SegmentFile, path: Path) -> None:
    os.truncate(path, file.size - 1)
    with pytest.raises(UnusableFile, match="was truncated"):
        file.refresh()


def test_a_missing_file_cannot_be_read(file: SegmentFile, path: Path) -> None:
    path.unlink()
    with pytest.raises(UnusableFile, match=r"cannot be read \(No such file or directory\)"):
        file.refresh()
    with pytest.raises(UnusableFile, match=r"cannot be read \(No such file or directory\)"):
        SegmentFile(path, KIND)


def test_a_file_of_another_kind_version_or_origin_is_rejected(
    file: SegmentFile, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnusableFile, match=r"is of another kind \(model-8\)"):
        SegmentFile(path, "model-9")
    monkeypatch.setattr(segment_file, "FORMAT_VERSION", 2)
    with pytest.raises(UnusableFile, match=r"has another format \(1 instead of 2\)"):
        SegmentFile(path, KIND)
    path.write_bytes(b"SQLite format 3\0".ljust(200_000, b"x"))
    with pytest.raises(UnusableFile, match="has another format"):
        SegmentFile(path, KIND)


def test_a_file_is_opened_without_reading_its_arrays(file: SegmentFile, path: Path) -> None:
    """Opening takes the same time for any size of arrays; they are verified on first use."""
    content = bytearray(path.read_bytes())
    content[content.index(contents(2)[1]["words"].tobytes())] ^= 1
    path.write_bytes(content)
    segments: list[Segment] = list(SegmentFile(path, KIND).segments)
    assert [dict(segment.meta) for segment in segments] == [{"number": 1, "mark": -1}, {"number": 2, "mark": -2}]
    assert segments[0].array("words").tobytes() == contents(1)[1]["words"].tobytes()
    assert segments[1].array("bytes").tobytes() == contents(2)[1]["bytes"].tobytes()
    with pytest.raises(UnusableFile, match="has damaged words"):
        segments[1].array("words")
