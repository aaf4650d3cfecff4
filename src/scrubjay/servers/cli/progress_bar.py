"""The progress bar. Imports rich, so it is imported only when a bar is drawn."""

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Column


def make_progress_bar() -> Progress:
    """Return a bar on stderr that disappears when it is stopped."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
        BarColumn(bar_width=None, table_column=Column(ratio=1, min_width=10)),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn(
            "{task.fields[message]}",
            style="dim",
            markup=False,
            table_column=Column(ratio=2, no_wrap=True, overflow="ellipsis"),
        ),
        console=Console(file=sys.stderr, highlight=False, markup=False, emoji=False),
        transient=True,
        expand=True,
    )
