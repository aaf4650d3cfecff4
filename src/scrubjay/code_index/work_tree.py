"""Read single files of a work tree as they are now, without building an index."""

from collections.abc import Iterable
from typing import NamedTuple

from scrubjay.code_index.discovery.contents import blob_id
from scrubjay.code_index.discovery.git import GitFailed, run_git
from scrubjay.code_index.discovery.languages import is_header, language_by_content, language_by_name
from scrubjay.code_index.discovery.limits import Deadline
from scrubjay.code_index.discovery.rooted_reader import RootedReader
from scrubjay.code_index.discovery.skip_rules import reason_by_content
from scrubjay.code_index.models import FileFacts, Language
from scrubjay.code_index.parsing.reader import count_lines, read_facts
from scrubjay.core.errors import ScrubjayError


class WorkTreeFile(NamedTuple):
    """The content of a file, and the id that git gives it."""

    blob: str
    content: bytes


def head_commit(root: str, *, seconds: float) -> str | None:
    """Return the commit that is checked out; None where there is none, or git does not answer in time."""
    try:
        return run_git(root, Deadline(seconds), "rev-parse", "--verify", "-q", "HEAD").decode().strip()
    except (GitFailed, ScrubjayError):
        return None


def read_work_tree(root: str, paths: Iterable[str], *, max_bytes: int) -> dict[str, WorkTreeFile]:
    """Read files under `root` without following symbolic links; omit missing, special and larger files."""
    found: dict[str, WorkTreeFile] = {}
    try:
        with RootedReader(root) as reader:
            for path in sorted(paths):
                if (file := _read_file(reader, path, max_bytes)) is not None:
                    found[path] = file
    except OSError:
        return {}
    return found


def is_source_text(content: bytes) -> bool:
    """Return whether an index would keep this content: it is text."""
    return reason_by_content(content) is None


def language_of_file(path: str, content: bytes) -> Language:
    """Return a file's language by its name, or else by its first bytes; for a header see `is_header`."""
    return language_by_name(path) or language_by_content(content[:200])


def facts_of_content(content: bytes, language: Language) -> FileFacts:
    """Parse a content in this process; a parser that fails gives facts without symbols."""
    try:
        return read_facts(content, language)
    except Exception:  # a parser bug on one file must not fail the caller; the index reports it
        return FileFacts(language, count_lines(content))


def _read_file(reader: RootedReader, path: str, max_bytes: int) -> WorkTreeFile | None:
    try:
        content = reader.read(path, max_bytes + 1)
    except (OSError, ValueError):
        return None
    return WorkTreeFile(blob_id(content), content) if len(content) <= max_bytes else None


__all__ = [
    "WorkTreeFile", "facts_of_content", "head_commit", "is_header", "is_source_text", "language_of_file",
    "read_work_tree",
]  # fmt: skip
