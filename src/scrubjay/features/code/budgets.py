"""Token budgets of answers about code."""

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
        description="Approximate maximum size of the answer in tokens; what does not fit is left out.",
    ),
]
Truncated = Annotated[bool, Field(description="Whether something was left out.")]


def tokens_of_view(view: Result) -> int:
    return _tokens(len(view.model_dump_json()))


class Budget:
    """The tokens left for the long lists of an answer."""

    def __init__(self, tokens: int, answer: Result) -> None:
        """`answer` is the answer with those lists empty; its own size is deducted."""
        self.left = max(0, tokens - tokens_of_view(answer))

    def fitting(self, views: Iterable[V], share: float = 1.0, *, at_least: int = 0) -> list[V]:
        """Take views in order while they fit a share of the remaining tokens, but `at_least` this many."""
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
        """Like `fitting`, for strings."""
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
