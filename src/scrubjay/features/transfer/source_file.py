"""Streaming reader of untrusted files."""

import codecs
import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from scrubjay.core.errors import InvalidRequest

# Longer than any real record; bounds the memory used per line.
MAX_BYTES = 64 * 1024 * 1024
CHUNK = 1024 * 1024

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file, without the line end."""

    number: int
    data: bytes


class ImportSource:
    """Reads an opened file once from its beginning."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._file = file
        self._hash = hashlib.sha256()
        self._file.seek(0)

    @property
    def checksum(self) -> str:
        """SHA-256 of the bytes read, without the current line."""
        return self._hash.hexdigest()

    def begins_with(self, start: bytes) -> bool:
        """Return True if the file starts with this after white space; call before reader."""
        found = self._file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(start)
        self._file.seek(0)
        return found

    def lines(self) -> Iterator[SourceLine]:
        """Yield every line."""
        number = 0
        while data := self._file.readline(MAX_BYTES + 1):
            number += 1
            if len(data) > MAX_BYTES:
                raise InvalidRequest(
                    f"{self.name}: line {number} is longer than {MAX_BYTES // 1024 // 1024} MB",
                    hint="nothing was changed; the format is not supported",
                )
            yield SourceLine(number, data.rstrip(b"\r\n"))
            self._hash.update(data)

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield line number and JSON object of every non-blank line; invalid text is replaced."""
        for line in self.lines():
            if line.data.strip():
                yield line.number, self._object(line)

    def elements(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield number and object of every entry of one JSON list, without loading the whole list."""
        decoder = json.JSONDecoder()
        pieces = self._texts()
        text, number, wanted = next(pieces, "").lstrip("\ufeff" + _SPACE).removeprefix("["), 0, CHUNK
        while True:
            text = text.lstrip(_SPACE + ",") if number else text.lstrip(_SPACE)
            if text.startswith("]"):
                break
            try:
                found, end = decoder.raw_decode(text)
            except (ValueError, RecursionError):
                # Read on, doubling the amount, so that repeated parsing stays linear in total.
                longer = self._longer(text, pieces, wanted)
                wanted = min(2 * max(wanted, len(text)), MAX_BYTES)
                if longer == text:
                    raise self.damaged(f"ends in the middle of entry {number + 1}") from None
                text = longer
                continue
            number, text, wanted = number + 1, text[end:], CHUNK
            yield number, self._replace_invalid(found, f"entry {number}")
        if text[1:].strip() or "".join(pieces).strip():
            raise self.damaged("has data after its list")

    def damaged(self, how: str) -> InvalidRequest:
        return InvalidRequest(
            f"{self.name} {how}", hint="nothing was changed; create the file again and import the complete file"
        )

    def _texts(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while data := self._file.read(CHUNK):
                self._hash.update(data)
                yield decoder.decode(data)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise self.damaged("is not UTF-8 text") from None

    def _longer(self, text: str, pieces: Iterator[str], wanted: int) -> str:
        parts, length = [text], 0
        for piece in pieces:
            parts.append(piece)
            length += len(piece)
            if length >= wanted:
                break
        longer = "".join(parts)
        if len(longer) > MAX_BYTES:
            raise self.damaged(f"has an entry of more than {MAX_BYTES // 1024 // 1024} MB")
        return longer

    def _object(self, line: SourceLine) -> dict[str, Any]:
        try:
            found = json.loads(line.data)
        except (ValueError, RecursionError):
            raise self.damaged(f"is damaged or truncated at line {line.number}, which is not valid JSON") from None
        return self._replace_invalid(found, f"line {line.number}")

    def _replace_invalid(self, found: Any, where: str) -> dict[str, Any]:
        if not isinstance(found, dict):
            raise self.damaged(f"has no JSON object in {where}")
        try:
            return _storable(found)
        except RecursionError:
            raise self.damaged(f"is nested too deeply in {where}") from None


def _storable(value: Any) -> Any:
    """Replace NUL and lone surrogates, which no store accepts; NaN and infinity become None."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        entries = cast(dict[str, Any], value)
        return {_UNSTORABLE.sub("\ufffd", name): _storable(inner) for name, inner in entries.items()}
    if isinstance(value, list):
        return [_storable(inner) for inner in cast(list[Any], value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
