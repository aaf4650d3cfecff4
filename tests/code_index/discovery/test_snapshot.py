"""A snapshot lists the files of a work tree, a commit or a folder, with the ids of their contents."""

import os
import shutil
from pathlib import Path

import pytest

from scrubjay.code_index.discovery.contents import blob_id
from scrubjay.code_index.discovery.limits import IndexLimits
from scrubjay.code_index.discovery.rooted_reader import RootedReader
from scrubjay.code_index.discovery.snapshot import changed_paths, snapshot_key, take_snapshot
from scrubjay.code_index.discovery.stat_cache import StatCache
from scrubjay.code_index.models import FileTrait, Language, Skipped, Snapshot, SourceFile
from scrubjay.core.errors import Cancelled, Forbidden, InvalidRequest, NotFound, TooLarge, Unavailable
from tests.code_index.discovery.repository import age_files, commit, git, new_repository, write


def file(path: str, content: str | bytes, *, dirty: bool = False, language: Language = Language.PYTHON) -> SourceFile:
    raw = content if isinstance(content, bytes) else content.encode()
    return SourceFile(path, blob_id(raw), len(raw), language, FileTrait(0), dirty)


def complete(
    root: Path, rev: str, commit: str | None, files: list[SourceFile], *, from_objects: bool = False
) -> Snapshot:
    """Return a snapshot in which nothing was skipped."""
    return Snapshot(
        root=str(root),
        rev=rev,
        commit=commit,
        files=files,
        skipped=[],
        from_objects=from_objects,
        removed=[],
        repositories=[],
    )


