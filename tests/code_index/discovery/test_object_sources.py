"""Repositories whose objects are read from elsewhere are found, and ordinary ones are not taken for such."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay.code_index.discovery.object_sources import foreign_object_folders
from scrubjay.code_index.discovery.snapshot import take_snapshot
from tests.code_index.discovery.repository import git, new_repository, write


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path.resolve()
    new_repository(base / "private", {"plan.py": "def merger(): pass\n"})
    return base


def plain_folder(base: Path) -> Path:
    write(base / "folder", {"a.py": ""})
    return base / "folder"


def top_of_a_repository(base: Path) -> Path:
    return base / "private"


def folder_in_a_repository(base: Path) -> Path:
    write(base / "private" / "deep" / "in", {"a.py": ""})
    return base / "private" / "deep" / "in"


def linked_work_tree(base: Path) -> Path:
    git(base / "private", "worktree", "add", "-q", str(base / "tree"))
    return base / "tree"


def submodule(base: Path) -> Path:
    new_repository(base / "outer", {"a.py": ""})
    git(base / "outer", "submodule", "--quiet", "add", str(base / "private"), "inner")
    return base / "outer" / "inner"


def bare_repository(base: Path) -> Path:
    git(base, "clone", "-q", "--bare", "private", "bare")
    return base / "bare"


@pytest.mark.parametrize(
    "make",
    [plain_folder, top_of_a_repository, folder_in_a_repository, linked_work_tree, submodule, bare_repository],
)
def test_ordinary_repositories_have_their_objects_to_themselves(base: Path, make: Callable[[Path], Path]) -> None:
    assert foreign_object_folders(str(make(base))) == []


def file_that_names_another_repository(base: Path, folder: Path) -> None:
    (folder / ".git").write_text(f"gitdir: {base}/private/.git\n")


def relative_file(base: Path, folder: Path) -> None:
    (folder / ".git").write_text("gitdir: ../private/.git\n")


def link_to_another_repository(base: Path, folder: Path) -> None:
    (folder / ".git").symlink_to(base / "private" / ".git")


def file_commondir(base: Path, folder: Path) -> None:
    git(folder, "init", "-q")
    (folder / ".git" / "commondir").write_text(f"{base}/private/.git\n")


def pretended_work_tree(base: Path, folder: Path) -> None:
    (folder / ".git").write_text("gitdir: data\n")
    write(folder / "data", {"HEAD": "ref: refs/heads/main\n", "config": f"[core]\n worktree = {folder}\n"})
    (folder / "data" / "gitdir").write_text(f"{folder}/.git\n")
    (folder / "data" / "commondir").write_text(f"{base}/private/.git\n")


def alternates(base: Path, folder: Path) -> None:
    git(folder, "init", "-q")
    (folder / ".git/objects/info/alternates").write_text("../../../private/.git/objects\n")


def alternates_of_alternates(base: Path, folder: Path) -> None:
    alternates(base, folder)
    new_repository(folder / "other")
    (folder / "other/.git/objects/info/alternates").write_text(f"{base}/private/.git/objects\n")
    (folder / ".git/objects/info/alternates").write_text("../../other/.git/objects\n")


def shared_clone(base: Path, folder: Path) -> None:
    git(base, "clone", "-q", "--shared", "private", folder.name)


def linked_objects(base: Path, folder: Path) -> None:
    git(folder, "init", "-q")
    (folder / ".git" / "objects" / "pack").rmdir()
    (folder / ".git" / "objects" / "pack").symlink_to(base / "private/.git/objects/pack")


@pytest.mark.parametrize(
    "prepare",
    [
        file_that_names_another_repository,
        relative_file,
        link_to_another_repository,
        file_commondir,
        pretended_work_tree,
        alternates,
        alternates_of_alternates,
        shared_clone,
        linked_objects,
    ],
)
def test_a_prepared_folder_names_the_repository_that_it_reads(
    base: Path, prepare: Callable[[Path, Path], None]
) -> None:
    folder = base / "prepared"
    folder.mkdir()
    prepare(base, folder)
    write(folder, {"sub/a.py": ""})
    for place in (folder, folder / "sub"):
        found = foreign_object_folders(str(place))
        assert any(one.startswith(f"{base}/private/.git") for one in found), found


def test_a_submodule_whose_objects_are_elsewhere_is_not_read(base: Path) -> None:
    inner = submodule(base)
    assert [file.path for file in take_snapshot(base / "outer").files] == [".gitmodules", "a.py", "inner/plan.py"]
    (inner / ".git").write_text(f"gitdir: {base}/private/.git\n")
    snapshot = take_snapshot(base / "outer")
    assert snapshot.repositories == []
    assert [file.path for file in take_snapshot(base / "outer", rev="HEAD~0").files] == ["a.py"]
