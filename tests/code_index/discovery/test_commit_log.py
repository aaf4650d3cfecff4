"""Commit subjects are listed with the files that each commit changed."""

import tempfile
from pathlib import Path

import pytest

from scrubjay.code_index.discovery.commit_log import commit_subjects
from scrubjay.core.errors import Cancelled
from tests.code_index.discovery.repository import commit, git, new_repository, write


def test_subjects_come_with_the_files_they_changed_newest_first(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n", "s/b.py": "b\n"})
    write(root, {"s/b.py": "c\n", "s/new\nline.py": "n\n"})
    commit(root, "Second: straße")
    git(root, "mv", "a.py", "renamed.py")
    commit(root, "Renamed")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "Nothing")
    write(root, {f"m{number}.py": "" for number in range(4)})
    commit(root, "Many")
    git(root, "checkout", "--quiet", "-b", "side", "HEAD~1")
    write(root, {"side.py": ""})
    commit(root, "Side")
    git(root, "checkout", "--quiet", "main")
    git(root, "merge", "--quiet", "--no-edit", "side")
    expected = [
        ("Side", ["side.py"]),
        ("Renamed", ["renamed.py"]),
        ("Second: straße", ["s/b.py", "s/new\nline.py"]),
        ("First", ["renamed.py", "s/b.py"]),
    ]
    assert sorted(commit_subjects(str(root), most_files=3)) == sorted(expected)
    assert commit_subjects(str(root), "HEAD~2", most_files=3) == expected[1:]
    assert commit_subjects(str(root), "HEAD~2", newest=2, most_files=3) == expected[1:2]
    assert commit_subjects(str(root / "s"), "HEAD~2") == [
        ("Second: straße", ["b.py", "new\nline.py"]),
        ("First", ["b.py"]),
    ]


def test_a_commit_before_a_rename_counts_for_the_renamed_file(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"cart.py": "cart\n", "lib/other.py": "other\n", "__init__.py": ""})
    write(root, {"cart.py": "cart = 1\n"})
    commit(root, "Sum up prices")
    (root / "shop").mkdir()
    git(root, "mv", "cart.py", "shop/cart.py")
    git(root, "mv", "__init__.py", "shop/__init__.py")
    commit(root, "Move to a folder")
    write(root, {"cart.py": "another\n"})
    commit(root, "Add another")
    git(root, "mv", "shop/cart.py", "shop/basket.py")
    commit(root, "Call it a basket")
    assert commit_subjects(str(root / "shop")) == [
        ("Call it a basket", ["basket.py"]),
        ("Move to a folder", ["__init__.py", "basket.py"]),
        ("Sum up prices", ["basket.py"]),
        ("First", ["basket.py"]),  # an empty file could be a rename of any other empty file
    ]
    assert commit_subjects(str(root))[1:3] == [
        ("Add another", ["cart.py"]),
        ("Move to a folder", ["__init__.py", "shop/__init__.py", "shop/basket.py"]),
    ]


def test_a_file_changed_while_it_was_renamed_is_recognized_if_its_contents_are_available(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n" * 100, "same.py": "same\n"})
    git(root, "mv", "a.py", "b.py")
    git(root, "mv", "same.py", "as_it_was.py")
    write(root, {"b.py": "a\n" * 90 + "b\n"})
    commit(root, "Moved and changed")
    assert commit_subjects(str(root)) == [
        ("Moved and changed", ["as_it_was.py", "b.py"]),
        ("First", ["b.py", "as_it_was.py"]),
    ]
    for found in (root / ".git" / "objects").glob("??/*"):
        if git(root, "cat-file", "-t", found.parent.name + found.name) == "blob":
            found.unlink()  # as in a partial clone
    assert commit_subjects(str(root)) == [
        ("Moved and changed", ["a.py", "as_it_was.py", "b.py"]),
        ("First", ["a.py", "as_it_was.py"]),
    ]


def test_there_are_no_subjects_without_a_history(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert [
        commit_subjects(str(root), rev)
        for root, rev in (
            (new_repository(tmp_path / "empty"), "HEAD"),
            (tmp_path / "plain", "HEAD"),
            (new_repository(tmp_path / "r", {"a.py": ""}), "--output=x"),
        )
    ] == [[], [], []]


def test_a_history_that_takes_too_long_gives_no_subjects(tmp_path: Path) -> None:
    assert commit_subjects(str(new_repository(tmp_path / "r", {"a.py": ""})), seconds=0) == []


def test_a_full_disk_gives_no_subjects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n"})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert commit_subjects(str(root)) == []


def test_reading_a_history_can_be_cancelled(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n"})
    with pytest.raises(Cancelled):
        commit_subjects(str(root), should_stop=lambda: True)
