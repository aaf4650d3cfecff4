"""One group per family and one command per tool, created on first use."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scrubjay.core.errors import ErrorCode
from scrubjay.core.lazy import lazy_module
from scrubjay.servers.cli.errors import EXIT_CODES, show_json
from scrubjay.servers.cli.groups import ScrubjayCommand, ScrubjayGroup
from scrubjay.servers.cli.options import command_line, dashed, request_arguments, tool_parameters, wants_json
from scrubjay.servers.cli.terminal import is_terminal
from scrubjay.tooling.jobs.models import JobState

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scrubjay.core import clock
    from scrubjay.servers.cli import blocks, calls, plain_output, rich_output
    from scrubjay.servers.cli.calls import OpenDispatcher
    from scrubjay.tooling import examples, validation
    from scrubjay.tooling.declaration import Tool
    from scrubjay.tooling.registry import Registry
else:  # help and shell completion must not wait for what only a call needs
    clock = lazy_module("scrubjay.core.clock")
    blocks = lazy_module("scrubjay.servers.cli.blocks")
    calls = lazy_module("scrubjay.servers.cli.calls")
    plain_output = lazy_module("scrubjay.servers.cli.plain_output")
    rich_output = lazy_module("scrubjay.servers.cli.rich_output")
    examples = lazy_module("scrubjay.tooling.examples")
    validation = lazy_module("scrubjay.tooling.validation")


def tool_commands(registry: "Registry", open_dispatcher: "OpenDispatcher") -> Sequence[click.Group]:
    """Return one group per family; `open_dispatcher` is entered only for a call."""
    return [FamilyGroup(family, registry, open_dispatcher) for family in registry.families]


class FamilyGroup(ScrubjayGroup):
    """The tools of one family."""

    def __init__(self, family: str, registry: "Registry", open_dispatcher: "OpenDispatcher") -> None:
        self._registry = registry
        self._names = {dashed(name): name for name in registry.names_by_family[family]}
        self._open_dispatcher = open_dispatcher
        super().__init__(dashed(family), help=f"The tools of the {family} family.", subcommand_metavar="TOOL [OPTIONS]")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._names, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = self._names.get(dashed(cmd_name))
        return (
            ToolCommand(self._registry.get(name), self._open_dispatcher) if name else super().get_command(ctx, cmd_name)
        )


class ToolCommand(ScrubjayCommand):
    """The command of a tool: its fields are options, its result is printed as tables or as JSON."""

    def __init__(self, tool: "Tool", open_dispatcher: "OpenDispatcher") -> None:
        super().__init__(dashed(tool.name), help=_description(tool), short_help=_first_sentence(tool.summary))
        self.tool = tool
        self._open_dispatcher = open_dispatcher

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if not self.params:
            self.params = tool_parameters(self.tool)
        return super().get_params(ctx)

    @property
    def examples(self) -> Sequence[str]:
        return [command_line(self.tool, example) for example in examples.example_requests(self.tool)]

    def invoke(self, ctx: click.Context) -> None:
        arguments = request_arguments(ctx)
        validation.validate(self.tool, arguments)  # refuse invalid arguments before anything is opened or created
        answer = calls.call_tool(self._open_dispatcher, self.tool, arguments)
        if wants_json(ctx):
            show_json(answer.model_dump(mode="json"))
        else:
            _print_result(answer)
        # Another client cancelled the job that this command waited for.
        if self.tool.runs_as_job and getattr(answer, "state", None) is JobState.CANCELLED:
            ctx.exit(EXIT_CODES[ErrorCode.CANCELLED])


def _description(tool: "Tool") -> str:
    notes = ["Can delete or overwrite data."] if tool.destructive else []
    if tool.runs_as_job:
        notes.append("Runs as a job: progress is shown, and Ctrl-C cancels it.")
    return "\n\n".join([tool.description, *notes])


def _first_sentence(text: str) -> str:
    sentence, end, _ = text.partition(". ")
    return f"{sentence}." if end else text


def _print_result(answer: "BaseModel") -> None:
    shown = blocks.to_blocks(answer, clock.system_clock())
    if is_terminal(sys.stdout):
        rich_output.draw(shown)
    else:
        click.echo(plain_output.plain_text(shown))
