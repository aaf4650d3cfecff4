"""Export to a file whose completeness can be verified."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import anyio.to_thread

from scrubjay.core.atomic_files import publish
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import StoreUnusable, Unavailable
from scrubjay.core.progress import Reporter
from scrubjay.core.temporary_files import temporary_beside
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.formats import (
    KINDS,
    Included,
    OwnFormat,
    Totals,
    end_line,
    header_line,
    included_plans,
    memory_line,
    project_line,
)
from scrubjay.features.transfer.models import PlanKind, TransferMemory
from scrubjay.features.transfer.plan_records import plan_kind, plan_line
from scrubjay.features.transfer.source_file import ImportSource
from scrubjay.features.transfer.store import ExportSnapshot, TransferStore
from scrubjay.features.transfer.thread_progress import ThreadProgress, run_with_progress

# Lines between two checks for cancellation.
STEP = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """A file that was written and verified by reader it back."""

    path: Path
    counts: Mapping[MemoryKind, int]
    checksum: str
    """SHA-256 of all lines before the last, as stored in the last line."""
    bytes: int
    tasks: int = 0
    goals: int = 0

    def count(self, included: Included) -> int:
        return sum(count for kind, count in self.counts.items() if kind in KINDS[included])


class Exporter:
    """Writes export files."""

    def __init__(self, store: TransferStore, folders: TransferFolders, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._folders = folders
        self._clock = clock

    async def export(
        self,
        include: Collection[Included],
        given: str | None,
        reporter: Reporter,
        *,
        may_read_code: Callable[[str], bool] | None = None,
    ) -> ExportResult:
        """Write a snapshot of the store; the file gets its name only after it was read back and verified.

        Links of memories contain code: with `may_read_code`, only those to repositories for whose folder it is true
        are written.
        """
        now = self._clock()
        path = self._folders.new_file(given or f"scrubjay-{now:%Y-%m-%dT%H-%M-%S-%f}.jsonl")
        kinds = frozenset[MemoryKind]().union(*(KINDS[included] for included in include))
        temporary = temporary_beside(path)
        header = header_line(include, now)
        try:
            progress = ThreadProgress("writing memories")
            totals = await run_with_progress(
                lambda: self._store.read_snapshot(
                    kinds,
                    lambda snapshot: _write(_readable(snapshot, may_read_code), header, temporary, progress),
                    included_plans(include),
                ),
                progress,
                reporter,
            )
            count = _records(totals)
            progress = ThreadProgress("verifying the file", count)
            await run_with_progress(
                lambda: anyio.to_thread.run_sync(_verify, temporary, totals, progress), progress, reporter
            )
            size = temporary.stat().st_size
            await anyio.to_thread.run_sync(publish, temporary, path)
        except OSError as error:
            raise Unavailable(
                f"cannot write {path} ({error.strerror})", hint="choose another folder, or free some disk space"
            ) from error
        finally:
            temporary.unlink(missing_ok=True)
        return ExportResult(
            path=path,
            counts=totals.memories,
            checksum=totals.sha256,
            bytes=size,
            tasks=totals.tasks,
            goals=totals.goals,
        )


def _readable(snapshot: ExportSnapshot, may_read_code: Callable[[str], bool] | None) -> ExportSnapshot:
    """Return the snapshot without links to code that may not be read."""
    if may_read_code is None:
        return snapshot

    def without_code(transfer: TransferMemory) -> TransferMemory:
        links = tuple(link for link in transfer.memory.links if may_read_code(link.root))
        return replace(transfer, memory=replace(transfer.memory, links=links))

    return replace(snapshot, memories=map(without_code, snapshot.memories))


def _write(snapshot: ExportSnapshot, header: bytes, target: Path, progress: ThreadProgress) -> Totals:
    """Write all records and return their totals; raise `StoreUnusable` if fewer were read than counted."""
    planned = snapshot.plan_counts
    progress.total = expected = sum(snapshot.counts.values()) + sum(planned.values())
    checksum = sha256(header)
    counts: Counter[MemoryKind] = Counter()
    plans: Counter[PlanKind] = Counter()
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(header)
        for project in snapshot.projects:
            line = project_line(project)
            checksum.update(line)
            file.write(line)
        for plan in snapshot.plans:
            line = plan_line(plan)
            checksum.update(line)
            file.write(line)
            plans[plan_kind(plan)] += 1
            if plans.total() % STEP == 0:
                progress.reach(plans.total())
        for number, transfer in enumerate(snapshot.memories, start=plans.total()):
            line = memory_line(transfer)
            checksum.update(line)
            file.write(line)
            counts[transfer.memory.kind] += 1
            if number % STEP == 0:
                progress.reach(number)
        if counts != snapshot.counts or plans != Counter(planned):
            raise StoreUnusable(
                f"{counts.total() + plans.total()} of {expected} records could be read; nothing was exported",
                hint="run `scrubjay store check` to find the damage",
            )
        progress.reach(expected)
        totals = Totals(
            projects=len(snapshot.projects),
            memories=dict(counts),
            sha256=checksum.hexdigest(),
            tasks=plans["tasks"],
            goals=plans["goals"],
        )
        file.write(end_line(totals))
    return totals


def _verify(path: Path, totals: Totals, progress: ThreadProgress) -> None:
    """Read the file like an import does, and compare the totals."""
    reader = OwnFormat()
    with path.open("rb") as file:
        for number, _ in enumerate(reader.records(ImportSource(file, path.name))):
            if number % STEP == 0:
                progress.reach(number)
    progress.reach(_records(totals))
    if reader.totals != totals:
        raise Unavailable(
            "the written file does not match the exported data", hint="check the disk; nothing was exported"
        )


def _records(totals: Totals) -> int:
    return sum(totals.memories.values()) + totals.tasks + totals.goals
