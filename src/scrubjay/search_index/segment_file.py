"""A file of segments that are appended whole and never changed, mapped into memory and checked before it is used.

The file is: a page with its kind and parameters, then the segments, each beginning on a page. A segment is: a record
with its length and checksums, a description as JSON, and its arrays. The first byte of the record is written last, when
everything else is on the disk: before that, the segment does not exist.
"""

import fcntl
import json
import math
import mmap
import os
import struct
import time
import weakref
import zlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.checksum_cache import note_found_whole, state_of, was_found_whole

# Also raised when what is kept means something else than before, such as codes by another rotation.
FORMAT_VERSION = 1
Contents = tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]

_MAGIC = b"RECOLSEG"
# Magic word, version, length of the JSON, checksum of all three.
_FILE_RECORD = struct.Struct("<8sII")
# State, length of the segment, length of the description, its checksum; then the checksum of the record.
_SEGMENT_RECORD = struct.Struct("<B7xQQI")
_CHECKSUM = struct.Struct("<I")
_RECORD_BYTES = 64
# No single flipped bit makes one of these into the other: a segment is never taken for one that was not finished.
_UNFINISHED, _WHOLE = 0x00, 0xA5
# A mapping can only begin on a page; no machine has larger ones. What stays empty of it takes no space on the disk.
_PAGE = 65_536
_ARRAY_ALIGNMENT = 64
# Nobody needs so long to write a file.
_ABANDONED_SECONDS = 3600
_BLOCK_WORDS = 512
# Summed twice while it is in the processor's cache.
_SLAB_WORDS = 256 * _BLOCK_WORDS


Part = Callable[[int, int], NDArray[np.uint8]]
"""The bytes from one place up to before another."""


class UnusableFile(Exception):
    """The file cannot be used, and why."""


class _Place(NamedTuple):
    dtype: str
    shape: list[int]
    offset: int
    checksum: int


class Segment:
    """What was appended at once: some values, and arrays that are views of the file."""

    def __init__(self, descriptor: int, start: int, length: int, *, trusted: bool) -> None:
        """What begins there in an open file; its own record is known to be whole, and its arrays if it is trusted."""
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
        self._places = {name: _Place(*place) for name, place in description["arrays"].items()}
        self._arrays: dict[str, NDArray[Any]] = {}
        self.meta: Mapping[str, Any] = description["meta"]

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """All arrays, read-only; `UnusableFile` when one is damaged, which the first call finds out."""
        return {name: self.array(name) for name in self._places}

    def array(self, name: str) -> NDArray[Any]:
        """One array; `UnusableFile` when it is damaged, which the first call finds out."""
        if name not in self._arrays:
            place = self._places[name]
            offset = self._first_array + place.offset
            values = np.frombuffer(self._content, np.dtype(place.dtype), math.prod(place.shape), offset)
            # Read and not looked at through the mapping: what nobody asks for then takes no memory and no time.
            if (
                not self._trusted
                and _checksum(values.nbytes, _reading(self._descriptor, self._start + offset)) != place.checksum
            ):
                raise UnusableFile(f"has damaged {name}")
            self._arrays[name] = values.reshape(place.shape)
        return self._arrays[name]


