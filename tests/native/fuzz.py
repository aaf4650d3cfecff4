"""Run the sanitized C library: on mutated sources and texts, or under the tests of the search index.

`python -m tests.native.fuzz FOLDER SECONDS SEED` calls the functions that read text for a bounded time.
`python -m tests.native.fuzz FOLDER pytest FILE...` runs tests with that library.
The process needs AddressSanitizer's runtime (`LD_PRELOAD`) and `PYTHONMALLOC=malloc`, so that each buffer is an
allocation of its own. A finding of a sanitizer ends the process with its report.
"""

import ctypes
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from scrubjay.code_index.facts.chunks import chunks_of
from scrubjay.code_index.parsing import python_native
from scrubjay.code_index.secret_masking import what_may_be_in
from scrubjay.code_index.term_counts.native_counter import Compiled
from scrubjay.models.static_model import Table
from scrubjay.native import library
from tests.native.python_trees import read_annotation_natively, told_natively

_PROJECT = Path(__file__).parents[2]
_PIECES = (
    *(
        b"(",
        b")",
        b"[",
        b"]",
        b"{",
        b"}",
        b"'",
        b'"',
        b'"""',
        b"'''",
        b"\\",
        b"\n",
        b"\r",
        b"\t",
        b"    ",
        b"\0",
        b"\xff",
    ),
    *(
        b"f'{",
        b"rb'",
        b"lambda ",
        b"match x:\n case ",
        b"async def ",
        b"class A(",
        b"@",
        b":=",
        b"**",
        b"...",
        b"yield ",
    ),
    *(
        b"\xc3\xa4",
        b"\xef\xbb\xbf",
        b"# coding: latin-1\n",
        b"\\N{DASH}",
        b"0x",
        b"1e",
        b"password = 'abc123XYZ!'",
        b"\x0c",
    ),
)


def seeds() -> list[bytes]:
    """Return real sources, short enough that a run mutates many of them."""
    folders = (_PROJECT / "src/scrubjay/core", _PROJECT / "tests/native", Path(random.__file__).parent)
    files = [file for folder in folders for file in sorted(folder.glob("*.py"))[:40]]
    return [file.read_bytes()[:6_000] for file in files]


def mutated(chance: random.Random, known: list[bytes]) -> bytes:
    """Return a source with a few random changes."""
    made = bytearray(chance.choice(known))
    if chance.random() < 0.3:  # a piece alone reaches states that a whole file hides
        start = chance.randrange(len(made) + 1)
        made = made[start : start + chance.randrange(200)]
    for _ in range(chance.choice((0, 1, 1, 2, 4, 8))):
        place = chance.randrange(len(made) + 1)
        match chance.randrange(5):
            case 0:
                made[place:place] = chance.choice(_PIECES) * chance.choice((1, 1, 1, 3, 70))
            case 1:
                del made[place : place + chance.randrange(1, 40)]
            case 2:
                made[place : place + 1] = bytes([chance.randrange(256)])
            case 3:
                other = chance.choice(known)
                start = chance.randrange(len(other) + 1)
                made[place:place] = other[start : start + chance.randrange(200)]
            case _:
                del made[place:]
    return bytes(made)


def exact(content: bytes) -> bytes:
    """Copy into a buffer that ends with the last byte; `bytes` has a zero behind it, which would hide an overrun."""
    return cast(bytes, (ctypes.c_char * len(content)).from_buffer_copy(content)) if content else content


def targets(lib: ctypes.CDLL) -> Iterator[Callable[[bytes], object]]:
    """Yield calls of every exported function that reads text."""
    counter = Compiled(lib, Table())

    def read_and_cut(content: bytes) -> None:
        facts = python_native.read(exact(content))
        chunks_of(exact(content), facts.symbols if facts is not None else ())

    def count(content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        counter.counted([text, text[:50]], [text.split()[:20], ()])
        plain = text.encode("ascii", "replace")
        spans = chunks_of(plain, ()).spans
        names = [name for name in plain.decode().split()[:10] if name.isascii()]
        counter.counted_in(exact(plain), spans, names, np.full(len(names), -1, np.int32))

    yield read_and_cut
    yield count
    yield lambda content: told_natively(exact(content), is_wanted=False)
    yield lambda content: read_annotation_natively(content[:300].decode("utf-8", "replace"))
    yield lambda content: what_may_be_in(exact(content))


def fuzz(lib: ctypes.CDLL, seconds: float, seed: int) -> int:
    """Call the targets with mutated inputs until the time is over; return the number of inputs."""
    chance, known, tried = random.Random(seed), seeds(), 0
    calls = list(targets(lib))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        content = mutated(chance, known)
        for call in calls:
            call(content)
        tried += 1
    return tried


def main(folder: str, mode: str, *rest: str) -> int:
    lib = library.load(Path(folder), None)  # the test has just compiled it
    if lib is None:
        sys.stderr.write("the sanitized library cannot be loaded\n")
        return 2
    patched: Any = library
    patched._load_once = lambda: lib
    if mode == "pytest":
        return int(pytest.main(["-q", "-n", "0", "-W", "ignore::pytest.PytestAssertRewriteWarning", *rest]))
    sys.stdout.write(f"{fuzz(lib, float(mode), int(rest[0]))} inputs\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
