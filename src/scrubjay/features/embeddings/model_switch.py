"""Switch to another embedding model: the old one stays active until every memory has a vector of the new one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from scrubjay.core.callers import EVERYTHING, Caller
from scrubjay.core.errors import (
    Conflict,
    InvalidRequest,
    Misconfigured,
    StoreUnusable,
    Unavailable,
    error_from_record,
)
from scrubjay.core.ids import new_id
from scrubjay.db.damage_report import REPAIR_HINT
from scrubjay.features.embeddings.active_models import LoadedModel, ModelRegistry
from scrubjay.features.embeddings.models import ChosenModel, ModelState, NewVector, UnembeddedMemory
from scrubjay.features.embeddings.store import EmbeddingStore
from scrubjay.models.choices import EmbeddingChoice, choice_of_stored, stored_form
from scrubjay.models.embedding import Embedder
from scrubjay.models.probe import probe, with_dimensions
from scrubjay.models.provider_policy import refuse_other_service, refuse_unless_allowed
from scrubjay.models.providers import name_of
from scrubjay.tooling.jobs.service import JobRun

# Small, so that cancelling takes effect soon and a crash loses little.
BATCH_SIZE = 256
# Rounds over all memories without progress. Writes of other processes cost some; in a damaged store it would never end.
MAX_STALLED_ROUNDS = 10
# Vectors deleted per transaction; this many hold the write lock for some milliseconds.
DROP_BATCH_SIZE = 1_000
# Derived files are named after the model, and file names are limited to 255 bytes.
MAX_NAME_BYTES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedSwitch:
    """The outcome of choosing a model."""

    model: LoadedModel
    change_id: str | None
    """The change that a job must run; None if there is nothing to do."""
    job_id: str | None
    """The job that is already running it."""
    missing: int
    """Number of memories without a vector of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRun:
    """The result of a job."""

    model: str
    embedded: int
    refused: int
    """Number of texts that the provider refused."""
    dropped: int
    """Number of deleted vectors of other models."""


class ModelSwitch:
    """Chooses the active model and makes missing vectors."""

    def __init__(self, store: EmbeddingStore, models: ModelRegistry) -> None:
        self._store = store
        self._models = models

    async def begin(self, choice: EmbeddingChoice | None, caller: Caller) -> StartedSwitch:
        """Choose a model, or with None the one of the settings. Nothing changes unless it is allowed and works.

        It becomes active at once if every memory has a vector of it. A caller without the scope for everything may
        choose another model, but not where memories are sent.
        """
        if choice is not None and not (self._models.rights.limited_may_change_address or EVERYTHING in caller.scopes):
            await self._refuse_other_service(choice)
        try:
            model = await self._from_settings() if choice is None else await self._from_choice(choice)
        except Unavailable as error:  # a mistake in the choice, not a failure of this server
            raise Conflict(f"{error.message}; nothing was changed", hint=error.hint, details=error.details) from error
        chosen = ChosenModel(
            choice=None if choice is None else stored_form(model.choice),
            model=model.embedder.model,
            dimensions=model.embedder.dimensions,
            change_id=new_id("change"),
        )
        missing = await self._store.count_missing(chosen.model, chosen.dimensions)
        state = await self._store.state()
        if state.next is not None and state.is_running and _is_same_model(state.next, chosen):
            return StartedSwitch(model=model, change_id=None, job_id=state.job_id, missing=missing)
        await self._store.begin(chosen)
        if await self._store.complete(chosen.change_id):
            dropped = await self._store.drop_replaced(chosen.model, DROP_BATCH_SIZE)
            if dropped < DROP_BATCH_SIZE:
                await self._store.drop_files()
                return StartedSwitch(model=model, change_id=None, job_id=None, missing=0)
        return StartedSwitch(model=model, change_id=chosen.change_id, job_id=None, missing=missing)

    async def run(self, change_id: str | None, run: JobRun) -> EmbeddingRun:
        """Make missing vectors: of the model of this change, or of the active model without one.

        Then activate the model in one step for all processes, and delete vectors of other models. Vectors that were
        made before a crash, a failure or cancelling are kept.
        """
        if change_id is None:
            model = (await self._models.current()).active
        else:
            model = self._model_of(await self._store.claim(change_id, run.job_id), change_id)
        backfill = _Backfill(self._store, model.embedder, change_id, run)
        await backfill.fill()
        while change_id is not None and not await self._store.complete(change_id):
            await backfill.fill()  # another process stored memories without it
        dropped = 0
        while dropped_now := await self._store.drop_replaced(model.embedder.model, DROP_BATCH_SIZE):
            dropped += dropped_now
            await backfill.report(f"dropped {dropped} vectors of other models")
        await self._store.drop_files()
        return EmbeddingRun(
            model=model.embedder.model, embedded=backfill.embedded, refused=backfill.refused, dropped=dropped
        )

    def _model_of(self, state: ModelState, change_id: str) -> LoadedModel:
        """Return the model of the change, which may already be active if the job was killed after the switch."""
        is_next = state.next is not None and state.next.change_id == change_id
        chosen = state.next if is_next else state.active
        model = self._models.of(chosen)
        if chosen is not None and chosen.model != model.embedder.model:
            raise Misconfigured(
                f"the settings of this process are for {model.embedder.model}, not for {chosen.model}",
                hint="call configure_embeddings again in a process with the right settings",
            )
        return model

    async def _refuse_other_service(self, choice: EmbeddingChoice) -> None:
        """Refuse before the model is tested: a test request would already reach the address."""
        try:
            refuse_other_service(choice, [(await self._models.current()).active.choice, self._models.settings])
        except Misconfigured as error:
            raise InvalidRequest(error.message, hint=error.hint) from error

    async def _from_settings(self) -> LoadedModel:
        """Return the model of the settings; raise `Unavailable` if it does not work."""
        model = self._models.of_settings()
        await _refuse_unless_working(model.embedder)
        return model

    async def _from_choice(self, choice: EmbeddingChoice) -> LoadedModel:
        """Return the chosen model; raise if it is not allowed or does not work."""
        choice = choice_of_stored(stored_form(choice), self._models.settings.pace)  # as all processes read it
        if len(quote(name_of(choice), safe="")) > MAX_NAME_BYTES:
            raise InvalidRequest("the model name is too long for a file name", hint="use a shorter name")
        try:
            refuse_unless_allowed(choice, self._models.rights)
            choice = await with_dimensions(choice, self._make_without_retries)
            embedder = self._make_without_retries(choice)
        except Misconfigured as error:
            raise InvalidRequest(error.message, hint=error.hint) from error
        try:
            await _refuse_unless_working(embedder)
        finally:
            await embedder.close()
        return self._models.of_choice(choice)

    def _make_without_retries(self, choice: EmbeddingChoice) -> Embedder:
        """Return an embedder without retries, because the caller waits and can choose again."""
        return self._models.make(replace(choice, pace=replace(choice.pace, retries=0)))


