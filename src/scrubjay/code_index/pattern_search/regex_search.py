"""Search text with regular expressions. A search cannot be interrupted, so it runs in a process of its own."""

import re
import warnings
from collections.abc import Iterator

from scrubjay.code_index.pattern_search.excerpt import FileExcerpts
from scrubjay.code_index.pattern_search.messages import MAX_CAPTURE, Expression, PatternMatch
from scrubjay.code_index.pattern_search.required_words import required_words
from scrubjay.core.errors import InvalidRequest

_LEADING_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")


class RegexFinder:
    """Searches for one regular expression."""

    def __init__(self, wanted: Expression) -> None:
        pattern = re.escape(wanted.pattern) if wanted.literal else wanted.pattern
        if wanted.word:
            flags = _LEADING_FLAGS.match(pattern)
            first = flags[0] if flags else ""
            pattern = rf"{first}\b(?:{pattern.removeprefix(first)})\b"
        options = re.MULTILINE | (re.IGNORECASE if wanted.ignore_case else 0) | (re.DOTALL if wanted.multiline else 0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._pattern = re.compile(pattern, options)
            self.words = required_words(pattern, int(options))
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidRequest(
                f"pattern: is not a valid regular expression ({error or 'nested too deeply'})",
                hint="use the syntax of Python's re module; set literal to search for plain text",
            ) from None
        self._spans_lines = wanted.multiline

    def find(self, content: bytes, context_lines: int, most: int) -> tuple[int, list[PatternMatch]]:
        """Return the number of lines on which a match starts, and the first `most` matches."""
        text = content.decode("utf-8", "surrogateescape")
        matches: list[PatternMatch] = []
        count = 0
        excerpts: FileExcerpts | None = None
        line_end = -1
        for match in self._matches(text):
            if match.start() <= line_end:
                continue  # on a line that was already counted
            line_end = text.find("\n", match.start())
            line_end = len(text) if line_end < 0 else line_end
            count += 1
            if count <= most:
                excerpts = excerpts or FileExcerpts(content, context_lines)
                start, end = match.span()
                if len(text) != len(content):
                    start, end = (len(text[:position].encode("utf-8", "surrogateescape")) for position in (start, end))
                matches.append(excerpts.match(start, end, _captures(match)))
        return count, matches

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        search = self._pattern.search
        position, last = 0, len(text) - text.endswith("\n")
        while position <= last and (match := search(text, position)) is not None:
            start, end = match.span()
            if not self._spans_lines and "\n" in match[0]:
                line_end = text.index("\n", start)
                match = search(text, start, line_end)
                if match is None:
                    position = line_end + 1
                    continue
                start, end = match.span()
            if start > last:
                return
            yield match
            position = end + (end == start)


def _captures(match: re.Match[str]) -> dict[str, str]:
    return {
        name: value[:MAX_CAPTURE].encode("utf-8", "replace").decode()
        for name, value in match.groupdict().items()
        if value is not None
    }
