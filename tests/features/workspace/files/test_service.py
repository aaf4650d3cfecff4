"""Files under one root: every operation, and every way out of it. Numbers are rows of the feature table."""

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
from scrubjay.features.workspace.files.atomic_write import replace
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.files.service import FileService, root_of

Edit = Callable[[FileService], Awaitable[Any]]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def everything_in(folder: Path) -> list[str]:
    return sorted(str(place) for place in folder.rglob("*"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with something beside it that nobody may reach."""
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


async def test_27_a_file_is_read_by_a_path_from_the_root_or_an_absolute_one(files: FileService, root: Path) -> None:
    assert await files.read("notes.txt") == "one\ntwo\nthree\n"
    assert await files.read(str(root / "notes.txt")) == "one\ntwo\nthree\n"
    assert await files.read("folder/../notes.txt") == "one\ntwo\nthree\n"


async def test_27_lines_are_counted_from_one_and_a_last_newline_is_no_line(files: FileService) -> None:
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
    ("old", lambda files: files.write("f", "new", appends=False), "new"),
    ("old", lambda files: files.write("f", "new", appends=True), "oldnew"),
]


@pytest.mark.parametrize(("before", "edit", "after"), EDITS)
async def test_27_an_edit_changes_what_it_says_and_nothing_else(
    files: FileService, root: Path, before: str, edit: Edit, after: str
) -> None:
    (root / "f").write_bytes(before.encode())
    (root / "f").chmod(0o640)
    await edit(files)
    assert (root / "f").read_bytes() == after.encode()
    assert stat.S_IMODE((root / "f").stat().st_mode) == 0o640
    assert names_in(root) == ["f", "folder", "notes.txt"]


IN_VAIN: list[Edit] = [
    lambda files: files.insert("notes.txt", 4, "x"),
    lambda files: files.replace_lines("notes.txt", 3, 4, "x"),
    lambda files: files.replace_lines("notes.txt", 3, 2, "x"),
    lambda files: files.replace_string("notes.txt", "four", "x"),
]


@pytest.mark.parametrize("edit", IN_VAIN)
async def test_27_an_edit_of_what_is_not_there_changes_nothing(files: FileService, root: Path, edit: Edit) -> None:
    with pytest.raises((InvalidRequest, NotFound)):
        await edit(files)
    assert (root / "notes.txt").read_text() == "one\ntwo\nthree\n"


async def test_27_writing_makes_the_folders_that_are_missing(files: FileService, root: Path) -> None:
    await files.write("a/b/c.txt", "ünï", appends=False)
    assert (root / "a/b/c.txt").read_text("utf-8") == "ünï"
    await files.create_directory("x/y/z")
    await files.create_directory("x/y/z")
    assert (root / "x/y/z").is_dir()


async def test_27_moving_overwrites_nothing_and_takes_links_for_themselves(files: FileService, root: Path) -> None:
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
        await files.move("nothing", "made/for/nothing")
    assert not (root / "made").exists()
    (root / "link").symlink_to("other.txt")
    await files.move("link", "moved")
    assert (root / "moved").is_symlink()
    assert (root / "other.txt").read_text() == "other"


async def test_27_folders_are_listed_with_what_is_in_them(files: FileService, root: Path) -> None:
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


async def test_27_a_list_that_would_be_endless_says_that_it_is_not_whole(files: FileService, root: Path) -> None:
    for number in range(5_100):
        (root / "folder" / f"{number:04}").touch()
    entries, truncated = await files.list_directory(".", 5)
    assert truncated
    assert len(entries[0].children or []) < 5_100


async def test_27_what_is_known_of_a_file_is_told(files: FileService, root: Path) -> None:
    info = await files.get_info("notes.txt")
    assert (info.path, info.size, info.type, info.line_count) == ("notes.txt", 14, "regular", 3)
    assert (info.is_file, info.is_directory, info.access) == (True, False, "read_write")
    assert (await files.get_info(".")).type == "directory"
    (root / "binary").write_bytes(b"\0\1")
    assert (await files.get_info("binary")).line_count is None


async def test_27_lines_are_found_in_a_file_and_in_a_folder(files: FileService, root: Path) -> None:
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


async def test_27_a_search_tells_no_more_than_a_hundred_lines(files: FileService, root: Path) -> None:
    (root / "many.txt").write_text("line\n" * 150)
    found = await files.search("many.txt", "line")
    assert (len(found.matches), found.truncated) == (100, True)


async def test_27_an_expression_that_takes_for_ever_is_ended(root: Path) -> None:
    (root / "evil.txt").write_text("a" * 40 + "!\n")
    (root / "before.txt").write_text("aaa\n")
    quick = FileService(Root(str(root)), search_seconds=2.0)
    with anyio.fail_after(20):
        found = await quick.search(".", r"^(a+)+$")
    assert (found.timed_out, found.truncated) == (True, True)
    assert found.matches == [{"file": "before.txt", "line": 1, "content": "aaa"}]


async def test_27_what_is_no_expression_is_refused(files: FileService) -> None:
    with pytest.raises(InvalidRequest, match="regular expression"):
        await files.search(".", "(")


async def test_27_of_several_files_each_says_why_it_is_not_read(files: FileService) -> None:
    read = await files.read_multiple(["notes.txt", "nothing", "../outside/secret.txt", "folder"])
    assert [one.content is not None for one in read] == [True, False, False, False]
    assert [bool(one.error) for one in read] == [False, True, True, True]


# -- ways out --------------------------------------------------------------------------------------------

WAYS_OUT = [
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
@pytest.mark.parametrize("path", WAYS_OUT)
async def test_18_no_path_leads_out_of_the_root(files: FileService, root: Path, path: str) -> None:
    before = everything_in(root.parent)
    for attempt in (
        files.read(path),
        files.read_lines(path, 1, -1),
        files.search(path, "."),
        files.write(path, "owned", appends=False),
        files.write(path, "owned", appends=True),
        files.insert(path, 0, "owned"),
        files.replace_lines(path, 1, 1, "owned"),
        files.replace_string(path, "secret", "owned"),
        files.create_directory(f"{path}/new"),
        files.move("notes.txt", path),
    ):
        with pytest.raises(ScrubjayError):
            await attempt
    for attempt in (files.ls(path), files.list_directory(path, 2), files.get_info(path)):
        with pytest.raises((Forbidden, InvalidRequest, NotFound)):
            await attempt
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"
    assert everything_in(root.parent) == before


async def test_18_a_neighbour_whose_name_begins_like_the_roots_is_outside(files: FileService, root: Path) -> None:
    with pytest.raises(Forbidden) as refused:
        await files.read(str(root.parent / "root2" / "neighbour.txt"))
    assert refused.value.details == {"reason": "path_traversal_attempt"}


async def test_18_a_link_to_itself_is_told_and_leads_nowhere(files: FileService, root: Path) -> None:
    (root / "loop").symlink_to("loop")
    assert (await files.get_info("loop")).type == "symlink"
    for attempt in (files.read("loop"), files.ls("loop"), files.write("loop", "x", appends=False)):
        with pytest.raises(ScrubjayError):
            await attempt


async def test_18_a_link_that_stays_inside_is_followed(files: FileService, root: Path) -> None:
    (root / "inside").symlink_to("folder")
    assert await files.read("inside/deep.py") == "def deep():\n    return 1\n"
    (root / "absolute").symlink_to(root / "notes.txt")
    await files.write("absolute", "through the link", appends=False)
    assert (root / "absolute").is_symlink()
    assert (root / "notes.txt").read_text() == "through the link"


async def test_18_whoever_swaps_a_folder_for_a_link_while_it_is_read_gains_nothing(
    files: FileService, root: Path
) -> None:
    """A folder and a link out of the root take each other's place as fast as they can."""
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


async def test_18_what_is_no_plain_file_is_neither_read_nor_waited_for(files: FileService, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
        with anyio.fail_after(5):
            for name in ("pipe", "socket", "folder"):
                with pytest.raises(ScrubjayError):
                    await files.read(name)
                with pytest.raises(ScrubjayError):
                    await files.write(name, "x", appends=True)
                with pytest.raises(ScrubjayError):
                    await files.write(name, "x", appends=False)
            assert (await files.get_info("pipe")).type == "other"
            assert (await files.search(".", "secret")).matches == []


async def test_19_what_is_too_large_or_no_text_is_refused(root: Path) -> None:
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
            await files.write(name, "x", appends=True)
    for name in ("binary", "latin"):
        with pytest.raises(InvalidRequest) as refused:
            await files.read(name)
        assert refused.value.details == {"reason": "binary_file"}
    with pytest.raises(TooLarge):
        await files.write("notes.txt", "x" * 101, appends=False)
    assert (root / "notes.txt").read_text() == "one\ntwo\nthree\n"
    assert not [name for name in names_in(root) if name.endswith(".tmp")]


@pytest.mark.parametrize("path", ["a\0b", "x" * 5_000, "a/" * 300 + "b", "n" * 300])
async def test_19_paths_that_are_none_are_refused(files: FileService, path: str) -> None:
    with pytest.raises(InvalidRequest):
        await files.write(path, "x", appends=False)


async def test_19_strange_names_are_names(files: FileService, root: Path) -> None:
    for name in ("new\nline", "-rf", "~", "$HOME", "ü", "a;b", "…"):
        await files.write(name, "x", appends=False)
        assert await files.read(name) == "x"
    (root / os.fsdecode(b"\xff\xfe")).write_text("x")
    names, _ = await files.ls(".")
    assert "\n".join(names).encode("utf-8")
    assert (await files.search(".", "x")).matches


async def test_18_gits_own_files_and_the_stores_are_not_for_callers(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    (root / "home").mkdir()
    (root / "home" / "scrubjay.db").write_text("memories")
    (root / ".env").write_text("SCRUBJAY_TERMINAL_UNRESTRICTED=false\n")
    files = FileService(
        Root(str(root), kept_out=(("home",),), kept_as_is=(("skills.json",),), kept_names=frozenset({".env"}))
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
            await files.write(path, "[alias]", appends=False)
    for attempt in (
        files.move("notes.txt", ".git/hooks/pre-commit"),
        files.move(".env", "x"),
        files.move(".git", "x"),
        files.move("notes.txt", "a/.env"),
    ):
        with pytest.raises(Forbidden):
            await attempt
    for attempt in (files.read("home/scrubjay.db"), files.ls("home"), files.search("home", "m")):
        with pytest.raises(Forbidden):
            await attempt
    assert "home" not in (await files.ls("."))[0]
    assert (await files.search(".", "memories")).matches == []
    assert [entry.name for entry in (await files.list_directory(".", 3))[0]] == [".env", ".git", "folder", "notes.txt"]


async def test_51_a_file_that_somebody_else_changed_meanwhile_is_not_overwritten(root: Path) -> None:
    place = Root(str(root))
    before = place.status(("notes.txt",))
    (root / "notes.txt").write_text("changed by an editor")
    with pytest.raises(Conflict):
        replace(place, ("notes.txt",), b"ours", before)
    with pytest.raises(FileExistsError):
        replace(place, ("notes.txt",), b"ours", None)
    assert (root / "notes.txt").read_text() == "changed by an editor"
    assert names_in(root) == ["folder", "notes.txt"]


async def test_51_many_edits_at_once_lose_none(files: FileService, root: Path) -> None:
    (root / "log").write_text("")
    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(files.insert, "log", 0, f"line {number}")
    assert sorted((root / "log").read_text().splitlines()) == sorted(f"line {number}" for number in range(50))


def test_27_the_root_is_never_everything_unless_that_was_chosen(tmp_path: Path) -> None:
    assert root_of(None, str(tmp_path)) == os.path.realpath(tmp_path)
    assert root_of("/", str(tmp_path)) == "/"
    with pytest.raises(Misconfigured):
        root_of(None, "/")
    with pytest.raises(Misconfigured):
        root_of(str(tmp_path / "nothing"), "/")
