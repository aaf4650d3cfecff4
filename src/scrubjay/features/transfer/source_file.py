"""A file that somebody gives us, read piece by piece and never trusted."""

import codecs
import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from scrubjay.core.errors import InvalidRequest

# No record of anybody's memory is longer; a line that is would fill ours.
MAX_BYTES = 64 * 1024 * 1024
CHUNK = 1024 * 1024

_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, without its end."""

    number: int
    data: bytes


class SourceFile:
    """One pass through an opened file, from its beginning."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._file = file
        self._hash = hashlib.sha256()
        self._file.seek(0)

    @property
    def checksum(self) -> str:
        """The SHA-256 of what was read, without the line that is being looked at."""
        return self._hash.hexdigest()

    def begins_with(self, start: bytes) -> bool:
        """Whether the first thing in the file that is not space is this; for a look before anything is read."""
        found = self._file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(start)
        self._file.seek(0)
        return found

    def lines(self) -> Iterator[Line]:
        """Every line; one without an end was torn off."""
        number = 0
        while data := self._file.readline(MAX_BYTES + 1):
            number += 1
            if len(data) > MAX_BYTES:
                raise InvalidRequest(
                    f"{self.name}: line {number} is longer than {MAX_BYTES // 1024 // 1024} MB",
                    hint="nothing was changed; this is no file of memories",
                )
            yield Line(number, data.rstrip(b"\r\n"))
            self._hash.update(data)

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The JSON object of every line that has something, with the line's number; text that cannot be kept mended."""
        for line in self.lines():
            if line.data.strip():
                yield line.number, self._object(line)

    def elements(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of one JSON list, one after another, with their numbers; the whole is never in memory."""
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
                # Read on, twice as much each time: what is tried again and again costs no more than twice.
                longer = self._longer(text, pieces, wanted)
                wanted = min(2 * max(wanted, len(text)), MAX_BYTES)
                if longer == text:
                    raise self.damaged(f"ends in the middle of entry {number + 1}") from None
                text = longer
                continue
            number, text, wanted = number + 1, text[end:], CHUNK
            yield number, self._mended(found, f"entry {number}")
        if text[1:].strip() or "".join(pieces).strip():
            raise self.damaged("has something behind its list")

    def damaged(self, how: str) -> InvalidRequest:
        return InvalidRequest(
            f"{self.name} {how}", hint="nothing was changed; make the file again and give the whole of it"
        )

    def _texts(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while data := self._file.read(CHUNK):
                self._hash.update(data)
                yield decoder.decode(data)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise self.damaged("is not text in UTF-8") from None

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

    def _object(self, line: Line) -> dict[str, Any]:
        try:
            found = json.loads(line.data)
        except (ValueError, RecursionError):
            raise self.damaged(f"is damaged or torn at line {line.number}, which is no JSON") from None
        return self._mended(found, f"line {line.number}")

    def _mended(self, found: Any, where: str) -> dict[str, Any]:
        if not isinstance(found, dict):
            raise self.damaged(f"has something else than an object in {where}")
        try:
            return _keepable(found)
        except RecursionError:
            raise self.damaged(f"is nested too deeply in {where}") from None


def _keepable(value: Any) -> Any:
    """The value without what no store can keep: NUL and halves of surrogate pairs are replaced, numbers that are none
    are null."""
    if isinstance(value, str):
        return _UNKEEPABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        entries = cast(dict[str, Any], value)
        return {_UNKEEPABLE.sub("\ufffd", name): _keepable(inner) for name, inner in entries.items()}
    if isinstance(value, list):
        return [_keepable(inner) for inner in cast(list[Any], value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
