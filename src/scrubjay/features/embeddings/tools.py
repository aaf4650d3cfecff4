"""Tools for the embedding model: choose it, test it, and make missing vectors."""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from scrubjay.core.errors import Cancelled, InvalidRequest
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.embeddings.model_switch import ModelSwitch, StartedSwitch
from scrubjay.models.choices import DEFAULT_AZURE_VERSION, IN_PROCESS, EmbeddingChoice, Pace, ProviderName
from scrubjay.models.probe import probe
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
# Fields that do not apply to a provider; providers without an entry refuse those of Azure.
_FOREIGN = {
    "azure": (),
    "local": _OF_SERVICES,
    "onnx": _OF_SERVICES,
    "settings": ("model", "dimensions", "similarity_threshold", *_OF_SERVICES),
}


class ConfigureEmbeddingsRequest(Request):
    model_config = examples({"provider": "ollama", "model": "mxbai-embed-large"}, {"provider": "settings"})

    provider: Literal[ProviderName, "settings"] = Field(
        description="Provider of embeddings; `settings` returns to the configuration of the server operator."
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        max_length=120,
        pattern=r"^[A-Za-z0-9/][A-Za-z0-9._:/@+-]*$",
        description="Name of the model; default: the provider's default model. With `onnx`, a folder that the operator "
        "allows (SCRUBJAY_EMBEDDING_CALLER_FOLDERS).",
    )
    dimensions: int | None = Field(
        default=None,
        ge=1,
        le=16_384,
        description="Length of the vectors, to get shorter ones. It is detected for unknown models.",
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$",
        description="Environment variable of the server with the API key; default: the provider's usual one. "
        "Others must be allowed by the operator (SCRUBJAY_EMBEDDING_CALLER_KEYS).",
    )
    similarity_threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Minimum similarity for a semantic match; less similar memories are found only by keywords. "
        "Default: the ranking decides, which is better, because similarities differ between models.",
    )
    batch_size: int = Field(default=_PACE.batch_size, ge=1, le=2048, description="Maximum number of texts per request.")
    base_url: str | None = Field(
        default=None,
        min_length=1,
        max_length=2_000,
        description="Base URL of an OpenAI-compatible service, without `/embeddings`. Hosts other than this machine "
        "must be allowed by the operator (SCRUBJAY_EMBEDDING_CALLER_ADDRESSES).",
    )
    api_version: str = Field(
        default=DEFAULT_AZURE_VERSION, min_length=1, max_length=50, description="Azure: API version."
    )
    resource_name: str | None = Field(
        default=None, min_length=1, max_length=64, description="Azure: resource of the deployment."
    )
    deployment_name: str | None = Field(
        default=None, min_length=1, max_length=100, description="Azure: deployment of the model."
    )


class ConfigureEmbeddingsResult(Result):
    success: bool = Field(description="Always true; a failure is an error.")
    provider: str
    model: str = Field(description="The model as its provider calls it.")
    dimension: int = Field(description="Length of the vectors.")
    message: str = Field(description="What happens next.")
    warnings: list[str] = Field(description="Choices without effect, or with another effect than expected.")
    in_use: bool = Field(description="True if the model is active; otherwise the previous one is, until the job ends.")
    job_id: str | None = Field(description="Job that makes the vectors; null if none are missing.")


class TestEmbeddingsRequest(Request):
    pass


class TestEmbeddingsResult(Result):
    available: bool = Field(description="True if the model embedded a test text.")
    provider: str
    model: str = Field(description="The model as its provider calls it.")
    dimension: int = Field(description="Length of the vectors; 0 if unknown.")
    test_time_ms: float = Field(description="Milliseconds to embed the test text.")
    sample_embedding: list[float] = Field(description="First numbers of the vector.")
    message: str
    errors: list[str] = Field(description="Reasons if it is not available.")


class EmbedMemoriesRequest(Request):
    change_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Change of the model to run, started by configure_embeddings. Default: none.",
    )


