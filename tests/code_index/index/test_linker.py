"""What the uses in an index's files lead to, when all of them are resolved, and when a few of them have changed."""

import errno
import io
import os
import resource
import subprocess
from collections.abc import AsyncGenerator, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import anyio
import anyio.to_thread
import pytest

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.packed_facts import facts_in
from scrubjay.code_index.facts.packing import unpacked_edges
from scrubjay.code_index.index import link_process as linking_apart
from scrubjay.code_index.index import linker as linking
from scrubjay.code_index.index.indexer import Built
from scrubjay.code_index.index.link_process import linked_apart, linking_process
from scrubjay.code_index.index.linker import Linked, Linker
from scrubjay.code_index.index.relink_scheduler import Settling
from scrubjay.code_index.models import FileEdges, FileFacts, Language, Unresolved, UseKind
from scrubjay.code_index.store import Content
from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.core.progress import SilentReporter
from tests.code_index.indexes import BOUND, Home, linker_pids, opened, whole

QUESTIONS = ("ring the bell", "press_3", "Bell.ring")
BELLS = "class Bell:\n    def ring(self):\n        return 1\n\n\ndef knock():\n    return Bell().ring()\n"


def write(root: Path) -> None:
    """More files than are all resolved anew for one of them."""
    root.mkdir()
    (root / "bells.py").write_text(BELLS)
    for number in range(linking.SOON_RESOLVED + 5):
        text = f"from bells import Bell, knock\n\n\ndef press_{number}(bell: Bell):\n    bell.ring()\n    knock()\n"
        (root / f"user{number:02}.py").write_text(text)
    (root / "notes.md").write_text("# Bells\n")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncGenerator[Home]:
    async with opened(tmp_path / "home") as found:
        yield found


async def equals_a_clean_index(home: Home, built: Built, root: Path, folder: Path) -> None:
    """Except for what tells how it came to be."""
    async with opened(folder) as clean:
        anew = await clean.build(root)
        assert await whole(home, built, QUESTIONS) == await whole(clean, anew, QUESTIONS)
        assert {**built.record.details, "unsettled": 0} == anew.record.details


async def test_a_changed_file_is_mended_and_the_index_is_as_one_that_is_made_anew(home: Home, tmp_path: Path):
    root = tmp_path / "root"
    write(root)
    first = await home.build(root)
    assert first.record.details["unsettled"] == 0
    (root / "bells.py").write_text("def sigh():\n    return knock()\n\n\n" + BELLS)
    (root / "user03.py").unlink()
    (root / "user04.py").write_text("from bells import sigh\n\nsigh(\n")
    built = await home.build(root)
    assert (built.changed, built.removed) == (["bells.py", "user04.py"], ["user03.py"])
    assert built.record.details["unsettled"] == 3
    assert built.record.details["broken"] == ["user04.py"]
    await equals_a_clean_index(home, built, root, tmp_path / "clean")


async def test_what_was_mended_is_settled_once_nothing_changes_any_more(home: Home, tmp_path: Path):
    root = tmp_path / "root"
    write(root)
    settling = Settling(home.indexer, quiet_seconds=0.0)
    first = await home.build(root)
    assert not await home.indexer.settle(first.record.id, SilentReporter())
    # What a function gives back is known to those who call it only when all is resolved together.
    (root / "bells.py").write_text(BELLS + "\n\ndef made():\n    return Bell()\n")
    (root / "user05.py").write_text("from bells import made\n\nmade().ring()\n")
    await home.build(root)
    (root / "bells.py").write_text(BELLS + "\n\ndef made():\n    return Other()\n\n\nclass Other(Bell): ...\n")
    built = await home.build(root)
    assert built.record.details["unsettled"] == 3
    record = built.record
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(settling.keep)
            while record.details["unsettled"]:
                await anyio.sleep(0.01)
                record = await home.store.index(built.record.id) or record
            tasks.cancel_scope.cancel()
    assert record.generation == built.record.generation + 1
    await equals_a_clean_index(home, Built(record, built.snapshot), root, tmp_path / "clean")
    assert not await home.indexer.settle(built.record.id, SilentReporter())
    assert not await home.indexer.settle("idx_none", SilentReporter())
    assert (await home.build(root)).record == record


