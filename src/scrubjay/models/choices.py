"""Values that choose a model and its provider. Importing this module loads no model code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import SecretStr

ProviderName = Literal["local", "onnx", "openai", "azure", "gemini", "mistral", "cohere", "ollama", "vllm"]

IN_PROCESS: frozenset[ProviderName] = frozenset({"local", "onnx"})
"""Providers that embed in this process: no text leaves the machine."""

# Later API versions accept the same requests.
DEFAULT_AZURE_VERSION = "2023-05-15"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Limits of requests to a service."""

    batch_size: int = 32
    """Texts in one request."""
    concurrency: int = 4
    """Maximum number of concurrent requests."""
    timeout_seconds: float = 10.0
    """Time limit of one request including its response."""
    retries: int = 3
    max_characters: int = 8_000
    """Longer texts are truncated."""
    question_seconds: float = 1.0
    """Time limit to embed a query, including retries, as a caller is waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingChoice:
    """A choice of embedding model; None means the provider's default."""

    provider: ProviderName = "local"
    model: str | None = None
    dimensions: int | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    """Environment variable that holds the key."""
    resource_name: str | None = None
    deployment_name: str | None = None
    api_version: str = DEFAULT_AZURE_VERSION
    similarity_threshold: float | None = None
    """Minimum similarity of a match by embedding; None leaves it to the ranking."""
    pace: Pace = Pace()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionChoice:
    """A choice of language model."""

    base_url: str
    model: str
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    """Environment variable that holds the key."""
    timeout_seconds: float = 60.0
    """Time limit of one request including its response."""
    retries: int = 2
    concurrency: int = 2
    """Maximum number of concurrent requests."""


LOOPBACK = "loopback"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerRights:
    """Choices that the operator allows to callers."""

    addresses: Sequence[str] = (LOOPBACK,)
    """Hosts that a caller may use in base_url: `name`, `name:port`, or `loopback`."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Environment variables that a caller may name, each with the only host its content may be sent to."""
    folders: Sequence[str] = ()
    """Folders with ONNX models that a caller may name."""
    limited_may_change_address: bool = False
    """Whether callers without the scope for everything may change the provider or its address."""


# Without the key itself: the variable that holds it is enough.
_KEPT = (
    "provider",
    "model",
    "dimensions",
    "base_url",
    "api_key_env",
    "resource_name",
    "deployment_name",
    "api_version",
    "similarity_threshold",
)


def stored_form(choice: EmbeddingChoice) -> dict[str, Any]:
    """Return the choice as plain data without secrets, for storing and sharing."""
    chosen = {name: value for name in _KEPT if (value := getattr(choice, name)) is not None}
    return {**chosen, "batch_size": choice.pace.batch_size}


def choice_of_stored(kept: Mapping[str, Any], pace: Pace) -> EmbeddingChoice:
    """Return a stored choice; limits other than the batch size come from `pace`."""
    chosen = {name: kept[name] for name in _KEPT if name in kept}
    return EmbeddingChoice(**chosen, pace=replace(pace, batch_size=kept["batch_size"]))
