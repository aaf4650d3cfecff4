"""Messages between the server and a search process."""

from typing import Any, NamedTuple

from scrubjay.code_index.models import Language, Snapshot, SourceFile

# Maximum number of characters in an excerpt: a line may be a whole minified program.
MAX_TEXT = 1_000
MAX_CAPTURE = 300


class Expression(NamedTuple):
    """A regular expression."""

    pattern: str
    literal: bool = False
    """True if it is plain text, without special characters."""
    ignore_case: bool = False
    word: bool = False
    """True if it must match whole words."""
    multiline: bool = False
    """True if a match may span lines, and a dot matches a newline."""


class Structure(NamedTuple):
    """Code with holes."""

    pattern: str
    language: Language


class PatternQuery(NamedTuple):
    """A pattern to search for, and the limits of the answer."""

    wanted: Expression | Structure
    max_matches: int
    """Maximum number of matches returned by one process; further ones are only counted."""
    context_lines: int = 0


class FileBatch(NamedTuple):
    """A batch of files to search."""

    snapshot: Snapshot
    files: list[tuple[int, SourceFile, bool]]
    """Each file with its number, and whether it is known to contain no secret."""


class PatternMatch(NamedTuple):
    """A match and its excerpt."""

    start: int
    end: int
    first_line: int
    last_line: int
    column: int
    """Column in characters, from 1."""
    before: str
    text: str
    """Whole lines."""
    after: str
    captures: dict[str, Any]
    """Text of the holes, or of named groups."""


class FileMatches(NamedTuple):
    """The matches in one file."""

    number: int
    total: int
    is_clean: bool
    """True if the file contains no secret."""
    matches: list[PatternMatch]
    is_unread: bool = False
    """True if the file changed or is gone."""
