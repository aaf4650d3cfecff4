"""A snapshot with a stat cache equals one without."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay.code_index.discovery import git_repository as repositories
from scrubjay.code_index.discovery.snapshot import take_snapshot
from scrubjay.code_index.discovery.stat_cache import StatCache, index_stamp
from tests.code_index.discovery.repository import age_files, commit, git, new_repository, write

FILES = {f"{folder}/{name}.py": f"{name} = 1\n" for folder in "ab" for name in ("x", "y", "z")}
MORE = {**FILES, "a/__init__.py": "", "b/words.po": "one"}


def age_index(root: Path) -> None:
    """Make the index look as if it was written long ago."""
    os.utime(root / ".git/index", ns=(11 * 10**17, 11 * 10**17))


def edits(root: Path, rng: random.Random) -> list[Callable[[], object]]:
    path = rng.choice([*MORE, "a/new.py", "note.txt"])
    file = root / path

    def link() -> None:
        file.unlink(missing_ok=True)
        file.symlink_to("x.py")

    return [
        lambda: write(root, {path: f"{path} = {rng.random()}\n"}),
        lambda: write(root, {path: ""}),
        lambda: file.unlink(missing_ok=True),
        link,
        lambda: write(root, {".gitignore": rng.choice(["*.txt\n", "a/\n", ""])}),
        lambda: git(root, "add", "--all"),
        lambda: (git(root, "add", "--all"), git(root, "commit", "--quiet", "--allow-empty", "--message", "more")),
        lambda: git(root, "stash", "--quiet", "--include-untracked") if git(root, "status", "--porcelain") else None,
        lambda: git(root, "reset", "--quiet", "--hard"),
        lambda: git(root, "rm", "--quiet", "--cached", "--ignore-unmatch", path),
        lambda: age_files(root) if not git(root, "diff", "--name-only") else None,
        lambda: age_index(root),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_every_change_of_a_repository_is_detected(tmp_path: Path, seed: int) -> None:
    root = new_repository(tmp_path / "r", MORE)
    age_files(root)
    stat_cache, rng = StatCache(), random.Random(seed)
    for step in range(25):
        take_snapshot(root, stat_cache=stat_cache)
        rng.choice(edits(root, rng))()
        assert take_snapshot(root, stat_cache=stat_cache) == take_snapshot(root), f"step {step}"


def test_an_unchanged_index_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = new_repository(tmp_path / "r", FILES)
    age_files(root)
    age_index(root)
    calls: list[object] = []
    original = repositories._list_index  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(repositories, "_list_index", lambda *arguments: calls.append(arguments) or original(*arguments))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    stat_cache = StatCache()
    first = take_snapshot(root, stat_cache=stat_cache)
    assert take_snapshot(root, stat_cache=stat_cache) == first
    assert len(calls) == 1
    write(root, {"c.py": "c"})
    commit(root, "more")
    assert [file.path for file in take_snapshot(root, stat_cache=stat_cache).files] == [*FILES, "c.py"]
    assert len(calls) == 2


def test_an_index_written_just_now_is_not_cached(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", FILES)
    assert index_stamp(str(root / ".git/index"), None) is None
    age_index(root)
    assert index_stamp(str(root / ".git/index"), None) is not None
    assert index_stamp(str(root / "gone"), None) is None
