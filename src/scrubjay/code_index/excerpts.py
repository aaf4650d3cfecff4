"""Excerpts of files, with context lines and masked secrets."""

from collections.abc import Iterator
from typing import NamedTuple

from scrubjay.code_index.models import Span
from scrubjay.code_index.secret_masking import mask_secrets, secrets_in
from scrubjay.core.secrets import Secret, mark, masked

# Extra lines before and after an excerpt that are scanned for secrets: the name of a secret may precede it, and the
# cut may split it. All secrets but private keys, which are searched in the whole file, are on one line.
SECRET_MARGIN_LINES = 10


class Excerpt(NamedTuple):
    """A part of a file as it was indexed, with context lines; the three texts are contiguous."""

    span: Span
    before: str
    text: str
    after: str


class ExcerptCutter:
    """Cuts excerpts from one region of a file."""

    def __init__(self, content: bytes, start: int, end: int, most_around: int) -> None:
        """Excerpts lie within these bytes, plus at most `most_around` context lines."""
        if b"PRIVATE KEY" in content:  # a fragment of a key is not recognisable
            content = mask_secrets(content)
        self._content = content
        self._start = self._line_start(start, most_around + SECRET_MARGIN_LINES)
        self._window = content[self._start : self._line_end(end, most_around + SECRET_MARGIN_LINES)]
        self._secrets = secrets_in(self._window)

    def extract(self, span: Span, context_lines: int) -> Excerpt:
        """Return this part with `context_lines` lines before and after it."""
        if not context_lines:
            return Excerpt(span, "", self._text(span.start, span.end), "")
        start = self._line_start(span.start, context_lines)
        end = self._line_end(span.end, context_lines)
        return Excerpt(
            span,
            self._text(start, span.start),
            self._text(span.start, span.end),
            self._text(span.end, end),
        )

    def _line_start(self, offset: int, lines: int) -> int:
        """Return the start of the line `lines` before the offset's line."""
        for _ in range(lines + 1):
            if (end := self._content.rfind(b"\n", 0, offset)) < 0:
                return 0
            offset = end
        return offset + 1

    def _line_end(self, offset: int, lines: int) -> int:
        """Return the end of the line `lines` after the offset's line."""
        for _ in range(lines):
            if (end := self._content.find(b"\n", offset)) < 0:
                return len(self._content)
            offset = end + 1
        end = self._content.find(b"\n", offset)
        return end if end >= 0 else len(self._content)

    def _text(self, start: int, end: int) -> str:
        """Return the text, with a marker in place of each secret or part of one."""
        if not self._secrets:
            return self._content[start:end].decode("utf-8", "replace")
        window = self._window.decode("utf-8", "surrogateescape")
        first = len(self._window[: start - self._start].decode("utf-8", "surrogateescape"))
        last = first + len(self._content[start:end].decode("utf-8", "surrogateescape"))
        shown = "".join(_marked(window, self._secrets, first, last))
        # A marker may delimit a neighbouring word that is now recognisable as a secret.
        return masked(shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def cut_excerpt(content: bytes, span: Span, context_lines: int) -> Excerpt:
    return ExcerptCutter(content, span.start, span.end, context_lines).extract(span, context_lines)


def _marked(window: str, secrets: list[Secret], first: int, last: int) -> Iterator[str]:
    place = first
    for secret in secrets:
        if secret.end > place and secret.start < last:
            yield window[place : max(place, secret.start)]
            yield mark(secret.kind)
            # Keep the line numbers.
            yield "\n" * window.count("\n", max(place, secret.start), min(last, secret.end))
            place = secret.end
    yield window[place : max(place, last)]
