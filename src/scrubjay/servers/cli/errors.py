"""Errors of commands: the text on stderr, the JSON on stdout, and the exit codes.

With `--json`, stdout contains exactly one JSON document, whether the command succeeds or fails: the result, or
`{"error": {"code", "message", "hint", "details"}}`. The text for people always goes to stderr.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from scrubjay.core.errors import Cancelled, ErrorCode, ErrorRecord
from scrubjay.servers.cli.escapes import visible, visible_json
from scrubjay.servers.cli.terminal import is_terminal, use_colour

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
"""2 is the usual exit code for wrong usage; the others are ours."""

INTERRUPTED = 130
"""Ctrl-C: 128 plus the number of SIGINT, as in shells."""

BROKEN_PIPE = 141
"""The reader closed the pipe, as in `scrubjay … | head`: 128 plus the number of SIGPIPE, as in shells."""


class Interrupted(Cancelled):
    """Ctrl-C stopped the call."""


class UnknownCommand(click.UsageError):
    """There is no command with this name; `nearest` has similar ones."""

    def __init__(self, name: str, nearest: Sequence[str], ctx: click.Context) -> None:
        super().__init__(f"there is no command {name!r}", ctx)
        self.nearest = nearest


def usage_record(error: click.ClickException) -> ErrorRecord:
    """Return the record of a usage error, as it would be on every other surface."""
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
    """Print an error as text on stderr, and with `as_json` also as JSON on stdout."""
    _print_labelled("error", record.message, "red")
    if record.hint:
        _print_labelled("hint", record.hint, "cyan")
    if help_command:
        _print_labelled("help", help_command, "cyan")
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
    """Print one JSON document: indented on a terminal, otherwise on one line."""
    indent = 2 if is_terminal(sys.stdout) else None
    click.echo(visible_json(json.dumps(document, ensure_ascii=False, indent=indent)))


def _print_labelled(label: str, text: str, colour: str) -> None:
    styled = click.style(f"{label}:", fg=colour, bold=True)
    click.echo(f"{styled} {visible(text)}", err=True, color=use_colour(sys.stderr))
