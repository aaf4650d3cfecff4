"""The embedding model: choose it, try it, and make the vectors that are missing."""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from scrubjay.core.errors import Cancelled, InvalidRequest
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.embeddings.model_switch import BegunChange, EmbeddingChange
from scrubjay.models.choices import DEFAULT_AZURE_VERSION, IN_PROCESS, EmbeddingChoice, Pace, ProviderName
from scrubjay.models.probe import examine
from scrubjay.models.providers import PROVIDERS, model_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.job_view import JobView
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobRun

_PACE = Pace()

_OF_AZURE = ("resource_name", "deployment_name")
_OF_SERVICES = ("base_url", "api_key_env", *_OF_AZURE)
# What cannot be chosen together with a provider; with the others, what is of Azure.
_FOREIGN = {
    "azure": (),
    "local": _OF_SERVICES,
    "onnx": _OF_SERVICES,
    "settings": ("model", "dimensions", "similarity_threshold", *_OF_SERVICES),
}


class ConfigureEmbeddingsRequest(Request):
    model_config = examples({"provider": "ollama", "model": "mxbai-embed-large"}, {"provider": "settings"})

    provider: Literal[ProviderName, "settings"] = Field(
        description="Who is to embed texts; `settings` goes back to what the operator of the server has set."
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        max_length=120,
        pattern=r"^[A-Za-z0-9/][A-Za-z0-9._:/@+-]*$",
        description="The model's name; by default the provider's usual one. With `onnx`, a folder that the operator "
        "allows (SCRUBJAY_EMBEDDING_CALLER_FOLDERS).",
    )
    dimensions: int | None = Field(
        default=None,
        ge=1,
        le=16_384,
        description="The length of the vectors, to get shorter ones than usual. Of a model that is not known, it is "
        "found out.",
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$",
        description="The server's environment variable that holds the key; by default the provider's usual one. "
        "Others must be allowed by the operator (SCRUBJAY_EMBEDDING_CALLER_KEYS).",
    )
    similarity_threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="A memory that is less similar to a question is not found by its meaning, only by its words. By "
        "default the ranking decides, which is better: what is similar differs from model to model.",
    )
    batch_size: int = Field(default=_PACE.batch_size, ge=1, le=2048, description="How many texts go into one request.")
    base_url: str | None = Field(
        default=None,
        min_length=1,
        max_length=2_000,
        description="The address of an OpenAI-compatible service, without `/embeddings`. Other hosts than this machine "
        "must be allowed by the operator (SCRUBJAY_EMBEDDING_CALLER_ADDRESSES).",
    )
    api_version: str = Field(
        default=DEFAULT_AZURE_VERSION, min_length=1, max_length=50, description="Azure: the version of the API."
    )
    resource_name: str | None = Field(
        default=None, min_length=1, max_length=64, description="Azure: the resource that the deployment is in."
    )
    deployment_name: str | None = Field(
        default=None, min_length=1, max_length=100, description="Azure: the deployment of the model."
    )


class ConfigureEmbeddingsResult(Result):
    success: bool = Field(description="True: what was chosen is kept; anything else is an error.")
    provider: str
    model: str = Field(description="The model as its provider calls it.")
    dimension: int = Field(description="The length of its vectors.")
    message: str = Field(description="What happens now.")
    warnings: list[str] = Field(description="What was chosen and has no effect, or another than expected.")
    in_use: bool = Field(description="Whether it answers already; else the one before it does, until the job is done.")
    job_id: str | None = Field(description="The job that makes the vectors; none when there was nothing to do.")


class TestEmbeddingsRequest(Request):
    pass


class TestEmbeddingsResult(Result):
    available: bool = Field(description="Whether it really embedded a text just now.")
    provider: str
    model: str = Field(description="The model as its provider calls it.")
    dimension: int = Field(description="The length of its vectors; 0 when it is not known.")
    test_time_ms: float = Field(description="From the question to the answer.")
    sample_embedding: list[float] = Field(description="The first numbers of the vector.")
    message: str
    errors: list[str] = Field(description="Why it is not available.")


class EmbedMemoriesRequest(Request):
    change_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="A change of model to carry out, as configure_embeddings began it; by default none.",
    )


