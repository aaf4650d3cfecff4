"""The store of a process: one database that implements the store Protocol of every feature."""

from typing import TYPE_CHECKING, Any, Protocol

from scrubjay.db.database import Database
from scrubjay.tooling.services import Factory, Services

if TYPE_CHECKING:  # names only: most processes use few of these stores
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


class Store(Database, Protocol):
    """An open store. Several processes can have the same store open."""

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


# Attributes of `Store` by the name of the Protocol that they are annotated with. Names, because importing all the
# Protocols would import every feature.
_ATTRIBUTES = {
    attribute.fget.__annotations__["return"]: name
    for name, attribute in vars(Store).items()
    if isinstance(attribute, property) and attribute.fget is not None
}


def find_store(kind: type) -> Factory | None:
    """Return the factory that provides a feature's store Protocol, or `Database`, from the one store of the process."""
    if kind is Database:
        return _whole_store
    attribute = _ATTRIBUTES.get(kind.__name__)

    async def own_store(services: Services) -> Any:
        return getattr(await services.get(Store), str(attribute))

    return None if attribute is None else own_store


async def _whole_store(services: Services) -> Store:
    return await services.get(Store)
