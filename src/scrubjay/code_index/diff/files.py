"""List the files that differ between two revisions, with hunks and facts. The work tree is only read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.discovery.contents import read_contents
from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.facts.packed_facts import unpack_facts
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.models import FileFacts, Snapshot, SourceFile
from scrubjay.code_index.secret_masking import mask_secrets
from scrubjay.code_index.service import CodeService
from scrubjay.code_index.store import Content

# Beyond these limits, changed files are listed but not read.
MAX_FILES = 300
MAX_BYTES = 40_000_000
# Up to this many added and removed files are compared pairwise to detect renames.
MAX_COMPARED = 100
MIN_SIMILARITY = 0.5
# Longer changes become one hunk: comparing lines takes quadratic time.
MAX_COMPARED_LINES = 2_000


class ChangeStatus(StrEnum):
    """Kind of change of a file."""

    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"
    RENAMED = "renamed"


class Hunk(NamedTuple):
    """Replaced lines, counted from 1: first line and number of lines, before and after."""

    old_first: int
    old_lines: int
    new_first: int
    new_lines: int


class FileVersion(NamedTuple):
    """A file on one side of the comparison."""

    file: SourceFile
    content: bytes
    facts: FileFacts


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that changed."""

    status: ChangeStatus
    old_path: str
    """Empty if the file was added."""
    path: str
    """Empty if the file was removed."""
    before: FileVersion | None = None
    """None if the file was added or not read."""
    after: FileVersion | None = None
    hunks: Sequence[Hunk] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    """Two revisions and the files that differ."""

    base: str | None
    """Commit id."""
    head: str | None
    """Commit id; None for the work tree."""
    files: Sequence[FileChange]
    unread: Sequence[str]
    """Files that are unreadable or exceed the limits."""


async def diff_files(code: CodeService, root: str, base: str, head: str | None, options: IndexOptions) -> Diff:
    """Compare a revision with the work tree, or with a second revision."""
    # For snapshots HEAD means the work tree; here it means the commit.
    old = await code.indexer.snapshot(root, "HEAD~0" if base == "HEAD" else base, options)
    rev = "HEAD" if head is None else "HEAD~0" if head == "HEAD" else head
    new = await code.indexer.snapshot(root, rev, options)
    pairs = await anyio.to_thread.run_sync(_pair_files, old, new)
    contents = await anyio.to_thread.run_sync(_read_sides, old, new, _within_limits(pairs))
    facts = await _facts(code, contents.values())

    def side(file: SourceFile | None, of: str) -> FileVersion | None:
        if file is None or (content := contents.get((of, file.path))) is None:
            return None
        known = facts.get(Content(file.blob, file.language))
        return None if known is None else FileVersion(file, content[1], known)

    def compared() -> list[FileChange]:
        return [_make_change(before, after, side(before, "old"), side(after, "new")) for before, after in pairs]

    files = await anyio.to_thread.run_sync(compared)
    unread = [
        one.path or one.old_path
        for one in files
        if (one.old_path and one.before is None) or (one.path and one.after is None)
    ]
    return Diff(old.commit, None if head is None else new.commit, files, unread)


_Pair = tuple[SourceFile | None, SourceFile | None]


def _pair_files(old: Snapshot, new: Snapshot) -> list[_Pair]:
    """Return the files that differ as pairs of old and new, including renames."""
    before = {file.path: file for file in old.files}
    after = {file.path: file for file in new.files}
    modified = [
        (before[path], after[path]) for path in after if path in before and before[path].blob != after[path].blob
    ]
    removed = {path: file for path, file in before.items() if path not in after}
    added = {path: file for path, file in after.items() if path not in before}
    renamed: list[tuple[SourceFile, SourceFile]] = []
    by_blob = {file.blob: path for path, file in removed.items() if file.size}
    for path, file in list(added.items()):
        if (old_path := by_blob.pop(file.blob, None)) is not None:
            renamed.append((removed.pop(old_path), added.pop(path)))
    renamed += _pair_similar(old, new, removed, added)
    both = sorted([*modified, *renamed], key=lambda pair: pair[1].path)
    return [
        *both,
        *((file, None) for file in removed.values()),
        *((None, file) for file in added.values()),
    ]


