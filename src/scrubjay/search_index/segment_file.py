"""A memory-mapped file of segments that are appended as a whole, never changed, and verified before use.

Layout: a page with the kind and the parameters, then the segments, each at the start of a page. A segment has a record
with its length and checksums, a description as JSON, and its arrays. The first byte of the record is written last,
after everything else was synced to disk: until then the segment does not exist.
"""

import fcntl
import json
import math
import mmap
import os
import struct
import weakref
import zlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from scrubjay.core.temporary_files import remove_abandoned, temporary_beside
from scrubjay.search_index.checksum_cache import file_state, is_verified, mark_verified

# Increment also when stored values change their meaning, such as codes by another rotation.
FORMAT_VERSION = 1
Contents = tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]

_MAGIC = b"RECOLSEG"
# Magic word, version, length of the JSON, checksum of all three.
_FILE_RECORD = struct.Struct("<8sII")
# State, length of the segment, length of the description, its checksum; then the checksum of the record.
_SEGMENT_RECORD = struct.Struct("<B7xQQI")
_CHECKSUM = struct.Struct("<I")
_RECORD_BYTES = 64
# No single bit flip turns one into the other, so an unfinished segment is never taken for a complete one.
_UNFINISHED, _COMPLETE = 0x00, 0xA5
# Alignment of mappings: a multiple of every page size in use. Unused parts take no disk space.
_PAGE = 65_536
_ARRAY_ALIGNMENT = 64
_BLOCK_WORDS = 512
# A slab fits into the processor's cache, where it is summed twice.
_SLAB_WORDS = 256 * _BLOCK_WORDS


ReadBytes = Callable[[int, int], NDArray[np.uint8]]
"""Returns the bytes from a start up to an end offset."""


class UnusableFile(Exception):
    """The file cannot be used; the message says why."""


class _ArrayInfo(NamedTuple):
    dtype: str
    shape: list[int]
    offset: int
    checksum: int


class Segment:
    """Values and arrays that were appended together; the arrays are views of the file."""

    def __init__(self, descriptor: int, start: int, length: int, *, trusted: bool) -> None:
        """Map the segment at `start`; its record is verified, and so are its arrays if `trusted`."""
        self._trusted = trusted
        self._content = mmap.mmap(descriptor, length, access=mmap.ACCESS_READ, offset=start)
        self._descriptor = os.dup(descriptor)
        weakref.finalize(self, os.close, self._descriptor)
        _, _, length_of_text, checksum_of_text = _SEGMENT_RECORD.unpack_from(self._content)
        text = self._content[_RECORD_BYTES : _RECORD_BYTES + length_of_text]
        if zlib.crc32(text) != checksum_of_text:
            raise UnusableFile("has a damaged segment")
        description = json.loads(text)
        self._start = start
        self._first_array = _first_array(length_of_text)
        self._array_infos = {name: _ArrayInfo(*info) for name, info in description["arrays"].items()}
        self._arrays: dict[str, NDArray[Any]] = {}
        self.meta: Mapping[str, Any] = description["meta"]

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """All arrays, read-only. Raises `UnusableFile` if one is damaged; the first access verifies them."""
        return {name: self.array(name) for name in self._array_infos}

    def array(self, name: str) -> NDArray[Any]:
        """Return one array. Raises `UnusableFile` if it is damaged; the first access verifies it."""
        if name not in self._arrays:
            info = self._array_infos[name]
            offset = self._first_array + info.offset
            values = np.frombuffer(self._content, np.dtype(info.dtype), math.prod(info.shape), offset)
            # Read from the file, not through the mapping: pages that are never used then take no memory.
            if (
                not self._trusted
                and _checksum(values.nbytes, _file_reader(self._descriptor, self._start + offset)) != info.checksum
            ):
                raise UnusableFile(f"has damaged {name}")
            self._arrays[name] = values.reshape(info.shape)
        return self._arrays[name]


