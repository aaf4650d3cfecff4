"""Finding lines by a regular expression in a file or in all files of a folder; in a process of its own."""

import os
import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from scrubjay.core.errors import InvalidRequest, ScrubjayError
from scrubjay.features.workspace.files.root import Parts, Root

MOST_MATCHES = 100
# Of a line that is a whole program no more is told.
LONGEST_LINE = 1_000
MOST_FILES = 50_000
# What git keeps for itself.
_PASSED_OVER = frozenset({".git"})

TRUNCATED = "truncated"


def find_lines(given: dict[str, Any]) -> Iterator[dict[str, Any] | str]:
    """Each line with a match; at the end `TRUNCATED` when there may be more."""
    root = Root(
        given["root"],
        kept_out=tuple(tuple(place) for place in given["kept_out"]),
        max_file_bytes=given["max_file_bytes"],
    )
    pattern = _pattern(given["pattern"])
    count = looked_at = 0
    for parts in _files(root, tuple(given["parts"])):
        looked_at += 1
        if looked_at > MOST_FILES:
            yield TRUNCATED
            return
        try:
            text, _ = root.read_text(parts)
        except (OSError, ScrubjayError):  # no text, too large, or gone
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if pattern.search(line) is None:
                continue
            if count == MOST_MATCHES:
                yield TRUNCATED
                return
            count += 1
            shown = line.removesuffix("\r")[:LONGEST_LINE]
            yield {"file": root.text(parts).encode("utf-8", "replace").decode(), "line": number, "content": shown}


def _files(root: Root, parts: Parts) -> Iterator[Parts]:
    if not stat.S_ISDIR(root.status(parts).st_mode):
        yield parts
        return
    waiting = [parts]
    while waiting:
        here = waiting.pop()
        folders: list[Parts] = []
        with suppress(OSError), root.folder(here) as folder:
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                inside = (*here, entry.name)
                if root.hides(inside) or entry.name in _PASSED_OVER:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(inside)
                elif entry.is_file(follow_symlinks=False):
                    yield inside
        waiting += reversed(folders)


def _pattern(given: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(given)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidRequest(
            f"pattern: is no regular expression ({error or 'nested too deep'})", hint="Python's syntax is understood"
        ) from None