def states(snapshot: Snapshot) -> dict[str, bool]:
    """Return the paths of the files, and whether each is dirty."""
    return {file.path: file.dirty for file in snapshot.files}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the paths of the files that are read from now on."""
    paths: list[str] = []
    read_file = RootedReader.read

    def read(self: RootedReader, path: str, max_bytes: int) -> bytes:
        paths.append(path)
        return read_file(self, path, max_bytes)

    monkeypatch.setattr(RootedReader, "read", read)
    return paths


def test_a_clean_work_tree_is_listed_without_reading_its_files(tmp_path: Path, reads: list[str]) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a = 1\n", "b/c.py": "c = 1\n", "b/empty.py": ""})
    age_files(root)
    files = [file("a.py", "a = 1\n"), file("b/c.py", "c = 1\n"), file("b/empty.py", "")]
    assert take_snapshot(root) == complete(root, "HEAD", git(root, "rev-parse", "HEAD"), files)
    assert reads == []


def test_a_file_that_differs_from_the_commit_is_dirty_and_has_the_id_of_its_content(tmp_path: Path) -> None:
    names = ["same", "changed", "staged", "staged_and_back", "deleted", "unstaged", "replaced"]
    root = new_repository(tmp_path / "r", {f"{name}.py": f"{name} = 1\n" for name in names} | {".gitignore": "*.log\n"})
    age_files(root)
    write(root, {"changed.py": "changed = 2\n", "staged.py": "staged = 2\n", "staged_and_back.py": "x\n"})
    write(root, {"added.py": "added = 1\n", "x.log": "ignored"})
    git(root, "add", "staged.py", "staged_and_back.py", "added.py")
    write(root, {"staged_and_back.py": "staged_and_back = 1\n", "new.py": "new = 1\n", "ours/n.py": "n"})
    git(root, "add", "--intent-to-add", "ours/n.py")
    (root / "deleted.py").unlink()
    git(root, "rm", "--quiet", "--cached", "unstaged.py")
    (root / "replaced.py").unlink()
    (root / "replaced.py").mkdir()
    snapshot = take_snapshot(root)
    assert [entry for entry in snapshot.files if entry.path != ".gitignore"] == [
        file("added.py", "added = 1\n", dirty=True),
        file("changed.py", "changed = 2\n", dirty=True),
        file("new.py", "new = 1\n", dirty=True),
        file("ours/n.py", "n", dirty=True),
        file("same.py", "same = 1\n"),
        file("staged.py", "staged = 2\n", dirty=True),
        file("staged_and_back.py", "staged_and_back = 1\n"),
        file("unstaged.py", "unstaged = 1\n"),
    ]
    assert (snapshot.removed, snapshot.dirty) == (
        ["deleted.py", "replaced.py"],
        ["added.py", "changed.py", "new.py", "ours/n.py", "staged.py"],
    )


def test_a_change_that_keeps_size_and_mtime_is_detected(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a = 1\n"})
    age_files(root)
    write(root, {"a.py": "a = 2\n"})
    os.utime(root / "a.py", ns=(10**18, 10**18))
    assert take_snapshot(root).files == [file("a.py", "a = 2\n", dirty=True)]


def test_a_file_as_new_as_the_index_is_read(tmp_path: Path, reads: list[str]) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a = 1\n"})
    age_files(root)
    os.utime(root / ".git" / "index", ns=(10**18, 10**18))
    assert (take_snapshot(root).files, reads) == ([file("a.py", "a = 1\n")], ["a.py"])


def test_another_revision_is_read_from_objects_alone(tmp_path: Path, reads: list[str]) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a = 1\n", "old.py": "old = 1\n", "bin/run": "#!/bin/sh\n"})
    git(root, "tag", "-a", "v1", "-m", "one")
    first = git(root, "rev-parse", "HEAD")
    write(root, {"a.py": "a = 2\n"})
    (root / "old.py").unlink()
    commit(root, "Second")
    write(root, {"a.py": "a = 3\n", "new.py": "new"})
    files = [
        file("a.py", "a = 1\n"),
        file("bin/run", "#!/bin/sh\n", language=Language.BASH),
        file("old.py", "old = 1\n"),
    ]
    for rev in ("HEAD~1", "v1", first, first[:10]):
        assert take_snapshot(root, rev=rev) == complete(root, rev, first, files, from_objects=True)
    assert [entry.blob for entry in take_snapshot(root, rev="main").files if entry.path == "a.py"] == [
        blob_id(b"a = 2\n")
    ]
    assert reads == []


@pytest.mark.parametrize("rev", ["nothing", "v9", "deadbeef", "HEAD:a.py", "HEAD~7", "HEAD^{tree}"])
def test_a_missing_revision_is_named_in_the_error(tmp_path: Path, rev: str) -> None:
    root = new_repository(tmp_path / "r", {"a.py": ""})
    with pytest.raises(NotFound) as raised:
        take_snapshot(root, rev=rev)
    assert rev in raised.value.message


@pytest.mark.parametrize("rev", ["", "--output=/tmp/x", "a\nb", "a\0b"])
def test_an_invalid_revision_is_rejected(tmp_path: Path, rev: str) -> None:
    with pytest.raises(InvalidRequest):
        take_snapshot(new_repository(tmp_path / "r", {"a.py": ""}), rev=rev)


def test_only_the_files_of_a_folder_inside_a_repository_are_listed(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a", "s/b.py": "b", "s/t/c.py": "c", "s/gone.py": "x"})
    write(root, {"s/t/c.py": "changed", "s/new.py": "n", "other.py": "o"})
    (root / "s/gone.py").unlink()
    snapshot = take_snapshot(root / "s")
    assert (snapshot.root, states(snapshot), snapshot.removed) == (
        str(root / "s"),
        {"b.py": False, "new.py": True, "t/c.py": True},
        ["gone.py"],
    )
    assert states(take_snapshot(root / "s", rev="main")) == {"b.py": False, "gone.py": False, "t/c.py": False}


def test_a_folder_that_its_repository_ignores_is_read_as_a_plain_folder(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {".gitignore": "out/\n"})
    write(root, {"out/a.py": "a"})
    snapshot = take_snapshot(root / "out")
    assert (snapshot.is_git, snapshot.commit, snapshot.files) == (False, None, [file("a.py", "a", dirty=True)])


def test_two_worktrees_with_the_same_content_have_the_same_key(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n", "b.py": "b\n"})
    git(root, "worktree", "add", "--quiet", str(tmp_path / "w"), "-b", "other")
    here, there = take_snapshot(root), take_snapshot(tmp_path / "w")
    assert (there.root, there.files) == (str(tmp_path / "w"), here.files)
    assert snapshot_key(here, {"a": 1}) == snapshot_key(there, {"a": 1}) != snapshot_key(here, {"a": 2})
    write(tmp_path / "w", {"a.py": "other\n", "c.py": "c\n"})
    (tmp_path / "w" / "b.py").unlink()
    changed = take_snapshot(tmp_path / "w")
    assert changed_paths(here, changed) == (["c.py"], ["a.py"], ["b.py"])
    assert snapshot_key(here, {}) != snapshot_key(changed, {})


def test_a_bare_repository_is_read_from_its_objects(tmp_path: Path) -> None:
    new_repository(tmp_path / "r", {"a.py": "a\n"})
    git(tmp_path, "clone", "--quiet", "--bare", "r", "bare.git")
    for root in (tmp_path / "bare.git", tmp_path / "r" / ".git"):
        snapshot = take_snapshot(root)
        assert (snapshot.from_objects, snapshot.files) == (True, [file("a.py", "a\n")])


def test_a_repository_without_commits_has_files_and_no_commit(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r")
    assert take_snapshot(root) == complete(root, "HEAD", None, [])
    write(root, {"a.py": "a", "b.py": "b"})
    git(root, "add", "a.py")
    snapshot = take_snapshot(root)
    assert (snapshot.commit, states(snapshot)) == (None, {"a.py": True, "b.py": True})
    with pytest.raises(NotFound):
        take_snapshot(root, rev="main")
    git(tmp_path, "init", "--quiet", "--bare", "empty.git")
    with pytest.raises(NotFound):
        take_snapshot(tmp_path / "empty.git")


def test_a_repository_with_sha256_ids_is_read(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n", "b.py": "b\n"}, "--object-format=sha256")
    write(root, {"b.py": "changed\n"})
    assert [(entry.blob, entry.dirty) for entry in take_snapshot(root).files] == [
        (blob_id(b"a\n", "sha256"), False),
        (blob_id(b"changed\n", "sha256"), True),
    ]
    assert [entry.blob for entry in take_snapshot(root, rev="main").files] == [
        blob_id(b"a\n", "sha256"),
        blob_id(b"b\n", "sha256"),
    ]


def test_files_of_submodules_are_listed_under_their_path(tmp_path: Path) -> None:
    new_repository(tmp_path / "inner", {"deep.py": "deep\n"})
    module = new_repository(tmp_path / "module", {"m.py": "m\n", ".gitignore": "*.log\n"})
    git(module, "submodule", "--quiet", "add", str(tmp_path / "inner"), "inner")
    commit(module, "With an inner one")
    root = new_repository(tmp_path / "r", {"a.py": "a\n"})
    git(root, "submodule", "--quiet", "add", str(module), "lib/module")
    git(root, "submodule", "--quiet", "update", "--init", "--recursive")
    commit(root, "With a module")
    expected = {
        ".gitmodules": False,
        "a.py": False,
        "lib/module/.gitignore": False,
        "lib/module/.gitmodules": False,
        "lib/module/inner/deep.py": False,
        "lib/module/m.py": False,
    }
    snapshot = take_snapshot(root)
    where = [("lib/module", str(root / "lib/module")), ("lib/module/inner", str(root / "lib/module/inner"))]
    assert (states(snapshot), snapshot.repositories) == (expected, where)
    assert states(take_snapshot(root, rev="main")) == expected
    write(root, {"lib/module/m.py": "changed\n", "lib/module/new.py": "new\n", "lib/module/x.log": "ignored"})
    assert states(take_snapshot(root)) == {**expected, "lib/module/m.py": True, "lib/module/new.py": True}
    commit(root / "lib/module", "The module moves on")
    assert states(take_snapshot(root)) == {**expected, "lib/module/m.py": True, "lib/module/new.py": True}
    shutil.rmtree(root / "lib/module")
    (root / "lib/module").mkdir()
    for rev in ("HEAD", "main"):
        assert take_snapshot(root, rev=rev).skipped == [Skipped("lib/module", "a submodule that is not checked out")]


def test_a_submodule_without_a_repository_of_its_own_is_skipped(tmp_path: Path) -> None:
    other = new_repository(tmp_path / "other", {"secret.py": "secret\n"})
    root = new_repository(tmp_path / "r", {"a.py": "a\n"})
    commit_id = git(root, "rev-parse", "HEAD")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{commit_id},lib")
    git(root, "commit", "--quiet", "-m", "A submodule")
    skipped = [Skipped("lib", "a submodule that is not checked out")]
    (root / "lib" / ".git").mkdir(parents=True)
    for rev in ("HEAD", "main"):
        assert take_snapshot(root, rev=rev).skipped == skipped
    (root / "lib" / ".git").rmdir()
    (root / "lib" / ".git").symlink_to(other / ".git")
    write(root, {"lib/secret.py": "secret\n"})
    assert take_snapshot(root).skipped == skipped
    shutil.rmtree(root / "lib")
    (root / "lib").symlink_to(other)
    assert take_snapshot(root).skipped == skipped


def test_files_outside_of_a_sparse_checkout_are_absent_but_not_removed(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a/x.py": "x", "b/y.py": "y", "z.py": "z"})
    git(root, "sparse-checkout", "set", "a")
    snapshot = take_snapshot(root)
    assert (states(snapshot), snapshot.removed) == ({"a/x.py": False, "z.py": False}, [])
    git(root, "sparse-checkout", "set", "--sparse-index", "a")
    assert states(take_snapshot(root)) == {"a/x.py": False, "z.py": False}


def test_links_are_never_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.py": "secret"})
    root = new_repository(tmp_path / "r", {"a.py": "a", "d/inner.py": "i", "e/gone.py": "g"})
    (root / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    (root / "loop").symlink_to(".")
    (root / "broken.py").symlink_to("nowhere")
    commit(root, "Links")
    (root / "untracked.py").symlink_to(tmp_path / "outside" / "secret.py")
    shutil.rmtree(root / "e")
    (root / "e").symlink_to(tmp_path / "outside")
    (tmp_path / "outside" / "gone.py").write_text("g")
    snapshot = take_snapshot(root)
    links = ["broken.py", "e", "link.py", "loop", "untracked.py"]
    assert (states(snapshot), snapshot.removed) == ({"a.py": False, "d/inner.py": False}, ["e/gone.py"])
    assert snapshot.skipped == [Skipped(path, "a symbolic link") for path in links]
    assert [path for path, _ in take_snapshot(root, rev="main").skipped] == ["broken.py", "link.py", "loop"]
    shutil.rmtree(root / ".git")
    plain = take_snapshot(root)
    assert (states(plain), plain.skipped) == ({"a.py": True, "d/inner.py": True}, snapshot.skipped)


def test_any_file_name_is_supported(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r")
    names = [b"new\nline.py", b"caf\xe9.py", b'tab\t"quoted".py', b" space.py", b"\x01.py", "straße.py".encode()]
    for name in names:
        (root / os.fsdecode(name)).write_bytes(name)
    commit(root, "Names")
    (root / os.fsdecode(b"new\n\xff.py")).write_bytes(b"untracked")
    expected = sorted([*(os.fsdecode(name) for name in names), os.fsdecode(b"new\n\xff.py")])
    assert [entry.path for entry in take_snapshot(root).files] == expected
    expected.remove(os.fsdecode(b"new\n\xff.py"))
    assert [entry.path for entry in take_snapshot(root, rev="main").files] == expected
    assert len(snapshot_key(take_snapshot(root), {})) == 64


def test_a_tree_with_a_path_outside_of_the_repository_is_not_trusted(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a"})
    blob = git(root, "rev-parse", "HEAD:a.py")
    inner = git(root, "mktree", input=f"100644 blob {blob}\tsecret.py\n".encode())
    tree = git(root, "mktree", input=f"040000 tree {inner}\t..\n100644 blob {blob}\tb.py\n".encode())
    git(root, "tag", "evil", git(root, "commit-tree", tree, "-m", "evil"))
    snapshot = take_snapshot(root, rev="evil")
    assert (states(snapshot), snapshot.skipped) == (
        {"b.py": False},
        [Skipped("../secret.py", "an invalid path")],
    )


def test_a_damaged_object_affects_only_its_file(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a" * 99, "b.py": "b" * 99, "c": "c" * 99, "d": "d" * 99})
    for path in ("a.py", "c"):
        blob = git(root, "rev-parse", f"HEAD:{path}")
        stored = root / ".git" / "objects" / blob[:2] / blob[2:]
        stored.chmod(0o600)
        stored.write_bytes(b"damaged")
    assert states(take_snapshot(root)) == {"a.py": False, "b.py": False, "c": False, "d": False}
    snapshot = take_snapshot(root, rev="main")
    assert (states(snapshot), snapshot.skipped) == (
        {"b.py": False, "d": False},
        [Skipped(path, "its git object is missing or damaged") for path in ("a.py", "c")],
    )


def test_a_damaged_commit_is_reported_with_a_hint(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a"})
    for name in ("HEAD^{tree}", "HEAD"):
        damaged = git(root, "rev-parse", name)
        stored = root / ".git" / "objects" / damaged[:2] / damaged[2:]
        stored.chmod(0o600)
        stored.write_bytes(b"")
        for rev in ("HEAD", "HEAD~0"):
            with pytest.raises((Unavailable, NotFound)) as raised:
                take_snapshot(root, rev=rev)
            assert raised.value.hint


def test_skipped_files_are_listed_with_the_reason(tmp_path: Path) -> None:
    root = new_repository(
        tmp_path / "r",
        {
            "a.py": "a",
            "large.py": b"#" * 2000,
            "data": b"\0\1\2",
            "yarn.lock": "x",
            "x.min.js": "x",
            "logo.png": "x",
            "skip/me.py": "x",
            "tool": "#!/usr/bin/env python3\n",
        },
    )
    write(root, {"node_modules/a/index.js": "x", "node_modules/b.js": "x", "big_and_new": b"#" * 2000})
    new_repository(root / "nested", {"n.py": "n"})
    os.mkfifo(root / "pipe")
    limits = IndexLimits(max_file_bytes=1000)
    expected = [
        Skipped("data", "a binary"),
        Skipped("large.py", "larger than 1,000 bytes"),
        Skipped("logo.png", "an image"),
        Skipped("skip/me.py", "excluded by the caller"),
        Skipped("x.min.js", "minified"),
        Skipped("yarn.lock", "a lock file"),
    ]
    snapshot = take_snapshot(root, limits=limits, excludes=["skip/"])
    assert states(snapshot) == {"a.py": False, "tool": False}
    assert snapshot.skipped == sorted(
        [
            *expected,
            Skipped("big_and_new", "larger than 1,000 bytes"),
            Skipped("nested", "a nested repository; index it separately"),
            Skipped("node_modules", "created by a tool"),
        ]
    )
    committed = take_snapshot(root, rev="main", limits=limits, excludes=["skip/"])
    assert (states(committed), committed.skipped) == ({"a.py": False, "tool": False}, expected)


def test_headers_have_the_language_of_most_sources(tmp_path: Path) -> None:
    write(tmp_path / "c", {"a.h": "", "a.c": "", "b.cpp": ""})
    write(tmp_path / "cpp", {"a.h": "", "a.c": "", "b.cpp": "", "c.cc": ""})
    assert [take_snapshot(tmp_path / name).files[1].language for name in ("c", "cpp")] == [Language.C, Language.CPP]


def test_files_named_in_dot_ignore_are_skipped_in_a_repository_too(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "", "s/.ignore": "gone.py\n", "s/gone.py": "", "gone.py": ""})
    expected = ["a.py", "gone.py"]
    for rev in ("HEAD", "main"):
        snapshot = take_snapshot(root, rev=rev)
        assert [entry.path for entry in snapshot.files if not entry.path.endswith(".ignore")] == expected


def test_converted_line_endings_are_not_a_change(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {".gitattributes": "*.py text eol=crlf\n", "a.py": "a\r\nb\r\n"})
    os.utime(root / "a.py", ns=(10**18, 10**18))
    assert [entry for entry in take_snapshot(root).files if entry.path == "a.py"] == [file("a.py", "a\nb\n")]
    write(root, {"a.py": "a\r\nc\r\n"})
    assert [entry for entry in take_snapshot(root).files if entry.path == "a.py"] == [
        file("a.py", "a\r\nc\r\n", dirty=True)
    ]


# -- plain folders -----------------------------------------------------------------------------------


def test_a_plain_folder_is_listed_by_its_ignore_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "p"
    write(
        root,
        {
            ".gitignore": "*.log\nout/\n",
            ".ignore": "hidden.py\n",
            "a.py": "a",
            "x.log": "x",
            "out/o.py": "o",
            "hidden.py": "h",
            "s/.gitignore": "!keep.log\nlocal.py\n",
            "s/keep.log": "k",
            "s/local.py": "l",
            "local.py": "l",
            "everywhere.bak": "e",
            "node_modules/n.js": "n",
            "repo/.git/info/exclude": "private.py\n",
            "repo/private.py": "p",
            "repo/public.py": "p",
            "skip/me.py": "x",
        },
    )
    write(tmp_path, {"config": f"[core]\nexcludesFile = {tmp_path}/everywhere\n", "everywhere": "*.bak\n"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    snapshot = take_snapshot(root, excludes=["skip/"])
    assert [entry.path for entry in snapshot.files if "ignore" not in entry.path] == [
        "a.py",
        "local.py",
        "repo/public.py",
        "s/keep.log",
    ]
    assert (snapshot.is_git, snapshot.commit, snapshot.skipped) == (
        False,
        None,
        [Skipped("node_modules", "created by a tool"), Skipped("skip", "excluded by the caller")],
    )
    with pytest.raises(InvalidRequest):
        take_snapshot(root, rev="main")


def test_an_unchanged_folder_is_not_read_again(tmp_path: Path, reads: list[str]) -> None:
    root = tmp_path / "p"
    write(root, {"a.py": "a", "b.py": "b", "c.py": "c"})
    for name in ("a.py", "b.py"):
        os.utime(root / name, ns=(10**18, 10**18))
    stat_cache = StatCache()
    first = take_snapshot(root, stat_cache=stat_cache)
    assert (reads, sorted(stat_cache.stamps)) == (["a.py", "b.py", "c.py"], ["a.py", "b.py"])
    reads.clear()
    write(root, {"b.py": "B"})
    os.utime(root / "b.py", ns=(10**18, 10**18))
    second = take_snapshot(root, stat_cache=stat_cache)
    # The file that was written just now could be rewritten without a visible change.
    assert (reads, second.files[1]) == (["b.py", "c.py"], file("b.py", "B", dirty=True))
    assert second.files[0] == first.files[0]


def test_very_deep_folders_are_skipped_with_a_reason(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 201)
    write(tmp_path / "p", {"a.py": "a"})
    here = tmp_path / "p"
    for _ in range(205):
        here /= "d"
        here.mkdir()
    snapshot = take_snapshot(tmp_path / "p")
    assert (states(snapshot), snapshot.skipped) == (
        {"a.py": True},
        [Skipped(deep, "it cannot be read (more than 200 folders deep)")],
    )


# -- limits and errors --------------------------------------------------------------------------------


def test_many_small_files_are_listed_and_too_many_are_rejected(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r")
    stream = ["commit refs/heads/main\ncommitter A <a@example.com> 1 +0000\ndata 0\n"]
    stream += [f"M 100644 inline d{number % 50}/f{number}.py\ndata 1\n{number % 10}\n" for number in range(2000)]
    git(root, "fast-import", "--quiet", input="".join(stream).encode())
    git(root, "reset", "--quiet", "--hard", "main")
    snapshot = take_snapshot(root)
    assert (len(snapshot.files), snapshot.dirty) == (2000, [])
    assert take_snapshot(root, rev="main").files == snapshot.files
    for rev in ("HEAD", "main"):
        with pytest.raises(TooLarge):
            take_snapshot(root, rev=rev, limits=IndexLimits(max_files=1999))


def test_a_snapshot_can_be_cancelled_and_times_out(tmp_path: Path) -> None:
    plain = tmp_path / "p"
    write(plain, {"a.py": "a"})
    for root in (new_repository(tmp_path / "r", {"a.py": "a"}), plain):
        with pytest.raises(Cancelled):
            take_snapshot(root, should_stop=lambda: True)
        with pytest.raises(Unavailable) as raised:
            take_snapshot(root, limits=IndexLimits(seconds=0))
        assert raised.value.message == "reading the repository took longer than 0 seconds"


def test_a_hanging_git_is_killed(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a"})
    (root / ".git" / "info" / "exclude").unlink(missing_ok=True)
    os.mkfifo(root / ".git" / "info" / "exclude")
    with pytest.raises(Unavailable):
        take_snapshot(root, limits=IndexLimits(seconds=0.5))


def test_a_path_that_is_not_a_folder_is_rejected(tmp_path: Path) -> None:
    write(tmp_path, {"file": ""})
    for path, error in (("missing", NotFound), ("file", InvalidRequest), ("a\0b", InvalidRequest)):
        with pytest.raises(error):
            take_snapshot(tmp_path / path)


def test_without_git_a_repository_is_rejected_but_a_plain_folder_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = new_repository(tmp_path / "r", {"s/a.py": "a"})
    write(tmp_path / "p", {"a.py": "a"})
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    for path in (root, root / "s"):
        with pytest.raises(Unavailable) as raised:
            take_snapshot(path)
        assert raised.value.message == "git is not installed"
    assert take_snapshot(tmp_path / "p").files == [file("a.py", "a", dirty=True)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to someone else")
def test_a_repository_of_another_user_is_rejected_with_a_hint(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a"})
    for path in (root, root / ".git"):
        os.chown(path, 54321, 54321)
    with pytest.raises(Forbidden) as raised:
        take_snapshot(root)
    assert raised.value.hint == f"if you trust it: git config --global --add safe.directory {root}"


def test_a_bare_repository_that_git_is_configured_to_refuse_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "b.git")
    write(tmp_path, {"config": "[safe]\nbareRepository = explicit\n"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    with pytest.raises(Forbidden):
        take_snapshot(tmp_path / "b.git")


def test_a_broken_configuration_is_reported_in_the_words_of_git(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a"})
    write(root, {".git/config": "[core\n"})
    with pytest.raises(Unavailable) as raised:
        take_snapshot(root)
    assert "bad config line 1" in raised.value.message


def test_a_repository_with_its_work_tree_elsewhere_shows_no_files_from_there(tmp_path: Path) -> None:
    write(tmp_path / "other", {"secret.py": "secret"})
    root = new_repository(tmp_path / "r", {"a.py": "a"})
    git(root, "config", "core.worktree", str(tmp_path / "other"))
    with pytest.raises(InvalidRequest):
        take_snapshot(root)
    assert states(take_snapshot(root, rev="main")) == {"a.py": False}
    git(root, "config", "core.worktree", str(tmp_path))
    assert "secret.py" not in str(take_snapshot(root))


def test_git_variables_in_the_environment_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = new_repository(tmp_path / "other", {"other.py": "o"})
    root = new_repository(tmp_path / "r", {"a.py": "a"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert states(take_snapshot(root)) == {"a.py": False}
