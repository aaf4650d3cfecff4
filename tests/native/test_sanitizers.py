"""A sanitized build of the C library finds no memory error or undefined behaviour in a bounded time of fuzzing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from native.build import SANITIZED, SOURCE_FOLDER, compile_library
from scrubjay.native.library import c_sources

PROJECT = Path(__file__).parents[2]
# CPU time for fuzzing; `SCRUBJAY_FUZZ_SECONDS` makes the run longer.
SECONDS = os.environ.get("SCRUBJAY_FUZZ_SECONDS", "5")
SEED = os.environ.get("SCRUBJAY_FUZZ_SEED", "1")
SEARCH_TESTS = (
    "test_candidates.py::test_the_native_library_and_numpy_choose_the_same_rows",
    "test_token_segments.py::test_rows_match_by_their_best_passage",
    "test_vector_segments.py::test_the_native_library_and_numpy_give_identical_results",
)


def runtime() -> str | None:
    """Return the compiler's AddressSanitizer library, which must be loaded before Python; None without one."""
    path = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    return path if Path(path).is_absolute() else None


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ,
        "LD_PRELOAD": runtime() or "",
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",  # Python does not free all memory at exit
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    command = [sys.executable, "-m", "tests.native.fuzz", str(folder), *arguments]
    return subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=240 + 10 * float(SECONDS)
    )


pytestmark = pytest.mark.skipif(runtime() is None, reason="the compiler has no AddressSanitizer")


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sanitized")
    assert compile_library(target=folder, options=SANITIZED) is None
    return folder


def test_mutated_sources_and_random_arrays_cause_no_memory_error(sanitized: Path) -> None:
    """Every exported function is called; the run fails if one is not."""
    result = run(sanitized, SECONDS, SEED)
    assert result.returncode == 0, result.stderr[-4_000:]
    assert int(result.stdout.split()[0]) > 20


def test_the_tests_of_the_search_index_cause_no_memory_error(sanitized: Path) -> None:
    result = run(sanitized, "pytest", *(f"tests/search_index/{name}" for name in SEARCH_TESTS))
    assert result.returncode == 0, result.stdout[-2_000:] + result.stderr[-4_000:]


class Bug(NamedTuple):
    """A memory error planted into a source, and the target that must find it."""

    target: str
    source: str
    right: str
    wrong: str


BUGS = (
    Bug("scan", "secret_scanner.c", "i + 2 < length && found", "i + 1 < length && found"),
    Bug("count", "term_counter.c", "if (length > MAX_PIECE) return", "if (length > MAX_PIECE + 1) return"),
    Bug("cut", "chunker.c", "is_blank(own->content[end - 1])", "is_blank(own->content[end])"),
    Bug("read", "python_tokens.c", "own->end - own->at > by", "own->end - own->at >= by"),
    Bug("score_and_lay_out", "candidates.c", "row + AT_ONCE <= rows", "row + AT_ONCE <= rows + 1"),
    Bug("score_and_lay_out", "candidates.c", "row + 8 <= rows &&", "row + 1 <= rows &&"),
    Bug("score_and_lay_out", "top_k.h", "if (below >= limit) break;", "if (below > limit) break;"),
    Bug("match_tokens", "candidates.c", "token + 1 < end && token[1]", "token < end && token[1]"),
    Bug("encode_vector", "nearest.c", "if (dimensions > MAX_DIMENSIONS)", "if (dimensions > MAX_DIMENSIONS + 1)"),
    Bug("find_nearest_rows", "nearest.c", "(size_t)(2 * limit + most_unsure)", "(size_t)limit"),
    Bug("find_nearest_rows", "nearest.c", "i + LANES <= exact->dimensions", "i < exact->dimensions"),
)
# All files of the reader of Python need each other; the others stand alone, and compile fast.
READER = ("python_*.c", "symbols_*.c", "flow_*.c", "chunker.c", "output.c")
NEEDED = {"read": READER, "score_and_lay_out": ("candidates.c",)}


def compile_bug(folder: Path, number: int) -> Path:
    """Compile a library with one bug, and return its folder."""
    bug = BUGS[number]
    sources, target = folder / f"sources-{number}", folder / "libraries" / f"{bug.target}-{number}"
    sources.mkdir()
    patterns = ("*.h", "fingerprint.c", *NEEDED.get(bug.target, (bug.source,)))
    for source in (source for pattern in patterns for source in SOURCE_FOLDER.glob(pattern)):
        shutil.copy(source, sources)
    text = (sources / bug.source).read_text()
    assert bug.right in text, bug
    (sources / bug.source).write_text(text.replace(bug.right, bug.wrong))
    assert compile_library(sources, target, SANITIZED) is None
    return target


def test_every_target_finds_a_planted_bug(tmp_path: Path) -> None:
    """The check itself works: a bug in each file is found by the target for that file."""
    found = [compile_bug(tmp_path, number) for number in range(len(BUGS))]
    result = run(tmp_path / "libraries", "planted")
    assert result.stdout == "survivors: \n", result.stderr[-4_000:]
    assert result.stderr.count("==ERROR: AddressSanitizer") + result.stderr.count("runtime error:") >= len(found)


def test_every_file_is_fuzzed() -> None:
    """Each C file has a planted bug that a target finds, or belongs to the reader, which is one unit."""
    reader = {source.name for pattern in READER for source in SOURCE_FOLDER.glob(pattern)}
    assert {bug.source for bug in BUGS if bug.source.endswith(".c")} | reader == {
        source.name
        for source in c_sources(SOURCE_FOLDER)
        if source.name != "fingerprint.c"  # it reads no input
    }
