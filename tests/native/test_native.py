"""The C library is compiled at installation, is loaded only if it matches its sources, and is optional."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import scrubjay
from native.build import SOURCE_FOLDER, compile_library
from scrubjay.native.library import (
    FINGERPRINT_NAME,
    LIBRARY_FOLDER,
    LIBRARY_NAME,
    c_headers,
    c_sources,
    checkout_sources,
    load,
)

# Enough to load the library; optimizing takes most of the time of a compilation.
NOT_OPTIMIZED = ("-O0",)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the C sources."""
    copied = tmp_path / "native"
    copied.mkdir()
    for source in (*c_sources(SOURCE_FOLDER), *c_headers(SOURCE_FOLDER)):
        shutil.copy(source, copied)
    return copied


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The folder to compile into; it does not exist yet."""
    return tmp_path / "lib"


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library of the sources, compiled fast."""
    folder = tmp_path_factory.mktemp("compiled")
    assert compile_library(SOURCE_FOLDER, folder, NOT_OPTIMIZED) is None
    return folder


@pytest.fixture
def compiled(compiled_once: Path, target: Path) -> Path:
    """A copy of that folder, which the test may change."""
    shutil.copytree(compiled_once, target)
    return target


def test_a_compiled_library_is_loaded(sources: Path, target: Path):
    before = sorted(sources.iterdir())
    assert load(target, sources) is None
    assert compile_library(sources, target, NOT_OPTIMIZED) is None
    assert load(target, sources) is not None
    assert {path.name for path in target.iterdir()} == {LIBRARY_NAME, FINGERPRINT_NAME}
    assert sorted(sources.iterdir()) == before


def test_an_installed_library_is_loaded_without_its_sources(compiled: Path):
    assert load(compiled, None) is not None


def test_a_library_compiled_from_other_sources_is_not_loaded(sources: Path, compiled: Path):
    assert load(compiled, sources) is not None
    with (sources / "term_counter.c").open("a") as source:
        source.write("/* changed */\n")
    assert load(compiled, sources) is None


@pytest.mark.parametrize("fingerprint", [b"", b"0" * 64, b"\xff"])
def test_a_library_that_does_not_match_its_fingerprint_is_not_loaded(compiled: Path, fingerprint: bytes):
    (compiled / FINGERPRINT_NAME).write_bytes(fingerprint)
    assert load(compiled, None) is None


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"no library"])
def test_an_invalid_library_file_is_not_loaded(sources: Path, compiled: Path, content: bytes):
    (compiled / LIBRARY_NAME).unlink()
    (compiled / LIBRARY_NAME).write_bytes(content)
    assert load(compiled, sources) is None


def test_a_missing_compiler_is_reported_and_an_old_library_is_removed(compiled: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "no-such-compiler" in str(compile_library(SOURCE_FOLDER, compiled))
    assert list(compiled.iterdir()) == []


def test_errors_of_the_compiler_are_reported(sources: Path, target: Path):
    (sources / "term_counter.c").write_text("this is no C")
    assert "error" in str(compile_library(sources, target, NOT_OPTIMIZED))
    assert load(target, sources) is None


def test_the_sources_compile_without_a_warning(target: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CC", f"{os.environ.get('CC') or 'cc'} -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror")
    assert compile_library(target=target) is None


HARDENED = ("__stack_chk_fail", "_chk", "BIND_NOW", "GNU_RELRO")


def features(library: Path) -> list[str]:
    """Return the hardening features that a library has."""
    found = subprocess.run(["readelf", "-Wsld", library], capture_output=True, text=True, check=True).stdout
    return [name for name in HARDENED if name in found]


@pytest.mark.skipif(shutil.which("readelf") is None, reason="only ELF has these features")
def test_the_library_is_hardened(sources: Path, target: Path):
    for source in sources.glob("*.c"):
        if source.stem not in ("fingerprint", "output", "term_counter", "chunker"):
            source.unlink()  # optimizing takes most of the time
    assert compile_library(sources, target, ("-O1",)) is None
    assert features(target / LIBRARY_NAME) == [*HARDENED]


def test_options_that_the_compiler_refuses_are_left_out(
    sources: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    used = tmp_path / "used.txt"
    compiler = tmp_path / "old-cc"
    compiler.write_text(
        f"""#!/bin/sh
case "$*" in *FORTIFY_SOURCE=3*|*-Wl,*|*-fstack*) echo "no such option" >&2; exit 1;; esac
echo "$*" >> {used}
exec cc "$@"
"""
    )
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", str(compiler))
    assert compile_library(sources, target, ("-O1",)) is None
    assert load(target, sources) is not None
    assert "-D_FORTIFY_SOURCE=2" in used.read_text().splitlines()[-1]


def test_the_library_of_a_checkout_is_compared_with_the_sources_of_that_checkout():
    assert checkout_sources() == SOURCE_FOLDER.resolve()


def test_the_code_index_works_without_the_library(tmp_path: Path):
    """A copy of the package without the compiled library counts the words of a file."""
    package = Path(scrubjay.__file__).parent
    shutil.copytree(package, tmp_path / "scrubjay", ignore=shutil.ignore_patterns(LIBRARY_FOLDER.name, "__pycache__"))
    program = (
        "from scrubjay.native.library import library; from scrubjay.code_index.facts.digest import digest;"
        "from scrubjay.code_index.models import Language;"
        "made = digest(b'def load_user(): pass', Language.PYTHON); print(library(), len(made.arrays.words))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["None", "5"]
