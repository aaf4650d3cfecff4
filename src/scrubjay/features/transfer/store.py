"""What a backend must offer so that its memories can move out and others in."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from scrubjay.features.memory.models import Derived, Kind
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer.models import Moved, MovedPlan, PlanSort

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is to move out, all of it of one state of the store."""

    counts: Mapping[Kind, int]
    """How many memories of each kind there are."""
    projects: Sequence[Project]
    """Those that anything belongs to."""
    memories: Iterator[Moved]
    """Of every scope in the order kept, with what they were before; to be gone through once."""
    plan_counts: Mapping[PlanSort, int] = field(default_factory=dict[PlanSort, int])
    """How many tasks and goals there are."""
    plans: Iterator[MovedPlan] = field(default_factory=lambda: iter(()))
    """Tasks, each after the one that it is a part of, then goals; to be gone through once, before the memories."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """How far an import has come."""

    read: int = 0
    """How many records of its file are dealt with."""
    imported: int = 0
    skipped: int = 0
    """How many were not kept, because what is there has their id or their key."""
    erased: int = 0
    """How many memories had to go."""
    finished: bool = False
    plans_read: int = 0
    """How many tasks and goals of its file are dealt with."""
    tasks: int = 0
    goals: int = 0
    """How many of each were kept."""
    plans_skipped: int = 0
    plans_erased: int = 0


class TransferStore(Protocol):
    """Moves memories of every scope; for maintenance only.

    What an import has done is noted with the import's id in the same transaction, so that it can go on where it was
    after a crash, and nothing is done or counted twice.
    """

    async def move_out(
        self, kinds: Collection[Kind], work: Callable[[Outgoing], T], plans: Collection[PlanSort] = ()
    ) -> T:
        """Let `work` read the memories of these kinds, and these plans, on a thread of its own.

        Others read and write on.
        """
        ...

    async def begin(self, import_id: str, checksum: str) -> Arrived:
        """How far this import of this very file has come; nowhere, when it is new or its file was another."""
        ...

    async def known(self, memory_ids: Sequence[str]) -> Collection[str]:
        """Those of these ids that memories have already."""
        ...

    async def kept_by(self, clients: Collection[str]) -> Mapping[str, int]:
        """How many memories come from each of these clients."""
        ...

    async def keep(
        self, import_id: str, read: int, batch: Sequence[tuple[Moved, Derived]], *, skipped: int = 0
    ) -> Arrived:
        """Keep those of these whose id, and key in their scope, are not there yet; the others are skipped.

        What a memory was before comes only with it. `read` records of the file are dealt with then, of which so many
        were skipped without coming here.
        """
        ...

    async def stage(self, import_id: str, read: int, batch: Sequence[tuple[Moved, Derived]]) -> Arrived:
        """Put these where nobody sees them yet; those whose id or key others of them have are skipped.

        `Conflict` while another import, whose job has not ended, does the same.
        """
        ...

    async def known_plans(self, ids: Sequence[str]) -> Collection[str]:
        """Those of these ids that tasks, goals and milestones have already."""
        ...

    async def planned_by(self, clients: Collection[str]) -> Mapping[str, int]:
        """How many tasks, goals and milestones come from each of these clients."""
        ...

    async def keep_plans(self, import_id: str, read: int, batch: Sequence[MovedPlan]) -> Arrived:
        """Keep those of these whose ids are not there yet; the others are skipped.

        `read` tasks and goals of the file are dealt with then. A task whose parent is not there becomes a part of none.
        """
        ...

    async def stage_plans(self, import_id: str, read: int, batch: Sequence[MovedPlan]) -> Arrived:
        """Put these where nobody sees them yet."""
        ...

    async def exchange(
        self, import_id: str, kinds: Collection[Kind], *, most: int = 0, plans: Collection[PlanSort] = ()
    ) -> Arrived:
        """In one short step for all processes, let what was staged take the place of all memories of these kinds.

        With them, what was staged of tasks and goals takes the place of all of these sorts.

        Memories of other kinds stay; what has the id or key of one of these is skipped. `QuotaExceeded`, with nothing
        changed, when a client would keep more than `most` memories, and more than before; 0 is no limit.
        """
        ...

    async def end(self, import_id: str) -> None:
        """Drop what was staged and is not wanted any more. How far the import came is known while its job lasts."""
        ...
