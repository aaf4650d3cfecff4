"""Exports: a file is complete and verified, or it does not exist."""

import json
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, Conflict, StoreUnusable, Unavailable
from scrubjay.core.progress import SilentReporter
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.transfer import exporter as exporting
from scrubjay.features.transfer.exporter import Exporter
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.formats import OwnFormat
from scrubjay.features.transfer.models import PlanKind, TransferMemory
from scrubjay.features.transfer.source_file import ImportSource
from scrubjay.features.transfer.store import ExportSnapshot
from tests.contracts.samples import write
from tests.features.transfer.files import NOW
from tests.features.transfer.test_thread_progress import RecordingReporter

T = TypeVar("T")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "home")
    await store.memories.put(
        [*(write(f"memory {number}") for number in range(5)), write("sum", kind=MemoryKind.SUMMARY)]
    )
    yield store
    await store.close()


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "home" / "backups"


@pytest.fixture
def exporter(store: SqliteStore, backups: Path) -> Exporter:
    return Exporter(store.transfer, TransferFolders(backups), clock=lambda: NOW)


def read_files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


async def test_101_the_file_contains_everything_included_and_is_private(exporter: Exporter, backups: Path) -> None:
    reporter = RecordingReporter()
    done = await exporter.export(["memories", "summaries"], None, reporter)
    assert done.path == backups / "scrubjay-2026-03-01T12-00-00-000000.jsonl"
    assert (done.counts, done.count("memories"), done.count("summaries")) == (
        {MemoryKind.GENERAL: 5, MemoryKind.SUMMARY: 1},
        5,
        1,
    )
    assert (done.path.stat().st_mode & 0o777, done.path.stat().st_size) == (0o600, done.bytes)
    with done.path.open("rb") as file:
        contents = [one.transfer.memory.content for one in OwnFormat().records(ImportSource(file, "x"))]
    assert contents == [*(f"memory {number}" for number in range(5)), "sum"]
    assert json.loads(done.path.read_bytes().splitlines()[-1])["end"]["sha256"] == done.checksum
    assert list(read_files(backups)) == [done.path.name]
    assert (reporter.reports[-1].done, reporter.reports[-1].total) == (6, 6)


async def test_101_only_requested_records_are_in_the_file(exporter: Exporter) -> None:
    done = await exporter.export(["summaries"], "s.jsonl", SilentReporter())
    header, _, end = map(json.loads, done.path.read_bytes().splitlines())
    assert (header["include"], end["end"]["memories"]) == (["summaries"], {"summary": 1})


async def test_101_an_existing_file_is_never_overwritten(exporter: Exporter, backups: Path) -> None:
    await exporter.export(["summaries"], "other", SilentReporter())
    (backups / "mine").write_text("mine")
    with pytest.raises(Conflict):
        await exporter.export(["memories"], "mine", SilentReporter())
    assert (backups / "mine").read_text() == "mine"


async def test_101_a_file_that_appears_during_the_export_is_not_overwritten(
    exporter: Exporter, backups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify = exporting._verify  # pyright: ignore[reportPrivateUsage]

    def verify_and_create_target(*arguments: object) -> None:
        verify(*arguments)  # pyright: ignore[reportArgumentType]
        (backups / "mine").write_text("mine")

    monkeypatch.setattr(exporting, "_verify", verify_and_create_target)
    with pytest.raises(Conflict):
        await exporter.export(["memories"], "mine", SilentReporter())
    assert read_files(backups) == {"mine": "mine"}


async def test_101_a_cancelled_export_leaves_no_file(exporter: Exporter, backups: Path) -> None:
    with pytest.raises(Cancelled):
        await exporter.export(["memories"], None, RecordingReporter(cancel_at=0))
    assert read_files(backups) == {}


async def test_101_a_store_that_returns_too_few_records_fails_the_export(store: SqliteStore, backups: Path) -> None:
    class LosingStore:
        """Omits the last memory of a snapshot."""

        async def read_snapshot(
            self, kinds: Collection[MemoryKind], work: Callable[[ExportSnapshot], T], plans: Collection[PlanKind]
        ) -> T:
            def without_last(outgoing: ExportSnapshot) -> Iterator[TransferMemory]:
                yield from list(outgoing.memories)[:-1]

            return await store.transfer.read_snapshot(
                kinds, lambda outgoing: work(replace(outgoing, memories=without_last(outgoing)))
            )

    exporter = Exporter(LosingStore(), TransferFolders(backups))  # pyright: ignore[reportArgumentType]
    with pytest.raises(StoreUnusable, match="5 of 6 records could be read; nothing was exported"):
        await exporter.export(["memories", "summaries"], None, SilentReporter())
    assert read_files(backups) == {}


async def test_101_a_file_that_cannot_be_verified_is_not_published(
    exporter: Exporter, backups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = exporting._write  # pyright: ignore[reportPrivateUsage]

    def write_and_corrupt(
        outgoing: ExportSnapshot, header: bytes, target: Path, tally: exporting.ThreadProgress
    ) -> object:
        totals = original(outgoing, header, target, tally)
        data = target.read_bytes()
        target.write_bytes(data.replace(b"memory 3", b"memory 4"))
        return totals

    monkeypatch.setattr(exporting, "_write", write_and_corrupt)
    with pytest.raises(Exception, match="checksum"):
        await exporter.export(["memories"], None, SilentReporter())
    assert read_files(backups) == {}


async def test_101_a_full_disk_is_reported(exporter: Exporter, backups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "_write", full)
    with pytest.raises(Unavailable, match="No space left on device"):
        await exporter.export(["memories"], None, SilentReporter())
    assert read_files(backups) == {}
