"""Print blocks with rich on a terminal. Imports rich, so it is imported only to draw."""

import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from scrubjay.servers.cli.blocks import Block, Cell, Kind, NoteBlock, PairsBlock, TableBlock

_STYLES: dict[Kind, str] = {
    "text": "",
    "data": "",
    "number": "cyan",
    "time": "blue",
    "yes": "green",
    "no": "dim",
    "json": "",
    "nothing": "dim",
}
_WORD_STYLES = {
    "healthy": "green",
    "completed": "green",
    "unhealthy": "bold red",
    "failed": "bold red",
    "running": "yellow",
    "queued": "yellow",
    "cancelling": "yellow",
    "cancelled": "yellow",
}
# Columns that are preferred when not all fit, in this order.
_PREFERRED = ("score", "name", "title", "state", "status", "key", "category", "id", "job id")
_GAP = "   "
# The maximum share of the width that is reserved for the main column.
_TEXT_SHARE = 0.55


def draw(blocks: Sequence[Block]) -> None:
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    for index, block in enumerate(blocks):
        if index:
            console.print()
        console.print(_renderable(block, console.width))


def _renderable(block: Block, width: int) -> RenderableType:
    match block:
        case TableBlock():
            return _table(block, width)
        case PairsBlock():
            return _panel(block)
        case NoteBlock():
            return Padding(Text(block.text, style="dim"), (0, 1))


def _panel(pairs: PairsBlock) -> Panel:
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, cell in pairs.items:
        grid.add_row(Text(name), _text(cell))
    return Panel(
        grid,
        box=box.ROUNDED,
        border_style="dim",
        title=Text(pairs.title, style="bold") if pairs.title else None,
        title_align="left",
        padding=(0, 1),
        expand=False,
    )


def _table(table: TableBlock, width: int) -> RenderableType:
    """Return a table with all columns when they fit; otherwise the main column, others beside it, the rest below it."""
    widths = [
        max(_width(header), *(_width(row[column].text) for row in table.rows))
        for column, header in enumerate(table.headers)
    ]
    if sum(widths) + len(_GAP) * (len(widths) - 1) + 2 <= width:
        return _grid(table, range(len(widths)), width)
    return _narrow_table(table, widths, width)


def _narrow_table(table: TableBlock, widths: Sequence[int], width: int) -> RenderableType:
    columns = range(len(widths))
    first, *others = table.rows
    shared = [column for column in columns if others and all(row[column] == first[column] for row in others)]
    main = max(
        columns,
        key=lambda column: (
            column not in shared,
            _is_mostly_filled(table, column),
            any(row[column].kind == "text" for row in table.rows),
            widths[column],
        ),
    )
    rest = [column for column in columns if column != main]
    shared = [column for column in shared if column != main]
    room = width - 2 - max(_width(table.headers[main]), min(widths[main], round(width * _TEXT_SHARE)))
    beside: list[int] = []
    for column in sorted(set(rest) - set(shared), key=lambda column: _preference(table.headers[column])):
        if widths[column] + len(_GAP) <= room and _is_mostly_filled(table, column):
            beside.append(column)
            room -= widths[column] + len(_GAP)
    left = width - 2 - sum(widths[column] + len(_GAP) for column in beside)
    below = [column for column in rest if column not in beside and column not in shared]
    grid = _grid(
        table,
        [*beside, main],
        width,
        [_pack(((table.headers[column], row[column]) for column in below), left) for row in table.rows],
    )
    if not shared:
        return grid
    same = _pack(((table.headers[column], first[column]) for column in shared), width - 2, "all have ")
    return Group(grid, "", Padding(same, (0, 1)))


def _grid(table: TableBlock, columns: Sequence[int], width: int, below: Sequence[Text] | None = None) -> Grid:
    grid = Grid(
        title=Text(table.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        border_style="dim",
        header_style="bold",
        show_edge=False,
        padding=(0, 1),
        leading=1 if any(below or ()) else 0,
    )
    for column in columns:
        kinds = {row[column].kind for row in table.rows}
        grid.add_column(
            Text(table.headers[column]),
            justify="right" if kinds <= {"number", "nothing"} else "left",
            no_wrap=below is not None and column != columns[-1],
            overflow="fold",
        )
    for index, row in enumerate(table.rows):
        cells = [_text(row[column]) for column in columns]
        if below is not None:
            cells[-1] = Text("\n").join(part for part in (cells[-1], below[index]) if part)
        grid.add_row(*cells)
    return grid


def _pack(items: Iterable[tuple[str, Cell]], width: int, start: str = "") -> Text:
    """Return names and values in sequence, wrapped only between items where possible."""
    packed = Text(start, style="dim")
    used, empty = len(start), True
    for name, cell in _merge_equal_times(items):
        item = Text.assemble((f"{name} ", "dim"), _text(cell))
        if not empty and used + 3 + item.cell_len > width:
            packed.append("\n")
            used = 0
        elif not empty:
            packed.append(" · ")
            used += 3
        packed.append_text(item)
        used, empty = used + item.cell_len, False
    return packed


def _merge_equal_times(items: Iterable[tuple[str, Cell]]) -> Iterable[tuple[str, Cell]]:
    """Drop empty values and merge fields with equal times, such as recorded and updated of an unchanged memory."""
    names: dict[Cell, str] = {}
    merged: list[tuple[str, Cell]] = []
    for name, cell in items:
        if cell.kind != "time":
            merged.append((name, cell))
        elif cell in names:
            merged[merged.index((names[cell], cell))] = (f"{names[cell]}, {name}", cell)
            names[cell] = f"{names[cell]}, {name}"
        else:
            names[cell] = name
            merged.append((name, cell))
    return [(name, cell) for name, cell in merged if cell.text]


def _is_mostly_filled(table: TableBlock, column: int) -> bool:
    return 2 * sum(bool(row[column].text) for row in table.rows) >= len(table.rows)


def _preference(header: str) -> int:
    return _PREFERRED.index(header) if header in _PREFERRED else len(_PREFERRED)


def _width(text: str) -> int:
    return max(cell_len(line) for line in text.split("\n"))


def _text(cell: Cell) -> Text:
    text = Text(cell.text, style=_STYLES[cell.kind] or _WORD_STYLES.get(cell.text, ""))
    if cell.kind == "time":
        text.highlight_regex(r"\(.*\)", "dim")
    return text
