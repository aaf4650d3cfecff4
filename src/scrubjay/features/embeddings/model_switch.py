"""Letting another embedding model take the place of the one that answers, which goes on until nothing is missing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from scrubjay.core.errors import Conflict, InvalidRequest, Misconfigured, Unavailable, error_from_record
from scrubjay.core.ids import new_id
from scrubjay.features.embeddings.active_models import ModelInUse, ModelsInUse
from scrubjay.features.embeddings.models import ChosenModel, MadeVector, ModelState, Unembedded
from scrubjay.features.embeddings.store import EmbeddingStore
from scrubjay.models.choices import EmbeddingChoice, choice_from, kept_form
from scrubjay.models.embedding import Embedder
from scrubjay.models.probe import examine, measured
from scrubjay.models.provider_policy import refuse_unless_allowed
from scrubjay.models.providers import name_of
from scrubjay.tooling.jobs.service import JobRun

# Small enough that cancelling takes effect soon and little is lost to a crash.
BATCH = 256
# Dropping what is not needed any more holds the writers' lock: this many take some milliseconds.
DROPPED_AT_ONCE = 1_000
# Derived files are named after the model, and no file's name may have more than 255 bytes.
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunChange:
    """What became of a choice."""

    model: ModelInUse
    change_id: str | None
    """The change for a job to carry out; None when there is nothing to do."""
    job_id: str | None
    """The job that is at it already."""
    lacking: int
    """How many memories have no vector of the model yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What a job did."""

    model: str
    embedded: int
    refused: int
    """Texts that the provider does not take."""
    dropped: int
    """Vectors of other models."""


class EmbeddingChange:
    """Chooses the model that answers, and makes the vectors that are missing."""

    def __init__(self, store: EmbeddingStore, models: ModelsInUse) -> None:
        self._store = store
        self._models = models

    async def begin(self, wanted: EmbeddingChoice | None) -> BegunChange:
        """Choose this model, or with None the settings again. It must be allowed and answer, or nothing is changed.

        When every memory has a vector of it, it answers at once.
        """
        try:
            model = await self._own() if wanted is None else await self._accepted(wanted)
        except Unavailable as error:  # not a failure of ours: whoever chose it is told, as with any other mistake
            raise Conflict(f"{error.message}; nothing was changed", hint=error.hint, details=error.details) from error
        chosen = ChosenModel(
            choice=None if wanted is None else kept_form(model.choice),
            model=model.embedder.model,
            dimensions=model.embedder.dimensions,
            change_id=new_id("change"),
        )
        lacking = await self._store.count_lacking(chosen.model, chosen.dimensions)
        state = await self._store.state()
        if state.coming is not None and state.under_way and _same(state.coming, chosen):
            return BegunChange(model=model, change_id=None, job_id=state.job_id, lacking=lacking)
        await self._store.begin(chosen)
        if await self._store.complete(chosen.change_id):
            dropped = await self._store.drop_replaced(chosen.model, DROPPED_AT_ONCE)
            if dropped < DROPPED_AT_ONCE:
                await self._store.drop_files()
                return BegunChange(model=model, change_id=None, job_id=None, lacking=0)
        return BegunChange(model=model, change_id=chosen.change_id, job_id=None, lacking=lacking)

    async def carry_out(self, change_id: str | None, run: JobRun) -> Embedded:
        """Make the vectors that are missing, of the change's model or else of the one that answers.

        Then the change's model answers, in one step for all processes, and vectors of other models are dropped. What
        was made before a crash, a failure or cancelling is not made again.
        """
        if change_id is None:
            model = (await self._models.now()).answering
        else:
            model = self._model_of(await self._store.claim(change_id, run.job_id), change_id)
        filling = _Filling(self._store, model.embedder, change_id, run)
        await filling.fill()
        while change_id is not None and not await self._store.complete(change_id):
            await filling.fill()  # something was written without it meanwhile
        dropped = 0
        while now := await self._store.drop_replaced(model.embedder.model, DROPPED_AT_ONCE):
            dropped += now
            await filling.report(f"dropped {dropped} vectors of other models")
        await self._store.drop_files()
        return Embedded(model=model.embedder.model, embedded=filling.embedded, refused=filling.refused, dropped=dropped)

    def _model_of(self, state: ModelState, change_id: str) -> ModelInUse:
        """The change's model, which is still coming, or answers already when the job was killed after the switch."""
        is_coming = state.coming is not None and state.coming.change_id == change_id
        chosen = state.coming if is_coming else state.answering
        model = self._models.of(chosen)
        if chosen is not None and chosen.model != model.embedder.model:
            raise Misconfigured(
                f"the settings of this process are for {model.embedder.model}, not for {chosen.model}",
                hint="call configure_embeddings again in a process that has the right ones",
            )
        return model

    async def _own(self) -> ModelInUse:
        """What the settings say, if it answers."""
        model = self._models.of_settings()
        await _refuse_unless_it_answers(model.embedder)
        return model

    async def _accepted(self, wanted: EmbeddingChoice) -> ModelInUse:
        """What the caller wants, if they may have it and it answers."""
        choice = choice_from(kept_form(wanted), self._models.settings.pace)  # as every process will read it
        if len(quote(name_of(choice), safe="")) > LONGEST_NAME:
            raise InvalidRequest("the model's name is too long for a file's", hint="give it a shorter one")
        try:
            refuse_unless_allowed(choice, self._models.rights)
            choice = await measured(choice, self._make_impatient)
            embedder = self._make_impatient(choice)
        except Misconfigured as error:
            raise InvalidRequest(error.message, hint=error.hint) from error
        try:
            await _refuse_unless_it_answers(embedder)
        finally:
            await embedder.close()
        return self._models.of_choice(choice)

    def _make_impatient(self, choice: EmbeddingChoice) -> Embedder:
        """An embedder that tries once: whoever chose it waits for the answer, and can choose again."""
        return self._models.make(replace(choice, pace=replace(choice.pace, retries=0)))


