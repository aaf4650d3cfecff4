"""Embedding providers, and the embedder for a chosen provider, model and key."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlencode

from pydantic import SecretStr

from scrubjay.core.errors import Misconfigured
from scrubjay.core.lazy import lazy_module
from scrubjay.core.suggestions import nearest_names
from scrubjay.models import static_model
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.models.choices import IN_PROCESS, EmbeddingChoice, ProviderName
from scrubjay.models.embedding import Embedder
from scrubjay.models.embedding_cache import CachingEmbedder, VectorCache
from scrubjay.models.endpoint import ServiceEndpoint, find_key, web_address
from scrubjay.models.onnx_folder import OnnxFolder, read_folder
from scrubjay.models.onnx_model import OnnxEmbedder

if TYPE_CHECKING:
    from scrubjay.models import batches, openai_compatible
else:
    batches = lazy_module("scrubjay.models.batches")
    openai_compatible = lazy_module("scrubjay.models.openai_compatible")

_OPENAI_MODELS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider with its known models and their dimensions, the default model first."""

    models: Mapping[str, int]
    base_url: str | None = None
    key_variable: str | None = None
    """Environment variable that usually holds its key; None if it needs no key."""
    dimensions_field: str = "dimensions"
    """Request field that asks for shorter vectors."""
    encoding: Literal["float", "base64"] = "float"
    """base64 is a fifth of the size; used where it is known to be supported."""
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
"""Part of the extra `minilm` of earlier versions; stores and settings may still name it."""

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
    breakers: BreakerRegistry | None = None,
    service: str = "embedding",
) -> Embedder:
    """Return the embedder for a choice without loading or requesting anything; raise `Misconfigured` if it cannot work.

    The key is looked up in `environment`. `service` names the circuit breaker of the provider in `breakers`.
    """
    provider = PROVIDERS[choice.provider]
    if choice.provider == "local":
        return _local(choice, model_of(choice))
    if choice.provider == "onnx":
        return CachingEmbedder(OnnxEmbedder(name_of(choice), _onnx_folder(choice)), cache)
    endpoint = endpoint_for(choice, environment)
    embedder = openai_compatible.OpenAICompatibleEmbedder(
        endpoint,
        model=name_of(choice),
        dimensions=_dimensions(choice, provider),
        pace=replace(choice.pace, batch_size=min(choice.pace.batch_size, provider.largest_batch)),
        breaker=breakers.of(service, choice.provider, endpoint.label) if breakers is not None else None,
    )
    return CachingEmbedder(embedder, cache)


def batches_for(
    choice: EmbeddingChoice, environment: Mapping[str, str], breakers: BreakerRegistry | None = None
) -> "batches.EmbeddingBatches":
    """Return the provider's batch API for embeddings; raise `Misconfigured` if it has none."""
    if choice.provider in IN_PROCESS or choice.provider == "azure":
        raise Misconfigured(
            f"{choice.provider} has no supported batch API", hint="set SCRUBJAY_CODE_BATCH_API to false"
        )
    dimensions = _dimensions(choice, PROVIDERS[choice.provider])
    endpoint = endpoint_for(choice, environment)
    breaker = breakers.of("code_batches", choice.provider, endpoint.label) if breakers is not None else None
    return batches.EmbeddingBatches(endpoint, dimensions=dimensions, pace=choice.pace, breaker=breaker)


def model_of(choice: EmbeddingChoice) -> str:
    """Return the provider's name of the model."""
    return choice.model or next(iter(PROVIDERS[choice.provider].models), "")


def name_of(choice: EmbeddingChoice) -> str:
    """Return the name under which vectors of this choice are stored."""
    model = model_of(choice)
    if choice.provider == "local":
        return model
    if choice.provider == "onnx":
        return f"onnx/{_folder_name(model)}"
    known = PROVIDERS[choice.provider].models.get(model)
    # Shortened vectors cannot be compared with full ones, so they get their own name.
    shortened = f"@{choice.dimensions}" if known and choice.dimensions not in (None, known) else ""
    return f"{choice.provider}/{model}{shortened}"


def known_dimensions(choice: EmbeddingChoice) -> int | None:
    """Return the length of the vectors if it is known without a request."""
    if choice.provider == "onnx" and choice.dimensions is None:
        try:
            return read_folder(model_of(choice)).dimensions
        except Misconfigured:
            return None
    return choice.dimensions or PROVIDERS[choice.provider].models.get(model_of(choice))


def address_of(choice: EmbeddingChoice) -> str:
    """Return the URL to which texts are sent, for a choice other than `local`."""
    if choice.provider == "azure":
        return _azure_address(choice)
    return f"{web_address(choice.base_url or PROVIDERS[choice.provider].base_url)}/embeddings"


def endpoint_for(choice: EmbeddingChoice, environment: Mapping[str, str]) -> ServiceEndpoint:
    """Return the endpoint to which texts are sent, for a choice other than `local`."""
    provider = PROVIDERS[choice.provider]
    model = model_of(choice)
    azure = choice.provider == "azure"
    return ServiceEndpoint(
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
        f"the dimensions of {model_of(choice)[:80]!r} of {choice.provider} are unknown",
        hint=f"set dimensions, or use a known model: {', '.join(provider.models)}",
    )


def _folder_name(path: str) -> str:
    """Return the name of a folder's model; for an unusable folder, its last path component."""
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
    return static_model.StaticEmbedder()  # no cache: a lookup costs as much as embedding


def _fields(choice: EmbeddingChoice, provider: Provider) -> dict[str, Any]:
    model, dimensions = model_of(choice), _dimensions(choice, provider)
    fields: dict[str, Any] = {"model": model, "encoding_format": provider.encoding}
    # Do not send dimensions for an unknown model: most services reject the field.
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
    """Return the variable that holds the key. The provider's usual key is never sent to a custom base_url."""
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
