"""A part of a file as it is shown: with the lines around it, and without secrets."""

from collections.abc import Iterator
from typing import NamedTuple

from scrubjay.code_index.models import Span
from scrubjay.code_index.secret_masking import hidden, secrets_in
from scrubjay.core.secrets import Secret, mark, masked

# So many lines more before and behind what is shown are looked through for secrets: what tells of one may stand before
# it, and a cut may go through it. All but private keys, which are looked for in the whole file, are on one line.
FAR = 10


class Extract(NamedTuple):
    """A part of a file as it was indexed, with a few lines around it: all three together are one piece of the file."""

    span: Span
    before: str
    text: str
    after: str


class Extractor:
    """Takes parts out of a piece of one file."""

    def __init__(self, content: bytes, start: int, end: int, most_around: int) -> None:
        """No part goes beyond these bytes, apart from so many lines around it."""
        if b"PRIVATE KEY" in content:  # of which a part does not show what it is
            content = hidden(content)
        self._content = content
        self._start = self._line_start(start, most_around + FAR)
        self._window = content[self._start : self._line_end(end, most_around + FAR)]
        self._secrets = secrets_in(self._window)

    def extract(self, span: Span, context_lines: int) -> Extract:
        """This part with so many lines before and behind those that it is on."""
        if not context_lines:
            return Extract(span, "", self._text(span.start, span.end), "")
        start = self._line_start(span.start, context_lines)
        end = self._line_end(span.end, context_lines)
        return Extract(
            span,
            self._text(start, span.start),
            self._text(span.start, span.end),
            self._text(span.end, end),
        )

    def _line_start(self, offset: int, lines: int) -> int:
        """Where the line begins that is so many before the one that the offset is on."""
        for _ in range(lines + 1):
            if (end := self._content.rfind(b"\n", 0, offset)) < 0:
                return 0
            offset = end
        return offset + 1

    def _line_end(self, offset: int, lines: int) -> int:
        """Where the line ends that is so many behind the one that the offset is on."""
        for _ in range(lines):
            if (end := self._content.find(b"\n", offset)) < 0:
                return len(self._content)
            offset = end + 1
        end = self._content.find(b"\n", offset)
        return end if end >= 0 else len(self._content)

    def _text(self, start: int, end: int) -> str:
        """What is there, with a mark in place of each secret or part of one."""
        if not self._secrets:
            return self._content[start:end].decode("utf-8", "replace")
        window = self._window.decode("utf-8", "surrogateescape")
        first = len(self._window[: start - self._start].decode("utf-8", "surrogateescape"))
        last = first + len(self._content[start:end].decode("utf-8", "surrogateescape"))
        shown = "".join(_marked(window, self._secrets, first, last))
        # A mark may be what now ends a word next to it.
        return masked(shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def extracted(content: bytes, span: Span, context_lines: int) -> Extract:
    return Extractor(content, span.start, span.end, context_lines).extract(span, context_lines)


def _marked(window: str, secrets: list[Secret], first: int, last: int) -> Iterator[str]:
    place = first
    for secret in secrets:
        if secret.end > place and secret.start < last:
            yield window[place : max(place, secret.start)]
            yield mark(secret.kind)
            # Lines stay where they were.
            yield "\n" * window.count("\n", max(place, secret.start), min(last, secret.end))
            place = secret.end
    yield window[place : max(place, last)]
