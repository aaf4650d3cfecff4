"""The active embedding model of a store and the one that will replace it, consistent across processes."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scrubjay.core.errors import InvalidRequest, Misconfigured, ScrubjayError, Unavailable
from scrubjay.features.embeddings.models import ChosenModel, ModelState, NewVector, StoredText
from scrubjay.features.embeddings.store import EmbeddingStore
from scrubjay.models.breaker import CircuitBreaker, query_breaker
from scrubjay.models.choices import CallerRights, EmbeddingChoice, choice_of_stored
from scrubjay.models.embedding import Embedder
from scrubjay.models.provider_policy import refuse_unless_allowed
from scrubjay.models.providers import PROVIDERS, known_dimensions, name_of
from scrubjay.models.unavailable import UnusableEmbedder

logger = logging.getLogger("scrubjay.features.memory")

MakeEmbedder = Callable[[EmbeddingChoice], Embedder]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with the choice that it was loaded from."""

    choice: EmbeddingChoice
    embedder: Embedder
    query_breaker: CircuitBreaker = field(default_factory=lambda: query_breaker("the embedding model"))
    """Opens after a query timed out; then queries do not wait for the model."""


@dataclass(frozen=True, slots=True)
class ActiveModels:
    """The models that make vectors at one moment."""

    active: LoadedModel
    next: LoadedModel | None
    """New memories get a vector of this model too, so that none is missing when it becomes active."""


class ModelRegistry:
    """Loads the model that a call chose, or the one of the settings if no call has chosen any."""

    def __init__(
        self,
        store: EmbeddingStore,
        settings: EmbeddingChoice,
        make: MakeEmbedder,
        *,
        rights: CallerRights | None = None,
    ) -> None:
        self.settings = settings
        self.make = make
        self.rights = rights or CallerRights()
        self._store = store
        self._loaded: dict[EmbeddingChoice, LoadedModel] = {}
        self._last: tuple[ModelState, ActiveModels] | None = None

    async def current(self) -> ActiveModels:
        """Return the active models; the same object as before if nothing has changed."""
        state = await self._store.state()
        if self._last is None or self._last[0] != state:
            next_model = self.of(state.next) if state.is_running else None
            if next_model is not None and state.next is not None and next_model.embedder.model != state.next.model:
                next_model = None  # chosen by the settings of another process, which makes these vectors
            self._last = state, ActiveModels(self.of(state.active), next_model)
        return self._last[1]

    def of(self, chosen: ChosenModel | None) -> LoadedModel:
        """Return the chosen model; one that this process cannot use is returned as an unusable embedder."""
        if chosen is None or chosen.choice is None:
            return self.of_settings()
        if chosen.choice.get("provider") not in PROVIDERS:  # chosen by a newer version
            problem = Misconfigured("this version does not know the embedding provider", hint="upgrade scrubjay")
            return LoadedModel(self.settings, UnusableEmbedder(chosen.model, chosen.dimensions, problem))
        return self.of_choice(choice_of_stored(chosen.choice, self.settings.pace))

    def of_settings(self) -> LoadedModel:
        return self._model(self.settings, lambda: self.make(self.settings))

    def of_choice(self, choice: EmbeddingChoice) -> LoadedModel:
        """Return the model for a choice, loaded at most once."""

        def make() -> Embedder:
            # Checked in each process: the choice may come from a process with wider rights.
            refuse_unless_allowed(choice, self.rights)
            return self.make(choice)

        return self._model(choice, make)

    async def add_missing_vectors(self, memories: Sequence[StoredText], used: ActiveModels) -> None:
        """Embed these memories with the active model if it became active after they were embedded."""
        embedder = (await self.current()).active.embedder
        if embedder.model in {model.embedder.model for model in (used.active, used.next) if model is not None}:
            return
        try:
            vectors = await embedder.embed([memory.content for memory in memories])
        except (Unavailable, InvalidRequest) as error:
            logger.warning("stored without vectors", extra={"memories": len(memories), "problem": error.message})
            return
        new = [NewVector(memory.id, memory.content, vector) for memory, vector in zip(memories, vectors, strict=True)]
        await self._store.put(embedder.model, new)

    async def close(self) -> None:
        for model in self._loaded.values():
            await model.embedder.close()

    def _model(self, choice: EmbeddingChoice, make: Callable[[], Embedder]) -> LoadedModel:
        if choice not in self._loaded:
            try:
                embedder = make()
            except ScrubjayError as problem:
                embedder = UnusableEmbedder(name_of(choice), known_dimensions(choice) or 0, problem)
            self._loaded[choice] = LoadedModel(choice, embedder)
        return self._loaded[choice]
