"""How long work is shown while a command waits for it: a bar for a person, a few lines for a log. Always on stderr."""

import sys
from typing import TYPE_CHECKING, Protocol

import click

from scrubjay.core.progress import Reporter
from scrubjay.servers.cli.escapes import one_line, visible
from scrubjay.servers.cli.terminal import coloured, decorated

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# A log gets a line whenever so much more is done.
STEP_PERCENT = 10


class ProgressDisplay(Reporter, Protocol):
    """A reporter that shows what it is told, until it is closed."""

    def say(self, text: str) -> None:
        """Tell something else without disturbing the display."""
        ...

    def close(self) -> None: ...


def progress_display(title: str) -> ProgressDisplay:
    return BarProgress(title) if decorated(sys.stderr) else LineProgress(title)


class LineProgress:
    """A line at the beginning, after every ten per cent, and at the end; with no known end, whenever it has doubled."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._next = 0.0

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        percent = 100 * done / total if total else None
        reached = done if percent is None else percent
        if reached < self._next:
            return
        self._next = max(2 * done, 1) if percent is None else percent - percent % STEP_PERCENT + STEP_PERCENT
        far = f"{done:g}" if percent is None else f"{percent:.0f}% ({done:g}/{total:g})"
        self.say(" ".join(part for part in (f"{self._title}: {far}", one_line(visible(message))) if part))

    def say(self, text: str) -> None:
        click.echo(text, err=True)

    def close(self) -> None:
        """Nothing is left to clean up: lines stay."""


class BarProgress:
    """One moving line, gone when the work has ended."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if self._bar is None or self._task is None:
            self._bar = _bar()
            self._task = self._bar.add_task(self._title, total=None, message="")
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total, message=one_line(visible(message)))

    def say(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            click.echo(text, err=True, color=coloured(sys.stderr))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.table import Column

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
