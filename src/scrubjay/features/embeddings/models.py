"""Which embedding model answers, and which one is to take its place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """A model as a call chose it."""

    choice: Mapping[str, Any] | None
    """What was chosen, never a key; None for whatever each process has in its settings."""
    model: str
    """The name that its vectors are kept under."""
    dimensions: int
    change_id: str
    """The change that brought it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """What all processes of a store agree on."""

    answering: ChosenModel | None = None
    """None as long as no call has chosen one: then each process goes by its settings."""
    coming: ChosenModel | None = None
    """Takes its place once every memory has a vector of it; one whose job has ended waits to be chosen again."""
    job_id: str | None = None
    """The job that makes these vectors."""
    under_way: bool = False
    """Whether that job has not ended."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory that lacks a vector."""

    place: int
    """By which to continue after it."""
    memory_id: str
    content: str


@dataclass(frozen=True, slots=True)
class MadeVector:
    """A vector, and of which content of which memory."""

    memory_id: str
    content: str
    vector: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionMeaning:
    """What a question means to the model that answers."""

    vector: bytes
    """Empty when it has no meaning to it, or when that could not be had."""
    model: str
    dimensions: int
    provider: str
    contextual: bool
    """Whether the model reads words in their context."""
    problem: str | None
    """Why its meaning could not be had."""


@dataclass(frozen=True, slots=True)
class MadeMeanings:
    """Vectors of one model, one for each text; all empty, and the model too, when none could be had."""

    model: str
    vectors: Sequence[bytes]


class StoredText(Protocol):
    """A stored text that has a vector."""

    @property
    def id(self) -> str: ...

    @property
    def content(self) -> str: ...
