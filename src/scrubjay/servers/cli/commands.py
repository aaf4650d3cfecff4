"""One group per family and one command per tool, each made when it is asked for."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scrubjay.core.errors import ErrorCode
from scrubjay.servers.cli.errors import EXIT_CODES, show_json
from scrubjay.servers.cli.groups import ScrubjayCommand, ScrubjayGroup
from scrubjay.servers.cli.options import command_line, dashed, request_arguments, tool_parameters, wants_json
from scrubjay.servers.cli.terminal import decorated
from scrubjay.tooling.jobs.models import JobState

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scrubjay.servers.cli.calls import Opened
    from scrubjay.tooling.declaration import Tool
    from scrubjay.tooling.registry import Registry


def tool_commands(registry: "Registry", opened: "Opened") -> Sequence[click.Group]:
    """A group for every family; `opened` is entered for each call, and only then."""
    return [FamilyGroup(family, registry, opened) for family in registry.families]


class FamilyGroup(ScrubjayGroup):
    """The tools of one family."""

    def __init__(self, family: str, registry: "Registry", opened: "Opened") -> None:
        self._registry = registry
        self._names = {dashed(name): name for name in registry.names_of(family)}
        self._opened = opened
        super().__init__(dashed(family), help=f"The tools of the {family} family.", subcommand_metavar="TOOL [OPTIONS]")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._names, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = self._names.get(dashed(cmd_name))
        return ToolCommand(self._registry.get(name), self._opened) if name else super().get_command(ctx, cmd_name)


class ToolCommand(ScrubjayCommand):
    """One tool: its fields as options, its answer drawn, or printed as JSON."""

    def __init__(self, tool: "Tool", opened: "Opened") -> None:
        super().__init__(dashed(tool.name), help=_description(tool), short_help=_first_sentence(tool.summary))
        self.tool = tool
        self._opened = opened

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if not self.params:
            self.params = tool_parameters(self.tool)
        return super().get_params(ctx)

    @property
    def examples(self) -> Sequence[str]:
        from scrubjay.tooling.examples import example_requests

        return [command_line(self.tool, example) for example in example_requests(self.tool)]

    def invoke(self, ctx: click.Context) -> None:
        from scrubjay.servers.cli.calls import call_tool
        from scrubjay.tooling.validation import accept

        arguments = request_arguments(ctx)
        accept(self.tool, arguments)  # a request that does not fit is refused before anything is opened or made
        answer = call_tool(self._opened, self.tool, arguments)
        if wants_json(ctx):
            show_json(answer.model_dump(mode="json"))
        else:
            _show(answer)
        # Somebody else stopped the job that this command waited for.
        if self.tool.runs_as_job and getattr(answer, "state", None) is JobState.CANCELLED:
            ctx.exit(EXIT_CODES[ErrorCode.CANCELLED])


def _description(tool: "Tool") -> str:
    notes = ["Can destroy what is kept."] if tool.destructive else []
    if tool.runs_as_job:
        notes.append("This is long work: its progress is shown, and Ctrl-C stops it.")
    return "\n\n".join([tool.description, *notes])


def _first_sentence(text: str) -> str:
    sentence, end, _ = text.partition(". ")
    return f"{sentence}." if end else text


def _show(answer: "BaseModel") -> None:
    from scrubjay.core.clock import system_clock
    from scrubjay.servers.cli.blocks import shape

    blocks = shape(answer, system_clock())
    if decorated(sys.stdout):
        from scrubjay.servers.cli.rich_output import draw

        draw(blocks)
    else:
        from scrubjay.servers.cli.plain_output import plain_text

        click.echo(plain_text(blocks))
