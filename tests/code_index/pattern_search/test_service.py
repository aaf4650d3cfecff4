"""Patterns are looked for in the files of an index, in processes that are ended in time."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.code_index.facts.chunker import cut
from scrubjay.code_index.models import Language
from scrubjay.code_index.pattern_search import service as finding
from scrubjay.code_index.pattern_search.messages import Expression, Question, Structure
from scrubjay.code_index.pattern_search.service import Found, find
from scrubjay.code_index.service import Loaded
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.errors import InvalidRequest, Unavailable
from tests.code_index.indexes import Home, opened

# Made of parts, so that it is no secret itself.
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
# Where a line without a pause is cut, be it within a word.
CUT = cut(b"+" * 6_000, []).spans[0].end
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
) -> AsyncGenerator[tuple[Home, Loaded, Path]]:
    root = tmp_path_factory.mktemp("app")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, "utf-8")
    await anyio.run_process(["git", "init", "-q"], cwd=root)
    async with opened(tmp_path_factory.mktemp("home")) as home:
        built = await home.build(root)
        yield home, await home.code.load(built.record.id), root


async def looked(app: tuple[Home, Loaded, Path], wanted: Expression | Structure, seconds: float = 30) -> Found:
    home, loaded, _ = app

    def wants(file: IndexedFile) -> bool:
        return isinstance(wanted, Expression) or file.content.language is wanted.language

    def order(file: IndexedFile) -> Any:
        return file.path

    return await find(Question(wanted, 100), home.code, loaded, wants=wants, order=order, seconds=seconds)


def counted(found: Found, loaded: Loaded) -> dict[str, int]:
    return {loaded.corpus.files[row].path: count for row, count, _ in found.files}


async def test_only_files_that_have_the_words_are_read_and_no_match_is_lost(
    app: tuple[Home, Loaded, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, loaded, _ = app
    found = await looked(app, Expression(r"\bget_user\b"))
    whole = {"src/app.py": 1, "src/cut.txt": 1, "src/key.py": 1, "tests/test_app.py": 2}
    assert counted(found, loaded) == whole
    assert (found.looked_at, found.unread, found.stopped_at, found.unlooked) == (5, [], [], 0)
    in_parts = await looked(app, Expression("get_user"))
    assert counted(in_parts, loaded) == whole | {"src/names.py": 2}
    assert in_parts.looked_at == len(FILES) - 1
    # As many processes as are worth it find the same.
    monkeypatch.setattr(finding, "WORTH_A_PROCESS", 100)
    assert (await looked(app, Expression("get_user"))).files == in_parts.files


async def test_a_pattern_that_takes_for_ever_is_ended_and_what_was_found_is_told(
    app: tuple[Home, Loaded, Path],
) -> None:
    home, loaded, _ = app
    found = await looked(app, Expression(r"^import os|(a+)+$x|(a|aa)+b$"), seconds=1.5)
    assert [loaded.corpus.files[row].path for row in found.stopped_at] == ["src/slow.txt"]
    assert (counted(found, loaded), found.unlooked) == ({"src/app.py": 1}, 2)
    assert children() == set()
    assert home.code.clean  # what was told before is kept


async def test_secrets_can_neither_be_seen_nor_found_out_by_guessing(app: tuple[Home, Loaded, Path]) -> None:
    _, loaded, _ = app
    # What would match the hidden text matches whatever the secret is: an answer tells nothing of it.
    for guess in (TOKEN[:8], "ghp_zzzz"):  # the second time it is known which files hold no secret
        wanted = Expression(rf'^TOKEN = (?P<value>"({guess}|x+).*)$|{guess}')
        ((row, count, matches),) = (await looked(app, wanted)).files
        assert (loaded.corpus.files[row].path, count, matches[0].captures) == (
            "src/key.py",
            1,
            {"value": f'"{"x" * len(TOKEN)}"'},
        )
        assert TOKEN[4:] not in str(matches)


async def test_structures_are_found_in_files_of_their_language(app: tuple[Home, Loaded, Path]) -> None:
    _, loaded, _ = app
    found = await looked(app, Structure("get_user($X)", Language.PYTHON))
    assert counted(found, loaded) == {"tests/test_app.py": 1}
    with pytest.raises(InvalidRequest, match="cannot be read as python"):
        await looked(app, Structure("def def", Language.PYTHON))
    with pytest.raises(InvalidRequest, match="no regular expression"):
        await looked(app, Expression("("))
    assert children() == set()


async def test_a_file_that_changed_since_or_ends_its_reader_is_told_as_unread(
    app: tuple[Home, Loaded, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, loaded, root = app
    (root / "src/app.py").write_text("def get_user(): changed\n", "utf-8")
    found = await looked(app, Expression(r"\bget_user\b"))
    (root / "src/app.py").write_text(FILES["src/app.py"], "utf-8")
    assert [loaded.corpus.files[row].path for row in found.unread] == ["src/app.py"]
    assert set(counted(found, loaded)) == {"src/cut.txt", "src/key.py", "tests/test_app.py"}
    deadly = (
        "import os; from scrubjay.code_index.pattern_search import regex_search, worker_main\n"
        "look = regex_search.ExpressionFinder.found\n"
        "def found(self, content, *rest): return os._exit(9) if b'TOKEN' in content else look(self, content, *rest)\n"
        "regex_search.ExpressionFinder.found = found; worker_main.serve()"
    )
    monkeypatch.setattr(finding, "PROGRAM", ("-P", "-c", deadly))
    found = await looked(app, Expression(r"\bget_user\b"))
    assert [loaded.corpus.files[row].path for row in found.unread] == ["src/key.py"]
    assert set(counted(found, loaded)) == {"src/app.py", "src/cut.txt", "tests/test_app.py"}
    monkeypatch.setattr(finding, "MOST_DEATHS", 0)
    with pytest.raises(Unavailable, match="end before they answer"):
        await looked(app, Expression(r"\bget_user\b"))
    monkeypatch.setattr(finding, "MOST_DEATHS", 5)
    start = finding.subprocess.Popen
    started = iter([start])

    def once(*arguments: Any, **options: Any) -> Any:
        for begin in started:
            return begin(*arguments, **options)
        raise OSError(11, "no more processes")

    monkeypatch.setattr(finding.subprocess, "Popen", once)
    with pytest.raises(Unavailable, match="no process can be started"):
        await looked(app, Expression(r"\bget_user\b"))


def children() -> set[int]:
    """The processes that look for patterns for this one."""
    found: set[int] = set()
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            if b"matching.serving" in command:
                state = (folder / "stat").read_text().rpartition(")")[2].split()
                if state[0] != "Z" and int(state[1]) == os.getpid():
                    found.add(int(folder.name))
        except OSError:
            continue  # it ended meanwhile
    return found
