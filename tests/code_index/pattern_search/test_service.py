"""Patterns are searched in the files of an index, by processes that are killed on timeout."""

import os
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.code_index.facts.chunker import cut_chunks
from scrubjay.code_index.models import Language
from scrubjay.code_index.pattern_search import service
from scrubjay.code_index.pattern_search.messages import Expression, PatternQuery, Structure
from scrubjay.code_index.pattern_search.service import PatternSearchResult, find
from scrubjay.code_index.service import LoadedIndex
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.errors import InvalidRequest, Unavailable
from tests.code_index.indexes import Home, opened

# Assembled from parts, so that this file contains no secret.
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
# Where a line without separators is cut, possibly inside a word.
CUT = cut_chunks(b"+" * 6_000, []).spans[0].end
FILES = {
    "src/app.py": "import os\n\n\ndef get_user(name):\n    return os.environ.get(name)\n",
    "src/names.py": "def get_users():\n    forget_user = get_user_name = 1\n    return getUser\n",
    "src/key.py": f'TOKEN = "{TOKEN}"\n\n\ndef get_user():\n    return TOKEN\n',
    "src/cut.txt": "+" * (CUT - 4) + "get_user" + "+" * 3_000 + "\n",
    "src/slow.txt": "a" * 60 + "\n",
    "tests/test_app.py": "from app import get_user\n\n\ndef test_user():\n    get_user('ada')\n",
    "empty.py": "",
    "ignored.py": "def get_user(): pass\n",
    ".gitignore": "ignored.py\n",
}


@pytest.fixture(scope="module")
async def app(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[tuple[Home, LoadedIndex, Path]]:
    root = tmp_path_factory.mktemp("app")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, "utf-8")
    await anyio.run_process(["git", "init", "-q"], cwd=root)
    async with opened(tmp_path_factory.mktemp("home")) as home:
        built = await home.build(root)
        yield home, await home.code.load(built.record.id), root


async def search(
    app: tuple[Home, LoadedIndex, Path], pattern: Expression | Structure, seconds: float = 30
) -> PatternSearchResult:
    home, loaded, _ = app

    def wants(file: IndexedFile) -> bool:
        return isinstance(pattern, Expression) or file.content.language is pattern.language

    def order(file: IndexedFile) -> Any:
        return file.path

    return await find(PatternQuery(pattern, 100), home.code, loaded, wants=wants, order=order, seconds=seconds)


def counted(found: PatternSearchResult, loaded: LoadedIndex) -> dict[str, int]:
    return {loaded.corpus.files[row].path: count for row, count, _ in found.files}


async def test_only_files_with_the_required_words_are_searched_and_no_match_is_lost(
    app: tuple[Home, LoadedIndex, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, loaded, _ = app
    found = await search(app, Expression(r"\bget_user\b"))
    expected = {"src/app.py": 1, "src/cut.txt": 1, "src/key.py": 1, "tests/test_app.py": 2}
    assert counted(found, loaded) == expected
    assert (found.searched, found.unread, found.stopped_at, found.not_searched) == (5, [], [], 0)
    in_parts = await search(app, Expression("get_user"))
    assert counted(in_parts, loaded) == expected | {"src/names.py": 2}
    assert in_parts.searched == len(FILES) - 1
    # Several processes find the same matches.
    monkeypatch.setattr(service, "MIN_BYTES_PER_PROCESS", 100)
    assert (await search(app, Expression("get_user"))).files == in_parts.files


async def test_a_slow_pattern_is_stopped_and_earlier_matches_are_returned(
    app: tuple[Home, LoadedIndex, Path],
) -> None:
    home, loaded, _ = app
    found = await search(app, Expression(r"^import os|(a+)+$x|(a|aa)+b$"), seconds=1.5)
    assert [loaded.corpus.files[row].path for row in found.stopped_at] == ["src/slow.txt"]
    assert (counted(found, loaded), found.not_searched) == ({"src/app.py": 1}, 2)
    assert children() == set()
    assert home.code.clean  # known from the files searched before


async def test_secrets_cannot_be_read_or_guessed_by_searching(app: tuple[Home, LoadedIndex, Path]) -> None:
    _, loaded, _ = app
    # A pattern that matches the mask does so whatever the secret is, so a result reveals nothing.
    for guess in (TOKEN[:8], "ghp_zzzz"):  # the second time it is known which files contain no secret
        pattern = Expression(rf'^TOKEN = (?P<value>"({guess}|x+).*)$|{guess}')
        ((row, count, matches),) = (await search(app, pattern)).files
        assert (loaded.corpus.files[row].path, count, matches[0].captures) == (
            "src/key.py",
            1,
            {"value": f'"{"x" * len(TOKEN)}"'},
        )
        assert TOKEN[4:] not in str(matches)


async def test_structures_are_searched_in_files_of_their_language(app: tuple[Home, LoadedIndex, Path]) -> None:
    _, loaded, _ = app
    found = await search(app, Structure("get_user($X)", Language.PYTHON))
    assert counted(found, loaded) == {"tests/test_app.py": 1}
    with pytest.raises(InvalidRequest, match="is not valid python"):
        await search(app, Structure("def def", Language.PYTHON))
    with pytest.raises(InvalidRequest, match="not a valid regular expression"):
        await search(app, Expression("("))
    assert children() == set()


async def test_a_file_that_changed_or_kills_its_process_is_reported_as_unread(
    app: tuple[Home, LoadedIndex, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, loaded, root = app
    (root / "src/app.py").write_text("def get_user(): changed\n", "utf-8")
    found = await search(app, Expression(r"\bget_user\b"))
    (root / "src/app.py").write_text(FILES["src/app.py"], "utf-8")
    assert [loaded.corpus.files[row].path for row in found.unread] == ["src/app.py"]
    assert set(counted(found, loaded)) == {"src/cut.txt", "src/key.py", "tests/test_app.py"}
    deadly = (
        "import os; from scrubjay.code_index.pattern_search import regex_search, worker_main\n"
        "find = regex_search.RegexFinder.find\n"
        "def deadly(self, content, *rest): return os._exit(9) if b'TOKEN' in content else find(self, content, *rest)\n"
        "regex_search.RegexFinder.find = deadly; worker_main.serve()"
    )
    monkeypatch.setattr(service, "PROGRAM", ("-P", "-c", deadly))
    found = await search(app, Expression(r"\bget_user\b"))
    assert [loaded.corpus.files[row].path for row in found.unread] == ["src/key.py"]
    assert set(counted(found, loaded)) == {"src/app.py", "src/cut.txt", "tests/test_app.py"}
    monkeypatch.setattr(service, "MAX_DEATHS", 0)
    with pytest.raises(Unavailable, match="keep crashing"):
        await search(app, Expression(r"\bget_user\b"))
    monkeypatch.setattr(service, "MAX_DEATHS", 5)
    start = subprocess.Popen
    started = iter([start])

    def once(*arguments: Any, **options: Any) -> Any:
        for begin in started:
            return begin(*arguments, **options)
        raise OSError(11, "no more processes")

    monkeypatch.setattr(subprocess, "Popen", once)
    with pytest.raises(Unavailable, match="cannot start a pattern search process"):
        await search(app, Expression(r"\bget_user\b"))


def children() -> set[int]:
    """Return the search processes of this process."""
    found: set[int] = set()
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            if b"pattern_search.worker_main" in command:
                state = (folder / "stat").read_text().rpartition(")")[2].split()
                if state[0] != "Z" and int(state[1]) == os.getpid():
                    found.add(int(folder.name))
        except OSError:
            continue  # it has exited
    return found
