"""No caller can read or write files anywhere else than in the folders for them."""

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


def test_101_what_is_outside_can_neither_be_read_nor_written(folders: TransferFolders, tmp_path: Path) -> None:
    for given in outside(tmp_path):
        with pytest.raises(Forbidden):
            folders.open(given)
        with pytest.raises(Forbidden):
            folders.new_file(given)


def test_101_names_are_meant_in_the_folder_for_backups_and_whole_paths_in_any_that_is_allowed(
    folders: TransferFolders, tmp_path: Path
) -> None:
    assert folders.new_file("x.jsonl") == tmp_path / "home" / "backups" / "x.jsonl"
    assert folders.new_file(str(tmp_path / "more" / "x.jsonl")) == tmp_path / "more" / "x.jsonl"
    (tmp_path / "more" / "y").write_text("y")
    file, path = folders.open(str(tmp_path / "more" / "y"))
    with file:
        assert (file.read(), path) == (b"y", tmp_path / "more" / "y")


def test_101_what_is_missing_taken_or_no_file_is_told(folders: TransferFolders, tmp_path: Path) -> None:
    backups = tmp_path / "home" / "backups"
    (backups / "taken").write_text("")
    (backups / "folder").mkdir()
    os.mkfifo(backups / "pipe")
    (backups / "dangling").symlink_to(backups / "nowhere")
    with pytest.raises(NotFound, match=f"Backup file not found at {backups / 'missing'}"):
        folders.open("missing")
    with pytest.raises(NotFound):
        folders.open("dangling")
    for given in ("folder", "pipe"):
        with pytest.raises(InvalidRequest, match="not a plain file"):
            folders.open(given)
    with pytest.raises(Conflict):
        folders.new_file("taken")
    with pytest.raises(InvalidRequest, match="does not exist"):
        folders.new_file("no/such/folder")


@pytest.mark.parametrize("given", ["x" * 201, f"{'ü' * 101}/x", "x" * 300])
def test_101_a_name_that_no_file_can_have_is_refused(folders: TransferFolders, given: str) -> None:
    for use in (folders.new_file, folders.open):
        with pytest.raises(InvalidRequest, match="more than 200 bytes"):
            use(given)


def test_101_the_folder_for_backups_is_made_for_its_owner_only(tmp_path: Path) -> None:
    TransferFolders(tmp_path / "new" / "backups").new_file("x")
    assert (tmp_path / "new" / "backups").stat().st_mode & 0o777 == 0o700
