"""Cut a file into chunks, the units that are searched and cited: along its definitions, none very small or large."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from scrubjay.code_index.facts.line_starts import line_starts
from scrubjay.code_index.models import Span, Symbol

# Sizes in bytes. Neighbours are merged up to the target; only a piece above the maximum is cut where no definition
# begins.
TARGET_SIZE = 1_500
MAX_SIZE = 2_250
# A smaller piece, such as the head of a class or its closing bracket, means nothing alone.
MIN_SIZE = 150
# After a definition that was itself cut, nothing is merged into its last piece, unless that is smaller than this.
MIN_LAST_SIZE = 500
# A definition of fewer lines is not a chunk of its own.
MIN_DEFINITION_LINES = 3
# Size of a chunk in a file without definitions.
WINDOW_LINES = 50

_BLANK = b" \t\r\n\f\v"
_BREAKS = (b"\n", b";", b"}", b",", b" ")


class ChunkList(NamedTuple):
    """The chunks of a file, in order."""

    spans: Sequence[Span]
    symbols: Sequence[int]
    """For each chunk, the index of the symbol that it is mostly about; -1 for none."""
    owners: Sequence[int]
    """For each symbol, the index of the chunk that contains its name; -1 for none."""


class _Piece(NamedTuple):
    start: int
    end: int
    closes: bool = False
    """True if it is the last piece of a definition that was cut."""


def cut_chunks(content: bytes, symbols: Sequence[Symbol]) -> ChunkList:
    """Cut a file with these symbols into chunks: every byte that is not blank is in exactly one.

    A chunk starts where a definition of a few lines starts, with the comments above it; small neighbours are merged.
    `native/chunker.c` is the compiled implementation with the same results.
    """
    lines = line_starts(content)
    units = _split_at_definitions(content, lines, symbols) if symbols else _split_into_windows(content, lines)
    pieces = (piece for unit in units for piece in _split_large(content, lines, unit))
    joined = _merge_small(pieces) if symbols else pieces
    spans = [span for piece in joined if (span := _trim(content, lines, piece))]
    owners = _find_owners(spans, lines, symbols)
    return ChunkList(spans, _find_main_symbols(spans, owners, symbols), owners)


# -- where to cut ----------------------------------------------------------------------------------


def _split_at_definitions(content: bytes, lines: Sequence[int], symbols: Sequence[Symbol]) -> Iterator[_Piece]:
    """Cut before and after each definition that is not inside one of the target size."""
    cuts: dict[int, bool] = {0: False, len(content): False}
    whole_until = 0
    for symbol in symbols:
        span = symbol.span
        if span.last_line - span.first_line + 1 < MIN_DEFINITION_LINES or span.start < whole_until:
            continue
        start = lines[bisect_right(lines, span.start) - 1]
        end = lines[bisect_left(lines, span.end)] if span.end < len(content) else len(content)
        small = end - start <= TARGET_SIZE
        cuts.setdefault(start, False)
        cuts[end] = cuts.get(end, False) or not small
        if small:
            whole_until = end
    positions = sorted(cuts)
    for start, end in pairwise(positions):
        yield _Piece(start, end, cuts[end])


def _split_into_windows(content: bytes, lines: Sequence[int]) -> Iterator[_Piece]:
    """Cut into windows of about `WINDOW_LINES` lines, at a blank line where one is near."""
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


def _split_large(content: bytes, lines: Sequence[int], unit: _Piece) -> Iterator[_Piece]:
    """Cut the unit at the best line ends when it is too large."""
    start = unit.start
    while unit.end - start > MAX_SIZE:
        cut = _find_cut(content, lines, start)
        yield _Piece(start, cut)
        start = cut
    if start < unit.end:
        yield _Piece(start, unit.end, unit.closes)


def _find_cut(content: bytes, lines: Sequence[int], start: int) -> int:
    """Return where a chunk that starts here should end: after a blank line, else before the least indented line."""
    first = bisect_left(lines, start + TARGET_SIZE // 2)
    stop = bisect_right(lines, start + MAX_SIZE)
    best, cut = (0, 0), -1
    for line in range(first, stop):
        position = lines[line]
        if line + 1 < len(lines):
            line_text = content[position : min(lines[line + 1], position + MAX_SIZE)]
            stripped = line_text.lstrip(_BLANK)
            # A closing bracket belongs to the lines above it.
            indented = len(line_text) - len(stripped) if stripped and stripped[:1] not in b")]}" else MAX_SIZE
        else:
            indented = 0
        blank_above = not content[max(lines[line - 1], position - MAX_SIZE) : position].strip()
        score = (2 * blank_above + (position <= start + TARGET_SIZE), -indented)
        if cut < 0 or score >= best:
            best, cut = score, position
    return cut if cut >= 0 else _cut_within_line(content, start)


def _cut_within_line(content: bytes, start: int) -> int:
    for pause in _BREAKS:
        found = content.rfind(pause, start + TARGET_SIZE // 2, start + TARGET_SIZE)
        if found >= 0:
            return found + 1
    cut = start + TARGET_SIZE
    for back in range(4):
        if content[cut - back] & 0xC0 != 0x80:  # never inside a UTF-8 character
            return cut - back
    return cut


def _merge_small(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Merge neighbours that are small enough together."""
    current = next(pieces, None)
    if current is None:
        return
    for piece in pieces:
        size = piece.end - current.start
        smaller = min(current.end - current.start, piece.end - piece.start)
        ended = current.closes and current.end - current.start >= MIN_LAST_SIZE
        if (size <= TARGET_SIZE and not ended) or (size <= MAX_SIZE and smaller < MIN_SIZE):
            current = _Piece(current.start, piece.end, piece.closes or ended)
        else:
            yield current
            current = piece
    yield current