class EmbedMemoriesResult(Result):
    model: str = Field(description="The name that the vectors are kept under.")
    embedded: int = Field(description="How many memories got a vector.")
    refused: int = Field(description="How many of these have a text that the provider does not take.")
    dropped: int = Field(description="How many vectors of other models were dropped.")


@tool("embeddings", idempotent=True, core=False)
async def configure_embeddings(
    request: ConfigureEmbeddingsRequest, change: EmbeddingChange, dispatcher: Dispatcher, context: CallContext
) -> ConfigureEmbeddingsResult:
    """Choose the model that finds memories by meaning, for every process of this store and also after restarts.

    The model is tried first; one that does not answer is refused, and nothing changes. When memories need vectors of
    it, a job makes them, and the model before it goes on answering until the last one is made.
    """
    begun = await change.begin(_choice(request))
    job_id, in_use = begun.job_id, begun.change_id is None and begun.job_id is None
    if begun.change_id is not None:
        answer = await dispatcher.call(embed_memories.name, {"change_id": begun.change_id}, context)
        job = JobView[EmbedMemoriesResult].model_validate(answer.model_dump())
        if job.state is JobState.CANCELLED:
            raise Cancelled("the change was cancelled; the model before it goes on answering")
        job_id, in_use = job.job_id, job.state is JobState.COMPLETED
    choice = begun.model.choice
    return ConfigureEmbeddingsResult(
        success=True,
        provider=choice.provider,
        model=model_of(choice),
        dimension=begun.model.embedder.dimensions,
        message=_message(begun, in_use),
        warnings=_warnings(request),
        in_use=in_use,
        job_id=job_id,
    )


@tool("embeddings", read_only=True, core=False)
async def test_embeddings(request: TestEmbeddingsRequest, models: ModelsInUse) -> TestEmbeddingsResult:
    """Try the embedding model with a text, and tell whether it works, how long it takes, or what is wrong."""
    model = (await models.now()).answering
    found = await examine(model.embedder)
    errors = [] if found.error is None else [found.error.message, *([found.error.hint] if found.error.hint else [])]
    return TestEmbeddingsResult(
        available=found.available,
        provider=model.choice.provider,
        model=model_of(model.choice),
        dimension=found.dimensions,
        test_time_ms=round(found.milliseconds, 3),
        sample_embedding=list(found.sample),
        message=f"{found.model} works"
        if found.available
        else f"{found.model} cannot be used: words alone are searched",
        errors=errors,
    )


@tool("embeddings", runs_as_job=True, idempotent=True, core=False)
async def embed_memories(request: EmbedMemoriesRequest, change: EmbeddingChange, run: JobRun) -> EmbedMemoriesResult:
    """Make the vectors that memories lack, because the provider was down when they were kept or the model is new.

    What has its vector is left alone, so that it costs nothing to call this again. It can be cancelled, and goes on
    where it was after a crash. Vectors of models that are not used any more are dropped at the end.
    """
    done = await change.carry_out(request.change_id, run)
    return EmbedMemoriesResult(model=done.model, embedded=done.embedded, refused=done.refused, dropped=done.dropped)


def _choice(request: ConfigureEmbeddingsRequest) -> EmbeddingChoice | None:
    """What is chosen; None for the settings."""
    misplaced = [name for name in _FOREIGN.get(request.provider, _OF_AZURE) if getattr(request, name) is not None]
    if misplaced:
        raise InvalidRequest(
            f"provider {request.provider} takes no {' and no '.join(misplaced)}", hint="leave it out, or name another"
        )
    if request.provider == "settings":
        return None
    chosen = request.model_dump(exclude={"provider", "batch_size"})
    pace = replace(_PACE, batch_size=request.batch_size)
    return EmbeddingChoice(provider=request.provider, **chosen, pace=pace)


def _message(begun: BegunChange, in_use: bool) -> str:
    name = begun.model.embedder.model
    if in_use:
        return f"{name} answers from now on"
    return f"{begun.lacking} memories get a vector of {name}; until all have one, the model before it answers"


def _warnings(request: ConfigureEmbeddingsRequest) -> list[str]:
    if request.provider == "settings" or "batch_size" not in request.model_fields_set:
        return []
    if request.provider in IN_PROCESS:
        return ["batch_size has no effect: a local model takes all texts at once"]
    largest = PROVIDERS[request.provider].largest_batch
    return [f"{request.provider} takes at most {largest} texts at once"] if request.batch_size > largest else []
