"""Cuts a file into the parts that are found and read as one: along its definitions, none very small or large."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from scrubjay.code_index.facts.line_starts import line_starts
from scrubjay.code_index.models import Span, Symbol

# In bytes. Neighbours are put together up to the first; only what is larger than the second is cut where no
# definition begins.
GOOD_SIZE = 1_500
LARGEST = 2_250
# A part smaller than this, such as a class's head or its last bracket, tells nothing alone.
SMALLEST = 150
# After a definition that was itself cut nothing is added to its last part, unless that is smaller than this.
SMALLEST_END = 500
# A definition of fewer lines is no part of its own.
LINES_OF_A_DEFINITION = 3
# Parts of a file without definitions.
WINDOW_LINES = 50

_BLANK = b" \t\r\n\f\v"
_PAUSES = (b"\n", b";", b"}", b",", b" ")


class Chunks(NamedTuple):
    """The parts of a file, in order."""

    spans: Sequence[Span]
    symbols: Sequence[int]
    """Of each part the place of the symbol that it is mostly about, among the file's symbols; -1 when of none."""
    owners: Sequence[int]
    """Of each symbol the part in which it is named; -1 when in none."""


class _Piece(NamedTuple):
    start: int
    end: int
    closes: bool = False
    """Whether it is the last of a definition that was cut."""


def cut(content: bytes, symbols: Sequence[Symbol]) -> Chunks:
    """The parts of a file with these symbols: every byte that is not blank is in exactly one.

    Each begins where a definition of a few lines does, with what is said above it, and small neighbours are one part.
    `native/cutting.c` does the same, where there is a compiler.
    """
    lines = line_starts(content)
    units = _along_definitions(content, lines, symbols) if symbols else _windows(content, lines)
    pieces = (piece for unit in units for piece in _small_enough(content, lines, unit))
    joined = _joined(pieces) if symbols else pieces
    spans = [span for piece in joined if (span := _trimmed(content, lines, piece))]
    owners = _owners(spans, lines, symbols)
    return Chunks(spans, _abouts(spans, owners, symbols), owners)


# -- where to cut ----------------------------------------------------------------------------------


def _along_definitions(content: bytes, lines: Sequence[int], symbols: Sequence[Symbol]) -> Iterator[_Piece]:
    """The file cut before and behind each definition that is not within one of a good size."""
    cuts: dict[int, bool] = {0: False, len(content): False}
    whole_until = 0
    for symbol in symbols:
        span = symbol.span
        if span.last_line - span.first_line + 1 < LINES_OF_A_DEFINITION or span.start < whole_until:
            continue
        start = lines[bisect_right(lines, span.start) - 1]
        end = lines[bisect_left(lines, span.end)] if span.end < len(content) else len(content)
        small = end - start <= GOOD_SIZE
        cuts.setdefault(start, False)
        cuts[end] = cuts.get(end, False) or not small
        if small:
            whole_until = end
    places = sorted(cuts)
    for start, end in pairwise(places):
        yield _Piece(start, end, cuts[end])


