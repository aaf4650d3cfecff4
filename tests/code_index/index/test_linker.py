"""Uses are linked to definitions, for all files and incrementally for changed ones."""

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
from scrubjay.code_index.facts.packed_facts import extract_facts
from scrubjay.code_index.facts.packing import unpack_edges
from scrubjay.code_index.index import link_process, linker
from scrubjay.code_index.index.indexer import BuildResult
from scrubjay.code_index.index.link_process import link_in_process, start_link_process
from scrubjay.code_index.index.linker import LinkResult, RepositoryLinker
from scrubjay.code_index.index.relink_scheduler import FullRelinkScheduler
from scrubjay.code_index.models import FileEdges, FileFacts, Language, Unresolved, UseKind
from scrubjay.code_index.store import Content
from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.core.progress import SilentReporter
from tests.code_index.indexes import BOUND, Home, index_contents, linker_pids, opened

QUESTIONS = ("ring the bell", "press_3", "Bell.ring")
BELLS = "class Bell:\n    def ring(self):\n        return 1\n\n\ndef knock():\n    return Bell().ring()\n"


def write(root: Path) -> None:
    """Write more files than are always relinked as a whole."""
    root.mkdir()
    (root / "bells.py").write_text(BELLS)
    for number in range(linker.SMALL_REPOSITORY + 5):
        text = f"from bells import Bell, knock\n\n\ndef press_{number}(bell: Bell):\n    bell.ring()\n    knock()\n"
        (root / f"user{number:02}.py").write_text(text)
    (root / "notes.md").write_text("# Bells\n")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncGenerator[Home]:
    async with opened(tmp_path / "home") as home:
        yield home


async def assert_equals_clean_index(home: Home, built: BuildResult, root: Path, folder: Path) -> None:
    """Check that the index equals one that is built from scratch, except for the number of pending relinks."""
    async with opened(folder) as clean:
        rebuilt = await clean.build(root)
        assert await index_contents(home, built, QUESTIONS) == await index_contents(clean, rebuilt, QUESTIONS)
        assert {**built.record.details, "unsettled": 0} == rebuilt.record.details


async def test_an_incremental_link_gives_the_same_index_as_a_clean_build(home: Home, tmp_path: Path):
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
    await assert_equals_clean_index(home, built, root, tmp_path / "clean")


async def test_a_full_relink_follows_once_nothing_changes(home: Home, tmp_path: Path):
    root = tmp_path / "root"
    write(root)
    scheduler = FullRelinkScheduler(home.indexer, minimum_interval=0.0)
    first = await home.build(root)
    assert not await home.indexer.relink(first.record.id, SilentReporter())
    # The return type of a function reaches its callers only when everything is resolved together.
    (root / "bells.py").write_text(BELLS + "\n\ndef new_bell():\n    return Bell()\n")
    (root / "user05.py").write_text("from bells import new_bell\n\nnew_bell().ring()\n")
    await home.build(root)
    (root / "bells.py").write_text(BELLS + "\n\ndef new_bell():\n    return Other()\n\n\nclass Other(Bell): ...\n")
    built = await home.build(root)
    assert built.record.details["unsettled"] == 3
    record = built.record
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(scheduler.run)
            while record.details["unsettled"]:
                await anyio.sleep(0.01)
                record = await home.store.index(built.record.id) or record
            tasks.cancel_scope.cancel()
    assert record.generation == built.record.generation + 1
    await assert_equals_clean_index(home, BuildResult(record, built.snapshot), root, tmp_path / "clean")
    assert not await home.indexer.relink(built.record.id, SilentReporter())
    assert not await home.indexer.relink("idx_none", SilentReporter())
    assert (await home.build(root)).record == record