def _trim(content: bytes, lines: Sequence[int], piece: _Piece) -> Span | None:
    """Return the piece without blank lines around it; None when nothing is left."""
    text = content[piece.start : piece.end]
    end = piece.start + len(text.rstrip(_BLANK))
    inked = piece.start + len(text) - len(text.lstrip(_BLANK))
    if inked >= end:
        return None
    first = bisect_right(lines, inked) - 1
    # In a file that does not end with a newline, `lines` has one entry more than there are lines.
    return Span(max(piece.start, lines[first]), end, first + 1, bisect_left(lines, end, first + 1))


# -- the main symbol of each chunk -----------------------------------------------------------------


def _find_owners(spans: Sequence[Span], lines: Sequence[int], symbols: Sequence[Symbol]) -> list[int]:
    starts = [span.start for span in spans]
    # On a very long line, the name may be far behind the start of the line.
    named_at = (max(lines[min(symbol.line, len(lines)) - 1], symbol.span.start) for symbol in symbols)
    return [bisect_right(starts, place) - 1 for place in named_at]


def _find_main_symbols(spans: Sequence[Span], owners: Sequence[int], symbols: Sequence[Symbol]) -> list[int]:
    started: list[list[int]] = [[] for _ in spans]
    for place, owner in enumerate(owners):
        if owner >= 0:
            started[owner].append(place)
    main_symbols: list[int] = []
    open_symbols: list[int] = []
    following = 0
    for span, within in zip(spans, started, strict=True):
        while following < len(symbols) and symbols[following].span.start < span.start:
            _push(open_symbols, following, symbols)
            following += 1
        while open_symbols and symbols[open_symbols[-1]].span.end <= span.start:
            open_symbols.pop()
        main_symbols.append(_find_main_symbol(span, within, open_symbols[-1] if open_symbols else -1, symbols))
    return main_symbols


def _push(open_symbols: list[int], place: int, symbols: Sequence[Symbol]) -> None:
    while open_symbols and symbols[open_symbols[-1]].span.end <= symbols[place].span.start:
        open_symbols.pop()
    open_symbols.append(place)


def _find_main_symbol(span: Span, started: Sequence[int], around: int, symbols: Sequence[Symbol]) -> int:
    """Return the largest definition in the chunk.

    One that started in an earlier chunk counts only if no other definition inside it starts here.
    """

    def inside(place: int) -> int:
        return min(span.end, symbols[place].span.end) - max(span.start, symbols[place].span.start)

    def is_large(place: int) -> bool:
        return symbols[place].span.last_line - symbols[place].span.first_line + 1 >= MIN_DEFINITION_LINES

    candidates = [place for place in started if is_large(place)]
    if around >= 0 and not any(symbols[place].span.end <= symbols[around].span.end for place in candidates):
        candidates.append(around)
    return max(candidates or started, key=inside, default=-1)
