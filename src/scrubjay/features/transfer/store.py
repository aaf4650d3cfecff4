"""Interface that a store backend implements for export and import."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.memory.writes import SearchData
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer.models import PlanKind, TransferMemory, TransferPlan

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ExportSnapshot:
    """A consistent snapshot of everything to export."""

    counts: Mapping[MemoryKind, int]
    """Number of memories by kind."""
    projects: Sequence[Project]
    """Projects that own exported records."""
    memories: Iterator[TransferMemory]
    """Memories of every scope in insertion order, including former versions; can be iterated once."""
    plan_counts: Mapping[PlanKind, int] = field(default_factory=dict[PlanKind, int])
    """Number of tasks and goals."""
    plans: Iterator[TransferPlan] = field(default_factory=lambda: iter(()))
    """Tasks (parents first), then goals; can be iterated once, before the memories."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """Progress of an import, stored with the import's id."""

    read: int = 0
    """Number of processed memory records of the file."""
    imported: int = 0
    skipped: int = 0
    """Memories skipped because their id or key exists."""
    erased: int = 0
    """Deleted memories."""
    finished: bool = False
    plans_read: int = 0
    """Number of processed tasks and goals of the file."""
    tasks: int = 0
    goals: int = 0
    """Imported tasks and goals."""
    plans_skipped: int = 0
    plans_erased: int = 0


class TransferStore(Protocol):
    """Exports and imports memories of every scope; for maintenance only.

    Progress is stored in the same transaction as the data, so that an import continues after a crash and nothing is
    written or counted twice.
    """

    async def read_snapshot(
        self, kinds: Collection[MemoryKind], work: Callable[[ExportSnapshot], T], plans: Collection[PlanKind] = ()
    ) -> T:
        """Call `work` with a snapshot of these kinds and plans on its own thread, without blocking others."""
        ...

    async def begin(self, import_id: str, checksum: str) -> ImportProgress:
        """Return the progress of this import; zero if it is new or its file has changed."""
        ...

    async def known(self, memory_ids: Sequence[str]) -> Collection[str]:
        """Return the given ids that exist."""
        ...

    async def count_by_client(self, clients: Collection[str]) -> Mapping[str, int]:
        """Return the number of memories per client."""
        ...

    async def insert(
        self, import_id: str, read: int, batch: Sequence[tuple[TransferMemory, SearchData]], *, skipped: int = 0
    ) -> ImportProgress:
        """Insert the memories whose id, and key in their scope, are free; skip the others.

        A former version is inserted only with its successor. `read` is the number of processed records afterwards;
        `skipped` records were skipped by the caller.
        """
        ...

    async def stage(
        self, import_id: str, read: int, batch: Sequence[tuple[TransferMemory, SearchData]]
    ) -> ImportProgress:
        """Stage these memories invisibly; duplicates of a staged id or key are skipped.

        Raise `Conflict` while another running import uses the staging tables.
        """
        ...

    async def known_plans(self, ids: Sequence[str]) -> Collection[str]:
        """Return the given ids that exist as task, goal or milestone."""
        ...

    async def count_plans_by_client(self, clients: Collection[str]) -> Mapping[str, int]:
        """Return the number of tasks, goals and milestones per client."""
        ...

    async def insert_plans(self, import_id: str, read: int, batch: Sequence[TransferPlan]) -> ImportProgress:
        """Insert the plans whose ids are free; skip the others.

        `read` is the number of processed tasks and goals afterwards. A subtask without its parent becomes a task.
        """
        ...

    async def stage_plans(self, import_id: str, read: int, batch: Sequence[TransferPlan]) -> ImportProgress:
        """Stage these plans invisibly."""
        ...

    async def replace_all(
        self, import_id: str, kinds: Collection[MemoryKind], *, most: int = 0, plans: Collection[PlanKind] = ()
    ) -> ImportProgress:
        """Replace all memories of these kinds, and plans of these sorts, by the staged ones, in one short step.

        Memories of other kinds remain; staged ones with the id or key of a remaining one are skipped. Raise
        `QuotaExceeded` without changes if a client would have more than `most` memories and more than before; 0 means
        no limit.
        """
        ...

    async def end(self, import_id: str) -> None:
        """Drop what the import has staged. Its progress remains until its job ends."""
        ...
