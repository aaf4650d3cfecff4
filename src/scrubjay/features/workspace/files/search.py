"""Search lines by a regular expression in a file or folder; runs in a child process, which can be killed."""

import os
import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from scrubjay.core.errors import InvalidRequest, ScrubjayError
from scrubjay.features.workspace.files.root import Parts, Root

MAX_MATCHES = 100
# Longer lines, such as those of minified code, are cut.
MAX_LINE_CHARACTERS = 1_000
MAX_FILES = 50_000
# Internal files of git.
_SKIPPED_FOLDERS = frozenset({".git"})

TRUNCATED = "truncated"


def find_lines(request: dict[str, Any]) -> Iterator[dict[str, Any] | str]:
    """Yield each line with a match, then `TRUNCATED` if there may be more."""
    root = Root(
        request["root"],
        hidden=tuple(tuple(place) for place in request["hidden"]),
        max_file_bytes=request["max_file_bytes"],
    )
    pattern = _compile(request["pattern"])
    count = searched = 0
    for parts in _files(root, tuple(request["parts"])):
        searched += 1
        if searched > MAX_FILES:
            yield TRUNCATED
            return
        try:
            text, _ = root.read_text(parts)
        except (OSError, ScrubjayError):  # binary, too large, or deleted
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if pattern.search(line) is None:
                continue
            if count == MAX_MATCHES:
                yield TRUNCATED
                return
            count += 1
            content = line.removesuffix("\r")[:MAX_LINE_CHARACTERS]
            yield {"file": root.text(parts).encode("utf-8", "replace").decode(), "line": number, "content": content}


def _files(root: Root, parts: Parts) -> Iterator[Parts]:
    if not stat.S_ISDIR(root.status(parts).st_mode):
        yield parts
        return
    pending = [parts]
    while pending:
        here = pending.pop()
        folders: list[Parts] = []
        with suppress(OSError), root.folder(here) as folder:
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                inside = (*here, entry.name)
                if root.hides(inside) or entry.name in _SKIPPED_FOLDERS:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(inside)
                elif entry.is_file(follow_symlinks=False):
                    yield inside
        pending += reversed(folders)


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidRequest(
            f"pattern: invalid regular expression ({error or 'nested too deeply'})", hint="use Python's syntax"
        ) from None