class _Backfill:
    """Embeds all memories without a vector of one model."""

    def __init__(self, store: EmbeddingStore, embedder: Embedder, change_id: str | None, run: JobRun) -> None:
        self._store = store
        self._embedder = embedder
        self._change_id = change_id
        self._run = run
        self._missing = 0
        self.embedded = 0
        self.refused = 0

    async def fill(self) -> None:
        """Embed until no memory lacks a vector."""
        model, dimensions = self._embedder.model, self._embedder.dimensions
        fewest, stalled = None, 0
        while missing := await self._store.count_missing(model, dimensions):
            stalled = 0 if fewest is None or missing < fewest else stalled + 1
            fewest = missing if fewest is None else min(missing, fewest)
            if stalled == MAX_STALLED_ROUNDS:
                raise StoreUnusable(f"{missing} memories cannot be given a vector", hint=REPAIR_HINT)
            self._missing = missing
            await self.report(f"{missing} memories have no vector of {model}")
            after = -1
            while batch := await self._store.missing(model, dimensions, after, BATCH_SIZE):
                await self._refuse_if_replaced()
                vectors = await self._vectors([memory.content for memory in batch])
                await self._store.put(model, _new_vectors(batch, vectors))
                after = batch[-1].seq
                self.embedded += len(batch)
                self._missing = max(0, self._missing - len(batch))
                await self.report(f"embedded {self.embedded} memories")
        self._missing = 0
        await self.report(f"every memory has a vector of {model}")

    async def report(self, message: str) -> None:
        await self._run.report(self.embedded, self.embedded + self._missing, message)

    async def _refuse_if_replaced(self) -> None:
        state = await self._store.state()
        current = {chosen.change_id for chosen in (state.active, state.next) if chosen is not None}
        if self._change_id is not None and self._change_id not in current:
            raise Conflict("another embedding model was chosen in the meantime", hint="call list_jobs to see its job")

    async def _vectors(self, texts: Sequence[str]) -> Sequence[bytes]:
        """Return one vector per text; empty for a text that the provider refuses."""
        try:
            return await self._embedder.embed(texts)
        except InvalidRequest:
            if len(texts) > 1:
                return [vector for text in texts for vector in await self._vectors([text])]
            await _refuse_unless_working(self._embedder)
            self.refused += 1
            return [b""]


async def _refuse_unless_working(embedder: Embedder) -> None:
    if (problem := (await probe(embedder)).error) is not None:
        raise error_from_record(problem)


def _new_vectors(batch: Sequence[UnembeddedMemory], vectors: Sequence[bytes]) -> list[NewVector]:
    return [NewVector(memory.memory_id, memory.content, vector) for memory, vector in zip(batch, vectors, strict=True)]


def _is_same_model(first: ChosenModel, other: ChosenModel) -> bool:
    return (first.choice, first.model, first.dimensions) == (other.choice, other.model, other.dimensions)
