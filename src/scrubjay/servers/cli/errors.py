"""How a command ends badly: what a person reads on stderr, what a program reads on stdout, and the exit code.

With `--json`, stdout holds exactly one JSON document however the command ends: the result, or
`{"error": {"code", "message", "hint", "details"}}`. What people read goes to stderr either way.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from scrubjay.core.errors import Cancelled, ErrorCode, ErrorRecord
from scrubjay.servers.cli.escapes import visible, visible_json
from scrubjay.servers.cli.terminal import coloured, decorated

EXIT_CODES: Mapping[ErrorCode, int] = {
    ErrorCode.INTERNAL: 1,
    ErrorCode.INVALID_REQUEST: 2,
    ErrorCode.UNKNOWN_TOOL: 2,
    ErrorCode.NOT_FOUND: 3,
    ErrorCode.CONFLICT: 4,
    ErrorCode.UNAUTHENTICATED: 5,
    ErrorCode.FORBIDDEN: 6,
    ErrorCode.TOO_LARGE: 7,
    ErrorCode.CANCELLED: 8,
    ErrorCode.BUSY: 9,
    ErrorCode.UNAVAILABLE: 10,
    ErrorCode.STORE_UNUSABLE: 11,
    ErrorCode.MISCONFIGURED: 12,
    ErrorCode.RATE_LIMITED: 13,
    ErrorCode.QUOTA_EXCEEDED: 14,
}
"""2 is what every command line says of wrong usage; the others are ours."""

INTERRUPTED = 130
"""Ctrl-C, as shells say it: 128 and the signal's number."""

READER_LEFT = 141
"""The program that we wrote to has closed the pipe, as in `scrubjay … | head`; said the way shells do."""


class Interrupted(Cancelled):
    """Ctrl-C stopped the call."""


class UnknownCommand(click.UsageError):
    """Nothing is called that; the nearest names may help."""

    def __init__(self, name: str, nearest: Sequence[str], ctx: click.Context) -> None:
        super().__init__(f"there is no command {name!r}", ctx)
        self.nearest = nearest


def usage_record(error: click.ClickException) -> ErrorRecord:
    """A misspelt command line as the error it would be on every other surface."""
    code = ErrorCode.INVALID_REQUEST
    nearest: Sequence[str] = ()
    message = error.format_message().rstrip(".")
    match error:
        case UnknownCommand():
            code, nearest = ErrorCode.UNKNOWN_TOOL, error.nearest
        case click.NoSuchOption():
            nearest = error.possibilities or ()
            message = f"there is no option {error.option_name!r}"
        case _:
            message = message[:1].lower() + message[1:]
    hint = f"did you mean {' or '.join(nearest)}?" if nearest else None
    return ErrorRecord(code, message, hint, {"nearest": list(nearest)} if nearest else {})


def show_error(record: ErrorRecord, *, help_command: str | None, as_json: bool) -> None:
    """Tell people on stderr, and programs on stdout if they asked for JSON."""
    _say("error", record.message, "red")
    if record.hint:
        _say("hint", record.hint, "cyan")
    if help_command:
        _say("help", help_command, "cyan")
    if as_json:
        show_json(
            {
                "error": {
                    "code": record.code,
                    "message": record.message,
                    "hint": record.hint,
                    "details": dict(record.details),
                }
            }
        )


def show_json(document: Any) -> None:
    """Write one JSON document: indented for a person, on one line for a program."""
    indent = 2 if decorated(sys.stdout) else None
    click.echo(visible_json(json.dumps(document, ensure_ascii=False, indent=indent)))


def _say(label: str, text: str, colour: str) -> None:
    styled = click.style(f"{label}:", fg=colour, bold=True)
    click.echo(f"{styled} {visible(text)}", err=True, color=coloured(sys.stderr))
