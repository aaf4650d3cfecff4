"""How answers about code keep to a number of tokens, and say that something was left out."""

from collections.abc import Iterable
from typing import Annotated, TypeVar

from pydantic import Field

from recollect.toolkit.declaration import Result

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
    return -(-len(view.model_dump_json()) // 4)


def fitting(views: Iterable[V], tokens: int) -> list[V]:
    """As many of these, in their order, as the tokens hold; the first in any case."""
    taken: list[V] = []
    for view in views:
        tokens -= tokens_of_view(view)
        if tokens < 0 and taken:
            break
        taken.append(view)
    return taken
