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


def test_a_compiled_library_is_loaded(sources: Path, target: Path):
    before = sorted(sources.iterdir())
    assert load(target, sources) is None
    assert compile_library(sources, target) is None
    assert load(target, sources) is not None
    assert {path.name for path in target.iterdir()} == {LIBRARY_NAME, FINGERPRINT_NAME}
    assert sorted(sources.iterdir()) == before


def test_an_installed_library_is_loaded_without_its_sources(sources: Path, target: Path):
    compile_library(sources, target)
    assert load(target, None) is not None


def test_a_library_compiled_from_other_sources_is_not_loaded(sources: Path, target: Path):
    compile_library(sources, target)
    with (sources / "term_counter.c").open("a") as source:
        source.write("/* changed */\n")
    assert load(target, sources) is None


@pytest.mark.parametrize("fingerprint", [b"", b"0" * 64, b"\xff"])
def test_a_library_that_does_not_match_its_fingerprint_is_not_loaded(sources: Path, target: Path, fingerprint: bytes):
    compile_library(sources, target)
    (target / FINGERPRINT_NAME).write_bytes(fingerprint)
    assert load(target, None) is None


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"no library"])
def test_a_file_that_is_no_library_is_not_loaded(sources: Path, target: Path, content: bytes):
    compile_library(sources, target)
    (target / LIBRARY_NAME).unlink()
    (target / LIBRARY_NAME).write_bytes(content)
    assert load(target, sources) is None


def test_a_missing_compiler_is_reported_and_an_old_library_is_removed(
    sources: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    compile_library(sources, target)
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "no-such-compiler" in str(compile_library(sources, target))
    assert list(target.iterdir()) == []


def test_errors_of_the_compiler_are_reported(sources: Path, target: Path):
    (sources / "term_counter.c").write_text("this is no C")
    assert "error" in str(compile_library(sources, target))
    assert load(target, sources) is None


def test_the_sources_compile_without_a_warning(target: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CC", f"{os.environ.get('CC') or 'cc'} -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror")
    assert compile_library(target=target) is None


def test_the_library_of_a_checkout_is_compared_with_the_sources_of_that_checkout():
    assert checkout_sources() == SOURCE_FOLDER.resolve()


def test_the_code_index_works_without_the_library(tmp_path: Path):
    """The package, copied without the compiled library, counts the words of a file."""
    package = Path(scrubjay.__file__).parent
    shutil.copytree(package, tmp_path / "scrubjay", ignore=shutil.ignore_patterns(LIBRARY_FOLDER.name, "__pycache__"))
    program = (
        "from scrubjay.native.library import library; from scrubjay.code_index.facts.digest import digest;"
        "from scrubjay.code_index.models import Language;"
        "made = digest(b'def load_user(): pass', Language.PYTHON); print(library(), len(made.searchable.words))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["None", "5"]