def _within_limits(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Return the leading pairs that are within the limits."""
    left = MAX_BYTES
    found: list[_Pair] = []
    for pair in pairs[:MAX_FILES]:
        left -= sum(file.size for file in pair if file is not None)
        if left < 0:
            break
        found.append(pair)
    return found


def _pair_similar(
    old: Snapshot, new: Snapshot, removed: dict[str, SourceFile], added: dict[str, SourceFile]
) -> list[tuple[SourceFile, SourceFile]]:
    """Pair files whose lines are mostly equal, most similar first, and remove them from `removed` and `added`."""
    if not removed or not added or len(removed) > MAX_COMPARED or len(added) > MAX_COMPARED:
        return []
    lines = {
        (of, file.path): Counter(content.split(b"\n"))
        for of, snapshot, files in (("old", old, removed), ("new", new, added))
        for file, content in read_contents(snapshot, list(files.values()))
        if content
    }
    alike = [
        (2 * (first & second).total() / (first.total() + second.total()), old_path, now)
        for old_path, file in removed.items()
        for now, other in added.items()
        if file.language is other.language
        and (first := lines.get(("old", old_path)))
        and (second := lines.get(("new", now)))
    ]
    found: list[tuple[SourceFile, SourceFile]] = []
    for share, old_path, now in sorted(alike, key=lambda one: (-one[0], one[1], one[2])):
        if share >= MIN_SIMILARITY and old_path in removed and now in added:
            found.append((removed.pop(old_path), added.pop(now)))
    return found


def _read_sides(
    old: Snapshot, new: Snapshot, pairs: Sequence[_Pair]
) -> Mapping[tuple[str, str], tuple[SourceFile, bytes]]:
    sides = (
        ("old", old, [before for before, _ in pairs if before is not None]),
        ("new", new, [after for _, after in pairs if after is not None]),
    )
    return {
        (of, file.path): (file, mask_secrets(content))
        for of, snapshot, files in sides
        for file, content in read_contents(snapshot, files)
        if content is not None
    }


async def _facts(code: CodeService, files: Iterable[tuple[SourceFile, bytes]]) -> dict[Content, FileFacts]:
    """Return the facts of these contents; contents in no index are parsed now."""
    wanted = {Content(file.blob, file.language): content for file, content in files}
    packed = dict(await code.store.digests(VERSION, list(wanted)))
    missing = [(content, data) for content, data in wanted.items() if content not in packed]
    async for batch in code.indexer.workers.digest_all(missing):
        packed |= batch
    return await anyio.to_thread.run_sync(lambda: {content: unpack_facts(digest) for content, digest in packed.items()})


def _make_change(
    before: SourceFile | None, after: SourceFile | None, old: FileVersion | None, new: FileVersion | None
) -> FileChange:
    old_path, path = before.path if before else "", after.path if after else ""
    if before is None:
        status = ChangeStatus.ADDED
    elif after is None:
        status = ChangeStatus.REMOVED
    else:
        status = ChangeStatus.MODIFIED if old_path == path else ChangeStatus.RENAMED
    return FileChange(status, old_path, path, old, new, find_hunks(old.content, new.content) if old and new else ())


def find_hunks(before: bytes, after: bytes) -> list[Hunk]:
    """Return where two contents differ."""
    old, new = before.split(b"\n"), after.split(b"\n")
    start, end = 0, 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if not old and not new:
        return []
    if max(len(old), len(new)) > MAX_COMPARED_LINES:
        return [Hunk(start + 1, len(old), start + 1, len(new))]
    return [
        Hunk(start + a + 1, b - a, start + c + 1, d - c)
        for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes()
        if tag != "equal"
    ]
