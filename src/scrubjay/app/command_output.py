"""The output of commands: one sentence for people, or one JSON document for programs."""

from typing import Any

import click

from scrubjay.servers.cli.errors import show_json

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")


def print_result(sentence: str, fields: dict[str, Any], as_json: bool) -> None:
    """Print the fields as JSON, or the sentence."""
    if as_json:
        show_json(fields)
    else:
        click.echo(sentence)
