"""Watching a folder from the command line: a line for each time that its index was brought up to date."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from scrubjay.servers.cli.errors import Interrupted
from scrubjay.servers.cli.escapes import one_line, visible
from scrubjay.servers.cli.groups import ScrubjayCommand

if TYPE_CHECKING:
    from scrubjay.servers.cli.calls import Opened
    from scrubjay.tooling.registry import Registry


def watch_command(registry: "Registry", opened: "Opened", tool_name: str) -> click.Command:
    """The command that runs this tool, which watches a folder, until Ctrl-C."""

    def watch(**given: Any) -> None:
        from scrubjay.servers.cli.calls import call_tool

        arguments = {"path": given["path"], "excludes": list(given["exclude"])}
        try:
            call_tool(opened, registry.get(tool_name), arguments, Lines())
        except Interrupted:
            click.echo("no longer watched")

    return ScrubjayCommand(
        "watch",
        callback=watch,
        help="Keep the index of the folder PATH up to date while its files change, until Ctrl-C.\n\n"
        "Prints a line whenever the index was brought up to date.",
        params=[
            click.Argument(["path"], default="."),
            click.Option(["--exclude"], multiple=True, help="What is left out, as a line of a .gitignore; repeatable."),
        ],
    )


class Lines:
    """Shows what is told between builds, each time it is something else."""

    def __init__(self) -> None:
        self._last: tuple[float, str] = 0, ""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if total is None and message and (done, message) != self._last:
            self._last = done, message
            click.echo(f"{datetime.now().astimezone():%H:%M:%S}  {one_line(visible(message))}")

    def say(self, text: str) -> None:
        click.echo(text, err=True)

    def close(self) -> None:
        """Nothing is left to clean up: lines stay."""
