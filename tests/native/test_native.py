"""The compiled part is made when Scrubjay is installed, is used only if it fits its sources, and nothing needs it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scrubjay.native.build import compile_into
from scrubjay.native.library import COMPILED, FOLDER, headers, loaded, sources


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sources, and nothing compiled."""
    for source in (*sources(FOLDER), *headers(FOLDER)):
        shutil.copy(source, tmp_path)
    return tmp_path


def test_what_was_compiled_is_used(folder: Path):
    assert loaded(folder) is None
    assert compile_into(folder) is None
    assert loaded(folder) is not None
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [COMPILED, *(own.name for own in (*sources(folder), *headers(folder)))]
    )


def test_what_was_compiled_of_other_sources_is_not_used(folder: Path):
    compile_into(folder)
    with (folder / "counting.c").open("a") as source:
        source.write("/* changed */\n")
    assert loaded(folder) is None


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"no library"])
def test_what_is_no_library_is_not_used(folder: Path, content: bytes):
    (folder / COMPILED).write_bytes(content)
    assert loaded(folder) is None


def test_without_a_compiler_it_is_said_why_and_nothing_old_is_left(folder: Path, monkeypatch: pytest.MonkeyPatch):
    compile_into(folder)
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "no-such-compiler" in str(compile_into(folder))
    assert not (folder / COMPILED).exists()


def test_what_the_compiler_says_is_told(folder: Path):
    (folder / "counting.c").write_text("this is no C")
    assert "error" in str(compile_into(folder))
    assert loaded(folder) is None


def test_the_sources_compile_without_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CC", f"{os.environ.get('CC') or 'cc'} -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror")
    assert compile_into(folder) is None


def test_an_index_of_code_needs_no_compiled_part(tmp_path: Path):
    """The package, copied without what was compiled, counts the words of a file."""
    shutil.copytree(FOLDER.parent, tmp_path / "scrubjay", ignore=shutil.ignore_patterns(COMPILED, "__pycache__"))
    program = (
        "from scrubjay.native.library import library; from scrubjay.code_index.facts.digest import digest;"
        "from scrubjay.code_index.models import Language;"
        "made = digest(b'def load_user(): pass', Language.PYTHON); print(library(), len(made.searchable.words))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["None", "5"]
