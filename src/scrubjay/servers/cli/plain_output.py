"""Print blocks as plain text for programs and dumb terminals: no colour, boxes or wrapping, one line per row."""

import unicodedata
from collections.abc import Iterator, Sequence

from scrubjay.servers.cli.blocks import Block, NoteBlock, PairsBlock, TableBlock
from scrubjay.servers.cli.escapes import one_line

# Maximum padding of a column, so that one long value does not fill every other row with spaces.
MAX_PADDING = 40


def plain_text(blocks: Sequence[Block]) -> str:
    return "\n\n".join("\n".join(_lines(block)) for block in blocks)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case TableBlock():
            yield from _table(block)
        case PairsBlock():
            yield from _pairs(block)
        case NoteBlock():
            yield block.text


def _pairs(pairs: PairsBlock) -> Iterator[str]:
    if pairs.title:
        yield f"{pairs.title}:"
    indent = "  " if pairs.title else ""
    for name, cell in pairs.items:
        if "\n" in cell.text:
            yield f"{indent}{name}:"
            yield from (f"{indent}  {line}" for line in cell.text.split("\n"))
        else:
            yield f"{indent}{name}: {cell.text}"


def _table(table: TableBlock) -> Iterator[str]:
    """Yield the lines of a table, with the widest column last, where it needs no padding."""
    rows = [list(table.headers), *([one_line(cell.text) for cell in row] for row in table.rows)]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(table.headers))]
    order = sorted(range(len(widths)), key=lambda column: column == widths.index(max(widths)))
    for row in rows:
        padded = [
            f"{row[column]}{' ' * (min(widths[column], MAX_PADDING) - _width(row[column]))}" for column in order[:-1]
        ]
        yield "  ".join([*padded, row[order[-1]]]).rstrip()


def _width(text: str) -> int:
    """Return the number of terminal columns that the text needs."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
