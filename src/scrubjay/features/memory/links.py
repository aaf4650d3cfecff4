"""What ties a memory to code: which code is meant, and what it was when somebody last said that the memory is true."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LinkOrigin(StrEnum):
    """Why it is believed that a memory is about this code."""

    NAMED = "named"
    """Whoever wrote the memory said so."""
    MENTIONED = "mentioned"
    """Its words name it, and nothing else in the repository is called so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeState:
    """A definition, or a whole file, as it was at one moment."""

    path: str
    """From the repository's root."""
    symbol: str
    """Its qualified name; empty for the whole file."""
    blob: str
    """The id that git gives the file's content."""
    digest: str
    """Of the text, without secrets and whatever the ends of lines are."""
    commit: str | None
    """The commit that was checked out; None where there is none."""
    first_line: int
    last_line: int
    text: str
    """Without secrets; empty when it is too long to be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLink:
    """A memory is about this code."""

    root: str
    """The folder of the repository."""
    name: str
    """As it was written."""
    origin: LinkOrigin
    code: CodeState | None
    """None while nothing is known of the repository: it is looked up when there is an index."""
    linked_at: datetime


def joined(*groups: Iterable[CodeLink]) -> tuple[CodeLink, ...]:
    """All of these, each name once: as the last group has it that has it."""
    return tuple({(link.root, link.name): link for group in groups for link in group}.values())


def is_text(path: str) -> bool:
    """Whether a store can keep the path: names of files may be bytes that are no text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
