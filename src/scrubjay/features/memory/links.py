"""Links of memories to code, with the state of the code when the memory was last confirmed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LinkOrigin(StrEnum):
    """How a link was found."""

    NAMED = "named"
    """The author named the code in `about`."""
    MENTIONED = "mentioned"
    """The content contains the name, and it is unique in the repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeState:
    """State of a definition or a whole file at one time."""

    path: str
    """Relative to the root of the repository."""
    symbol: str
    """Qualified name; empty for the whole file."""
    blob: str
    """Git blob id of the file."""
    digest: str
    """Digest of the text without secrets, independent of line endings."""
    commit: str | None
    """Commit that was checked out; None outside of git."""
    first_line: int
    last_line: int
    text: str
    """Text without secrets; empty if it is too long to store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLink:
    """Link of a memory to code."""

    root: str
    """The folder of the repository."""
    name: str
    """Name as the author wrote it."""
    origin: LinkOrigin
    code: CodeState | None
    """None until the repository is indexed; resolved then."""
    linked_at: datetime


def merge_links(*groups: Iterable[CodeLink]) -> tuple[CodeLink, ...]:
    """Merge groups of links; of links with the same root and name, the last one wins."""
    return tuple({(link.root, link.name): link for group in groups for link in group}.values())


def is_valid_text(path: str) -> bool:
    """Return True if the path can be stored: file names may contain bytes that are not valid text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
