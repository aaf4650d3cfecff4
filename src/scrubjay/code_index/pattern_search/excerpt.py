"""Excerpts of a file: whole lines with context, and their position."""

from bisect import bisect_right
from typing import Any

from scrubjay.code_index.pattern_search.messages import MAX_TEXT, PatternMatch


class FileExcerpts:
    """Cuts excerpts out of one file."""

    def __init__(self, content: bytes, context_lines: int) -> None:
        self._content = content
        self._context_lines = context_lines
        self._starts = [0]
        position = content.find(b"\n")
        while position >= 0:
            self._starts.append(position + 1)
            position = content.find(b"\n", position + 1)

    def line_at(self, byte: int) -> int:
        """Return the line number, from 1, of a byte offset."""
        return bisect_right(self._starts, byte)

    def match(self, start: int, end: int, captures: dict[str, Any]) -> PatternMatch:
        """Return the excerpt for a byte range."""
        first, last = self.line_at(start), self.line_at(max(start, end - 1))
        column = len(_text(self._content[self._starts[first - 1] : start])) + 1
        text = self._lines(first, last)
        if len(text) > MAX_TEXT:  # show the part of a very long line around the match
            begin = max(0, min(column - 1 - MAX_TEXT // 4, len(text) - MAX_TEXT))
            text = text[begin : begin + MAX_TEXT]
        before = self._lines(first - self._context_lines, first - 1)
        after = self._lines(last + 1, last + self._context_lines)
        return PatternMatch(start, end, first, last, column, before[-MAX_TEXT:], text, after[:MAX_TEXT], captures)

    def _lines(self, first: int, last: int) -> str:
        first, last = max(1, first), min(last, len(self._starts))
        if first > last:
            return ""
        end = self._starts[last] if last < len(self._starts) else len(self._content)
        return _text(self._content[self._starts[first - 1] : end]).removesuffix("\n").removesuffix("\r")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
