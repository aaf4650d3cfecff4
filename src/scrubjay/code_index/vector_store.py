"""Storage interface of embeddings by a configured model, keyed by text so that no text is requested twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from scrubjay.code_index.store import Content, IndexedFile


class UnembeddedContent(NamedTuple):
    """A content with chunks that may have no vector yet."""

    row_id: int
    """Ascending; pass it as `after` to continue."""
    index_id: str
    """An index that contains it."""
    file: IndexedFile
    """A file of that index with this content."""
    texts: Sequence[str] | None
    """Keys of the texts of its chunks, in order; None if they are not known yet."""


class VectorCounts(NamedTuple):
    """Embedding progress of an index."""

    embedded: int = 0
    """Chunks with a vector, or rejected by the service."""
    pending: int = 0
    """Chunks without one."""
    unread: int = 0
    """Files whose chunks are not counted yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBatch:
    """A batch at the provider, as far as its progress was recorded."""

    model: str
    name: str
    """Our name of the batch, by which its uploaded file is found after a crash."""
    texts: int
    """Number of texts."""
    file_id: str = ""
    """Id of the uploaded file; empty before the upload."""
    batch_id: str = ""
    """The provider's id of the batch; empty before it was started."""


class CodeVectorStore(Protocol):
    """Vectors by model and text key.

    Vectors may have cost money, so they survive changes of the digest format, and `CodeStore.sweep` deletes only
    vectors that certainly no index needs.
    """

    async def unembedded(self, model: str, version: int, *, after: int, limit: int) -> Sequence[UnembeddedContent]:
        """Return up to `limit` contents that are not marked complete for this model, ordered by row id."""
        ...

    async def texts(self, version: int, contents: Sequence[Content]) -> Mapping[Content, Sequence[str]]:
        """Return the text keys of the chunks of these contents, where known."""
        ...

    async def put_texts(self, version: int, texts: Mapping[Content, Sequence[str]]) -> None: ...

    async def vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, bytes]:
        """Return the stored vectors by text key; empty bytes for a text that the service rejected."""
        ...

    async def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None: ...

    async def mark_complete(self, model: str, version: int, contents: Sequence[Content]) -> None:
        """Record that all texts of these contents have vectors of this model."""
        ...

    async def counts(self, model: str, version: int) -> Mapping[str, VectorCounts]:
        """Return the embedding progress by index."""
        ...

    async def batch(self, model: str) -> StoredBatch | None:
        """Return the current batch of a model."""
        ...

    async def put_batch(self, batch: StoredBatch) -> None:
        """Insert or update the current batch."""
        ...

    async def end_batch(self, model: str) -> None:
        """Delete the current batch of a model."""
        ...
