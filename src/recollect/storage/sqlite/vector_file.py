"""The vectors of one model in a file that is quick to read, and can always be made again from the store.

The file is: a magic word, the format's version, the header's length; the header as JSON; three arrays (places in the
store, audiences, float16 vectors), each with one entry a row; and a checksum over everything before it.
"""

import json
import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from recollect.storage.memories import DerivedFile
from recollect.storage.sqlite.connections import Connection
from recollect.storage.sqlite.named_queries import load_queries

_SQL = load_queries("vectors")

FORMAT_VERSION = 1
_MAGIC = b"RECOLVEC"
_PREFIX = struct.Struct("<8sII")
_CHECKSUM = struct.Struct("<I")
_ALIGNMENT = 64


class UnusableFile(Exception):
    """The file cannot be used, and why."""


@dataclass(frozen=True, slots=True)
class Revision:
    """An entry of the store's change log: everything up to it is contained."""

    number: int
    mark: int


@dataclass(frozen=True, slots=True)
class VectorFile:
    """What a whole, undamaged file holds; the arrays are views of its bytes."""

    revision: Revision
    rows: int
    seqs: memoryview
    audiences: memoryview
    vectors: memoryview

    def entries(self) -> Iterator[tuple[int, int, bytes]]:
        """Each row: its memory's place, its audience, its vector."""
        size = len(self.vectors) // max(self.rows, 1)
        places, audiences = struct.iter_unpack("<q", self.seqs), struct.iter_unpack("<q", self.audiences)
        for row, ((seq,), (audience,)) in enumerate(zip(places, audiences, strict=True)):
            yield seq, audience, bytes(self.vectors[row * size : (row + 1) * size])


def file_name(model: str, vector_bytes: int) -> str:
    return f"vectors-{quote(model, safe='')}-{vector_bytes // 2}-{FORMAT_VERSION}.bin"


def latest_revision(connection: Connection) -> Revision:
    [(number, mark)] = connection.execute(_SQL["latest_change"])
    return Revision(number, mark)


def in_log(connection: Connection, revision: Revision) -> bool:
    """Whether what came after this revision can still be told from the store's change log."""
    return bool(connection.execute(_SQL["change_at"], {"revision": revision.number, "mark": revision.mark}))


def vector_kinds(connection: Connection) -> list[tuple[str, int]]:
    """Each model that made vectors, with the size of these in bytes."""
    return connection.execute(_SQL["kinds"])


def vectors_of(connection: Connection, model: str, vector_bytes: int) -> Iterator[tuple[int, int, bytes]]:
    """Every vector of this kind: its memory's place, its audience, and itself."""
    return connection.stream(_SQL["all_vectors"], {"model": model, "bytes": vector_bytes})


def changed_since(
    connection: Connection, revision: Revision, model: str, vector_bytes: int
) -> list[tuple[int, int | None, bytes | None]]:
    """What changed after this revision, as it is now; None and None for what is no more, or no more of this kind."""
    values = {"revision": revision.number, "model": model, "bytes": vector_bytes}
    return connection.execute(_SQL["changed_since"], values)


def write_vector_file(connection: Connection, folder: Path, model: str, vector_bytes: int) -> DerivedFile:
    """Write the file from the snapshot that the connection is in. It appears whole or not at all."""
    seqs, audiences = array("q"), array("q")
    for seq, audience, _ in vectors_of(connection, model, vector_bytes):
        seqs.append(seq)
        audiences.append(audience)
    if sys.byteorder == "big":
        seqs.byteswap()
        audiences.byteswap()
    revision = latest_revision(connection)
    header = json.dumps(
        {
            "model": model,
            "vector_bytes": vector_bytes,
            "rows": len(seqs),
            "revision": revision.number,
            "mark": revision.mark,
        }
    ).encode()
    header += b" " * (-(_PREFIX.size + len(header)) % _ALIGNMENT)

    def parts() -> Iterator[bytes]:
        yield _PREFIX.pack(_MAGIC, FORMAT_VERSION, len(header))
        yield header
        yield seqs.tobytes()
        yield audiences.tobytes()
        for _, _, vector in vectors_of(connection, model, vector_bytes):
            yield vector

    path = folder / file_name(model, vector_bytes)
    temporary = folder / f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}"
    checksum = 0
    folder.mkdir(mode=0o700, exist_ok=True)
    try:
        with temporary.open("xb") as file:
            for part in parts():
                checksum = zlib.crc32(part, checksum)
                file.write(part)
            file.write(_CHECKSUM.pack(checksum))
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return DerivedFile(path.name, len(seqs), size)


def read_vector_file(path: Path, model: str, vector_bytes: int) -> VectorFile:
    """The file's content; `UnusableFile` when it is missing, damaged, or not of this model, size and format."""
    try:
        content = memoryview(path.read_bytes())
    except OSError as error:
        raise UnusableFile(f"cannot be read ({error.strerror})") from None
    if len(content) < _PREFIX.size + _CHECKSUM.size:
        raise UnusableFile("is too short")
    body = content[: -_CHECKSUM.size]
    if zlib.crc32(body) != _CHECKSUM.unpack(content[-_CHECKSUM.size :])[0]:
        raise UnusableFile("does not have the checksum that it says")
    magic, version, header_length = _PREFIX.unpack_from(body)
    if magic != _MAGIC or version != FORMAT_VERSION:
        raise UnusableFile(f"has another format ({version} instead of {FORMAT_VERSION})")
    start = _PREFIX.size + header_length
    header = cast(dict[str, Any], json.loads(bytes(body[_PREFIX.size : start])))
    if (header["model"], header["vector_bytes"]) != (model, vector_bytes):
        raise UnusableFile(f"belongs to another model ({header['model']})")
    rows: int = header["rows"]
    ends = [start, start + 8 * rows, start + 16 * rows, start + (16 + vector_bytes) * rows]
    if ends[-1] != len(body):
        raise UnusableFile("has not the length that it says")
    return VectorFile(
        Revision(header["revision"], header["mark"]),
        rows,
        body[ends[0] : ends[1]],
        body[ends[1] : ends[2]],
        body[ends[2] : ends[3]],
    )
