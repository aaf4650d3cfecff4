"""Storage interface of code indexes: digests by content, and indexes that refer to contents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from scrubjay.code_index.models import FileTrait, Language


class Content(NamedTuple):
    """Key of a digest: the same bytes parsed as another language give another digest."""

    blob: str
    language: Language


class StoredDigest(NamedTuple):
    """The digest of one content: its packed facts and search data."""

    content: Content
    digest: bytes
    names: Sequence[str] = ()
    """Names of callable definitions, without duplicates, for `files_defining`."""


class StoredEdges(NamedTuple):
    """The packed edges of one file."""

    edges: bytes
    files: Sequence[str] = ()
    """Files that the edges point to."""


class IndexedFile(NamedTuple):
    """A file of an index."""

    path: str
    content: Content
    size: int
    traits: FileTrait
    dirty: bool
    generation: int
    """Generation of the index in which the file last changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRecord:
    """An index of one folder at one revision."""

    id: str
    root: str
    rev: str
    options: Mapping[str, Any]
    generation: int
    """Increases with each update; 0 until the first build is complete."""
    commit: str | None
    created_at: datetime
    updated_at: datetime
    details: Mapping[str, Any]
    """Statistics: counts, skipped files, warnings."""


class CodeStore(Protocol):
    """Stores digests by content, so that indexes share them, and updates each index atomically.

    Everything can be rebuilt from the repositories.
    """

    async def indexes(self) -> Sequence[IndexRecord]: ...

    async def index(self, index_id: str) -> IndexRecord | None: ...

    async def with_digest(self, version: int, contents: Sequence[Content]) -> set[Content]:
        """Return the contents that have a digest of this version."""
        ...

    async def put_digests(self, version: int, digests: Sequence[StoredDigest]) -> None: ...

    async def digests(self, version: int, contents: Sequence[Content]) -> Mapping[Content, bytes]: ...

    async def files(self, index_id: str, *, after_generation: int = 0) -> Sequence[IndexedFile]:
        """Return the files that changed after a generation, sorted by path; all files by default."""
        ...

    async def without_digest(self, index_id: str, version: int) -> Sequence[str]:
        """Return the files whose content has no digest of this version."""
        ...

    async def paths(self, index_id: str) -> Sequence[str]:
        """Return the sorted paths of all files."""
        ...

    async def edges(
        self, index_id: str, paths: Sequence[str] | None = None, *, after_generation: int = 0
    ) -> Mapping[str, bytes]:
        """Return packed edges by path: of these files, or of all files whose edges changed after a generation."""
        ...

    async def dependents_of(self, index_id: str, paths: Sequence[str]) -> Sequence[str]:
        """Return the sorted files with edges to one of these; may include files that only had such edges earlier."""
        ...

    async def files_defining(self, index_id: str, version: int, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return the sorted files that define a callable with each name."""
        ...

    async def write(
        self,
        record: IndexRecord,
        *,
        changed: Sequence[IndexedFile],
        removed: Sequence[str],
        edges: Mapping[str, StoredEdges],
    ) -> bool:
        """Atomically update an index from the previous generation to that of the record.

        Returns False and writes nothing if another process has already written this or a later generation.
        """
        ...

    async def delete(self, index_id: str) -> bool:
        """Delete an index; return False if it does not exist."""
        ...

    async def sweep(self, version: int) -> int:
        """Delete digests that no index needs or that have another version; return their number.

        Also deletes the vectors of texts that no index contains, once the texts of all contents are known.
        """
        ...

    async def close(self) -> None: ...
