"""Writing memories into a file that proves itself whole."""

import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import anyio.to_thread

from scrubjay.core.atomic_files import publish, temporary_beside
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import StoreUnusable, Unavailable
from scrubjay.core.progress import Reporter
from scrubjay.features.memory.models import Kind
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.formats import (
    KINDS,
    Included,
    OwnFormat,
    Totals,
    end_line,
    header_line,
    memory_line,
    plans_in,
    project_line,
)
from scrubjay.features.transfer.models import PlanSort
from scrubjay.features.transfer.plan_records import plan_line, sort_of
from scrubjay.features.transfer.source_file import SourceFile
from scrubjay.features.transfer.store import Outgoing, TransferStore
from scrubjay.features.transfer.thread_progress import Tally, watched

# How many lines are written or read between looks at whether to stop.
STEP = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A file that was written, read back and found whole."""

    path: Path
    counts: Mapping[Kind, int]
    checksum: str
    """The SHA-256 of all lines before the last, as that line has it."""
    bytes: int
    tasks: int = 0
    goals: int = 0

    def count(self, included: Included) -> int:
        return sum(count for kind, count in self.counts.items() if kind in KINDS[included])


class Exporter:
    """Moves memories out."""

    def __init__(self, store: TransferStore, folders: TransferFolders, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._folders = folders
        self._clock = clock

    async def export(self, include: Collection[Included], given: str | None, reporter: Reporter) -> Exported:
        """Write all memories of one moment; the file appears under its name when it was read back and is whole."""
        now = self._clock()
        path = self._folders.new_file(given or f"scrubjay-{now:%Y-%m-%dT%H-%M-%S-%f}.jsonl")
        kinds = frozenset[Kind]().union(*(KINDS[included] for included in include))
        temporary = temporary_beside(path)
        header = header_line(include, now)
        try:
            tally = Tally("writing memories")
            totals = await watched(
                lambda: self._store.move_out(
                    kinds, lambda outgoing: _write(outgoing, header, temporary, tally), plans_in(include)
                ),
                tally,
                reporter,
            )
            count = _records(totals)
            tally = Tally("reading back what was written", count)
            await watched(lambda: anyio.to_thread.run_sync(_verify, temporary, totals, tally), tally, reporter)
            size = temporary.stat().st_size
            await anyio.to_thread.run_sync(publish, temporary, path)
        except OSError as error:
            raise Unavailable(
                f"{path} cannot be written ({error.strerror})", hint="choose another place, or free some disk space"
            ) from error
        finally:
            temporary.unlink(missing_ok=True)
        return Exported(
            path=path,
            counts=totals.memories,
            checksum=totals.sha256,
            bytes=size,
            tasks=totals.tasks,
            goals=totals.goals,
        )


def _write(outgoing: Outgoing, header: bytes, target: Path, tally: Tally) -> Totals:
    """Write everything; what it came to. A store that gives less than it has is damaged, and nothing is kept of it."""
    planned = outgoing.plan_counts
    tally.total = expected = sum(outgoing.counts.values()) + sum(planned.values())
    checksum = sha256(header)
    counts: Counter[Kind] = Counter()
    plans: Counter[PlanSort] = Counter()
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(header)
        for project in outgoing.projects:
            line = project_line(project)
            checksum.update(line)
            file.write(line)
        for plan in outgoing.plans:
            line = plan_line(plan)
            checksum.update(line)
            file.write(line)
            plans[sort_of(plan)] += 1
            if plans.total() % STEP == 0:
                tally.reach(plans.total())
        for number, moved in enumerate(outgoing.memories, start=plans.total()):
            line = memory_line(moved)
            checksum.update(line)
            file.write(line)
            counts[moved.memory.kind] += 1
            if number % STEP == 0:
                tally.reach(number)
        if counts != outgoing.counts or plans != Counter(planned):
            raise StoreUnusable(
                f"{counts.total() + plans.total()} of {expected} records could be read; nothing was exported",
                hint="`scrubjay store check` tells what is damaged",
            )
        tally.reach(expected)
        totals = Totals(
            projects=len(outgoing.projects),
            memories=dict(counts),
            sha256=checksum.hexdigest(),
            tasks=plans["tasks"],
            goals=plans["goals"],
        )
        file.write(end_line(totals))
    return totals


def _verify(path: Path, totals: Totals, tally: Tally) -> None:
    """Read the file as an import would, and compare it with what was written."""
    reading = OwnFormat()
    with path.open("rb") as file:
        for number, _ in enumerate(reading.arrivals(SourceFile(file, path.name))):
            if number % STEP == 0:
                tally.reach(number)
    tally.reach(_records(totals))
    if reading.totals != totals:
        raise Unavailable("what was written is not what is in the file", hint="check the disk; nothing was exported")


def _records(totals: Totals) -> int:
    return sum(totals.memories.values()) + totals.tasks + totals.goals
