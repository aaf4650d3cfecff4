"""What can be chosen of a model and its provider: values only, so that reading them loads nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import SecretStr

ProviderName = Literal["local", "onnx", "openai", "azure", "gemini", "mistral", "cohere", "ollama", "vllm"]

IN_PROCESS: frozenset[ProviderName] = frozenset({"local", "onnx"})
"""Providers that embed in this process: no text leaves the machine."""

# What other servers of this kind use; every version since then understands the same requests.
DEFAULT_AZURE_VERSION = "2023-05-15"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How much is asked of a service, and how long it is waited for."""

    batch_size: int = 32
    """Texts in one request."""
    concurrency: int = 4
    """Requests at one time."""
    timeout_seconds: float = 10.0
    """For one request, from its first byte to the last of its answer."""
    retries: int = 3
    max_characters: int = 8_000
    """What is longer is cut off."""
    question_seconds: float = 1.0
    """For the meaning of a question, all tries together: somebody waits for the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingChoice:
    """What somebody chose; None means the provider's own default."""

    provider: ProviderName = "local"
    model: str | None = None
    dimensions: int | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    """The environment variable that holds the key."""
    resource_name: str | None = None
    deployment_name: str | None = None
    api_version: str = DEFAULT_AZURE_VERSION
    similarity_threshold: float | None = None
    """What is less similar to a question is not found by its meaning; None leaves that to the ranking."""
    pace: Pace = Pace()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionChoice:
    """Which language model somebody chose."""

    base_url: str
    model: str
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    """The environment variable that holds the key."""
    timeout_seconds: float = 60.0
    """For one request, from its first byte to the last of its answer."""
    retries: int = 2
    concurrency: int = 2
    """Requests at one time."""


LOOPBACK = "loopback"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerRights:
    """What the operator lets callers choose."""

    addresses: Sequence[str] = (LOOPBACK,)
    """Hosts that a caller may give as base_url: a name, a name with its port, or `loopback`."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Environment variables that a caller may name, each with the one host that its content may be sent to."""
    folders: Sequence[str] = ()
    """Folders with ONNX models that a caller may name."""


# Not the key itself: where it is found is enough.
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


def kept_form(choice: EmbeddingChoice) -> dict[str, Any]:
    """The choice as plain data without any secret, to be kept and shared."""
    chosen = {name: value for name in _KEPT if (value := getattr(choice, name)) is not None}
    return {**chosen, "batch_size": choice.pace.batch_size}


def choice_from(kept: Mapping[str, Any], pace: Pace) -> EmbeddingChoice:
    """The choice that was kept; all but its batch size is done at this pace."""
    chosen = {name: kept[name] for name in _KEPT if name in kept}
    return EmbeddingChoice(**chosen, pace=replace(pace, batch_size=kept["batch_size"]))
