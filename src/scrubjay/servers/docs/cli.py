"""The reference page of the command line."""

import inspect
from collections.abc import Iterator

import click

from scrubjay.servers.docs.markdown import block, code, page, prose, table


def cli_page(root: click.Group) -> str:
    """Return the page with the help of every command below the root, independent of the terminal's width."""
    return page("Command line", _command(_context(root, root.name or "scrubjay", None), 2))


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _command(ctx: click.Context, level: int) -> Iterator[str]:
    command = ctx.command
    yield f"{'#' * level} {ctx.command_path}"
    yield prose(inspect.cleandoc(command.help or ""))
    yield block("sh", " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)]))
    shown = [parameter for parameter in command.get_params(ctx) if not getattr(parameter, "hidden", False)]
    if rows := [_row(parameter, ctx) for parameter in shown if parameter is not command.get_help_option(ctx)]:
        yield table(["Argument or option", "Meaning", ""], rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            if inner is not None and not inner.hidden:
                yield from _command(_context(inner, name, ctx), min(level + 1, 6))


def _row(parameter: click.Parameter, ctx: click.Context) -> list[str]:
    if not isinstance(parameter, click.Option):
        return [code(parameter.make_metavar(ctx)), prose(parameter.help or ""), ""]
    extra = parameter.get_help_extra(ctx)
    notes = [extra["required"]] if "required" in extra else []
    if "range" in extra:
        notes.append(prose(extra["range"]))
    if "default" in extra:
        notes.append(f"default: {code(extra['default'])}")
    if "envvars" in extra:
        notes.append(f"environment: {code(', '.join(extra['envvars']))}")
    return [code(parameter.get_help_spec(ctx)), prose(parameter.help or ""), "; ".join(notes)]
