"""Which embedder answers now and which one is to take its place, as all processes of the store agreed."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scrubjay.core.errors import InvalidRequest, Misconfigured, ScrubjayError, Unavailable
from scrubjay.features.embeddings.models import ChosenModel, MadeVector, ModelState, StoredText
from scrubjay.features.embeddings.store import EmbeddingStore
from scrubjay.models.breaker import CircuitBreaker, of_questions
from scrubjay.models.choices import CallerRights, EmbeddingChoice, choice_from
from scrubjay.models.embedding import Embedder
from scrubjay.models.provider_policy import refuse_unless_allowed
from scrubjay.models.providers import PROVIDERS, known_dimensions, name_of
from scrubjay.models.unavailable import UnusableEmbedder

logger = logging.getLogger("scrubjay.features.memory")

MakeEmbedder = Callable[[EmbeddingChoice], Embedder]


@dataclass(frozen=True, slots=True)
class ModelInUse:
    """A model and what was chosen to get it."""

    choice: EmbeddingChoice
    embedder: Embedder
    questions: CircuitBreaker = field(default_factory=lambda: of_questions("the embedding model"))
    """Open when a question has waited in vain: the next ones do not wait."""


@dataclass(frozen=True, slots=True)
class Models:
    """Who makes vectors, at one moment."""

    answering: ModelInUse
    coming: ModelInUse | None
    """What is written gets a vector of this one too, so that none is missing when it begins to answer."""


class ModelsInUse:
    """What a call chose, and what this process has in its settings as long as no call has chosen."""

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
        self._made: dict[EmbeddingChoice, ModelInUse] = {}
        self._last: tuple[ModelState, Models] | None = None

    async def now(self) -> Models:
        """What holds at this moment. The very same object as before, when nothing has changed since."""
        state = await self._store.state()
        if self._last is None or self._last[0] != state:
            coming = self.of(state.coming) if state.under_way else None
            if coming is not None and state.coming is not None and coming.embedder.model != state.coming.model:
                coming = None  # the settings of another process, which makes these vectors itself
            self._last = state, Models(self.of(state.answering), coming)
        return self._last[1]

    def of(self, chosen: ChosenModel | None) -> ModelInUse:
        """The model that was chosen; one that cannot be used in this process is there, but unavailable."""
        if chosen is None or chosen.choice is None:
            return self.of_settings()
        if chosen.choice.get("provider") not in PROVIDERS:  # what a newer version chose
            problem = Misconfigured("this version does not know the embedding provider", hint="upgrade scrubjay")
            return ModelInUse(self.settings, UnusableEmbedder(chosen.model, chosen.dimensions, problem))
        return self.of_choice(choice_from(chosen.choice, self.settings.pace))

    def of_settings(self) -> ModelInUse:
        return self._model(self.settings, lambda: self.make(self.settings))

    def of_choice(self, choice: EmbeddingChoice) -> ModelInUse:
        """What a call chose, likewise."""

        def make() -> Embedder:
            # Asked again in each process: another one may have been run by somebody who allows more.
            refuse_unless_allowed(choice, self.rights)
            return self.make(choice)

        return self._model(choice, make)

    async def make_up(self, memories: Sequence[StoredText], had: Models) -> None:
        """Give these a vector of the model that has come to answer since they got those of the models they had."""
        embedder = (await self.now()).answering.embedder
        if embedder.model in {model.embedder.model for model in (had.answering, had.coming) if model is not None}:
            return
        try:
            vectors = await embedder.embed([memory.content for memory in memories])
        except (Unavailable, InvalidRequest) as error:
            logger.warning("kept without its meaning", extra={"memories": len(memories), "problem": error.message})
            return
        made = [MadeVector(memory.id, memory.content, vector) for memory, vector in zip(memories, vectors, strict=True)]
        await self._store.keep(embedder.model, made)

    async def close(self) -> None:
        for model in self._made.values():
            await model.embedder.close()

    def _model(self, choice: EmbeddingChoice, make: Callable[[], Embedder]) -> ModelInUse:
        if choice not in self._made:
            try:
                embedder = make()
            except ScrubjayError as problem:
                embedder = UnusableEmbedder(name_of(choice), known_dimensions(choice) or 0, problem)
            self._made[choice] = ModelInUse(choice, embedder)
        return self._made[choice]
