"""How answers about code keep to a number of tokens, and say that something was left out."""

from collections.abc import Iterable
from typing import Annotated, TypeVar

from pydantic import Field

from scrubjay.tooling.declaration import Result

V = TypeVar("V", bound=Result)

TokenBudget = Annotated[
    int,
    Field(
        ge=200,
        le=200_000,
        description="About how many tokens of a language model the answer may take; what does not fit is left out.",
    ),
]
Truncated = Annotated[bool, Field(description="Whether there is more than is told here.")]


def tokens_of_view(view: Result) -> int:
    return _tokens(len(view.model_dump_json()))


class Budget:
    """The tokens that are left for what there may be much of in an answer."""

    def __init__(self, tokens: int, answer: Result) -> None:
        """The answer is as it is when nothing of that has been told."""
        self.left = max(0, tokens - tokens_of_view(answer))

    def fitting(self, views: Iterable[V], share: float = 1.0, *, at_least: int = 0) -> list[V]:
        """As many of these, in their order, as a share of what is left holds; so many in any case."""
        most = int(share * self.left)
        taken: list[V] = []
        for view in views:
            cost = tokens_of_view(view)
            most -= cost
            if most < 0 and len(taken) >= at_least:
                break
            self.left = max(0, self.left - cost)
            taken.append(view)
        return taken

    def fitting_texts(self, texts: Iterable[str], share: float = 1.0, *, at_least: int = 0) -> list[str]:
        """The same of texts."""
        most = int(share * self.left)
        taken: list[str] = []
        for text in texts:
            cost = _tokens(len(text) + 3)
            most -= cost
            if most < 0 and len(taken) >= at_least:
                break
            self.left = max(0, self.left - cost)
            taken.append(text)
        return taken


def _tokens(characters: int) -> int:
    return -(-characters // 4)
