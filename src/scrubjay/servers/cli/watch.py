"""The command `watch`: keep the index of a folder up to date and print a line for each update."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from scrubjay.core.lazy import lazy_module
from scrubjay.servers.cli.errors import Interrupted
from scrubjay.servers.cli.escapes import one_line, visible
from scrubjay.servers.cli.groups import ScrubjayCommand

if TYPE_CHECKING:
    from scrubjay.servers.cli import calls
    from scrubjay.servers.cli.calls import OpenDispatcher
    from scrubjay.tooling.registry import Registry
else:
    calls = lazy_module("scrubjay.servers.cli.calls")


def watch_command(registry: "Registry", open_dispatcher: "OpenDispatcher", tool_name: str) -> click.Command:
    """Return the command that runs the tool `tool_name`, which watches a folder, until Ctrl-C."""

    def watch(**options: Any) -> None:
        arguments = {"path": options["path"], "excludes": list(options["exclude"])}
        try:
            calls.call_tool(open_dispatcher, registry.get(tool_name), arguments, WatchDisplay())
        except Interrupted:
            click.echo("stopped watching")

    return ScrubjayCommand(
        "watch",
        callback=watch,
        help="Keep the index of the folder PATH up to date while its files change, until Ctrl-C.\n\n"
        "Prints a line after each update of the index.",
        params=[
            click.Argument(["path"], default="."),
            click.Option(["--exclude"], multiple=True, help="A pattern to exclude, as in .gitignore; repeatable."),
        ],
    )


class WatchDisplay:
    """Prints the messages that are reported between index builds, without repetitions."""

    def __init__(self) -> None:
        self._last: tuple[float, str] = 0, ""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if total is None and message and (done, message) != self._last:
            self._last = done, message
            click.echo(f"{datetime.now().astimezone():%H:%M:%S}  {one_line(visible(message))}")

    def write_line(self, text: str) -> None:
        click.echo(text, err=True)

    def close(self) -> None:
        """Do nothing: the lines stay."""
