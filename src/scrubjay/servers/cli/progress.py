"""Show the progress of a call on stderr: a bar on a terminal, a few lines in a log."""

import sys
from typing import TYPE_CHECKING, Protocol

import click

from scrubjay.core.lazy import lazy_module
from scrubjay.core.progress import Reporter
from scrubjay.servers.cli.escapes import one_line, visible
from scrubjay.servers.cli.terminal import is_terminal, use_colour

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from scrubjay.servers.cli import progress_bar
else:
    progress_bar = lazy_module("scrubjay.servers.cli.progress_bar")

# Percentage points between two lines in a log.
STEP_PERCENT = 10


class ProgressDisplay(Reporter, Protocol):
    """A reporter that displays progress until it is closed."""

    def write_line(self, text: str) -> None:
        """Print a line without disturbing the display."""
        ...

    def close(self) -> None: ...


def progress_display(title: str) -> ProgressDisplay:
    return BarProgress(title) if is_terminal(sys.stderr) else LineProgress(title)


class LineProgress:
    """Prints a line at the start, every ten percent, and at the end; without a total, each time the count doubles."""

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
        self.write_line(" ".join(part for part in (f"{self._title}: {far}", one_line(visible(message))) if part))

    def write_line(self, text: str) -> None:
        click.echo(text, err=True)

    def close(self) -> None:
        """Do nothing: the lines stay."""


class BarProgress:
    """Shows a progress bar that disappears at the end."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if self._bar is None or self._task is None:
            self._bar = progress_bar.make_progress_bar()
            self._task = self._bar.add_task(self._title, total=None, message="")
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total, message=one_line(visible(message)))

    def write_line(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            click.echo(text, err=True, color=use_colour(sys.stderr))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
