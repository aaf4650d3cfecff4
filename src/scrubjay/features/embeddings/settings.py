"""Settings of the embedding model."""

from pydantic import BaseModel, Field, SecretStr

from scrubjay.models.choices import DEFAULT_AZURE_VERSION, CallerRights, EmbeddingChoice, Pace, ProviderName

_PACE = Pace()


class EmbeddingSettings(BaseModel):
    """The embedding model for semantic search."""

    provider: ProviderName = Field(
        default="local", description="Provider of embeddings: this machine, a cloud service, or your own service."
    )
    model: str | None = Field(
        default=None,
        description="Name of the model; default: the provider's default model. With `onnx`, the folder of a "
        "sentence-transformers model with its ONNX file.",
    )
    dimensions: int | None = Field(
        default=None,
        ge=1,
        le=16_384,
        description="Length of the vectors: required for unknown models, or to get shorter vectors.",
    )
    base_url: str | None = Field(
        default=None, description="Base URL of an OpenAI-compatible service, without `/embeddings`."
    )
    api_key: SecretStr | None = Field(default=None, description="API key of the service; api_key_env is safer.")
    api_key_env: str | None = Field(
        default=None,
        description="Environment variable with the API key, such as OPENAI_API_KEY. Default: the usual variable of the "
        "provider, except with your own base_url.",
    )
    resource_name: str | None = Field(default=None, description="Azure: resource of the deployment.")
    deployment_name: str | None = Field(default=None, description="Azure: deployment of the model.")
    api_version: str = Field(default=DEFAULT_AZURE_VERSION, description="Azure: API version.")
    batch_size: int = Field(default=_PACE.batch_size, ge=1, le=2048, description="Maximum number of texts per request.")
    concurrency: int = Field(
        default=_PACE.concurrency, ge=1, le=64, description="Maximum number of concurrent requests."
    )
    timeout_seconds: float = Field(
        default=_PACE.timeout_seconds, gt=0, le=600, description="Timeout of one request, in seconds."
    )
    retries: int = Field(default=_PACE.retries, ge=0, le=10, description="Number of retries of a failed request.")
    max_characters: int = Field(
        default=_PACE.max_characters,
        ge=100,
        description="Characters of a long text that are sent to a service; the rest is cut.",
    )
    question_seconds: float = Field(
        default=_PACE.question_seconds,
        gt=0,
        le=60,
        description="Seconds that recall waits for a service. Then it falls back to keyword search, reports this, and "
        "does not call the service for half a minute.",
    )
    similarity_threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Minimum similarity for a semantic match; less similar memories are found only by keywords. "
        "Default: the ranking decides, which is better, because similarities differ between models.",
    )
    caller_addresses: list[str] = Field(
        default=["loopback"],
        description="Hosts that configure_embeddings accepts in base_url: names, names with a port, or "
        "`loopback` for this machine.",
    )
    caller_keys: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="Environment variables that configure_embeddings accepts as api_key_env, each with the only host "
        "that receives the key. A provider's usual variable is always accepted for that provider.",
    )
    caller_folders: list[str] = Field(
        default_factory=list[str],
        description="Folders with ONNX models that configure_embeddings accepts as model.",
    )
    keys_may_change_address: bool = Field(
        default=False,
        description="Allow keys without the scope `*` to choose another provider or base_url with "
        "configure_embeddings, within caller_addresses. Such a key can send all memories to that address.",
    )
    cache_bytes: int = Field(
        default=64 * 1024 * 1024,
        ge=0,
        description="Maximum size of the cache of recent vectors, in bytes.",
    )

    def caller_rights(self) -> CallerRights:
        """Return the choices that callers may make."""
        return CallerRights(
            addresses=tuple(self.caller_addresses),
            keys=self.caller_keys,
            folders=tuple(self.caller_folders),
            limited_may_change_address=self.keys_may_change_address,
        )

    def choice(self) -> EmbeddingChoice:
        """Return the settings as a choice of a model."""
        pace = Pace(**{name: getattr(self, name) for name in Pace.__dataclass_fields__})
        chosen = {name: getattr(self, name) for name in EmbeddingChoice.__dataclass_fields__ if name != "pace"}
        return EmbeddingChoice(**chosen, pace=pace)
