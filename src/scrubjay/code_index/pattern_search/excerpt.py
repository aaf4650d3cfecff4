"""A part of a file as it is shown: its whole lines, a few around them, and where it begins."""

from bisect import bisect_right
from typing import Any

from scrubjay.code_index.pattern_search.messages import LONGEST_SHOWN, Match


class Page:
    """One file, of which parts are shown."""

    def __init__(self, content: bytes, context_lines: int) -> None:
        self._content = content
        self._context_lines = context_lines
        self._starts = [0]
        place = content.find(b"\n")
        while place >= 0:
            self._starts.append(place + 1)
            place = content.find(b"\n", place + 1)

    def line_at(self, byte: int) -> int:
        """The line, counted from 1, that a byte is on."""
        return bisect_right(self._starts, byte)

    def match(self, start: int, end: int, captures: dict[str, Any]) -> Match:
        """What is between these bytes."""
        first, last = self.line_at(start), self.line_at(max(start, end - 1))
        column = len(_text(self._content[self._starts[first - 1] : start])) + 1
        text = self._lines(first, last)
        if len(text) > LONGEST_SHOWN:  # of a very long line what is around the match
            begin = max(0, min(column - 1 - LONGEST_SHOWN // 4, len(text) - LONGEST_SHOWN))
            text = text[begin : begin + LONGEST_SHOWN]
        before = self._lines(first - self._context_lines, first - 1)
        after = self._lines(last + 1, last + self._context_lines)
        return Match(start, end, first, last, column, before[-LONGEST_SHOWN:], text, after[:LONGEST_SHOWN], captures)

    def _lines(self, first: int, last: int) -> str:
        first, last = max(1, first), min(last, len(self._starts))
        if first > last:
            return ""
        end = self._starts[last] if last < len(self._starts) else len(self._content)
        return _text(self._content[self._starts[first - 1] : end]).removesuffix("\n").removesuffix("\r")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
