"""Run the sanitized C library on mutated sources, texts and arrays, or under the tests of the search index.

`python -m tests.native.fuzz FOLDER SECONDS SEED` calls every exported function for a bounded time.
`python -m tests.native.fuzz FOLDER pytest FILE...` runs tests with that library.
`python -m tests.native.fuzz FOLDER planted` expects folders with libraries that have a planted bug; the name of each
begins with the name of the target that must find it.
The process needs AddressSanitizer's runtime (`LD_PRELOAD`) and `PYTHONMALLOC=malloc`, so that each buffer is an
allocation of its own. A finding of a sanitizer ends the process with its report.
"""

import ctypes
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.code_index.facts.chunk_arrays import cut_chunk_arrays
from scrubjay.code_index.parsing import python_native
from scrubjay.code_index.secret_masking import possible_secrets
from scrubjay.code_index.term_counts.native_counter import NativeCounter
from scrubjay.models.static_model import EmbeddingTable
from scrubjay.native import library
from tests.native.fuzz_search import search_targets
from tests.native.python_trees import read_annotation_natively, read_json_natively

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
    # The longest pieces and identifiers whose words are counted, and longer ones.
    *(b"a" * 99, b"a" * 100, b"a" * 101, b"Ab" * 64, b"Ab" * 65, b"_" * 129, b"A1" * 80, b"ABCDEFGHIJ" * 11),
)
PLANTED_SECONDS = 10


def seeds() -> list[bytes]:
    """Return real sources, short enough that a run mutates many of them."""
    folders = (_PROJECT / "src/scrubjay/core", _PROJECT / "tests/native", Path(random.__file__).parent)
    files = [file for folder in folders for file in sorted(folder.glob("*.py"))[:40]]
    return [file.read_bytes()[:6_000] for file in files]


def mutate(rng: random.Random, known: list[bytes]) -> bytes:
    """Return a source with a few random changes."""
    source = bytearray(rng.choice(known))
    if rng.random() < 0.3:  # a fragment reaches states that a complete file does not
        start = rng.randrange(len(source) + 1)
        source = source[start : start + rng.randrange(200)]
    for _ in range(rng.choice((0, 1, 1, 2, 4, 8))):
        offset = rng.randrange(len(source) + 1)
        match rng.randrange(5):
            case 0:
                source[offset:offset] = rng.choice(_PIECES) * rng.choice((1, 1, 1, 3, 70))
            case 1:
                del source[offset : offset + rng.randrange(1, 40)]
            case 2:
                source[offset : offset + 1] = bytes([rng.randrange(256)])
            case 3:
                other = rng.choice(known)
                start = rng.randrange(len(other) + 1)
                source[offset:offset] = other[start : start + rng.randrange(200)]
            case _:
                del source[offset:]
    return bytes(source)


def exact(content: bytes) -> bytes:
    """Copy into a buffer that ends with the last byte; `bytes` adds a zero byte, which would hide an overrun."""
    return cast(bytes, (ctypes.c_char * len(content)).from_buffer_copy(content)) if content else content


def text_targets(lib: ctypes.CDLL) -> dict[str, Callable[[bytes], object]]:
    """Return calls of every exported function that reads text."""

    def read(content: bytes) -> None:
        facts = python_native.read(exact(content))
        cut_chunk_arrays(exact(content), facts.symbols if facts is not None else ())

    def cut(content: bytes) -> None:
        cut_chunk_arrays(exact(content), ())

    counters: list[NativeCounter] = []

    def count(content: bytes) -> None:
        if not counters:
            counters.append(NativeCounter(lib, EmbeddingTable()))
        (counter,) = counters
        text = content.decode("utf-8", "replace")
        counter.count([text, text[:50]], [text.split()[:20], ()])
        plain = text.encode("ascii", "replace")
        spans = some_spans(plain)
        names = [name for name in plain.decode().split()[:10] if name.isascii()]
        counter.count_spans(exact(plain), spans, names, np.full(len(names), -1, np.int32))
        counter.whole_name_words(names)
        if len(content) % 64 == 0:  # also states of a new counter
            counters.clear()

    return {
        "read": read,
        "cut": cut,
        "count": count,
        "tree": lambda content: read_json_natively(exact(content), is_wanted=False),
        "annotation": lambda content: read_annotation_natively(content[:300].decode("utf-8", "replace")),
        "scan": lambda content: possible_secrets(exact(content)),
    }