def _windows(content: bytes, lines: Sequence[int]) -> Iterator[_Piece]:
    """The file in parts of about fifty lines, cut at a blank line where one is near."""
    first = 0
    last = len(lines) - 1
    while first < last:
        end = first + WINDOW_LINES
        if end + WINDOW_LINES // 5 >= last:
            end = last
        else:
            near = range(end, end - WINDOW_LINES // 5, -1)
            end = next((line for line in near if not content[lines[line - 1] : lines[line]].strip()), end)
        yield _Piece(lines[first], lines[end])
        first = end


def _small_enough(content: bytes, lines: Sequence[int], unit: _Piece) -> Iterator[_Piece]:
    """The unit, cut at the best line ends when it is too large."""
    start = unit.start
    while unit.end - start > LARGEST:
        cut = _best_cut(content, lines, start)
        yield _Piece(start, cut)
        start = cut
    if start < unit.end:
        yield _Piece(start, unit.end, unit.closes)


def _best_cut(content: bytes, lines: Sequence[int], start: int) -> int:
    """Where a part that begins here should end: behind a blank line, else before the line that is least indented."""
    first = bisect_left(lines, start + GOOD_SIZE // 2)
    behind = bisect_right(lines, start + LARGEST)
    best, cut = (0, 0), -1
    for line in range(first, behind):
        place = lines[line]
        if line + 1 < len(lines):
            text = content[place : min(lines[line + 1], place + LARGEST)]
            after = text.lstrip(_BLANK)
            # A bracket that closes belongs to what is above it.
            indented = len(text) - len(after) if after and after[:1] not in b")]}" else LARGEST
        else:
            indented = 0
        blank_above = not content[max(lines[line - 1], place - LARGEST) : place].strip()
        worth = (2 * blank_above + (place <= start + GOOD_SIZE), -indented)
        if cut < 0 or worth >= best:
            best, cut = worth, place
    return cut if cut >= 0 else _cut_within_line(content, start)


def _cut_within_line(content: bytes, start: int) -> int:
    for pause in _PAUSES:
        found = content.rfind(pause, start + GOOD_SIZE // 2, start + GOOD_SIZE)
        if found >= 0:
            return found + 1
    cut = start + GOOD_SIZE
    for back in range(4):
        if content[cut - back] & 0xC0 != 0x80:  # never within a character of UTF-8
            return cut - back
    return cut


def _joined(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Neighbours that are small enough together as one."""
    current = next(pieces, None)
    if current is None:
        return
    for piece in pieces:
        size = piece.end - current.start
        smaller = min(current.end - current.start, piece.end - piece.start)
        ended = current.closes and current.end - current.start >= SMALLEST_END
        if (size <= GOOD_SIZE and not ended) or (size <= LARGEST and smaller < SMALLEST):
            current = _Piece(current.start, piece.end, piece.closes or ended)
        else:
            yield current
            current = piece
    yield current


def _trimmed(content: bytes, lines: Sequence[int], piece: _Piece) -> Span | None:
    """The piece without blank lines around it; None when nothing else is there."""
    text = content[piece.start : piece.end]
    end = piece.start + len(text.rstrip(_BLANK))
    inked = piece.start + len(text) - len(text.lstrip(_BLANK))
    if inked >= end:
        return None
    first = bisect_right(lines, inked) - 1
    # A file that ends without a line end has one entry more than lines begin.
    return Span(max(piece.start, lines[first]), end, first + 1, bisect_left(lines, end, first + 1))


# -- what each is about ----------------------------------------------------------------------------


def _owners(spans: Sequence[Span], lines: Sequence[int], symbols: Sequence[Symbol]) -> list[int]:
    starts = [span.start for span in spans]
    # A name is on its line, but on a very long line it may be far behind the line's beginning.
    named_at = (max(lines[min(symbol.line, len(lines)) - 1], symbol.span.start) for symbol in symbols)
    return [bisect_right(starts, place) - 1 for place in named_at]


def _abouts(spans: Sequence[Span], owners: Sequence[int], symbols: Sequence[Symbol]) -> list[int]:
    begun: list[list[int]] = [[] for _ in spans]
    for place, owner in enumerate(owners):
        if owner >= 0:
            begun[owner].append(place)
    abouts: list[int] = []
    open_symbols: list[int] = []
    following = 0
    for span, within in zip(spans, begun, strict=True):
        while following < len(symbols) and symbols[following].span.start < span.start:
            _push(open_symbols, following, symbols)
            following += 1
        while open_symbols and symbols[open_symbols[-1]].span.end <= span.start:
            open_symbols.pop()
        abouts.append(_main(span, within, open_symbols[-1] if open_symbols else -1, symbols))
    return abouts


def _push(open_symbols: list[int], place: int, symbols: Sequence[Symbol]) -> None:
    while open_symbols and symbols[open_symbols[-1]].span.end <= symbols[place].span.start:
        open_symbols.pop()
    open_symbols.append(place)


def _main(span: Span, begun: Sequence[int], around: int, symbols: Sequence[Symbol]) -> int:
    """The largest definition in the chunk; one that only goes on counts unless others within it begin here."""

    def inside(place: int) -> int:
        return min(span.end, symbols[place].span.end) - max(span.start, symbols[place].span.start)

    def is_large(place: int) -> bool:
        return symbols[place].span.last_line - symbols[place].span.first_line + 1 >= LINES_OF_A_DEFINITION

    candidates = [place for place in begun if is_large(place)]
    if around >= 0 and not any(symbols[place].span.end <= symbols[around].span.end for place in candidates):
        candidates.append(around)
    return max(candidates or begun, key=inside, default=-1)
