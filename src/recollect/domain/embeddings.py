"""Which embedding model answers, and which one is to take its place."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
