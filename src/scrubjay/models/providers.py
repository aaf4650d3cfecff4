"""Which embedder a choice of provider, model and key means."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlencode

from pydantic import SecretStr

from scrubjay.core.errors import Misconfigured
from scrubjay.core.suggestions import nearest_names
from scrubjay.models import static_model
from scrubjay.models.breakers import Breakers
from scrubjay.models.choices import IN_PROCESS, EmbeddingChoice, ProviderName
from scrubjay.models.embedding import Embedder
from scrubjay.models.embedding_cache import CachingEmbedder, VectorCache
from scrubjay.models.endpoint import Endpoint, find_key, web_address
from scrubjay.models.onnx_folder import OnnxFolder, read_folder
from scrubjay.models.onnx_model import OnnxEmbedder

if TYPE_CHECKING:
    from scrubjay.models.batches import EmbeddingBatches

_OPENAI_MODELS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """What is known of a provider: its models with their dimensions, the default first."""

    models: Mapping[str, int]
    base_url: str | None = None
    key_variable: str | None = None
    """The environment variable that usually holds its key; None when it needs no key."""
    dimensions_field: str = "dimensions"
    """By which it is asked for shorter vectors than the model's own."""
    encoding: Literal["float", "base64"] = "float"
    """Base64 is a fifth of the size, where it is known to be understood."""
    largest_batch: int = 2048


PROVIDERS: Mapping[ProviderName, Provider] = {
    "local": Provider(models={static_model.MODEL: static_model.DIMENSIONS}),
    "onnx": Provider(models={}),  # the model is a folder that the user names
    "openai": Provider(
        models=_OPENAI_MODELS,
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        encoding="base64",
    ),
    "azure": Provider(models=_OPENAI_MODELS, key_variable="AZURE_OPENAI_API_KEY"),
    "gemini": Provider(
        models={"gemini-embedding-001": 3072},
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variable="GEMINI_API_KEY",
        largest_batch=100,
    ),
    "mistral": Provider(
        models={"mistral-embed": 1024, "codestral-embed": 1536},
        base_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        dimensions_field="output_dimension",
    ),
    "cohere": Provider(
        models={"embed-v4.0": 1536, "embed-english-v3.0": 1024, "embed-multilingual-v3.0": 1024},
        base_url="https://api.cohere.ai/compatibility/v1",
        key_variable="COHERE_API_KEY",
        largest_batch=96,
    ),
    "ollama": Provider(
        models={
            "nomic-embed-text": 768,
            "mxbai-embed-large": 1024,
            "all-minilm": 384,
            "bge-m3": 1024,
            "embeddinggemma": 768,
        },
        base_url="http://127.0.0.1:11434/v1",
    ),
    "vllm": Provider(
        models={"BAAI/bge-m3": 1024, "intfloat/multilingual-e5-large": 1024},
        base_url="http://127.0.0.1:8000/v1",
        encoding="base64",
    ),
}

REMOVED_MODEL = "all-MiniLM-L6-v2"
"""Came with the extra `minilm` of earlier versions; stores and settings may still name it."""

_AZURE_RESOURCE = re.compile(r"[A-Za-z0-9-]{1,64}")

_NOT_FOUND_HINTS: Mapping[ProviderName, str] = {
    "ollama": "fetch the model with: ollama pull {}",
    "azure": "check resource_name, deployment_name and api_version",
}


def embedder_for(
    choice: EmbeddingChoice,
    *,
    environment: Mapping[str, str],
    cache: VectorCache,
    breakers: Breakers | None = None,
    service: str = "embedding",
) -> Embedder:
    """The embedder that is meant. Nothing is loaded or asked yet; a choice that cannot work is `Misconfigured`.

    A key is looked up in `environment`. Among the `breakers`, that of the provider is known by what it is asked for,
    the `service`.
    """
    provider = PROVIDERS[choice.provider]
    if choice.provider == "local":
        return _local(choice, model_of(choice))
    if choice.provider == "onnx":
        return CachingEmbedder(OnnxEmbedder(name_of(choice), _onnx_folder(choice)), cache)
    from scrubjay.models.openai_compatible import OpenAICompatibleEmbedder

    endpoint = endpoint_for(choice, environment)
    embedder = OpenAICompatibleEmbedder(
        endpoint,
        model=name_of(choice),
        dimensions=_dimensions(choice, provider),
        pace=replace(choice.pace, batch_size=min(choice.pace.batch_size, provider.largest_batch)),
        breaker=breakers.of(service, choice.provider, endpoint.place) if breakers is not None else None,
    )
    return CachingEmbedder(embedder, cache)


def batches_for(
    choice: EmbeddingChoice, environment: Mapping[str, str], breakers: Breakers | None = None
) -> "EmbeddingBatches":
    """How the provider makes embeddings when it has time."""
    if choice.provider in IN_PROCESS or choice.provider == "azure":
        raise Misconfigured(
            f"{choice.provider} has no batches that are known here", hint="set SCRUBJAY_CODE_BATCH_API to false"
        )
    from scrubjay.models.batches import EmbeddingBatches

    dimensions = _dimensions(choice, PROVIDERS[choice.provider])
    endpoint = endpoint_for(choice, environment)
    breaker = breakers.of("code_batches", choice.provider, endpoint.place) if breakers is not None else None
    return EmbeddingBatches(endpoint, dimensions=dimensions, pace=choice.pace, breaker=breaker)


def model_of(choice: EmbeddingChoice) -> str:
    """The model as its provider calls it."""
    return choice.model or next(iter(PROVIDERS[choice.provider].models), "")


