"""A whole store: everything that one backend keeps, and how it is looked after."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # all of these, to be named only: most processes need few of them
    from recollect.storage.discussions import DiscussionStore
    from recollect.storage.embeddings import EmbeddingStore
    from recollect.storage.episodes import EpisodeStore
    from recollect.storage.forgetting import ForgettingStore
    from recollect.storage.goals import GoalStore
    from recollect.storage.jobs import JobStore
    from recollect.storage.keys import KeyStore
    from recollect.storage.knowledge import KnowledgeStore
    from recollect.storage.links import LinkStore
    from recollect.storage.memories import MemoryStore
    from recollect.storage.patterns import PatternStore
    from recollect.storage.permissions import PermissionStore
    from recollect.storage.personas import PersonaStore
    from recollect.storage.projects import ProjectStore
    from recollect.storage.prompts import PromptStore
    from recollect.storage.sessions import SessionStore
    from recollect.storage.summaries import SummaryStore
    from recollect.storage.tasks import TaskStore
    from recollect.storage.transfer import TransferStore
    from recollect.storage.usage import UsageStore
    from recollect.storage.working import WorkingStore


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store is and where."""

    engine: str
    location: str
    schema_version: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a full check found; no problems means that everything is as it should be."""

    checked: Sequence[str]
    problems: Sequence[str]


class Store(Protocol):
    """One opened store. Several processes may have it open at once."""

    @property
    def memories(self) -> "MemoryStore": ...

    @property
    def links(self) -> "LinkStore": ...

    @property
    def embeddings(self) -> "EmbeddingStore": ...

    @property
    def jobs(self) -> "JobStore": ...

    @property
    def keys(self) -> "KeyStore": ...

    @property
    def projects(self) -> "ProjectStore": ...

    @property
    def forgetting(self) -> "ForgettingStore": ...

    @property
    def sessions(self) -> "SessionStore": ...

    @property
    def usage(self) -> "UsageStore": ...

    @property
    def working(self) -> "WorkingStore": ...

    @property
    def transfer(self) -> "TransferStore": ...

    @property
    def summaries(self) -> "SummaryStore": ...

    @property
    def permissions(self) -> "PermissionStore": ...

    @property
    def tasks(self) -> "TaskStore": ...

    @property
    def goals(self) -> "GoalStore": ...

    @property
    def episodes(self) -> "EpisodeStore": ...

    @property
    def patterns(self) -> "PatternStore": ...

    @property
    def knowledge(self) -> "KnowledgeStore": ...

    @property
    def prompts(self) -> "PromptStore": ...

    @property
    def discussions(self) -> "DiscussionStore": ...

    @property
    def personas(self) -> "PersonaStore": ...

    async def info(self) -> StoreInfo: ...

    async def ping(self) -> None:
        """Prove that the store can be read and that its writer lock can be had; changes nothing."""
        ...

    async def check(self) -> CheckReport:
        """Read everything and prove it whole: pages, indexes, text index, vectors, derived files."""
        ...

    async def backup(self, target: Path) -> StoreInfo:
        """Write a whole, checked copy while others go on working.

        `Conflict` when the target exists; it appears only when it is whole.
        """
        ...

    async def vacuum(self) -> StoreInfo:
        """Give unused space back to the disk."""
        ...

    async def close(self) -> None:
        """Finish what was begun, then let go of everything; afterwards every call is `Unavailable`."""
        ...
