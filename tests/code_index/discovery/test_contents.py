"""Contents are exactly what the snapshot recorded, or missing with a reason."""

import shutil
from pathlib import Path

import pytest

from scrubjay.code_index.discovery.contents import blob_id, read_content, read_contents
from scrubjay.code_index.discovery.snapshot import take_snapshot
from scrubjay.code_index.models import Skipped, Snapshot
from scrubjay.core.errors import Cancelled, Conflict
from tests.code_index.discovery.repository import age_files, commit, git, new_repository, write


def contents(snapshot: Snapshot) -> tuple[dict[str, bytes | None], list[Skipped]]:
    notes: list[Skipped] = []
    return {file.path: content for file, content in read_contents(snapshot, snapshot.files, note=notes.append)}, notes


def test_ids_equal_those_of_git(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r")
    for content in (b"", b"a\r\nb\0\xff"):
        assert blob_id(content) == git(root, "hash-object", "--stdin", input=content)


def test_a_work_tree_is_read_from_files_and_a_revision_from_objects(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n", "b.py": "b\n", "empty.py": ""})
    write(root, {"b.py": "changed\n", "new.py": "new\n"})
    assert contents(take_snapshot(root)) == (
        {"a.py": b"a\n", "b.py": b"changed\n", "empty.py": b"", "new.py": b"new\n"},
        [],
    )
    committed = take_snapshot(root, rev="main")
    shutil.rmtree(root / ".git" / "logs")
    (root / "a.py").unlink()
    assert contents(committed) == ({"a.py": b"a\n", "b.py": b"b\n", "empty.py": b""}, [])
    assert read_content(committed, committed.files[1]) == b"b\n"


def test_a_file_that_changed_since_the_snapshot_is_reported_as_changed(tmp_path: Path) -> None:
    root = new_repository(
        tmp_path / "r", {"clean.py": "clean\n", "gone.py": "gone\n", "dirty.py": "d\n", "link.py": "l\n"}
    )
    age_files(root)
    write(root, {"dirty.py": "dirty\n", "link.py": "link\n", "longer.py": "1"})
    snapshot = take_snapshot(root)
    write(root, {"dirty.py": "other\n", "clean.py": "other\n", "longer.py": "12", "secret": "link\n"})
    (root / "gone.py").unlink()
    (root / "link.py").unlink()
    (root / "link.py").symlink_to(root / "secret")
    changed = "it changed since the snapshot was taken"
    assert contents(snapshot) == (
        {"clean.py": b"clean\n", "dirty.py": None, "gone.py": b"gone\n", "link.py": None, "longer.py": None},
        [Skipped(path, changed) for path in ("dirty.py", "link.py", "longer.py")],
    )
    with pytest.raises(Conflict) as raised:
        read_content(snapshot, snapshot.files[1])
    assert raised.value.message == f"dirty.py cannot be read: {changed}"


def test_a_changed_file_in_a_plain_folder_is_reported_as_changed(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "a\n", "b.py": "b\n"})
    snapshot = take_snapshot(tmp_path)
    write(tmp_path, {"b.py": "c\n"})
    assert contents(snapshot) == (
        {"a.py": b"a\n", "b.py": None},
        [Skipped("b.py", "it changed since the snapshot was taken")],
    )


def test_files_with_converted_line_endings_are_read_as_git_stores_them(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {".gitattributes": "*.py text eol=crlf\n", "a.py": "a\r\nb\r\n"})
    assert contents(take_snapshot(root))[0]["a.py"] == b"a\nb\n"


def test_objects_damaged_after_the_snapshot_affect_only_their_files(tmp_path: Path) -> None:
    files = {f"f{number:02}.py": f"{number} " * 999 for number in range(80)}
    root = new_repository(tmp_path / "r", files)
    snapshot = take_snapshot(root, rev="main")
    other = git(root, "rev-parse", "HEAD:f50.py")
    exchanged = (root / ".git" / "objects" / other[:2] / other[2:]).read_bytes()
    damaged = ["f00.py", "f01.py", "f40.py", "f41.py", "f79.py"]
    for index, path in enumerate(damaged):
        blob = git(root, "rev-parse", f"HEAD:{path}")
        stored = root / ".git" / "objects" / blob[:2] / blob[2:]
        stored.chmod(0o600)
        intact = stored.read_bytes()
        # Each is damaged in another way: invalid, empty, truncated, another object's content, half as long.
        stored.write_bytes([b"damaged", b"", intact[:-9], exchanged, intact[: len(intact) // 2]][index])
    read, notes = contents(snapshot)
    assert read == {path: None if path in damaged else content.encode() for path, content in files.items()}
    assert notes == [Skipped(path, "its git object is missing or damaged") for path in damaged]


def test_a_binary_with_the_name_of_a_source_file_is_skipped(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": b"\0\1\2", "b.py": "b\n"})
    for rev in ("HEAD", "main"):
        assert contents(take_snapshot(root, rev=rev)) == (
            {"a.py": None, "b.py": b"b\n"},
            [Skipped("a.py", "a binary")],
        )


def test_files_of_submodules_are_read_from_their_own_repository(tmp_path: Path) -> None:
    module = new_repository(tmp_path / "module", {"m.py": "m\n", ".gitattributes": "*.py text eol=crlf\n"})
    root = new_repository(tmp_path / "r", {"a.py": "a\n", "z.py": "z\n"})
    git(root, "submodule", "--quiet", "add", str(module), "lib")
    commit(root, "With a module")
    assert (root / "lib" / "m.py").read_bytes() == b"m\r\n"
    for rev in ("HEAD", "main"):
        read, notes = contents(take_snapshot(root, rev=rev))
        assert (read["a.py"], read["lib/m.py"], read["z.py"], notes) == (b"a\n", b"m\n", b"z\n", [])


def test_reading_can_be_cancelled(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n"})
    for rev in ("HEAD", "main"):
        snapshot = take_snapshot(root, rev=rev)
        with pytest.raises(Cancelled):
            list(read_contents(snapshot, snapshot.files, should_stop=lambda: True))