class SegmentFile:
    """One file as this process has seen it so far; `refresh` sees what others appended.

    Whoever appends or writes holds a lock that keeps others from doing so. Reading needs no lock. A file that is
    written anew takes the place of the old one, which lives on for those who have it open.
    """

    def __init__(self, path: Path, kind: str, *, trusting: bool = False) -> None:
        """Open the file; `UnusableFile` when it is missing, damaged, or not of this kind and format.

        `trusting` spares the arrays of a file that was found whole before and has not changed since.
        """
        self.path = path
        self._segments: list[Segment] = []
        self._end = _PAGE
        with _opened(path) as file:
            if os.fstat(file.fileno()).st_size < _PAGE:
                raise UnusableFile("is too short")
            # Kept open, so that no other file can get this one's number.
            self._head = mmap.mmap(file.fileno(), _PAGE, access=mmap.ACCESS_READ)
            self._identity = _identity(file)
            self.parameters: Mapping[str, Any] = _parameters(self._head[:], kind)
            self._state = state_of(file.fileno())
            self.is_trusted = trusting and was_found_whole(path, self._state)
            self._look(file, trusted=self.is_trusted)

    @property
    def segments(self) -> Sequence[Segment]:
        return tuple(self._segments)

    @property
    def size(self) -> int:
        """The bytes up to the end of the last segment."""
        return self._end

    @classmethod
    def write(cls, path: Path, kind: str, parameters: Mapping[str, Any], contents: Iterable[Contents]) -> "SegmentFile":
        """Make the file anew. It appears whole or not at all."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            with temporary.open("x+b") as file:
                file.write(_first_page(kind, parameters))
                for meta, arrays in contents:
                    _write_segment(file, _WHOLE, meta, arrays)
                file.flush()
                os.fsync(file.fileno())
            written = cls(temporary, kind)  # before others can write it anew
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        written.path = path
        _sweep(path)
        return written

    def refresh(self) -> Sequence[Segment]:
        """The segments that were appended since the last look.

        `UnusableFile` when the file was replaced, removed or cut short: then open it anew.
        """
        with _opened(self.path) as file:
            if _identity(file) != self._identity:
                raise UnusableFile("was replaced")
            return self._look(file)

    def note_whole(self) -> None:
        """Every array that there was when the file was opened has been looked at: others need not look again."""
        if not self.is_trusted:
            note_found_whole(self.path, self._state)

    def _look(self, file: IO[bytes], *, trusted: bool = False) -> Sequence[Segment]:
        size = os.fstat(file.fileno()).st_size
        if size < self._end:
            raise UnusableFile("was cut short")
        known = len(self._segments)
        if size >= self._end + _RECORD_BYTES:
            while (found := _segment_at(file.fileno(), self._end, trusted)) is not None:
                segment, length = found
                self._segments.append(segment)
                self._end += length
        return self._segments[known:]

    @contextmanager
    def locked(self) -> Generator[bool]:
        """Keep others from appending meanwhile; False when somebody else does just now, or wrote the file anew."""
        with self.path.open("rb") as file:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield _identity(file) == self._identity

    def append(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Segment:
        """Add a segment, on the disk when this returns. Killed at any moment, it leaves the file as it was.

        `UnusableFile` when the file was replaced meanwhile.
        """
        if self.refresh():
            raise ValueError("others appended meanwhile: refresh under the lock first")
        with self.path.open("r+b") as file:
            if _identity(file) != self._identity:  # never write into a file that took this one's place
                raise UnusableFile("was replaced")
            file.seek(self._end)
            _write_segment(file, _UNFINISHED, meta, arrays)
            file.flush()
            os.fsync(file.fileno())
            file.seek(self._end)
            file.write(bytes([_WHOLE]))
            file.flush()
            os.fsync(file.fileno())
        [segment] = self.refresh()
        return segment


@contextmanager
def _opened(path: Path) -> Generator[IO[bytes]]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UnusableFile(f"cannot be read ({error.strerror})") from None


def _sweep(path: Path) -> None:
    """Remove what killed processes left of files that should have taken this one's place."""
    for left in path.parent.glob(f"{path.name}.*.*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                left.unlink()


def _identity(file: IO[bytes]) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


# -- the first page --------------------------------------------------------------------------------


def _first_page(kind: str, parameters: Mapping[str, Any]) -> bytes:
    text = json.dumps({"kind": kind, "parameters": parameters}).encode()
    record = _FILE_RECORD.pack(_MAGIC, FORMAT_VERSION, len(text)) + text
    page = record + _CHECKSUM.pack(zlib.crc32(record))
    if len(page) > _PAGE:
        raise ValueError("the parameters of a file have to fit on a page")
    return page.ljust(_PAGE, b"\0")


def _parameters(page: bytes, kind: str) -> Mapping[str, Any]:
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
    places: dict[str, _Place] = {}
    offset = 0
    for name, array in zip(arrays, contiguous, strict=True):
        dtype = array.dtype.newbyteorder("<").str
        content = _bytes_of(array)
        places[name] = _Place(dtype, list(array.shape), offset, _checksum(content.size, _slicing(content)))
        offset = _aligned(offset + array.nbytes, _ARRAY_ALIGNMENT)
    text = json.dumps({"meta": meta, "arrays": places}).encode()
    first = _first_array(len(text))
    length = _aligned(first + offset, _PAGE)
    record = _SEGMENT_RECORD.pack(state, length, len(text), zlib.crc32(text))
    file.write(record + _CHECKSUM.pack(zlib.crc32(record[1:])))
    file.seek(start + _RECORD_BYTES)
    file.write(text)
    for place, array in zip(places.values(), contiguous, strict=True):
        file.seek(start + first + place.offset)
        file.write(_bytes_of(array).data)
    # Also cuts off the rest of a segment that was begun here and not finished; nobody has that mapped.
    file.truncate(start + length)
    file.seek(start + length)


def _segment_at(descriptor: int, start: int, trusted: bool) -> tuple[Segment, int] | None:
    """The segment that begins there, and its length; None when there is none, or one that was not finished."""
    record = os.pread(descriptor, _RECORD_BYTES, start)
    if len(record) < _RECORD_BYTES or record[0] == _UNFINISHED:
        return None
    state, length, _, _ = _SEGMENT_RECORD.unpack_from(record)
    checksum = zlib.crc32(record[1 : _SEGMENT_RECORD.size])
    if state != _WHOLE or _CHECKSUM.unpack_from(record, _SEGMENT_RECORD.size) != (checksum,):
        raise UnusableFile("has a damaged segment")
    if os.fstat(descriptor).st_size < start + length:
        raise UnusableFile("was cut short")
    return Segment(descriptor, start, length, trusted=trusted), length


def _first_array(length_of_text: int) -> int:
    return _aligned(_RECORD_BYTES + length_of_text, _ARRAY_ALIGNMENT)


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


# -- checksums -------------------------------------------------------------------------------------


def _checksum(size: int, part: Part) -> int:
    """A checksum at the speed of memory: the sums of all rows and of all columns of a table of 64-bit words.

    A change of up to three words always changes a sum, wherever they are, and so does swapping two that differ.
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


def _slicing(content: NDArray[np.uint8]) -> Part:
    return lambda start, end: content[start:end]


def _reading(descriptor: int, offset: int) -> Part:
    """Parts of a file, each in the place of the one before."""
    buffer = np.empty(8 * _SLAB_WORDS, dtype=np.uint8)

    def part(start: int, end: int) -> NDArray[np.uint8]:
        wanted = buffer[: end - start]
        if os.preadv(descriptor, [wanted.data], offset + start) < len(wanted):
            raise UnusableFile("was cut short")
        return wanted

    return part


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The array's own bytes, in little-endian order."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.reshape(-1).view(np.uint8)
