"""Offsets of the lines of a file, cached for the file that is being parsed: several parsers need them."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate


@lru_cache(maxsize=1)
def line_starts(content: bytes) -> Sequence[int]:
    """Return the offset of each line, and the end of the file."""
    if b"\r" not in content:  # a lone carriage return would end a line as well
        return [0, *accumulate(map(len, content.splitlines(keepends=True)))]
    starts = [0, *accumulate(len(line) + 1 for line in content.split(b"\n")[:-1])]
    return starts if starts[-1] == len(content) else [*starts, len(content)]


@lru_cache(maxsize=1)
def python_line_starts(content: bytes) -> Sequence[int]:
    """Return the offset of each line as Python counts: lines from 1, with a byte order mark before the first."""
    known = b"\r" not in content
    starts = line_starts(content) if known else accumulate(map(len, content.splitlines(keepends=True)), initial=0)
    counted = [0, *starts]
    counted[1] = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    return counted
