"""The C library has no memory error and no undefined behaviour on mutated inputs, as far as a bounded time shows."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from native.build import SANITIZED, SOURCE_FOLDER, compile_library

PROJECT = Path(__file__).parents[2]
SECONDS = 5
SEARCH_TESTS = (
    "test_candidates.py::test_the_compiled_part_and_numpy_choose_the_same_rows",
    "test_token_segments.py::test_rows_match_by_their_best_passage",
    "test_vector_segments.py::test_the_compiled_part_answers_to_the_last_bit_as_numpy_does",
)


def runtime() -> str | None:
    """Return the compiler's AddressSanitizer library, which must be loaded before Python; None without one."""
    found = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    return found if Path(found).is_absolute() else None


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ,
        "LD_PRELOAD": runtime() or "",
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",  # Python does not free all that it has at its end
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    command = [sys.executable, "-m", "tests.native.fuzz", str(folder), *arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=240)


pytestmark = pytest.mark.skipif(runtime() is None, reason="the compiler has no AddressSanitizer")


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sanitized")
    assert compile_library(target=folder, options=SANITIZED) is None
    return folder


def test_mutated_sources_cause_no_memory_error(sanitized: Path) -> None:
    done = run(sanitized, str(SECONDS), "1")
    assert done.returncode == 0, done.stderr[-4_000:]
    assert int(done.stdout.split()[0]) > 20


def test_the_tests_of_the_search_index_cause_no_memory_error(sanitized: Path) -> None:
    done = run(sanitized, "pytest", *(f"tests/search_index/{name}" for name in SEARCH_TESTS))
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-4_000:]


def test_a_planted_overflow_is_found(tmp_path: Path) -> None:
    """The check itself works: the scanner reads one byte too many."""
    sources = tmp_path / "native"
    shutil.copytree(SOURCE_FOLDER, sources, ignore=shutil.ignore_patterns("__pycache__"))
    scanner = sources / "secret_scanner.c"
    right, wrong = "i + 2 < length && told", "i + 1 < length && told"
    assert right in scanner.read_text()
    scanner.write_text(scanner.read_text().replace(right, wrong))
    assert compile_library(sources, tmp_path / "lib", SANITIZED) is None
    done = run(tmp_path / "lib", str(SECONDS), "1")
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr
