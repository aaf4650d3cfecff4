"""Interface of language models: messages in, one text out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Protocol

from scrubjay.core.errors import ScrubjayError
from scrubjay.models.failures import FailureReason, unavailable


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


def quote_material(text: str) -> str:
    """Return a text between tags that mark it as data; a closing tag in the text cannot end it early."""
    return f"<material>\n{text.replace('</material', '< /material')}\n</material>"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages to a model, and the form and limits of its answer."""

    messages: Sequence[PromptMessage]
    max_tokens: int
    json_schema: Mapping[str, Any] | None = None
    """Schema that the answer must match; None for plain text."""
    timeout: float | None = None
    """Seconds until the answer, including retries; None for the configured timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts reported by the service; None if not reported."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The response of a model."""

    text: str
    model: str
    """The model that responded, as named by the service."""
    usage: Usage


class Completer(Protocol):
    """A language model."""

    @property
    def model(self) -> str:
        """Name of the requested model."""
        ...

    async def complete(self, prompt: Prompt) -> Completion:
        """Return the completion of a prompt.

        With a schema the text should be one matching JSON object, but models do not always comply: parse it with
        `json_answers`. Raises `Unavailable` with a `FailureReason` in its details if no response can be obtained now,
        and `InvalidRequest` if the service works but rejects these messages.
        """
        ...

    async def close(self) -> None:
        """Close connections. Later requests open new ones."""
        ...


class UnusableCompleter:
    """Implements `Completer` for a model that cannot work; raises `Unavailable` with the reason."""

    def __init__(self, model: str, problem: ScrubjayError) -> None:
        self.model = model
        self.problem = problem

    async def complete(self, prompt: Prompt) -> NoReturn:
        raise unavailable(
            FailureReason.MISCONFIGURED, self.problem.message, hint=self.problem.hint or "check the llm settings"
        ) from self.problem

    async def close(self) -> None:
        """Do nothing: there is no connection."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """The language model of this process, if one is configured."""

    completer: Completer | None
