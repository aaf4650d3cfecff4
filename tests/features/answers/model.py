"""A language model that says what a test wants it to say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scrubjay.models.completion import Completion, Message, Usage


@dataclass(frozen=True)
class Asked:
    """What it was asked."""

    messages: Sequence[Message]
    timeout: float | None


@dataclass
class SpokenModel:
    """Satisfies `Completer`: says one thing after the other, or fails so."""

    answers: Sequence[str | Exception]
    asked: list[Asked] = field(default_factory=list[Asked])
    model: str = "model"

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int,
        timeout: float | None = None,
    ) -> Completion:
        answer = self.answers[len(self.asked)]
        self.asked.append(Asked(messages, timeout))
        if isinstance(answer, Exception):
            raise answer
        return Completion(text=answer, model="model-1", usage=Usage())

    async def close(self) -> None:
        """Nothing to let go of."""