class EmbedMemoriesResult(Result):
    model: str = Field(description="Name under which the vectors are stored.")
    embedded: int = Field(description="Number of embedded memories.")
    refused: int = Field(description="Number of these whose text the provider refused.")
    dropped: int = Field(description="Number of deleted vectors of other models.")


@tool("embeddings", idempotent=True, core=False)
async def configure_embeddings(
    request: ConfigureEmbeddingsRequest, change: ModelSwitch, dispatcher: Dispatcher, context: CallContext
) -> ConfigureEmbeddingsResult:
    """Choose the embedding model of this store, for all processes and across restarts.

    The model is tested first; if it does not work, the call fails and nothing changes. If memories need vectors of it,
    a job makes them, and the previous model stays active until all are made. A key without the scope `*` may choose
    another model of the same provider and address only.
    """
    switch = await change.begin(_choice(request), context.caller)
    job_id, in_use = switch.job_id, switch.change_id is None and switch.job_id is None
    if switch.change_id is not None:
        answer = await dispatcher.call(embed_memories.name, {"change_id": switch.change_id}, context)
        job = JobView[EmbedMemoriesResult].model_validate(answer.model_dump())
        if job.state is JobState.CANCELLED:
            raise Cancelled("the change was cancelled; the previous model stays active")
        job_id, in_use = job.job_id, job.state is JobState.COMPLETED
    choice = switch.model.choice
    return ConfigureEmbeddingsResult(
        success=True,
        provider=choice.provider,
        model=model_of(choice),
        dimension=switch.model.embedder.dimensions,
        message=_message(switch, in_use),
        warnings=_warnings(request),
        in_use=in_use,
        job_id=job_id,
    )


@tool("embeddings", read_only=True, core=False)
async def test_embeddings(request: TestEmbeddingsRequest, models: ModelRegistry) -> TestEmbeddingsResult:
    """Test the active embedding model with a short text and report its speed or the reason of the failure."""
    model = (await models.current()).active
    found = await probe(model.embedder)
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
        else f"{found.model} cannot be used; only keyword search works",
        errors=errors,
    )


@tool("embeddings", runs_as_job=True, idempotent=True, core=False)
async def embed_memories(request: EmbedMemoriesRequest, change: ModelSwitch, run: JobRun) -> EmbedMemoriesResult:
    """Make missing vectors, after a failure of the provider or a change of the model.

    Memories with a vector are skipped, so repeated calls are cheap. The job can be cancelled and resumes after a crash.
    Vectors of unused models are deleted at the end.
    """
    run_result = await change.run(request.change_id, run)
    return EmbedMemoriesResult(
        model=run_result.model, embedded=run_result.embedded, refused=run_result.refused, dropped=run_result.dropped
    )


def _choice(request: ConfigureEmbeddingsRequest) -> EmbeddingChoice | None:
    """Return the choice; None for the settings."""
    misplaced = [name for name in _FOREIGN.get(request.provider, _OF_AZURE) if getattr(request, name) is not None]
    if misplaced:
        raise InvalidRequest(
            f"provider {request.provider} takes no {' and no '.join(misplaced)}",
            hint="omit it, or choose another provider",
        )
    if request.provider == "settings":
        return None
    chosen = request.model_dump(exclude={"provider", "batch_size"})
    pace = replace(_PACE, batch_size=request.batch_size)
    return EmbeddingChoice(provider=request.provider, **chosen, pace=pace)


def _message(switch: StartedSwitch, in_use: bool) -> str:
    name = switch.model.embedder.model
    if in_use:
        return f"{name} is active now"
    return (
        f"{switch.missing} memories are being embedded with {name}; the previous model stays active until all are done"
    )


def _warnings(request: ConfigureEmbeddingsRequest) -> list[str]:
    if request.provider == "settings" or "batch_size" not in request.model_fields_set:
        return []
    if request.provider in IN_PROCESS:
        return ["batch_size has no effect on local models"]
    largest = PROVIDERS[request.provider].largest_batch
    return [f"{request.provider} takes at most {largest} texts at once"] if request.batch_size > largest else []
