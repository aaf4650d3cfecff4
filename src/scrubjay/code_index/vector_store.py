"""What is kept of meanings that a service gave to parts of files: by their text, so that nothing is asked for twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from scrubjay.code_index.store import Content, IndexedFile


class UnembeddedContent(NamedTuple):
    """A content of which some part may have no vector yet."""

    place: int
    """Ascending; the next ones are after it."""
    index_id: str
    """An index that has it."""
    file: IndexedFile
    """A file of that index with this content."""
    texts: Sequence[str] | None
    """The keys of the texts of its chunks, in order; None when it was not read for that yet."""


class VectorCounts(NamedTuple):
    """How far an index is."""

    embedded: int = 0
    """Chunks with a vector, or that the service refused."""
    pending: int = 0
    """Chunks without one."""
    unread: int = 0
    """Files whose chunks are not counted yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBatch:
    """Work that was given to a service to be fetched later, as far as is known of it."""

    model: str
    name: str
    """Ours, by which what was uploaded for it is found."""
    texts: int
    """How many it has."""
    file_id: str = ""
    """What was uploaded; empty before that."""
    batch_id: str = ""
    """What the service calls it; empty before it was begun."""


class CodeVectorStore(Protocol):
    """Vectors by model and by the key of their text. Unlike the rest of what is kept of code, they may have cost money:
    they outlive every change of how code is read, and `CodeStore.sweep` removes only what surely no index has."""

    async def unembedded(self, model: str, version: int, *, after: int, limit: int) -> Sequence[UnembeddedContent]:
        """The contents that indexes have and that are not known to be done, in the order of their places."""
        ...

    async def texts(self, version: int, contents: Sequence[Content]) -> Mapping[Content, Sequence[str]]:
        """The keys of the texts of their chunks, of those that were read for that."""
        ...

    async def keep_texts(self, version: int, texts: Mapping[Content, Sequence[str]]) -> None: ...

    async def vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, bytes]:
        """Those that are known, by the key of the text; empty for one that the service refused."""
        ...

    async def keep(self, model: str, vectors: Mapping[str, bytes]) -> None: ...

    async def note_done(self, model: str, version: int, contents: Sequence[Content]) -> None:
        """All texts of these have their vectors of this model."""
        ...

    async def counts(self, model: str, version: int) -> Mapping[str, VectorCounts]:
        """By index."""
        ...

    async def batch(self, model: str) -> KeptBatch | None:
        """The one that is under way."""
        ...

    async def put_batch(self, batch: KeptBatch) -> None:
        """What is known of it now."""
        ...

    async def end_batch(self, model: str) -> None:
        """Forget the one that was under way."""
        ...