async def test_a_commit_that_changes_no_content_links_nothing(
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
    names = ("symbols", "edges", "unresolved", "unsettled")
    assert [second.record.details[name] for name in names] == [first.record.details[name] for name in names]


@pytest.mark.parametrize("limit", ["MAX_INCREMENTAL", "MAX_PENDING_RELINK"])
async def test_many_changes_lead_to_a_full_link(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
):
    monkeypatch.setattr(linker, limit, 1)
    root = tmp_path / "root"
    write(root)
    await home.build(root)
    for name in ("bells.py", "user01.py"):
        (root / name).write_text((root / name).read_text() + "\n\ndef more(): ...\n")
    built = await home.build(root)
    assert built.record.details["unsettled"] == 0


# -- the link process ------------------------------------------------------------------------------


async def test_the_link_process_gives_the_same_edges(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "root"
    write(root)
    built = await home.build(root)
    contents = {file.path: file.content for file in await home.store.files(built.record.id)}
    contents["unread.py"] = Content("0" * 40, contents["bells.py"].language)
    here = await RepositoryLinker(home.store).link_all(contents)
    monkeypatch.setattr(linker, "FEW_FILES", 1)
    in_process = await RepositoryLinker(home.store).link_all(contents)
    assert in_process.details == here.details
    assert {path: own for path, own in in_process.edges.items() if path != "unread.py"} == here.edges
    assert in_process.edges["unread.py"].edges == b""


async def test_cancelling_ends_the_link_process(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    pid_file = tmp_path / "pid"
    os.mkfifo(pid_file)
    program = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    monkeypatch.setattr(link_process, "PROGRAM", ("-c", program))
    pid = 0
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(link_in_process, {"a.py": Content("b", Language.PYTHON)}, partial(_batches, home), 10**9)
            pid = int(await anyio.to_thread.run_sync(pid_file.read_text))
            tasks.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


class CancelWhileReading:
    """A reporter that records the link processes while files are read, and then cancels the work."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if message.startswith("read"):
            self.seen |= linker_pids()
            raise Cancelled("stop requested")


async def test_the_link_process_starts_while_files_are_read_and_ends_on_cancellation(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root, stopping = tmp_path / "root", CancelWhileReading()
    write(root)
    monkeypatch.setattr(linker, "FEW_FILES", 1)
    with pytest.raises(Cancelled):
        await home.build(root, reporter=stopping)
    assert (len(stopping.seen), linker_pids()) == (1, set())


async def test_the_link_process_ends_when_reading_fails(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    seen: list[set[int]] = []

    async def failing(*_: object) -> None:
        seen.append(linker_pids())
        raise Unavailable("the disk is full")

    root = tmp_path / "root"
    write(root)
    monkeypatch.setattr(linker, "FEW_FILES", 1)
    monkeypatch.setattr(home.store, "put_digests", failing)
    with pytest.raises(Unavailable):
        await home.build(root)
    assert ([len(pids) for pids in seen], linker_pids()) == ([1], set())


async def test_a_prepared_link_process_is_used_and_few_changes_start_none(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    started: list[object] = []
    start = link_process.Worker

    def counting_start(arguments: list[str], **options: Any) -> Any:
        started.append(arguments)
        return start(arguments, **options)

    root = tmp_path / "root"
    write(root)
    monkeypatch.setattr(linker, "FEW_FILES", 1)
    monkeypatch.setattr(link_process, "Worker", counting_start)
    await home.build(root)
    assert (len(started), linker_pids()) == (1, set())
    (root / "bells.py").write_text(BELLS + "\n\ndef more(): ...\n")
    built = await home.build(root)
    assert (built.changed, len(started)) == (["bells.py"], 1)
    await home.build(root)
    assert len(started) == 1
    monkeypatch.setattr(linker, "MAX_INCREMENTAL", 0)
    (root / "bells.py").unlink()
    built = await home.build(root)
    assert (built.removed, len(started)) == (["bells.py"], 2)
    await assert_equals_clean_index(home, built, root, tmp_path / "clean")


async def test_an_early_exit_of_the_link_process_is_reported(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(link_process, "PROGRAM", ("-c", "raise SystemExit(3)"))
    with pytest.raises(Unavailable, match=r"failed \(3\)"):
        await link_in_process({"a.py": Content("b", Language.PYTHON)}, partial(_batches, home), 10**9)


async def test_above_the_memory_limit_the_index_has_no_graph_and_reports_it(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "root"
    write(root)
    (root / "broken.py").write_text("def (\n")
    monkeypatch.setattr(linker, "FEW_FILES", 1)
    home.indexer.graph_bytes = 8_000_000
    built = await home.build(root)
    details = built.record.details
    assert details["graph_problem"].startswith("linking took more than 8 MB")
    assert (details["symbols"], details["edges"], details["unsettled"]) == (3 + linker.SMALL_REPOSITORY + 6, 0, 0)
    assert details["broken"] == ["broken.py"]
    assert await home.found(built, "press_3") != []
    (root / "user01.py").write_text("from bells import knock\n\nknock()\n")
    again = await home.build(root)
    assert again.record.details["graph_problem"] == details["graph_problem"]
    assert not await home.indexer.relink(again.record.id, SilentReporter())
    home.indexer.graph_bytes = 4_000_000_000
    monkeypatch.setattr(linker, "MAX_INCREMENTAL", 0)
    (root / "broken.py").unlink()
    last = await home.build(root)
    assert "graph_problem" not in last.record.details
    await assert_equals_clean_index(home, last, root, tmp_path / "clean")


async def _batches(home: Home, excluded: Collection[Content]) -> AsyncGenerator[dict[Content, bytes]]:
    yield dict(await home.store.digests(VERSION, []))


async def _link_with_facts_ahead(
    home: Home, contents: Mapping[str, Content], room: int
) -> tuple[LinkResult, list[Content]]:
    """Link with this many contents sent ahead; return the result, and the contents sent with the request."""
    late: list[Content] = []

    async def batches(sent: Collection[Content]) -> AsyncGenerator[Mapping[Content, bytes]]:
        known = await home.store.digests(VERSION, [content for content in contents.values() if content not in sent])
        late.extend(known)
        yield known

    async with start_link_process(4_000_000_000) as ready:
        for content, digest in (await home.store.digests(VERSION, [*contents.values()])).items():
            if len(ready.sent) == room:
                # As on a full disk: only the first half is written.
                ready._early = cast(IO[bytes], _FullDisk(ready._early))  # pyright: ignore[reportPrivateUsage]
            ready.send_ahead({content: extract_facts(digest)})
        edges, counts = await link_in_process(contents, batches, 4_000_000_000, ready)
    return LinkResult(edges, {**counts.as_data(), "unsettled": 0}), late


class _FullDisk:
    """A file whose writes all fail half-way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, content: bytes) -> int:
        self._file.write(content[: len(content) // 2])
        self._file.flush()
        raise OSError(errno.ENOSPC, "no space left")


async def test_a_full_disk_while_sending_ahead_is_handled() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        async with start_link_process(4_000_000_000) as ready:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
            ready.send_ahead({Content("1", Language.PYTHON): bytes(5_000)})
            assert (ready.sent, ready.batches) == (set(), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_the_result_does_not_depend_on_how_many_facts_are_sent_ahead(home: Home, tmp_path: Path):
    root = tmp_path / "root"
    write(root)
    (root / "broken.py").write_text("def half(:\n")
    built = await home.build(root)
    contents = {file.path: file.content for file in await home.store.files(built.record.id)}
    here = await RepositoryLinker(home.store).link_all(contents)
    assert await _link_with_facts_ahead(home, contents, len(contents)) == (here, [])
    for room in (3, 0):
        result, late = await _link_with_facts_ahead(home, contents, room)
        assert (result, len(late)) == (here, len(contents) - room)


@pytest.mark.parametrize("fails", [False, True])
def test_when_the_forked_child_fails_the_parent_writes_its_half(fails: bool):
    parent, paths = os.getpid(), ["a.py", "b.py", "c.py", "d.py"]
    facts = {path: FileFacts(Language.PYTHON, 1) for path in paths}
    written_by_parent: list[str] = []

    def edges_of(path: str) -> FileEdges:
        if os.getpid() != parent and fails:
            raise MemoryError
        written_by_parent.append(path)
        return FileEdges([], [Unresolved(-1, path, UseKind.CALL, 1)], [])

    output = io.BytesIO()
    link_process._answer_in_halves(link_process._EdgeWriter(paths, facts, edges_of), 2, output)  # pyright: ignore[reportPrivateUsage]
    expected = [part for path in paths for part in (link_process.pack_edges(edges_of(path)).edges, b"[]")]
    frames = [len(part).to_bytes(8, "little") + part for part in expected]
    assert output.getvalue().startswith(b"".join(frames))
    assert b'"unresolved":4' in output.getvalue()
    assert written_by_parent[: -len(paths)] == (paths if fails else paths[:2])


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


async def used_by(home: Home, built: BuildResult, path: str) -> set[str]:
    (packed,) = (await home.store.edges(built.record.id, [path])).values()
    return {edge.path for edge in unpack_edges(packed).edges}


@pytest.mark.parametrize("manifest", [*BELL])
async def test_a_manifest_that_changes_import_targets_relinks_unchanged_files(
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
    await assert_equals_clean_index(home, built, root, tmp_path / "clean")


async def test_a_manifest_with_the_same_import_targets_is_linked_incrementally(home: Home, tmp_path: Path):
    root = tmp_path / "root"
    write(root)
    (root / "package.json").write_text('{"name": "house", "version": "1"}')
    await home.build(root)
    (root / "package.json").write_text('{"name": "house", "version": "2"}')
    built = await home.build(root)
    assert (built.changed, built.record.details["unsettled"]) == (["package.json"], 1)
