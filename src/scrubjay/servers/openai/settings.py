"""Settings of the OpenAI-compatible server."""

from pydantic import BaseModel, Field


class OpenAISettings(BaseModel):
    """The OpenAI-compatible API: chat with memory and embeddings."""

    recall_tokens: int = Field(
        default=1_000,
        ge=0,
        le=100_000,
        description="Maximum tokens of memories in the prompt to the language model (in Mira's chat also goals and "
        "tasks); 0 adds none.",
    )
    recall_limit: int = Field(
        default=10, ge=1, le=100, description="Maximum number of memories in the prompt to the language model."
    )
    remember: bool = Field(default=True, description="Record the exchanges with the language model as turns.")
    any_model: bool = Field(
        default=False,
        description="Let clients choose any model of the language model's service. By default they may use only "
        "llm.model, so that the operator controls the costs.",
    )
    concurrency: int = Field(
        default=16, ge=1, le=1_000, description="Maximum concurrent requests to the language model."
    )
