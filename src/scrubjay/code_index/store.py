"""What is kept of repositories: what each content comes to, and which contents an index is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from scrubjay.code_index.models import FileTrait, Language


class Content(NamedTuple):
    """One content as it is read: the same bytes in another language come to something else."""

    blob: str
    language: Language


class KeptDigest(NamedTuple):
    """What one content comes to."""

    content: Content
    digest: bytes
    names: Sequence[str] = ()
    """What can be called in it, each once: by these names it is found."""


class KeptEdges(NamedTuple):
    """What one file leads to."""

    edges: bytes
    files: Sequence[str] = ()
    """Those that it leads to."""


class IndexedFile(NamedTuple):
    """A file as an index has it."""

    path: str
    content: Content
    size: int
    traits: FileTrait
    dirty: bool
    generation: int
    """The state of the index with which it came to be like this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRecord:
    """An index of one folder at one revision."""

    id: str
    root: str
    rev: str
    options: Mapping[str, Any]
    generation: int
    """Counts its states; 0 before the first one is whole."""
    commit: str | None
    created_at: datetime
    updated_at: datetime
    details: Mapping[str, Any]
    """Counts, what was skipped, and whatever else is told of it."""


class CodeStore(Protocol):
    """Contents are kept for themselves, so that indexes share them; an index changes from one whole state to the next.

    All of it can be made again from the repositories.
    """

    async def indexes(self) -> Sequence[IndexRecord]: ...

    async def index(self, index_id: str) -> IndexRecord | None: ...

    async def known(self, version: int, contents: Sequence[Content]) -> set[Content]:
        """Those of these whose digest is kept."""
        ...

    async def keep(self, version: int, digests: Sequence[KeptDigest]) -> None: ...

    async def digests(self, version: int, contents: Sequence[Content]) -> Mapping[Content, bytes]: ...

    async def files(self, index_id: str, *, after_generation: int = 0) -> Sequence[IndexedFile]:
        """The files that have changed since a state, ascending by path; all that there are by default."""
        ...

    async def unread(self, index_id: str, version: int) -> Sequence[str]:
        """Those whose digest is not kept: another version made it, or it was swept away before they needed it."""
        ...

    async def paths(self, index_id: str) -> Sequence[str]:
        """Of all files, ascending."""
        ...

    async def edges(
        self, index_id: str, paths: Sequence[str] | None = None, *, after_generation: int = 0
    ) -> Mapping[str, bytes]:
        """What the files lead to, as it was written; or all that changed, or lead elsewhere, since a state."""
        ...

    async def leading_to(self, index_id: str, paths: Sequence[str]) -> Sequence[str]:
        """The files that lead to one of these, ascending; there may be some among them that did so only before."""
        ...

    async def defining(self, index_id: str, version: int, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """By name the files that define something of this name that can be called, ascending."""
        ...

    async def write(
        self,
        record: IndexRecord,
        *,
        changed: Sequence[IndexedFile],
        removed: Sequence[str],
        edges: Mapping[str, KeptEdges],
    ) -> bool:
        """Bring an index from the state before to that of the record, at once.

        False, with nothing written, when another process has brought it there or further.
        """
        ...

    async def delete(self, index_id: str) -> bool:
        """Forget an index; False when there is none."""
        ...

    async def sweep(self, version: int) -> int:
        """Remove the digests that no index needs any more, or that an older program made; how many that were.

        So are the vectors of texts that no index has, unless some content was not read for its texts yet.
        """
        ...

    async def close(self) -> None: ...
