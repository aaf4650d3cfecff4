"""File operations under one root, and attempts to escape from it. Numbers are rows of the feature table."""

import os
import socket
import stat
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    Misconfigured,
    NotFound,
    ScrubjayError,
    TooLarge,
)
from scrubjay.features.workspace.files.atomic_write import replace_file
from scrubjay.features.workspace.files.root import Root, choose_root
from scrubjay.features.workspace.files.service import FileService

Edit = Callable[[FileService], Awaitable[Any]]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def all_paths_in(folder: Path) -> list[str]:
    return sorted(str(place) for place in folder.rglob("*"))


def contents_of(folder: Path) -> dict[str, bytes]:
    return {str(place): place.read_bytes() for place in folder.rglob("*") if place.is_file()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root, next to folders that must not be reachable."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    (tmp_path / "root2").mkdir()
    (tmp_path / "root2" / "neighbour.txt").write_text("neighbour")
    root = tmp_path.resolve() / "root"
    (root / "folder").mkdir(parents=True)
    (root / "notes.txt").write_text("one\ntwo\nthree\n")
    (root / "folder" / "deep.py").write_text("def deep():\n    return 1\n")
    return root


@pytest.fixture
def files(root: Path) -> FileService:
    return FileService(Root(str(root), max_file_bytes=1_000_000))


async def test_27_a_file_is_read_by_a_relative_or_absolute_path(files: FileService, root: Path) -> None:
    assert await files.read("notes.txt") == "one\ntwo\nthree\n"
    assert await files.read(str(root / "notes.txt")) == "one\ntwo\nthree\n"
    assert await files.read("folder/../notes.txt") == "one\ntwo\nthree\n"


async def test_27_lines_count_from_one_and_a_final_newline_is_not_a_line(files: FileService) -> None:
    assert await files.read_lines("notes.txt", 1, -1) == ["one", "two", "three"]
    assert await files.read_lines("notes.txt", 2, 2) == ["two"]
    assert await files.read_lines("notes.txt", 2, 99) == ["two", "three"]
    assert await files.read_lines("notes.txt", 4, -1) == []


EDITS: list[tuple[str, Edit, str]] = [
    ("one\ntwo\n", lambda files: files.insert("f", 0, "zero"), "zero\none\ntwo\n"),
    ("one\ntwo\n", lambda files: files.insert("f", 2, "three\nfour\n"), "one\ntwo\nthree\nfour\n"),
    ("one\ntwo", lambda files: files.insert("f", 2, "three"), "one\ntwo\nthree"),
    ("", lambda files: files.insert("f", 0, "first"), "first\n"),
    ("one\r\ntwo\r\n", lambda files: files.insert("f", 1, "new"), "one\r\nnew\r\ntwo\r\n"),
    ("one\ntwo\nthree\n", lambda files: files.replace_lines("f", 2, 3, "2\n3\n4"), "one\n2\n3\n4\n"),
    ("one\ntwo\nthree", lambda files: files.replace_lines("f", 2, 2, None), "one\nthree"),
    ("one\n", lambda files: files.replace_lines("f", 1, 1, None), ""),
    ("a b a", lambda files: files.replace_string("f", "a", "x"), "x b a"),
    ("old", lambda files: files.write("f", "new", append=False), "new"),
    ("old", lambda files: files.write("f", "new", append=True), "oldnew"),
]


@pytest.mark.parametrize(("before", "edit", "after"), EDITS)
async def test_27_an_edit_changes_only_its_lines_and_keeps_the_mode(
    files: FileService, root: Path, before: str, edit: Edit, after: str
) -> None:
    (root / "f").write_bytes(before.encode())
    (root / "f").chmod(0o640)
    await edit(files)
    assert (root / "f").read_bytes() == after.encode()
    assert stat.S_IMODE((root / "f").stat().st_mode) == 0o640
    assert names_in(root) == ["f", "folder", "notes.txt"]


INVALID_EDITS: list[Edit] = [
    lambda files: files.insert("notes.txt", 4, "x"),
    lambda files: files.replace_lines("notes.txt", 3, 4, "x"),
    lambda files: files.replace_lines("notes.txt", 3, 2, "x"),
    lambda files: files.replace_string("notes.txt", "four", "x"),
]


@pytest.mark.parametrize("edit", INVALID_EDITS)
async def test_27_an_edit_of_missing_lines_or_text_changes_nothing(files: FileService, root: Path, edit: Edit) -> None:
    with pytest.raises((InvalidRequest, NotFound)):
        await edit(files)
    assert (root / "notes.txt").read_text() == "one\ntwo\nthree\n"


async def test_27_writing_creates_missing_folders(files: FileService, root: Path) -> None:
    await files.write("a/b/c.txt", "ünï", append=False)
    assert (root / "a/b/c.txt").read_text("utf-8") == "ünï"
    await files.create_directory("x/y/z")
    await files.create_directory("x/y/z")
    assert (root / "x/y/z").is_dir()


async def test_27_move_never_overwrites_and_does_not_follow_links(files: FileService, root: Path) -> None:
    await files.move("notes.txt", "new/place.txt")
    assert (root / "new/place.txt").read_text() == "one\ntwo\nthree\n"
    (root / "other.txt").write_text("other")
    with pytest.raises(Conflict):
        await files.move("other.txt", "new/place.txt")
    with pytest.raises(InvalidRequest):
        await files.move("new", "new/inside")
    with pytest.raises(InvalidRequest):
        await files.move(".", "elsewhere")
    with pytest.raises(NotFound):
        await files.move("nothing", "created/for/nothing")
    assert not (root / "created").exists()
    (root / "link").symlink_to("other.txt")
    await files.move("link", "moved")
    assert (root / "moved").is_symlink()
    assert (root / "other.txt").read_text() == "other"


@pytest.fixture
def protected(root: Path) -> FileService:
    """A root with files that configure the server or git, under their names and through links."""
    for path, text in {
        "config/real.env.txt": "A=1\n",
        "plain/.env": "",
        "config/toml.txt": "",
        "sub/other.txt": "",
        "skills.json": "",
        "deep/x/skills.json": "",
        "repo.git/HEAD": "",
        "repo.git/hooks/post-update": "",
        "notgit/HEAD": "text",
        "bare/HEAD": "",
        "bare/refs/heads/main": "",
        "bare/objects/info/packs": "",
        "bare/config": "",
        "free.txt": "",
        "sub/inner/value.txt": "",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / ".env").symlink_to("config/real.env.txt")
    (root / "scrubjay.toml").symlink_to(root / "config" / "toml.txt")
    (root / "sub" / ".env").symlink_to("other.txt")
    (root / "to-env").symlink_to(".env")
    (root / "sub" / ".git").symlink_to("inner")
    names = frozenset({"scrubjay.toml", ".env", "skills.json"})
    return FileService(Root(str(root), read_only_names=names, max_file_bytes=1_000_000))


PROTECTED_PATHS = (
    *(".env", "./.env", "folder/../.env", ".ENV", "to-env", "config/real.env.txt", "sub/.ENV", "sub/other.txt"),
    *("plain/.env", "scrubjay.toml", "Scrubjay.TOML", "config/toml.txt", "skills.json", "deep/x/skills.json"),
    *("repo.git/hooks/post-update", "repo.git/hooks/new", "repo.GIT/hooks/post-update", "repo.git", "new.git/config"),
    *("bare/hooks/post-update", "bare/config", "bare/objects/info/alternates", "bare", "sub/.git/value.txt"),
    *("sub/inner/value.txt", "sub/inner/new.txt", ".git/config", "folder/.GIT/hooks/x"),
    # The long s is an s to file systems that ignore case.
    *("\u017fcrubjay.toml", "folder/\u017fkills.json"),
)


@pytest.mark.parametrize("path", PROTECTED_PATHS)
async def test_27_files_that_configure_the_server_or_git_are_not_changed_by_any_path(
    protected: FileService, root: Path, path: str
) -> None:
    before = contents_of(root)
    for given in (path, str(root / path)):
        changes = [
            protected.write(given, "x", append=False),
            protected.write(given, "x", append=True),
            protected.insert(given, 0, "x"),
            protected.replace_lines(given, 1, 1, "x"),
            protected.replace_string(given, "A", "B"),
            protected.move(given, "moved"),
            protected.move("free.txt", given),
            protected.create_directory(f"{given}/new"),
        ]
        for change in changes:
            with pytest.raises(Forbidden):
                await change
    assert contents_of(root) == before


@pytest.mark.parametrize(
    "path", ["notgit/HEAD", "notgit/hooks/x", "config/other.txt", "sub/new.txt", "git/x", "a.gitx/y"]
)
async def test_27_ordinary_files_beside_them_are_changed(protected: FileService, root: Path, path: str) -> None:
    await protected.write(path, "x", append=False)
    assert (root / path).read_text() == "x"


async def test_27_a_bare_repository_is_not_made_by_parts(protected: FileService, root: Path) -> None:
    """Its configuration could name programs that git runs."""
    await protected.write("made/config", "[core]\nfsmonitor = touch /tmp/x\n", append=False)
    await protected.create_directory("made/objects")
    await protected.create_directory("made/refs")
    with pytest.raises(Forbidden, match="git"):
        await protected.write("made/HEAD", "ref: refs/heads/main\n", append=False)
    with pytest.raises(Forbidden, match="git"):
        await protected.move("free.txt", "made/HEAD")
    await protected.write("other/HEAD", "x", append=False)
    await protected.create_directory("other/refs")
    with pytest.raises(Forbidden, match="git"):
        await protected.create_directory("other/objects/info")
    with pytest.raises(Forbidden, match="git"):
        await protected.write("other/objects", "x", append=False)
    # git takes the objects, references and configuration from the folder that `commondir` names.
    await protected.write("third/HEAD", "ref: refs/heads/main\n", append=False)
    with pytest.raises(Forbidden, match="git"):
        await protected.write("third/commondir", "../made\n", append=False)
    with pytest.raises(Forbidden, match="git"):
        await protected.move("free.txt", "third/CommonDir")
    await protected.write("fourth/commondir", "../made\n", append=False)
    with pytest.raises(Forbidden, match="git"):
        await protected.write("fourth/HEAD", "ref: refs/heads/main\n", append=False)


async def test_27_the_store_and_secrets_are_hidden_in_every_spelling(root: Path) -> None:
    files = FileService(Root(str(root), hidden=(("Store", "Data"), ("caf\u00e9",)), max_file_bytes=1_000))
    for path in (
        "store/data/x",
        "STORE/data",
        "Caf\u00e9/x",
        "cafe\u0301/x",
        ".ssh/id",
        "folder/.AWS/credentials",
        ".\u017fsh/id",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("secret words")
        for call in (files.read(path), files.write(path, "x", append=False), files.move(path, "moved")):
            with pytest.raises(Forbidden):
                await call
    assert (await files.search(".", "secret words")).matches == []
    shown = [entry.path for entry in (await files.list_directory(".", 5))[0]]
    assert shown == (await files.ls("."))[0]
    assert {"folder", "notes.txt"} <= {*shown} <= {"folder", "notes.txt", "STORE", "store"}


async def test_27_folders_are_listed_with_their_entries(files: FileService, root: Path) -> None:
    (root / "link").symlink_to("/etc")
    assert await files.ls(".") == (["folder", "link", "notes.txt"], False)
    entries, truncated = await files.list_directory(".", 2)
    assert not truncated
    assert [(entry.name, entry.type, entry.path) for entry in entries] == [
        ("folder", "dir", "folder"),
        ("link", "link", "link"),
        ("notes.txt", "file", "notes.txt"),
    ]
    assert [child.path for child in entries[0].children or []] == ["folder/deep.py"]
    assert (await files.list_directory(".", 1))[0][0].children is None


async def test_27_a_long_listing_is_marked_as_truncated(files: FileService, root: Path) -> None:
    for number in range(5_100):
        (root / "folder" / f"{number:04}").touch()
    entries, truncated = await files.list_directory(".", 5)
    assert truncated
    assert len(entries[0].children or []) < 5_100


async def test_27_get_info_returns_the_metadata_of_a_file(files: FileService, root: Path) -> None:
    info = await files.get_info("notes.txt")
    assert (info.path, info.size, info.type, info.line_count) == ("notes.txt", 14, "regular", 3)
    assert (info.is_file, info.is_directory, info.access) == (True, False, "read_write")
    assert (await files.get_info(".")).type == "directory"
    (root / "binary").write_bytes(b"\0\1")
    assert (await files.get_info("binary")).line_count is None


async def test_27_search_finds_lines_in_a_file_and_in_a_folder(files: FileService, root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("return\n")
    (root / "binary").write_bytes(b"return\0")
    found = await files.search(".", r"ret\w+|^two$")
    assert found.matches == [
        {"file": "notes.txt", "line": 2, "content": "two"},
        {"file": "folder/deep.py", "line": 2, "content": "    return 1"},
    ]
    assert not found.truncated
    assert len((await files.search("notes.txt", "o")).matches) == 2


async def test_27_a_search_returns_at_most_a_hundred_lines(files: FileService, root: Path) -> None:
    (root / "many.txt").write_text("line\n" * 150)
    found = await files.search("many.txt", "line")
    assert (len(found.matches), found.truncated) == (100, True)


async def test_27_a_search_that_takes_too_long_is_stopped(root: Path) -> None:
    (root / "evil.txt").write_text("a" * 40 + "!\n")
    (root / "before.txt").write_text("aaa\n")
    quick = FileService(Root(str(root)), search_seconds=2.0)
    with anyio.fail_after(20):
        found = await quick.search(".", r"^(a+)+$")
    assert (found.timed_out, found.truncated) == (True, True)
    assert found.matches == [{"file": "before.txt", "line": 1, "content": "aaa"}]


async def test_27_an_invalid_regular_expression_is_refused(files: FileService) -> None:
    with pytest.raises(InvalidRequest, match="regular expression"):
        await files.search(".", "(")


async def test_27_each_of_several_files_has_its_own_error(files: FileService) -> None:
    read = await files.read_multiple(["notes.txt", "nothing", "../outside/secret.txt", "folder"])
    assert [one.content is not None for one in read] == [True, False, False, False]
    assert [bool(one.error) for one in read] == [False, True, True, True]


# -- escaping the root -------------------------------------------------------------------------------------------

OUTSIDE_PATHS = [
    "../outside/secret.txt",
    "folder/../../outside/secret.txt",
    "../root2/neighbour.txt",
    "/etc/passwd",
    "/proc/self/environ",
    "link/secret.txt",
    "file_link",
    "folder/chain",
    "..",
    "//etc/passwd",
]


@pytest.fixture
def links(root: Path) -> None:
    (root / "link").symlink_to("../outside")
    (root / "file_link").symlink_to(root.parent / "outside" / "secret.txt")
    (root / "folder" / "chain").symlink_to("../file_link")


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("path", OUTSIDE_PATHS)
async def test_18_no_path_escapes_the_root(files: FileService, root: Path, path: str) -> None:
    before = all_paths_in(root.parent)
    for request in (
        files.read(path),
        files.read_lines(path, 1, -1),
        files.search(path, "."),
        files.write(path, "owned", append=False),
        files.write(path, "owned", append=True),
        files.insert(path, 0, "owned"),
        files.replace_lines(path, 1, 1, "owned"),
        files.replace_string(path, "secret", "owned"),
        files.create_directory(f"{path}/new"),
        files.move("notes.txt", path),
    ):
        with pytest.raises(ScrubjayError):
            await request
    for request in (files.ls(path), files.list_directory(path, 2), files.get_info(path)):
        with pytest.raises((Forbidden, InvalidRequest, NotFound)):
            await request
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"
    assert all_paths_in(root.parent) == before


async def test_18_a_sibling_folder_whose_name_starts_like_the_root_is_outside(files: FileService, root: Path) -> None:
    with pytest.raises(Forbidden) as refused:
        await files.read(str(root.parent / "root2" / "neighbour.txt"))
    assert refused.value.details == {"reason": "path_traversal_attempt"}


async def test_18_a_link_to_itself_is_listed_and_cannot_be_followed(files: FileService, root: Path) -> None:
    (root / "loop").symlink_to("loop")
    assert (await files.get_info("loop")).type == "symlink"
    for request in (files.read("loop"), files.ls("loop"), files.write("loop", "x", append=False)):
        with pytest.raises(ScrubjayError):
            await request


async def test_18_a_link_to_a_target_inside_the_root_is_followed(files: FileService, root: Path) -> None:
    (root / "inside").symlink_to("folder")
    assert await files.read("inside/deep.py") == "def deep():\n    return 1\n"
    (root / "absolute").symlink_to(root / "notes.txt")
    await files.write("absolute", "through the link", append=False)
    assert (root / "absolute").is_symlink()
    assert (root / "notes.txt").read_text() == "through the link"


async def test_18_swapping_a_folder_for_a_link_during_a_read_does_not_escape_the_root(
    files: FileService, root: Path
) -> None:
    """A thread swaps a folder and a link to the outside as fast as possible."""
    (root / "swap").mkdir()
    (root / "swap" / "secret.txt").write_text("harmless")
    (root / "evil").symlink_to(root.parent / "outside")
    stopped = threading.Event()

    def swap() -> None:
        while not stopped.is_set():
            (root / "swap").rename(root / "aside")
            (root / "evil").rename(root / "swap")
            (root / "swap").rename(root / "evil")
            (root / "aside").rename(root / "swap")

    swapping = threading.Thread(target=swap)
    swapping.start()
    read: list[str] = []
    try:
        for _ in range(300):
            try:
                read.append(await files.read("swap/secret.txt"))
            except ScrubjayError:
                continue
            try:
                await files.replace_string("swap/secret.txt", "harmless", "harmless")
            except ScrubjayError:
                continue
    finally:
        stopped.set()
        swapping.join()
    assert set(read) <= {"harmless"}
    assert names_in(root.parent / "outside") == ["secret.txt"]
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"


async def test_18_a_pipe_socket_or_folder_is_refused_without_blocking(files: FileService, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
        with anyio.fail_after(5):
            for name in ("pipe", "socket", "folder"):
                with pytest.raises(ScrubjayError):
                    await files.read(name)
                with pytest.raises(ScrubjayError):
                    await files.write(name, "x", append=True)
                with pytest.raises(ScrubjayError):
                    await files.write(name, "x", append=False)
            assert (await files.get_info("pipe")).type == "other"
            assert (await files.search(".", "secret")).matches == []


async def test_19_a_too_large_or_binary_file_is_refused(root: Path) -> None:
    files = FileService(Root(str(root), max_file_bytes=100))
    (root / "large").write_text("x" * 101)
    (root / "sparse").touch()
    os.truncate(root / "sparse", 10**12)
    (root / "binary").write_bytes(b"text\0")
    (root / "latin").write_bytes("ü".encode("latin-1"))
    for name in ("large", "sparse"):
        with pytest.raises(TooLarge):
            await files.read(name)
        with pytest.raises(TooLarge):
            await files.write(name, "x", append=True)
    for name in ("binary", "latin"):
        with pytest.raises(InvalidRequest) as refused:
            await files.read(name)
        assert refused.value.details == {"reason": "binary_file"}
    with pytest.raises(TooLarge):
        await files.write("notes.txt", "x" * 101, append=False)
    assert (root / "notes.txt").read_text() == "one\ntwo\nthree\n"
    assert not [name for name in names_in(root) if name.endswith(".tmp")]


@pytest.mark.parametrize("path", ["a\0b", "x" * 5_000, "a/" * 300 + "b", "n" * 300])
async def test_19_invalid_paths_are_refused(files: FileService, path: str) -> None:
    with pytest.raises(InvalidRequest):
        await files.write(path, "x", append=False)


async def test_19_unusual_file_names_work(files: FileService, root: Path) -> None:
    for name in ("new\nline", "-rf", "~", "$HOME", "ü", "a;b", "…"):
        await files.write(name, "x", append=False)
        assert await files.read(name) == "x"
    (root / os.fsdecode(b"\xff\xfe")).write_text("x")
    names, _ = await files.ls(".")
    assert "\n".join(names).encode("utf-8")
    assert (await files.search(".", "x")).matches


async def test_18_files_of_git_and_of_the_store_are_protected(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    (root / "home").mkdir()
    (root / "home" / "scrubjay.db").write_text("memories")
    (root / ".env").write_text("SCRUBJAY_TERMINAL_UNRESTRICTED=false\n")
    files = FileService(
        Root(str(root), hidden=(("home",),), read_only=(("skills.json",),), read_only_names=frozenset({".env"}))
    )
    assert await files.read(".git/config") == "[core]\n"
    for path in (
        ".git/config",
        ".git/hooks/pre-commit",
        "folder/.GIT/config",
        ".env",
        "folder/.ENV",
        "home/new",
        "skills.json",
    ):
        with pytest.raises(Forbidden):
            await files.write(path, "[alias]", append=False)
    for request in (
        files.move("notes.txt", ".git/hooks/pre-commit"),
        files.move(".env", "x"),
        files.move(".git", "x"),
        files.move("notes.txt", "a/.env"),
    ):
        with pytest.raises(Forbidden):
            await request
    for request in (files.read("home/scrubjay.db"), files.ls("home"), files.search("home", "m")):
        with pytest.raises(Forbidden):
            await request
    assert "home" not in (await files.ls("."))[0]
    assert (await files.search(".", "memories")).matches == []
    assert [entry.name for entry in (await files.list_directory(".", 3))[0]] == [".env", ".git", "folder", "notes.txt"]


async def test_51_a_file_changed_by_another_process_is_not_overwritten(root: Path) -> None:
    base = Root(str(root))
    before = base.status(("notes.txt",))
    (root / "notes.txt").write_text("changed by an editor")
    with pytest.raises(Conflict):
        replace_file(base, ("notes.txt",), b"ours", before)
    with pytest.raises(FileExistsError):
        replace_file(base, ("notes.txt",), b"ours", None)
    assert (root / "notes.txt").read_text() == "changed by an editor"
    assert names_in(root) == ["folder", "notes.txt"]


async def test_51_concurrent_edits_are_all_kept(files: FileService, root: Path) -> None:
    (root / "log").write_text("")
    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(files.insert, "log", 0, f"line {number}")
    assert sorted((root / "log").read_text().splitlines()) == sorted(f"line {number}" for number in range(50))


def test_27_the_root_is_only_the_whole_file_system_if_configured(tmp_path: Path) -> None:
    assert choose_root(None, str(tmp_path)) == os.path.realpath(tmp_path)
    assert choose_root("/", str(tmp_path)) == "/"
    with pytest.raises(Misconfigured):
        choose_root(None, "/")
    with pytest.raises(Misconfigured):
        choose_root(str(tmp_path / "nothing"), "/")
