"""The search process: it receives one query, then searches the files it is sent."""

import json
import os
import pickle
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from scrubjay.code_index.pattern_search.messages import FileBatch, FileMatches, PatternMatch, PatternQuery, Structure
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.lazy import lazy_module
from scrubjay.isolation.channel import FrameChannel, connect_to_parent

# Imported on first use: a regular expression needs no parsers.
if TYPE_CHECKING:
    from scrubjay.code_index import secret_masking
    from scrubjay.code_index.discovery import contents as contents_module
    from scrubjay.code_index.pattern_search import regex_search, tree_match
else:
    secret_masking = lazy_module("scrubjay.code_index.secret_masking")
    contents_module = lazy_module("scrubjay.code_index.discovery.contents")
    regex_search = lazy_module("scrubjay.code_index.pattern_search.regex_search")
    tree_match = lazy_module("scrubjay.code_index.pattern_search.tree_match")


class Finder(Protocol):
    """Searches contents for one pattern."""

    words: list[list[str]]
    """Alternatives, each with the whole identifiers that a file must contain; empty if any file may match."""

    def find(self, content: bytes, context_lines: int, most: int) -> tuple[int, list[PatternMatch]]:
        """Return the number of matches, and the first `most` of them."""
        ...


def serve() -> None:
    """Receive a query and send the words it needs, or why it is invalid; then search the files that follow."""
    channel = connect_to_parent(memory_bytes=int(sys.argv[1]))
    try:
        question: PatternQuery = pickle.loads(channel.receive())  # noqa: S301 - from the process that started this one
        try:
            finder = make_finder(question)
        except InvalidRequest as refused:
            _send(channel, {"refused": refused.record.message, "hint": refused.record.hint})
            return
        _send(channel, {"words": finder.words})
        asked: FileBatch = pickle.loads(channel.receive())  # noqa: S301
        for found in search_files(finder, question, asked):
            _send(channel, found)
    except (EOFError, BrokenPipeError):
        os._exit(0)  # the parent is gone


def make_finder(question: PatternQuery) -> Finder:
    if isinstance(question.wanted, Structure):
        return tree_match.StructureFinder(question.wanted)
    return regex_search.RegexFinder(question.wanted)


def search_files(finder: Finder, question: PatternQuery, asked: FileBatch) -> Iterator[FileMatches]:
    """Yield the result for each file, in order."""
    left = question.max_matches
    contents = contents_module.read_contents(asked.snapshot, [file for _, file, _ in asked.files])
    for (number, _, is_clean), (_, content) in zip(asked.files, contents, strict=True):
        if content is None:
            yield FileMatches(number, 0, False, [], is_unread=True)
            continue
        # Search the masked text: otherwise repeated searches would reveal a secret letter by letter.
        shown = content if is_clean else secret_masking.mask_secrets(content)
        count, matches = finder.find(shown, question.context_lines, left)
        left -= len(matches)
        yield FileMatches(number, count, is_clean or shown == content, matches)


def _send(channel: FrameChannel, message: Any) -> None:
    channel.send(json.dumps(message).encode())
