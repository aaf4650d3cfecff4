"""A language model with scripted responses."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from scrubjay.models.completion import Completion, Prompt, PromptMessage, Usage


@dataclass(frozen=True)
class ModelCall:
    """The arguments of one `complete` call."""

    messages: Sequence[PromptMessage]
    timeout: float | None


@dataclass
class ScriptedModel:
    """A `Completer` that returns or raises its scripted responses in order."""

    responses: Sequence[str | Exception]
    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    model: str = "model"

    async def complete(self, prompt: Prompt) -> Completion:
        response = self.responses[len(self.calls)]
        self.calls.append(ModelCall(prompt.messages, prompt.timeout))
        if isinstance(response, Exception):
            raise response
        return Completion(text=response, model="model-1", usage=Usage())

    async def close(self) -> None:
        """Do nothing."""
