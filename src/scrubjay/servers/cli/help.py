"""The format of `--help`: description, usage, examples, then every option with its limits and default."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from scrubjay.servers.cli.options import FieldOption

# Wider lines are hard to read.
MAX_WIDTH = 100
_FIRST_COLUMN = 32


def heading(text: str) -> str:
    return click.style(text, bold=True, fg="green")


def literal(text: str) -> str:
    return click.style(text, bold=True, fg="cyan")


def dim(text: str) -> str:
    return click.style(text, dim=True)


def context_settings(given: Mapping[str, Any] | None, normalize_name: Callable[[str], str]) -> dict[str, Any]:
    """Return the settings of every command; subcommands inherit them."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    common = {
        "help_option_names": ["-h", "--help"],
        "max_content_width": MAX_WIDTH,
        "token_normalize_func": normalize_name,
        "color": False if plain else None,
    }
    return {**common, **(given or {})}


def write_help(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter, examples: Sequence[str]
) -> None:
    summary, _, more = inspect.cleandoc(command.help or "").partition("\n")
    if summary:
        formatter.write_text(click.style(summary, bold=True))
        formatter.write_paragraph()
    formatter.write_usage(
        literal(ctx.command_path), " ".join(command.collect_usage_pieces(ctx)), f"{heading('Usage:')} "
    )
    if more.strip():
        formatter.write_paragraph()
        formatter.write_text(more.strip())
    if examples:
        with formatter.section(heading("Examples")):
            for example in examples:
                formatter.write(f"  {dim('$')} {example}\n")
    _write_parameters(command, ctx, formatter)


def write_commands(group: click.Group, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the group's own commands, then those of each nested group under its name."""
    own: list[tuple[str, str]] = []
    inner: list[tuple[str, list[tuple[str, str]]]] = []
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is None or command.hidden:
            continue
        if isinstance(command, click.Group):
            context = click.Context(command, info_name=name, parent=ctx)
            inner.append((name, _rows(command, context)))
        else:
            own.append((literal(name), command.get_short_help_str(200)))
    if own:
        with formatter.section(heading("Commands")):
            formatter.write_dl(own)
    width = max((len(click.unstyle(row[0])) for _, rows in inner for row in rows), default=0)
    for name, rows in inner:
        with formatter.section(heading(f"{ctx.command_path} {name}")):
            formatter.write_dl([(f"{first}{' ' * (width - len(click.unstyle(first)))}", text) for first, text in rows])
    formatter.write_paragraph()
    further = "FAMILY TOOL" if inner else "COMMAND"
    formatter.write_text(dim(f"Run {ctx.command_path} {further} --help for the options of a command."))


def _rows(group: click.Group, ctx: click.Context) -> list[tuple[str, str]]:
    commands = [(name, group.get_command(ctx, name)) for name in group.list_commands(ctx)]
    return [(literal(name), command.get_short_help_str(200)) for name, command in commands if command is not None]


def _write_parameters(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Required": [], "Options": [], "For every tool": []}
    of_a_tool = any(isinstance(parameter, FieldOption) for parameter in command.params)
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False):
            continue
        if isinstance(parameter, click.Option):
            section = "Required" if "required" in parameter.get_help_extra(ctx) else "Options"
            if of_a_tool and not isinstance(parameter, FieldOption):
                section = "For every tool"
            sections[section].append((_styled_spec(parameter.get_help_spec(ctx)), _option_help(parameter, ctx)))
        else:
            sections["Arguments"].append((literal(parameter.make_metavar(ctx)), parameter.help or ""))
    for section, rows in sections.items():
        if rows:
            with formatter.section(heading(section)):
                formatter.write_dl(rows, col_max=_FIRST_COLUMN)


def _styled_spec(spec: str) -> str:
    """Return the option with its name in bold and its metavar in plain colour."""
    return " ".join(literal(word) if word.startswith("-") else click.style(word, fg="cyan") for word in spec.split(" "))


def _option_help(option: click.Option, ctx: click.Context) -> str:
    extra = option.get_help_extra(ctx)
    notes = [extra["range"]] if "range" in extra else []
    if "default" in extra:
        notes.append(f"default: {extra['default']}")
    if "envvars" in extra:
        notes.append(f"environment: {', '.join(extra['envvars'])}")
    suffix = dim(f"[{'; '.join(notes)}]") if notes else ""
    return "  ".join(part for part in (option.help or "", suffix) if part)