class SegmentFile:
    """One file, as this process has read it so far; `refresh` reads what others appended.

    Writers hold a lock that excludes other writers; readers need no lock. A rewritten file replaces the old one, which
    remains valid for processes that have it open.
    """

    def __init__(self, path: Path, kind: str, *, trusting: bool = False) -> None:
        """Open the file. Raises `UnusableFile` if it is missing, damaged, or of another kind or format.

        `trusting` skips the arrays of a file that was verified before and has not changed since.
        """
        self.path = path
        self._segments: list[Segment] = []
        self._end = _PAGE
        with _open(path) as file:
            if os.fstat(file.fileno()).st_size < _PAGE:
                raise UnusableFile("is too short")
            # Kept open, so that no other file can get the same inode number.
            self._head = mmap.mmap(file.fileno(), _PAGE, access=mmap.ACCESS_READ)
            self._identity = _identity(file)
            self.parameters: Mapping[str, Any] = _parse_parameters(self._head[:], kind)
            self._state = file_state(file.fileno())
            self.is_trusted = trusting and is_verified(path, self._state)
            self._read_new(file, trusted=self.is_trusted)

    @property
    def segments(self) -> Sequence[Segment]:
        return tuple(self._segments)

    @property
    def size(self) -> int:
        """Offset of the end of the last segment."""
        return self._end

    @classmethod
    def write(cls, path: Path, kind: str, parameters: Mapping[str, Any], contents: Iterable[Contents]) -> "SegmentFile":
        """Write a new file, which appears completely or not at all."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = temporary_beside(path)
        try:
            with temporary.open("x+b") as file:
                file.write(_first_page(kind, parameters))
                for meta, arrays in contents:
                    _write_segment(file, _COMPLETE, meta, arrays)
                file.flush()
                os.fsync(file.fileno())
            written = cls(temporary, kind)  # opened before others can replace it
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        written.path = path
        remove_abandoned([path.parent])
        return written

    def refresh(self) -> Sequence[Segment]:
        """Read and return the segments that were appended since the last call.

        Raises `UnusableFile` if the file was replaced, removed or truncated: open it again.
        """
        with _open(self.path) as file:
            if _identity(file) != self._identity:
                raise UnusableFile("was replaced")
            return self._read_new(file)

    def mark_verified(self) -> None:
        """Record that every array present at opening was verified, so that other processes can skip this."""
        if not self.is_trusted:
            mark_verified(self.path, self._state)

    def _read_new(self, file: IO[bytes], *, trusted: bool = False) -> Sequence[Segment]:
        size = os.fstat(file.fileno()).st_size
        if size < self._end:
            raise UnusableFile("was truncated")
        known = len(self._segments)
        if size >= self._end + _RECORD_BYTES:
            while (found := _segment_at(file.fileno(), self._end, trusted)) is not None:
                segment, length = found
                self._segments.append(segment)
                self._end += length
        return self._segments[known:]

    @contextmanager
    def lock(self) -> Generator[bool]:
        """Exclude other writers; yields False if another process is writing or has replaced the file."""
        with self.path.open("rb") as file:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield _identity(file) == self._identity

    def append(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Segment:
        """Append a segment, synced to disk on return. A crash at any moment leaves the file as it was.

        Raises `UnusableFile` if the file was replaced.
        """
        if self.refresh():
            raise ValueError("another process appended segments: refresh under the lock first")
        with self.path.open("r+b") as file:
            if _identity(file) != self._identity:  # never write into a file that took this one's place
                raise UnusableFile("was replaced")
            file.seek(self._end)
            _write_segment(file, _UNFINISHED, meta, arrays)
            file.flush()
            os.fsync(file.fileno())
            file.seek(self._end)
            file.write(bytes([_COMPLETE]))
            file.flush()
            os.fsync(file.fileno())
        [segment] = self.refresh()
        return segment


@contextmanager
def _open(path: Path) -> Generator[IO[bytes]]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UnusableFile(f"cannot be read ({error.strerror})") from None


def _identity(file: IO[bytes]) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


# -- the first page --------------------------------------------------------------------------------


def _first_page(kind: str, parameters: Mapping[str, Any]) -> bytes:
    text = json.dumps({"kind": kind, "parameters": parameters}).encode()
    record = _FILE_RECORD.pack(_MAGIC, FORMAT_VERSION, len(text)) + text
    page = record + _CHECKSUM.pack(zlib.crc32(record))
    if len(page) > _PAGE:
        raise ValueError("the parameters of a file must fit on one page")
    return page.ljust(_PAGE, b"\0")


def _parse_parameters(page: bytes, kind: str) -> Mapping[str, Any]:
    magic, version, length = _FILE_RECORD.unpack_from(page)
    if magic != _MAGIC or version != FORMAT_VERSION:
        raise UnusableFile(f"has another format ({version} instead of {FORMAT_VERSION})")
    end = _FILE_RECORD.size + length
    if end + _CHECKSUM.size > _PAGE or _CHECKSUM.unpack_from(page, end) != (zlib.crc32(page[:end]),):
        raise UnusableFile("has a damaged first page")
    header = cast(dict[str, Any], json.loads(page[_FILE_RECORD.size : end]))
    if header["kind"] != kind:
        raise UnusableFile(f"is of another kind ({header['kind']})")
    return header["parameters"]


# -- segments --------------------------------------------------------------------------------------


def _write_segment(
    file: BufferedRandom, state: int, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    start = file.tell()
    contiguous = [np.ascontiguousarray(array) for array in arrays.values()]
    infos: dict[str, _ArrayInfo] = {}
    offset = 0
    for name, array in zip(arrays, contiguous, strict=True):
        dtype = array.dtype.newbyteorder("<").str
        content = _bytes_of(array)
        infos[name] = _ArrayInfo(dtype, list(array.shape), offset, _checksum(content.size, _slice_reader(content)))
        offset = _align(offset + array.nbytes, _ARRAY_ALIGNMENT)
    text = json.dumps({"meta": meta, "arrays": infos}).encode()
    first = _first_array(len(text))
    length = _align(first + offset, _PAGE)
    record = _SEGMENT_RECORD.pack(state, length, len(text), zlib.crc32(text))
    file.write(record + _CHECKSUM.pack(zlib.crc32(record[1:])))
    file.seek(start + _RECORD_BYTES)
    file.write(text)
    for info, array in zip(infos.values(), contiguous, strict=True):
        file.seek(start + first + info.offset)
        file.write(_bytes_of(array).data)
    # Also cuts off an unfinished segment that was started here; no process has mapped it.
    file.truncate(start + length)
    file.seek(start + length)


def _segment_at(descriptor: int, start: int, trusted: bool) -> tuple[Segment, int] | None:
    """Return the segment at this offset and its length; None if there is none, or an unfinished one."""
    record = os.pread(descriptor, _RECORD_BYTES, start)
    if len(record) < _RECORD_BYTES or record[0] == _UNFINISHED:
        return None
    state, length, _, _ = _SEGMENT_RECORD.unpack_from(record)
    checksum = zlib.crc32(record[1 : _SEGMENT_RECORD.size])
    if state != _COMPLETE or _CHECKSUM.unpack_from(record, _SEGMENT_RECORD.size) != (checksum,):
        raise UnusableFile("has a damaged segment")
    if os.fstat(descriptor).st_size < start + length:
        raise UnusableFile("was truncated")
    return Segment(descriptor, start, length, trusted=trusted), length


def _first_array(length_of_text: int) -> int:
    return _align(_RECORD_BYTES + length_of_text, _ARRAY_ALIGNMENT)


def _align(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


# -- checksums -------------------------------------------------------------------------------------


def _checksum(size: int, part: ReadBytes) -> int:
    """Compute a checksum at memory speed: from the row and column sums of a table of 64-bit words.

    A change of up to three words always changes a sum, wherever they are, and so does swapping two different words.
    """
    whole = size - size % (8 * _BLOCK_WORDS)
    rest = np.zeros(8 * _BLOCK_WORDS, dtype=np.uint8)
    rest[: size - whole] = part(whole, size)
    columns = np.zeros(_BLOCK_WORDS, dtype=np.uint64)
    checksum = zlib.crc32(rest.data, size & 0xFFFFFFFF)
    for start in range(0, whole, 8 * _SLAB_WORDS):
        slab = part(start, min(start + 8 * _SLAB_WORDS, whole)).view("<u8").reshape(-1, _BLOCK_WORDS)
        columns += slab.sum(axis=0, dtype=np.uint64)
        checksum = zlib.crc32(slab.sum(axis=1, dtype=np.uint64).astype("<u8").data, checksum)
    return zlib.crc32(columns.astype("<u8").data, checksum)


def _slice_reader(content: NDArray[np.uint8]) -> ReadBytes:
    return lambda start, end: content[start:end]


def _file_reader(descriptor: int, offset: int) -> ReadBytes:
    """Return a reader of a file that reuses one buffer for all parts."""
    buffer = np.empty(8 * _SLAB_WORDS, dtype=np.uint8)

    def part(start: int, end: int) -> NDArray[np.uint8]:
        wanted = buffer[: end - start]
        if os.preadv(descriptor, [wanted.data], offset + start) < len(wanted):
            raise UnusableFile("was truncated")
        return wanted

    return part


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the bytes of an array in little-endian order."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.reshape(-1).view(np.uint8)
