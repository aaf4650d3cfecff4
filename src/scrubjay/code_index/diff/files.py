"""Which files changed between two revisions, where, and what they say. The work tree is only read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.index.indexer import IndexOptions
from scrubjay.code_index.models import FileFacts, Snapshot, SourceFile
from scrubjay.code_index.service import CodeService
from scrubjay.code_index.store import Content

# More files, or larger ones, than these are told and not looked into.
MOST_FILES = 300
MOST_BYTES = 40_000_000
# So many added and removed files are compared with each other, to find those that only got another name.
MOST_COMPARED = 100
LEAST_ALIKE = 0.5
# Longer changes are told as one: comparing them line by line takes quadratic time.
MOST_LINES = 2_000


class Status(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"
    RENAMED = "renamed"


class Hunk(NamedTuple):
    """Lines that were replaced, counted from 1: first line and number of lines, before and after."""

    old_first: int
    old_lines: int
    new_first: int
    new_lines: int


class Side(NamedTuple):
    """A file at one of the two moments."""

    file: SourceFile
    content: bytes
    facts: FileFacts


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that changed."""

    status: Status
    old_path: str
    """Empty when it was not there."""
    path: str
    """Empty when it is gone."""
    before: Side | None = None
    """None when it was not there, or was not looked into."""
    after: Side | None = None
    hunks: Sequence[Hunk] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Two moments, and the files that changed between them."""

    base: str | None
    """The commit."""
    head: str | None
    """The commit; None for the work tree."""
    files: Sequence[FileChange]
    unread: Sequence[str]
    """Files that could not be read, or were too many."""


async def difference(code: CodeService, root: str, base: str, head: str | None, options: IndexOptions) -> Difference:
    """How the work tree, or the second revision, differs from the first."""
    # HEAD is the work tree elsewhere: here a revision is always a commit.
    old = await code.indexer.snapshot(root, "HEAD~0" if base == "HEAD" else base, options)
    rev = "HEAD" if head is None else "HEAD~0" if head == "HEAD" else head
    new = await code.indexer.snapshot(root, rev, options)
    pairs = await anyio.to_thread.run_sync(_pairs, old, new)
    contents = await anyio.to_thread.run_sync(_contents, old, new, _looked_into(pairs))
    facts = await _facts(code, contents.values())

    def side(file: SourceFile | None, of: str) -> Side | None:
        if file is None or (content := contents.get((of, file.path))) is None:
            return None
        known = facts.get(Content(file.blob, file.language))
        return None if known is None else Side(file, content[1], known)

    def compared() -> list[FileChange]:
        return [_change(before, after, side(before, "old"), side(after, "new")) for before, after in pairs]

    files = await anyio.to_thread.run_sync(compared)
    unread = [
        one.path or one.old_path
        for one in files
        if (one.old_path and one.before is None) or (one.path and one.after is None)
    ]
    return Difference(old.commit, None if head is None else new.commit, files, unread)


_Pair = tuple[SourceFile | None, SourceFile | None]


def _pairs(old: Snapshot, new: Snapshot) -> list[_Pair]:
    """The files that differ, those that got another name with what they were before."""
    before = {file.path: file for file in old.files}
    after = {file.path: file for file in new.files}
    modified = [
        (before[path], after[path]) for path in after if path in before and before[path].blob != after[path].blob
    ]
    gone = {path: file for path, file in before.items() if path not in after}
    come = {path: file for path, file in after.items() if path not in before}
    renamed: list[tuple[SourceFile, SourceFile]] = []
    by_blob = {file.blob: path for path, file in gone.items() if file.size}
    for path, file in list(come.items()):
        if (was := by_blob.pop(file.blob, None)) is not None:
            renamed.append((gone.pop(was), come.pop(path)))
    renamed += _alike(old, new, gone, come)
    both = sorted([*modified, *renamed], key=lambda pair: pair[1].path)
    return [
        *both,
        *((file, None) for file in gone.values()),
        *((None, file) for file in come.values()),
    ]


def _looked_into(pairs: Sequence[_Pair]) -> list[_Pair]:
    """As many of these as may be looked into."""
    left = MOST_BYTES
    found: list[_Pair] = []
    for pair in pairs[:MOST_FILES]:
        left -= sum(file.size for file in pair if file is not None)
        if left < 0:
            break
        found.append(pair)
    return found


def _alike(
    old: Snapshot, new: Snapshot, gone: dict[str, SourceFile], come: dict[str, SourceFile]
) -> list[tuple[SourceFile, SourceFile]]:
    """Those of which at least half of the lines are the same, the most similar first; they are taken out."""
    from scrubjay.code_index.discovery.contents import read_contents

    if not gone or not come or len(gone) > MOST_COMPARED or len(come) > MOST_COMPARED:
        return []
    lines = {
        (of, file.path): Counter(content.split(b"\n"))
        for of, snapshot, files in (("old", old, gone), ("new", new, come))
        for file, content in read_contents(snapshot, list(files.values()))
        if content
    }
    alike = [
        (2 * (first & second).total() / (first.total() + second.total()), was, now)
        for was, file in gone.items()
        for now, other in come.items()
        if file.language is other.language
        and (first := lines.get(("old", was)))
        and (second := lines.get(("new", now)))
    ]
    found: list[tuple[SourceFile, SourceFile]] = []
    for share, was, now in sorted(alike, key=lambda one: (-one[0], one[1], one[2])):
        if share >= LEAST_ALIKE and was in gone and now in come:
            found.append((gone.pop(was), come.pop(now)))
    return found


def _contents(
    old: Snapshot, new: Snapshot, pairs: Sequence[_Pair]
) -> Mapping[tuple[str, str], tuple[SourceFile, bytes]]:
    from scrubjay.code_index.discovery.contents import read_contents
    from scrubjay.code_index.secret_masking import hidden

    sides = (
        ("old", old, [before for before, _ in pairs if before is not None]),
        ("new", new, [after for _, after in pairs if after is not None]),
    )
    return {
        (of, file.path): (file, hidden(content))
        for of, snapshot, files in sides
        for file, content in read_contents(snapshot, files)
        if content is not None
    }


async def _facts(code: CodeService, files: Iterable[tuple[SourceFile, bytes]]) -> dict[Content, FileFacts]:
    """What these contents say; those that no index has are read now."""
    from scrubjay.code_index.facts.packed_facts import unpacked_facts

    wanted = {Content(file.blob, file.language): content for file, content in files}
    packed = dict(await code.store.digests(VERSION, list(wanted)))
    missing = [(content, data) for content, data in wanted.items() if content not in packed]
    async for batch in code.indexer.workers.digested(missing):
        packed |= batch
    return await anyio.to_thread.run_sync(
        lambda: {content: unpacked_facts(digest) for content, digest in packed.items()}
    )


def _change(before: SourceFile | None, after: SourceFile | None, old: Side | None, new: Side | None) -> FileChange:
    old_path, path = before.path if before else "", after.path if after else ""
    if before is None:
        status = Status.ADDED
    elif after is None:
        status = Status.REMOVED
    else:
        status = Status.MODIFIED if old_path == path else Status.RENAMED
    return FileChange(status, old_path, path, old, new, hunks(old.content, new.content) if old and new else ())


def hunks(before: bytes, after: bytes) -> list[Hunk]:
    """Where two contents differ."""
    old, new = before.split(b"\n"), after.split(b"\n")
    start, end = 0, 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if not old and not new:
        return []
    if max(len(old), len(new)) > MOST_LINES:
        return [Hunk(start + 1, len(old), start + 1, len(new))]
    return [
        Hunk(start + a + 1, b - a, start + c + 1, d - c)
        for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes()
        if tag != "equal"
    ]
