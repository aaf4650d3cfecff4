"""An export is whole under its name, or not there at all."""

import json
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, Conflict, StoreUnusable, Unavailable
from scrubjay.core.progress import SilentReporter
from scrubjay.features.memory.models import Kind
from scrubjay.features.transfer import exporter as exporting
from scrubjay.features.transfer.exporter import Exporter
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.formats import OwnFormat
from scrubjay.features.transfer.models import Moved, PlanSort
from scrubjay.features.transfer.source_file import SourceFile
from scrubjay.features.transfer.store import Outgoing
from tests.contracts.samples import write
from tests.features.transfer.files import NOW
from tests.features.transfer.test_thread_progress import Notebook

T = TypeVar("T")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "home")
    await store.memories.put([*(write(f"memory {number}") for number in range(5)), write("sum", kind=Kind.SUMMARY)])
    yield store
    await store.close()


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "home" / "backups"


@pytest.fixture
def exporter(store: SqliteStore, backups: Path) -> Exporter:
    return Exporter(store.transfer, TransferFolders(backups), clock=lambda: NOW)


def files_in(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


async def test_101_the_file_holds_all_of_what_is_included_and_only_its_owner_can_read_it(
    exporter: Exporter, backups: Path
) -> None:
    notebook = Notebook()
    done = await exporter.export(["memories", "summaries"], None, notebook)
    assert done.path == backups / "scrubjay-2026-03-01T12-00-00-000000.jsonl"
    assert (done.counts, done.count("memories"), done.count("summaries")) == (
        {Kind.GENERAL: 5, Kind.SUMMARY: 1},
        5,
        1,
    )
    assert (done.path.stat().st_mode & 0o777, done.path.stat().st_size) == (0o600, done.bytes)
    with done.path.open("rb") as file:
        contents = [one.moved.memory.content for one in OwnFormat().arrivals(SourceFile(file, "x"))]
    assert contents == [*(f"memory {number}" for number in range(5)), "sum"]
    assert json.loads(done.path.read_bytes().splitlines()[-1])["end"]["sha256"] == done.checksum
    assert list(files_in(backups)) == [done.path.name]
    assert (notebook.noted[-1].done, notebook.noted[-1].total) == (6, 6)


async def test_101_only_what_is_asked_for_is_in_the_file(exporter: Exporter) -> None:
    done = await exporter.export(["summaries"], "s.jsonl", SilentReporter())
    header, _, end = map(json.loads, done.path.read_bytes().splitlines())
    assert (header["include"], end["end"]["memories"]) == (["summaries"], {"summary": 1})


async def test_101_an_existing_file_is_never_overwritten(exporter: Exporter, backups: Path) -> None:
    await exporter.export(["summaries"], "other", SilentReporter())
    (backups / "mine").write_text("mine")
    with pytest.raises(Conflict):
        await exporter.export(["memories"], "mine", SilentReporter())
    assert (backups / "mine").read_text() == "mine"


async def test_101_a_file_that_appears_meanwhile_is_not_overwritten_either(
    exporter: Exporter, backups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify = exporting._verify  # pyright: ignore[reportPrivateUsage]

    def while_somebody_else_writes(*arguments: object) -> None:
        verify(*arguments)  # pyright: ignore[reportArgumentType]
        (backups / "mine").write_text("mine")

    monkeypatch.setattr(exporting, "_verify", while_somebody_else_writes)
    with pytest.raises(Conflict):
        await exporter.export(["memories"], "mine", SilentReporter())
    assert files_in(backups) == {"mine": "mine"}


async def test_101_an_export_that_is_stopped_leaves_nothing(exporter: Exporter, backups: Path) -> None:
    with pytest.raises(Cancelled):
        await exporter.export(["memories"], None, Notebook(enough=0))
    assert files_in(backups) == {}


async def test_101_a_store_that_gives_less_than_it_has_fails_loudly(store: SqliteStore, backups: Path) -> None:
    class Forgetful:
        """Loses the last memory on the way."""

        async def move_out(
            self, kinds: Collection[Kind], work: Callable[[Outgoing], T], plans: Collection[PlanSort]
        ) -> T:
            def less(outgoing: Outgoing) -> Iterator[Moved]:
                yield from list(outgoing.memories)[:-1]

            return await store.transfer.move_out(
                kinds, lambda outgoing: work(replace(outgoing, memories=less(outgoing)))
            )

    exporter = Exporter(Forgetful(), TransferFolders(backups))  # pyright: ignore[reportArgumentType]
    with pytest.raises(StoreUnusable, match="5 of 6 records could be read; nothing was exported"):
        await exporter.export(["memories", "summaries"], None, SilentReporter())
    assert files_in(backups) == {}


async def test_101_what_cannot_be_read_back_is_not_published(
    exporter: Exporter, backups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = exporting._write  # pyright: ignore[reportPrivateUsage]

    def on_a_bad_disk(outgoing: Outgoing, header: bytes, target: Path, tally: exporting.Tally) -> object:
        totals = original(outgoing, header, target, tally)
        data = target.read_bytes()
        target.write_bytes(data.replace(b"memory 3", b"memory 4"))
        return totals

    monkeypatch.setattr(exporting, "_write", on_a_bad_disk)
    with pytest.raises(Exception, match="checksum"):
        await exporter.export(["memories"], None, SilentReporter())
    assert files_in(backups) == {}


async def test_101_a_disk_that_is_full_is_told(
    exporter: Exporter, backups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "_write", full)
    with pytest.raises(Unavailable, match="No space left on device"):
        await exporter.export(["memories"], None, SilentReporter())
    assert files_in(backups) == {}