async def test_a_commit_that_changes_no_content_resolves_nothing(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "root"
    write(root)

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=root, check=True)

    git("init", "--quiet")
    first = await home.build(root)
    git("add", ".")
    git("commit", "--quiet", "--message", "all")
    monkeypatch.setattr("scrubjay.code_index.graph.resolver.resolve", None)
    monkeypatch.setattr("scrubjay.code_index.graph.incremental.resolve", None)
    second = await home.build(root)
    assert (second.record.generation, len(second.changed)) == (2, len(first.changed))
    kept = ("symbols", "edges", "unresolved", "unsettled")
    assert [second.record.details[name] for name in kept] == [first.record.details[name] for name in kept]


@pytest.mark.parametrize("most", ["MOST_MENDED", "MOST_UNSETTLED"])
async def test_when_much_has_changed_everything_is_resolved(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str
):
    monkeypatch.setattr(linking, most, 1)
    root = tmp_path / "root"
    write(root)
    await home.build(root)
    for name in ("bells.py", "user01.py"):
        (root / name).write_text((root / name).read_text() + "\n\ndef more(): ...\n")
    built = await home.build(root)
    assert built.record.details["unsettled"] == 0


# -- in a process of its own -----------------------------------------------------------------------


async def test_a_process_of_its_own_comes_to_the_same(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "root"
    write(root)
    built = await home.build(root)
    contents = {file.path: file.content for file in await home.store.files(built.record.id)}
    contents["unread.py"] = Content("0" * 40, contents["bells.py"].language)
    here = await Linker(home.store).all_linked(contents)
    monkeypatch.setattr(linking, "FEW_FILES", 1)
    apart = await Linker(home.store).all_linked(contents)
    assert apart.details == here.details
    assert {path: own for path, own in apart.edges.items() if path != "unread.py"} == here.edges
    assert apart.edges["unread.py"].edges == b""


async def test_the_process_is_gone_when_nobody_waits_for_it(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    told = tmp_path / "pid"
    os.mkfifo(told)
    program = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    monkeypatch.setattr(linking_apart, "PROGRAM", ("-c", program))
    pid = 0
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(linked_apart, {"a.py": Content("b", Language.PYTHON)}, partial(_batches, home), 10**9)
            pid = int(await anyio.to_thread.run_sync(told.read_text))
            tasks.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


class Stopping:
    """A reporter that notes who resolves uses while files are read, and then stops the work."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if message.startswith("read"):
            self.seen |= linker_pids()
            raise Cancelled("asked to stop")


async def test_it_starts_while_files_are_read_and_is_gone_when_reading_is_stopped(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root, stopping = tmp_path / "root", Stopping()
    write(root)
    monkeypatch.setattr(linking, "FEW_FILES", 1)
    with pytest.raises(Cancelled):
        await home.build(root, reporter=stopping)
    assert (len(stopping.seen), linker_pids()) == (1, set())


async def test_it_is_gone_when_reading_fails(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    seen: list[set[int]] = []

    async def failing(*_: object) -> None:
        seen.append(linker_pids())
        raise Unavailable("the disk is full")

    root = tmp_path / "root"
    write(root)
    monkeypatch.setattr(linking, "FEW_FILES", 1)
    monkeypatch.setattr(home.store, "keep", failing)
    with pytest.raises(Unavailable):
        await home.build(root)
    assert ([len(pids) for pids in seen], linker_pids()) == ([1], set())


async def test_one_that_is_ready_is_the_only_one_and_few_changes_start_none(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    started: list[object] = []
    start = anyio.open_process

    async def counted(command: list[str], **options: Any) -> Any:
        started.append(command)
        return await start(command, **options)

    root = tmp_path / "root"
    write(root)
    monkeypatch.setattr(linking, "FEW_FILES", 1)
    monkeypatch.setattr(anyio, "open_process", counted)
    await home.build(root)
    assert (len(started), linker_pids()) == (1, set())
    (root / "bells.py").write_text(BELLS + "\n\ndef more(): ...\n")
    built = await home.build(root)
    assert (built.changed, len(started)) == (["bells.py"], 1)
    await home.build(root)
    assert len(started) == 1
    monkeypatch.setattr(linking, "MOST_MENDED", 0)
    (root / "bells.py").unlink()
    built = await home.build(root)
    assert (built.removed, len(started)) == (["bells.py"], 2)
    await equals_a_clean_index(home, built, root, tmp_path / "clean")


async def test_a_process_that_ends_early_is_told_as_such(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(linking_apart, "PROGRAM", ("-c", "raise SystemExit(3)"))
    with pytest.raises(Unavailable, match=r"failed \(3\)"):
        await linked_apart({"a.py": Content("b", Language.PYTHON)}, partial(_batches, home), 10**9)


async def test_where_it_takes_too_much_memory_the_index_says_so_and_does_without(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "root"
    write(root)
    (root / "broken.py").write_text("def (\n")
    monkeypatch.setattr(linking, "FEW_FILES", 1)
    home.indexer.graph_bytes = 8_000_000
    built = await home.build(root)
    details = built.record.details
    assert details["graph_problem"].startswith("finding what each use means took more than 8 MB")
    assert (details["symbols"], details["edges"], details["unsettled"]) == (3 + linking.SOON_RESOLVED + 6, 0, 0)
    assert details["broken"] == ["broken.py"]
    assert await home.found(built, "press_3") != []
    (root / "user01.py").write_text("from bells import knock\n\nknock()\n")
    again = await home.build(root)
    assert again.record.details["graph_problem"] == details["graph_problem"]
    assert not await home.indexer.settle(again.record.id, SilentReporter())
    home.indexer.graph_bytes = 4_000_000_000
    monkeypatch.setattr(linking, "MOST_MENDED", 0)
    (root / "broken.py").unlink()
    last = await home.build(root)
    assert "graph_problem" not in last.record.details
    await equals_a_clean_index(home, last, root, tmp_path / "clean")


async def _batches(home: Home, told: Collection[Content]) -> AsyncGenerator[dict[Content, bytes]]:
    yield dict(await home.store.digests(VERSION, []))


async def _told_by_two(home: Home, contents: Mapping[str, Content], room: int) -> tuple[Linked, list[Content]]:
    """What is told when so many contents are told early; and the contents that are told when it is asked."""
    late: list[Content] = []

    async def batches(told: Collection[Content]) -> AsyncGenerator[Mapping[Content, bytes]]:
        known = await home.store.digests(VERSION, [one for one in contents.values() if one not in told])
        late.extend(known)
        yield known

    async with linking_process(4_000_000_000) as ready:
        for content, digest in (await home.store.digests(VERSION, [*contents.values()])).items():
            if len(ready.told) == room:
                # As on a disk that is full: the beginning of it is written.
                ready._early = cast(IO[bytes], _Full(ready._early))  # pyright: ignore[reportPrivateUsage]
            ready.tell({content: facts_in(digest)})
        edges, counts = await linked_apart(contents, batches, 4_000_000_000, ready)
    return Linked(edges, {**counts.as_data(), "unsettled": 0}), late


class _Full:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, content: bytes) -> int:
        self._file.write(content[: len(content) // 2])
        self._file.flush()
        raise OSError(errno.ENOSPC, "no space left")


async def test_a_file_that_there_was_no_room_for_is_closed_without_a_word() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        async with linking_process(4_000_000_000) as ready:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
            ready.tell({Content("1", Language.PYTHON): bytes(5_000)})
            assert (ready.told, ready.batches) == (set(), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_what_two_processes_tell_is_what_one_tells_whenever_they_are_told(home: Home, tmp_path: Path):
    root = tmp_path / "root"
    write(root)
    (root / "broken.py").write_text("def half(:\n")
    built = await home.build(root)
    contents = {file.path: file.content for file in await home.store.files(built.record.id)}
    here = await Linker(home.store).all_linked(contents)
    assert await _told_by_two(home, contents, len(contents)) == (here, [])
    for room in (3, 0):
        found, late = await _told_by_two(home, contents, room)
        assert (found, len(late)) == (here, len(contents) - room)


@pytest.mark.parametrize("fails", [False, True])
def test_when_one_half_cannot_be_told_by_another_process_it_is_told_by_this_one(fails: bool):
    parent, paths = os.getpid(), ["a.py", "b.py", "c.py", "d.py"]
    facts = {path: FileFacts(Language.PYTHON, 1) for path in paths}
    told_here: list[str] = []

    def edges_of(path: str) -> FileEdges:
        if os.getpid() != parent and fails:
            raise MemoryError
        told_here.append(path)
        return FileEdges([], [Unresolved(-1, path, UseKind.CALL, 1)], [])

    answers = io.BytesIO()
    linking_apart._answer_in_halves(linking_apart._Telling(paths, facts, edges_of), 2, answers)  # pyright: ignore[reportPrivateUsage]
    wanted = [part for path in paths for part in (linking_apart.kept_edges(edges_of(path)).edges, b"[]")]
    frames = [len(part).to_bytes(8, "little") + part for part in wanted]
    assert answers.getvalue().startswith(b"".join(frames))
    assert b'"unresolved":4' in answers.getvalue()
    assert told_here[: -len(paths)] == (paths if fails else paths[:2])


BELL = {
    "tsconfig.json": (
        '{"compilerOptions": {"paths": {"bell": ["./%s/bell"]}}}',
        "bell.ts",
        "export function ring() {}\n",
    ),
    "package.json": (
        '{"name": "house", "imports": {"#bell": "./%s/bell.ts"}}',
        "bell.ts",
        "export function ring() {}\n",
    ),
    "go.mod": ("module x.org/house\n\nreplace x.org/bell => ./%s\n", "bell.go", "package bell\n\nfunc Ring() {}\n"),
    "Cargo.toml": ('[package]\nname = "house"\n[lib]\npath = "%s/bell.rs"\n', "bell.rs", "pub fn ring() {}\n"),
}
USERS = {
    "tsconfig.json": ("user.ts", 'import { ring } from "bell";\nring();\n'),
    "package.json": ("user.ts", 'import { ring } from "#bell";\nring();\n'),
    "go.mod": ("user.go", 'package house\n\nimport "x.org/bell"\n\nfunc press() { bell.Ring() }\n'),
    "Cargo.toml": ("src/main.rs", "fn main() { house::ring() }\n"),
}


async def used_by(home: Home, built: Built, path: str) -> set[str]:
    (packed,) = (await home.store.edges(built.record.id, [path])).values()
    return {edge.path for edge in unpacked_edges(packed).edges}


@pytest.mark.parametrize("manifest", [*BELL])
async def test_a_manifest_that_means_other_files_is_heeded_by_all_who_are_not_changed(
    home: Home, tmp_path: Path, manifest: str
):
    root = tmp_path / "root"
    write(root)
    text, name, bell = BELL[manifest]
    for folder in ("old", "new"):
        (root / folder).mkdir()
        (root / folder / name).write_text(bell)
    user, using = USERS[manifest]
    (root / user).parent.mkdir(exist_ok=True)
    (root / user).write_text(using)
    (root / manifest).write_text(text % "old")
    first = await home.build(root)
    assert await used_by(home, first, user) == {f"old/{name}"}
    (root / manifest).write_text(text % "new")
    built = await home.build(root)
    assert (built.changed, built.record.details["unsettled"]) == ([manifest], 0)
    assert await used_by(home, built, user) == {f"new/{name}"}
    await equals_a_clean_index(home, built, root, tmp_path / "clean")


async def test_a_manifest_that_means_the_same_files_as_before_is_mended_like_any_file(home: Home, tmp_path: Path):
    root = tmp_path / "root"
    write(root)
    (root / "package.json").write_text('{"name": "house", "version": "1"}')
    await home.build(root)
    (root / "package.json").write_text('{"name": "house", "version": "2"}')
    built = await home.build(root)
    assert (built.changed, built.record.details["unsettled"]) == (["package.json"], 1)
