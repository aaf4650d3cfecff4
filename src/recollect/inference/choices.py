"""What can be chosen of an embedding provider: values only, so that reading them loads nothing."""

from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr

ProviderName = Literal["local", "openai", "azure", "gemini", "mistral", "cohere", "ollama", "vllm"]

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
    pace: Pace = Pace()
