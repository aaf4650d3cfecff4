"""What commits say of the files that they change."""

from pathlib import Path

from recollect.codebase.discovery.history import commit_subjects
from tests.codebase.discovery.repository import commit, git, new_repository, write


def test_subjects_come_with_the_files_they_changed_newest_first(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n", "s/b.py": "b\n"})
    write(root, {"s/b.py": "c\n", "s/new\nline.py": "n\n"})
    commit(root, "Second: straße")
    git(root, "mv", "a.py", "renamed.py")
    commit(root, "Renamed")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "Nothing")
    write(root, {f"m{place}.py": "" for place in range(4)})
    commit(root, "Many")
    git(root, "checkout", "--quiet", "-b", "side", "HEAD~1")
    write(root, {"side.py": ""})
    commit(root, "Side")
    git(root, "checkout", "--quiet", "main")
    git(root, "merge", "--quiet", "--no-edit", "side")
    expected = [
        ("Side", ["side.py"]),
        ("Renamed", ["a.py", "renamed.py"]),
        ("Second: straße", ["s/b.py", "s/new\nline.py"]),
        ("First", ["a.py", "s/b.py"]),
    ]
    assert sorted(commit_subjects(str(root), most_files=3)) == sorted(expected)
    assert commit_subjects(str(root), "HEAD~2", most_files=3) == expected[1:]
    assert commit_subjects(str(root), "HEAD~2", newest=2, most_files=3) == expected[1:2]
    assert commit_subjects(str(root / "s"), "HEAD~2") == [
        ("Second: straße", ["b.py", "new\nline.py"]),
        ("First", ["b.py"]),
    ]


def test_without_a_history_there_are_no_subjects(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert [
        commit_subjects(str(root), rev)
        for root, rev in (
            (new_repository(tmp_path / "empty"), "HEAD"),
            (tmp_path / "plain", "HEAD"),
            (new_repository(tmp_path / "r", {"a.py": ""}), "--output=x"),
        )
    ] == [[], [], []]


def test_a_history_that_takes_too_long_is_done_without(tmp_path: Path) -> None:
    assert commit_subjects(str(new_repository(tmp_path / "r", {"a.py": ""})), seconds=0) == []