class _Filling:
    """One job's way through the memories that lack a vector."""

    def __init__(self, store: EmbeddingStore, embedder: Embedder, change_id: str | None, run: JobRun) -> None:
        self._store = store
        self._embedder = embedder
        self._change_id = change_id
        self._run = run
        self._lacking = 0
        self.embedded = 0
        self.refused = 0

    async def fill(self) -> None:
        """Embed until nothing is missing."""
        model, dimensions = self._embedder.model, self._embedder.dimensions
        while lacking := await self._store.count_lacking(model, dimensions):
            self._lacking = lacking
            await self.report(f"{lacking} memories have no vector of {model} yet")
            after = -1
            while batch := await self._store.lacking(model, dimensions, after, BATCH):
                await self._refuse_if_replaced()
                vectors = await self._vectors([memory.content for memory in batch])
                await self._store.keep(model, _made(batch, vectors))
                after = batch[-1].place
                self.embedded += len(batch)
                self._lacking = max(0, self._lacking - len(batch))
                await self.report(f"embedded {self.embedded} memories")
        self._lacking = 0
        await self.report(f"every memory has its vector of {model}")

    async def report(self, message: str) -> None:
        await self._run.report(self.embedded, self.embedded + self._lacking, message)

    async def _refuse_if_replaced(self) -> None:
        state = await self._store.state()
        now = {chosen.change_id for chosen in (state.answering, state.coming) if chosen is not None}
        if self._change_id is not None and self._change_id not in now:
            raise Conflict("another embedding model was chosen meanwhile", hint="list_jobs shows the job for it")

    async def _vectors(self, texts: Sequence[str]) -> Sequence[bytes]:
        """A vector a text; a text that the provider refuses for itself has no meaning to it."""
        try:
            return await self._embedder.embed(texts)
        except InvalidRequest:
            if len(texts) > 1:
                return [vector for text in texts for vector in await self._vectors([text])]
            await _refuse_unless_it_answers(self._embedder)
            self.refused += 1
            return [b""]


async def _refuse_unless_it_answers(embedder: Embedder) -> None:
    if (problem := (await examine(embedder)).error) is not None:
        raise error_from_record(problem)


def _made(batch: Sequence[Unembedded], vectors: Sequence[bytes]) -> list[MadeVector]:
    return [MadeVector(memory.memory_id, memory.content, vector) for memory, vector in zip(batch, vectors, strict=True)]


def _same(one: ChosenModel, other: ChosenModel) -> bool:
    return (one.choice, one.model, one.dimensions) == (other.choice, other.model, other.dimensions)