def name_of(choice: EmbeddingChoice) -> str:
    """The name that vectors of this choice are kept under."""
    model = model_of(choice)
    if choice.provider == "local":
        return model
    if choice.provider == "onnx":
        return f"onnx/{_folder_name(model)}"
    known = PROVIDERS[choice.provider].models.get(model)
    # Shorter vectors of a model cannot be compared with its whole ones, so they have a name of their own.
    shortened = f"@{choice.dimensions}" if known and choice.dimensions not in (None, known) else ""
    return f"{choice.provider}/{model}{shortened}"


def known_dimensions(choice: EmbeddingChoice) -> int | None:
    """The length of the vectors, as far as it is known without asking."""
    if choice.provider == "onnx" and choice.dimensions is None:
        try:
            return read_folder(model_of(choice)).dimensions
        except Misconfigured:
            return None
    return choice.dimensions or PROVIDERS[choice.provider].models.get(model_of(choice))


def address_of(choice: EmbeddingChoice) -> str:
    """Where the texts of a choice other than `local` are sent: the whole address."""
    if choice.provider == "azure":
        return _azure_address(choice)
    return f"{web_address(choice.base_url or PROVIDERS[choice.provider].base_url)}/embeddings"


def endpoint_for(choice: EmbeddingChoice, environment: Mapping[str, str]) -> Endpoint:
    """Where the texts of a choice other than `local` are sent, and how."""
    provider = PROVIDERS[choice.provider]
    model = model_of(choice)
    azure = choice.provider == "azure"
    return Endpoint(
        provider=choice.provider,
        url=address_of(choice),
        fields=_fields(choice, provider),
        key=_key(choice, provider, environment),
        key_header="api-key" if azure else "Authorization",
        key_prefix="" if azure else "Bearer ",
        key_hint=f"put the right key into {_key_variable(choice, provider) or 'api_key'}",
        refused_hint="check model and dimensions; for texts that are too long lower max_characters",
        not_found_hint=_NOT_FOUND_HINTS.get(choice.provider, "check the model's name and base_url").format(model),
    )


def _dimensions(choice: EmbeddingChoice, provider: Provider) -> int:
    if dimensions := known_dimensions(choice):
        return dimensions
    raise Misconfigured(
        f"how many dimensions {model_of(choice)[:80]!r} of {choice.provider} has is not known",
        hint=f"set dimensions, or use a known model: {', '.join(provider.models)}",
    )


def _folder_name(path: str) -> str:
    """The name of a folder's model; of a folder that cannot be used, its last part."""
    try:
        return read_folder(path).name
    except Misconfigured:
        return path.rstrip("/").rpartition("/")[2][:60]


def _onnx_folder(choice: EmbeddingChoice) -> OnnxFolder:
    if not choice.model:
        raise Misconfigured("onnx needs the folder of a model", hint="set model to the path of the folder")
    folder = read_folder(choice.model)
    if choice.dimensions not in (None, folder.dimensions):
        raise Misconfigured(f"{folder.name} always has {folder.dimensions} dimensions", hint="do not set dimensions")
    return folder


def _local(choice: EmbeddingChoice, model: str) -> Embedder:
    known = PROVIDERS["local"].models
    if model == REMOVED_MODEL:
        raise Misconfigured(
            f"{REMOVED_MODEL} is no longer part of scrubjay",
            hint="download the model's folder with its ONNX file, install scrubjay[onnx], and set provider to onnx and "
            "model to the folder; or use ollama with all-minilm",
        )
    if model not in known:
        near = nearest_names(model, known)
        raise Misconfigured(
            f"there is no local model {model[:80]!r}",
            hint=f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}",
        )
    if choice.dimensions not in (None, known[model]):
        raise Misconfigured(f"{model} always has {known[model]} dimensions", hint="do not set dimensions")
    return static_model.StaticEmbedder()  # looking a vector up would cost as much as making it


def _fields(choice: EmbeddingChoice, provider: Provider) -> dict[str, Any]:
    model, dimensions = model_of(choice), _dimensions(choice, provider)
    fields: dict[str, Any] = {"model": model, "encoding_format": provider.encoding}
    # A model that is not known has the dimensions it has; most services refuse to be asked for them.
    if dimensions != provider.models.get(model, dimensions):
        fields[provider.dimensions_field] = dimensions
    return fields


def _azure_address(choice: EmbeddingChoice) -> str:
    if not choice.deployment_name or not (choice.resource_name or choice.base_url):
        raise Misconfigured("azure needs a resource and a deployment", hint="set resource_name and deployment_name")
    if choice.resource_name and not _AZURE_RESOURCE.fullmatch(choice.resource_name):
        raise Misconfigured("resource_name is not the name of an Azure resource", hint="letters, digits and dashes")
    address = web_address(choice.base_url or f"https://{choice.resource_name}.openai.azure.com")
    version = urlencode({"api-version": choice.api_version})
    return f"{address}/openai/deployments/{quote(choice.deployment_name, safe='')}/embeddings?{version}"


def _key_variable(choice: EmbeddingChoice, provider: Provider) -> str | None:
    """The variable to look into. The usual one is not sent to an address that somebody chose."""
    if choice.api_key is not None:
        return None
    return choice.api_key_env or (provider.key_variable if choice.base_url is None else None)


def _key(choice: EmbeddingChoice, provider: Provider, environment: Mapping[str, str]) -> SecretStr | None:
    variable = _key_variable(choice, provider)
    key = find_key(choice.api_key, variable, environment)
    if key is None and (variable is not None or (provider.key_variable is not None and choice.base_url is None)):
        raise Misconfigured(
            f"{choice.provider} needs a key, and {variable or 'api_key'} is empty",
            hint=f"put the key into {variable or 'api_key'}, or name another variable with api_key_env",
        )
    return key
