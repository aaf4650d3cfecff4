"""Settings of the language model and of requests to model services."""

from pydantic import BaseModel, Field, SecretStr, model_validator

from scrubjay.models.breakers import BreakerLimits
from scrubjay.models.choices import CompletionChoice

_COMPLETION = CompletionChoice(base_url="", model="")


class LlmSettings(BaseModel):
    """The language model, for summaries and the like; optional."""

    base_url: str | None = Field(
        default=None,
        description="Base URL of an OpenAI-compatible service, without `/chat/completions`. Together with `model` it "
        "enables the language model; prompts and their content are sent there.",
    )
    model: str | None = Field(default=None, description="Name of the model at the service.")
    api_key: SecretStr | None = Field(default=None, description="API key of the service; api_key_env is safer.")
    api_key_env: str | None = Field(
        default=None, description="Environment variable that holds the API key, such as OPENAI_API_KEY."
    )
    timeout_seconds: float = Field(
        default=_COMPLETION.timeout_seconds, gt=0, le=3600, description="Seconds that one request may take."
    )
    retries: int = Field(default=_COMPLETION.retries, ge=0, le=10, description="Number of retries of a failed request.")
    concurrency: int = Field(
        default=_COMPLETION.concurrency, ge=1, le=64, description="Maximum number of concurrent requests."
    )

    @model_validator(mode="after")
    def _whole(self) -> "LlmSettings":
        if (self.base_url is None) != (self.model is None):
            raise ValueError("a language model needs both base_url and model")
        return self

    def choice(self) -> CompletionChoice | None:
        """Return the chosen language model; None if none is set."""
        if self.base_url is None or self.model is None:
            return None
        return CompletionChoice(**{name: getattr(self, name) for name in CompletionChoice.__dataclass_fields__})


class UpstreamSettings(BaseModel):
    """Circuit breakers of model services."""

    failures: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Consecutive failures that open the breaker. Default: 5, and 3 for ollama.",
    )
    pause_seconds: float = Field(
        default=60, gt=0, le=86_400, description="Seconds the breaker stays open before a probe."
    )
    successes: int = Field(
        default=3, ge=1, le=1000, description="Consecutive successful probes that close the breaker."
    )

    def limits(self) -> BreakerLimits:
        """Return the limits for `BreakerRegistry`."""
        return BreakerLimits(failures=self.failures, pause_seconds=self.pause_seconds, successes=self.successes)
