"""What a language model is to us: messages in, one text out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Protocol

from scrubjay.core.errors import ScrubjayError
from scrubjay.models.failures import Reason, unavailable


@dataclass(frozen=True, slots=True)
class Message:
    """One of the messages that a model is to answer."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an answer took, as its service counts; None for what it does not tell."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model said."""

    text: str
    model: str
    """The model that really answered, as its service names it."""
    usage: Usage


class Completer(Protocol):
    """A language model."""

    @property
    def model(self) -> str:
        """The name of the model that is asked."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int,
        timeout: float | None = None,
    ) -> Completion:
        """The answer, within so many seconds for everything that it takes.

        With a schema the answer should be one JSON object that fits it, but no model can be trusted to do so: read it
        with `json_answers`. Raises `Unavailable` when no answer can be had for now, with a `Reason` in its details, and
        `InvalidRequest` when the service works but refuses these messages.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. What is asked later opens them again."""
        ...


class UnusableCompleter:
    """Satisfies `Completer`; always unavailable, so that everything else goes on without it and says why."""

    def __init__(self, model: str, problem: ScrubjayError) -> None:
        self.model = model
        self.problem = problem

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int,
        timeout: float | None = None,
    ) -> NoReturn:
        raise unavailable(
            Reason.MISCONFIGURED, self.problem.message, hint=self.problem.hint or "look at the llm settings"
        ) from self.problem

    async def close(self) -> None:
        """Nothing to let go of."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """The language model of this process, if somebody chose one."""

    completer: Completer | None
