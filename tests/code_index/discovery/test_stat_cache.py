"""A look that remembers the one before sees the same as one that does not."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay.code_index.discovery import git_repository as repositories
from scrubjay.code_index.discovery.snapshot import take_snapshot
from scrubjay.code_index.discovery.stat_cache import Remembered, index_stamp
from tests.code_index.discovery.repository import commit, git, new_repository, settle, write

FILES = {f"{folder}/{name}.py": f"{name} = 1\n" for folder in "ab" for name in ("x", "y", "z")}
MORE = {**FILES, "a/__init__.py": "", "b/words.po": "one"}


def age_index(root: Path) -> None:
    """Let the index be one that was written long ago, as most are."""
    os.utime(root / ".git/index", ns=(11 * 10**17, 11 * 10**17))


def edits(root: Path, chance: random.Random) -> list[Callable[[], object]]:
    path = chance.choice([*MORE, "a/new.py", "note.txt"])
    file = root / path

    def link() -> None:
        file.unlink(missing_ok=True)
        file.symlink_to("x.py")

    return [
        lambda: write(root, {path: f"{path} = {chance.random()}\n"}),
        lambda: write(root, {path: ""}),
        lambda: file.unlink(missing_ok=True),
        link,
        lambda: write(root, {".gitignore": chance.choice(["*.txt\n", "a/\n", ""])}),
        lambda: git(root, "add", "--all"),
        lambda: (git(root, "add", "--all"), git(root, "commit", "--quiet", "--allow-empty", "--message", "more")),
        lambda: git(root, "stash", "--quiet", "--include-untracked") if git(root, "status", "--porcelain") else None,
        lambda: git(root, "reset", "--quiet", "--hard"),
        lambda: git(root, "rm", "--quiet", "--cached", "--ignore-unmatch", path),
        lambda: settle(root) if not git(root, "diff", "--name-only") else None,
        lambda: age_index(root),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_to_a_repository_is_seen(tmp_path: Path, seed: int) -> None:
    root = new_repository(tmp_path / "r", MORE)
    settle(root)
    remembered, chance = Remembered(), random.Random(seed)
    for step in range(25):
        take_snapshot(root, remembered=remembered)
        chance.choice(edits(root, chance))()
        assert take_snapshot(root, remembered=remembered) == take_snapshot(root), f"step {step}"


def test_an_index_that_has_not_changed_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = new_repository(tmp_path / "r", FILES)
    settle(root)
    age_index(root)
    asked: list[object] = []
    really = repositories._ask_index  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(repositories, "_ask_index", lambda *given: asked.append(given) or really(*given))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    remembered = Remembered()
    first = take_snapshot(root, remembered=remembered)
    assert take_snapshot(root, remembered=remembered) == first
    assert len(asked) == 1
    write(root, {"c.py": "c"})
    commit(root, "more")
    assert [file.path for file in take_snapshot(root, remembered=remembered).files] == [*FILES, "c.py"]
    assert len(asked) == 2


def test_an_index_that_was_written_just_now_is_not_known_again(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", FILES)
    assert index_stamp(str(root / ".git/index"), None) is None
    age_index(root)
    assert index_stamp(str(root / ".git/index"), None) is not None
    assert index_stamp(str(root / "gone"), None) is None