def some_spans(content: bytes) -> NDArray[np.int32]:
    """Return the lines of a content as spans; the last one ends with the last byte."""
    ends = [*(index + 1 for index, byte in enumerate(content) if byte == 10), len(content)][-20:]
    starts = [0, *ends[:-1]]
    return np.array([(start, end, 0, 0) for start, end in zip(starts, ends, strict=True)], dtype=np.int32)


def targets(lib: ctypes.CDLL, seed: int) -> dict[str, Callable[[], object]]:
    """Return functions that call the library with a new input each."""
    rng, known = random.Random(seed), seeds()
    texts = text_targets(lib)
    made: dict[str, Callable[[], object]] = {}
    for name, call in texts.items():
        made[name] = lambda call=call: call(mutate(rng, known))
    for search in search_targets():
        made[search.__name__] = lambda search=search: search(rng)
    return made


def fuzz(calls: Iterable[Callable[[], object]], seconds: float) -> int:
    """Call the targets in turn for this many seconds of CPU time; return the number of inputs of each."""
    chosen, inputs = list(calls), 0
    end = time.process_time() + seconds
    while time.process_time() < end:
        for call in chosen:
            call()
        inputs += 1
    return inputs


class RecordingLibrary(ctypes.CDLL):
    """A library that remembers which of its functions were used."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.used: set[str] = set()

    def __getitem__(self, name_or_ordinal: Any) -> Any:
        self.used.add(str(name_or_ordinal))
        return super().__getitem__(name_or_ordinal)


def exported_functions() -> set[str]:
    """Return the functions that the sources export."""
    sources = "".join(source.read_text("utf-8") for source in library.c_sources(_PROJECT / "native"))
    return {*re.findall(r"^SCRUBJAY_API [^(]*?(scrubjay_\w+)\(", sources, re.MULTILINE)}


def find_planted(folder: Path) -> int:
    """Run a target in a process for each library with a planted bug; return 1 if one of these survives."""
    survivors: list[str] = []
    for variant in sorted(folder.iterdir()):
        child = os.fork()
        if not child:
            use(RecordingLibrary(variant / library.LIBRARY_NAME))
            call = targets(library._load_once(), 1)[variant.name.partition("-")[0]]  # pyright: ignore[reportPrivateUsage, reportArgumentType]
            fuzz([call], PLANTED_SECONDS)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            survivors.append(variant.name)
    sys.stdout.write(f"survivors: {' '.join(survivors)}\n")
    return 1 if survivors else 0


def use(lib: ctypes.CDLL) -> None:
    """Make every caller use this library."""
    patched: Any = library
    patched._load_once = lambda: lib


def main(folder: str, mode: str, *rest: str) -> int:
    if mode == "planted":
        return find_planted(Path(folder))
    lib = RecordingLibrary(Path(folder) / library.LIBRARY_NAME)
    use(lib)
    if mode == "pytest":
        return int(pytest.main(["-q", "-n", "0", "-W", "ignore::pytest.PytestAssertRewriteWarning", *rest]))
    inputs = fuzz(targets(lib, int(rest[0])).values(), float(mode))
    if missing := exported_functions() - lib.used - {"scrubjay_fingerprint"}:
        sys.stderr.write(f"no target calls {', '.join(sorted(missing))}\n")
        return 3
    sys.stdout.write(f"{inputs} inputs of each target\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
