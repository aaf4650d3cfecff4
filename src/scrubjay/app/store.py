"""A whole store: everything that one backend keeps, and how it is looked after."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # all of these, to be named only: most processes need few of them
    from scrubjay.features.chat.persona_store import PersonaStore
    from scrubjay.features.discussions.store import DiscussionStore
    from scrubjay.features.embeddings.store import EmbeddingStore
    from scrubjay.features.episodes.patterns.store import PatternStore
    from scrubjay.features.episodes.store import EpisodeStore
    from scrubjay.features.forgetting.store import ForgettingStore
    from scrubjay.features.hooks.prompt_store import PromptStore
    from scrubjay.features.keys.store import KeyStore
    from scrubjay.features.knowledge.store import KnowledgeStore
    from scrubjay.features.memory.link_store import LinkStore
    from scrubjay.features.memory.store import MemoryStore
    from scrubjay.features.permissions.store import PermissionStore
    from scrubjay.features.projects.store import ProjectStore
    from scrubjay.features.sessions.store import SessionStore
    from scrubjay.features.summaries.store import SummaryStore
    from scrubjay.features.tasks.goal_store import GoalStore
    from scrubjay.features.tasks.store import TaskStore
    from scrubjay.features.transfer.store import TransferStore
    from scrubjay.features.working_memory.store import WorkingStore
    from scrubjay.tooling.jobs.store import JobStore
    from scrubjay.tooling.usage.store import UsageStore


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
