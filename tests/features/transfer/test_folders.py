"""Transfer folders: callers can read and write files only there."""

import os
from pathlib import Path

import pytest

from scrubjay.core.errors import Conflict, Forbidden, InvalidRequest, NotFound
from scrubjay.features.transfer.folders import TransferFolders


@pytest.fixture
def folders(tmp_path: Path) -> TransferFolders:
    (tmp_path / "home" / "backups").mkdir(parents=True)
    (tmp_path / "more").mkdir()
    (tmp_path / "home" / "secret").write_text("secret")
    return TransferFolders(tmp_path / "home" / "backups", [tmp_path / "more"])


def outside(tmp_path: Path) -> list[str]:
    (tmp_path / "home" / "backups" / "link").symlink_to(tmp_path / "home" / "secret")
    (tmp_path / "home" / "backups" / "up").symlink_to(tmp_path)
    return [
        str(tmp_path / "home" / "secret"),
        "../secret",
        "x/../../secret",
        "link",
        "up/home/secret",
        "up/new",
        "/etc/passwd",
        str(tmp_path / "home" / "backups-of-others" / "x"),
        ".",
        "..",
        str(tmp_path / "more"),
    ]


def test_101_files_outside_the_folders_can_neither_be_read_nor_written(
    folders: TransferFolders, tmp_path: Path
) -> None:
    for path in outside(tmp_path):
        with pytest.raises(Forbidden):
            folders.open(path)
        with pytest.raises(Forbidden):
            folders.new_file(path)


def test_101_names_resolve_in_the_backup_folder_and_absolute_paths_in_allowed_folders(
    folders: TransferFolders, tmp_path: Path
) -> None:
    assert folders.new_file("x.jsonl") == tmp_path / "home" / "backups" / "x.jsonl"
    assert folders.new_file(str(tmp_path / "more" / "x.jsonl")) == tmp_path / "more" / "x.jsonl"
    (tmp_path / "more" / "y").write_text("y")
    file, path = folders.open(str(tmp_path / "more" / "y"))
    with file:
        assert (file.read(), path) == (b"y", tmp_path / "more" / "y")


def test_101_missing_existing_and_irregular_files_are_reported(folders: TransferFolders, tmp_path: Path) -> None:
    backups = tmp_path / "home" / "backups"
    (backups / "taken").write_text("")
    (backups / "folder").mkdir()
    os.mkfifo(backups / "pipe")
    (backups / "dangling").symlink_to(backups / "nowhere")
    with pytest.raises(NotFound, match=f"Backup file not found at {backups / 'missing'}"):
        folders.open("missing")
    with pytest.raises(NotFound):
        folders.open("dangling")
    for path in ("folder", "pipe"):
        with pytest.raises(InvalidRequest, match="not a regular file"):
            folders.open(path)
    with pytest.raises(Conflict):
        folders.new_file("taken")
    with pytest.raises(InvalidRequest, match="does not exist"):
        folders.new_file("no/such/folder")


@pytest.mark.parametrize("name", ["x" * 201, f"{'ü' * 101}/x", "x" * 300])
def test_101_a_name_that_is_too_long_is_refused(folders: TransferFolders, name: str) -> None:
    for use in (folders.new_file, folders.open):
        with pytest.raises(InvalidRequest, match="more than 200 bytes"):
            use(name)


def test_101_the_backup_folder_is_private_to_its_owner(tmp_path: Path) -> None:
    TransferFolders(tmp_path / "new" / "backups").new_file("x")
    assert (tmp_path / "new" / "backups").stat().st_mode & 0o777 == 0o700
