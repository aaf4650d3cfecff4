"""What is asked of a process that finds code by its form, and what it answers for a file."""

from typing import Any, NamedTuple

from scrubjay.code_index.models import Language, Snapshot, SourceFile

# Of a text that is shown no more is told: a line may be a whole program.
LONGEST_SHOWN = 1_000
LONGEST_CAPTURE = 300


class Expression(NamedTuple):
    """A regular expression."""

    pattern: str
    literal: bool = False
    """Whether it is plain text, whatever signs are in it."""
    ignore_case: bool = False
    word: bool = False
    """Whether it has to begin and end with a word's beginning and end."""
    multiline: bool = False
    """Whether one match may go over several lines, and a dot is any sign."""


class Structure(NamedTuple):
    """Code with holes."""

    pattern: str
    language: Language


class Question(NamedTuple):
    """What is to be found, and how much of it is told."""

    wanted: Expression | Structure
    most: int
    """So many matches of one process are told in full; the others are only counted."""
    context_lines: int = 0


class Files(NamedTuple):
    """Where to look."""

    place: Snapshot
    files: list[tuple[int, SourceFile, bool]]
    """Each with its number, and whether it is known that it holds no secret."""


class Match(NamedTuple):
    """A part of a file that was found, as it is shown."""

    start: int
    end: int
    first_line: int
    last_line: int
    column: int
    """Counted from 1, in characters."""
    before: str
    text: str
    """The whole lines."""
    after: str
    captures: dict[str, Any]
    """What the holes, or the groups with names, hold."""


class InFile(NamedTuple):
    """What was found in one file."""

    number: int
    total: int
    is_clean: bool
    """Whether the file holds no secret."""
    matches: list[Match]
    is_unread: bool = False
    """Whether the file is not as it was any more."""
