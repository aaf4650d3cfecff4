"""Values of the embedding feature: model choices, their state, and vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """A model as a call chose it."""

    choice: Mapping[str, Any] | None
    """The choice without keys; None for the settings of each process."""
    model: str
    """Name under which its vectors are stored."""
    dimensions: int
    change_id: str
    """The change that chose it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """The models of a store, shared by all processes."""

    active: ChosenModel | None = None
    """None if no call has chosen a model; then each process uses its settings."""
    next: ChosenModel | None = None
    """Becomes active when every memory has a vector of it. After a failed job it waits to be chosen again."""
    job_id: str | None = None
    """The job that makes its vectors."""
    is_running: bool = False
    """True until that job has ended."""


@dataclass(frozen=True, slots=True)
class UnembeddedMemory:
    """A memory without a vector of a model."""

    seq: int
    """Position in storage order, for paging."""
    memory_id: str
    content: str


@dataclass(frozen=True, slots=True)
class NewVector:
    """A vector with the memory and the content that it was made of."""

    memory_id: str
    content: str
    vector: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEmbedding:
    """The vector of a query and the model that made it."""

    vector: bytes
    """Empty if the text has no vector, or if the embedder failed."""
    model: str
    dimensions: int
    provider: str
    contextual: bool
    """True if the model considers the context of words."""
    problem: str | None
    """Reason why there is no vector."""


@dataclass(frozen=True, slots=True)
class TextEmbeddings:
    """One vector per text; empty vectors and an empty model name if the embedder failed."""

    model: str
    vectors: Sequence[bytes]


class StoredText(Protocol):
    """A stored text that has a vector."""

    @property
    def id(self) -> str: ...

    @property
    def content(self) -> str: ...
