"""Base classes for groups and commands: help format, exit codes, and suggestions for misspelt names."""

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from scrubjay.core.errors import InvalidRequest, ScrubjayError
from scrubjay.core.suggestions import nearest_names
from scrubjay.servers.cli.errors import (
    BROKEN_PIPE,
    EXIT_CODES,
    INTERRUPTED,
    Interrupted,
    UnknownCommand,
    show_error,
    usage_record,
)
from scrubjay.servers.cli.help import context_settings, write_commands, write_help
from scrubjay.servers.cli.options import dashed
from scrubjay.servers.cli.terminal import discard_stdout, use_utf8

COMMAND_PATH = "scrubjay.command_path"
"""The key in a context's `meta` for the path of the running command, which is shown with an error."""


class ScrubjayCommand(click.Command):
    """A command with our help format."""

    @property
    def examples(self) -> Sequence[str]:
        return ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[COMMAND_PATH] = ctx.command_path
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, ctx, formatter, self.examples)


class ScrubjayGroup(click.Group):
    """A group with our help format; as the root it maps every outcome to an exit code."""

    command_class = ScrubjayCommand
    group_class = type

    def __init__(self, name: str | None = None, **settings: Any) -> None:
        settings["context_settings"] = context_settings(settings.get("context_settings"), dashed)
        super().__init__(name, **settings)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, ctx, formatter, ())
        write_commands(self, ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            name, command, rest = super().resolve_command(ctx, args)
            return (command.name if command else name), command, rest
        except click.exceptions.NoSuchCommand as unknown:
            raise UnknownCommand(unknown.command_name, self._nearest(ctx, unknown.command_name), ctx) from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run the command line and exit the process with the code of the outcome."""
        use_utf8()
        words = list(sys.argv[1:] if args is None else args)
        name = prog_name or self.name or "scrubjay"
        self._main_shell_completion(extra, name, complete_var)
        try:
            code = self._run(words, name, extra)
            sys.stdout.flush()
        except BrokenPipeError:
            discard_stdout()
            code = BROKEN_PIPE
        sys.exit(code)

    def _run(self, words: list[str], name: str, extra: dict[str, Any]) -> int:
        as_json = any(word == "--json" or word.startswith("--json=") for word in words)
        try:
            with self.make_context(name, words, **extra) as root:
                try:
                    self.invoke(root)
                except InvalidRequest as error:
                    path = root.meta.get(COMMAND_PATH)
                    show_error(error.record, help_command=f"{path} --help" if path else None, as_json=as_json)
                    return EXIT_CODES[error.code]
        except click.exceptions.Exit as ended:
            return ended.exit_code
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            return error.exit_code
        except click.ClickException as error:
            ctx = error.ctx if isinstance(error, click.UsageError) else None
            show_error(usage_record(error), help_command=f"{ctx.command_path} --help" if ctx else None, as_json=as_json)
            return error.exit_code
        except ScrubjayError as error:
            show_error(error.record, help_command=None, as_json=as_json)
            return INTERRUPTED if isinstance(error, Interrupted) else EXIT_CODES[error.code]
        except (KeyboardInterrupt, click.Abort):
            return INTERRUPTED
        return 0

    def _nearest(self, ctx: click.Context, name: str) -> Sequence[str]:
        """Return the full paths of similarly named commands of this group and of its groups."""
        paths: dict[str, str] = {}
        for command in self.list_commands(ctx):
            paths[command] = command
            if isinstance(group := self.get_command(ctx, command), click.Group):
                paths |= {inner: f"{command} {inner}" for inner in group.list_commands(ctx)}
        return [f"{ctx.command_path} {paths[near]}" for near in nearest_names(dashed(name), paths)]
