"""Finding regular expressions in text. Such a search cannot be interrupted: it belongs into a process of its own."""

import re
import warnings
from collections.abc import Iterator

from scrubjay.code_index.pattern_search.excerpt import Page
from scrubjay.code_index.pattern_search.messages import LONGEST_CAPTURE, Expression, Match
from scrubjay.code_index.pattern_search.required_words import required_words
from scrubjay.core.errors import InvalidRequest

_FLAGS_FIRST = re.compile(r"\(\?[aiLmsux]+\)")


class ExpressionFinder:
    """Finds one expression."""

    def __init__(self, wanted: Expression) -> None:
        pattern = re.escape(wanted.pattern) if wanted.literal else wanted.pattern
        if wanted.word:
            flags = _FLAGS_FIRST.match(pattern)
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
                f"pattern: is no regular expression ({error or 'nested too deep'})",
                hint="Python's syntax is understood; `literal` finds the text as it is",
            ) from None
        self._goes_over_lines = wanted.multiline

    def found(self, content: bytes, context_lines: int, most: int) -> tuple[int, list[Match]]:
        """On how many lines a match begins, and the first of these."""
        text = content.decode("utf-8", "surrogateescape")
        matches: list[Match] = []
        count = 0
        page: Page | None = None
        line_end = -1
        for match in self._matches(text):
            if match.start() <= line_end:
                continue  # on a line that was told
            line_end = text.find("\n", match.start())
            line_end = len(text) if line_end < 0 else line_end
            count += 1
            if count <= most:
                page = page or Page(content, context_lines)
                start, end = match.span()
                if len(text) != len(content):
                    start, end = (len(text[:place].encode("utf-8", "surrogateescape")) for place in (start, end))
                matches.append(page.match(start, end, _captures(match)))
        return count, matches

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        search = self._pattern.search
        place, last = 0, len(text) - text.endswith("\n")
        while place <= last and (match := search(text, place)) is not None:
            start, end = match.span()
            if not self._goes_over_lines and "\n" in match[0]:
                line_end = text.index("\n", start)
                match = search(text, start, line_end)
                if match is None:
                    place = line_end + 1
                    continue
                start, end = match.span()
            if start > last:
                return
            yield match
            place = end + (end == start)


def _captures(match: re.Match[str]) -> dict[str, str]:
    return {
        name: value[:LONGEST_CAPTURE].encode("utf-8", "replace").decode()
        for name, value in match.groupdict().items()
        if value is not None
    }
