"""`scrubjay install AGENT` and `scrubjay uninstall AGENT`."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scrubjay.app.command_output import json_option
from scrubjay.app.install.agents import AGENTS, Installation, Scope, server_entry
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.servers.cli.errors import show_json

if TYPE_CHECKING:
    from scrubjay.app.install import installer, verification
    from scrubjay.app.install.file_change import Change
else:
    installer = lazy_module("scrubjay.app.install.installer")
    verification = lazy_module("scrubjay.app.install.verification")

_DEFAULT_HOME = "~/.scrubjay"


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        json_option,
        click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
        click.option("--folder", type=Path, help="Folder of the project.  [default: the working directory]"),
        click.option(
            "--scope",
            type=click.Choice(["user", "project"]),
            default="user",
            show_default=True,
            help="Change the user's configuration, or that of one project.",
        ),
        click.argument("agent", type=click.Choice(AGENTS)),
    ):
        command = option(command)
    return command


@click.command()
@_options
@click.option("--http", "url", metavar="URL", help="Use a running server, such as http://127.0.0.1:4000/mcp.")
@click.option(
    "--key-env",
    metavar="NAME",
    help="With --http: environment variable that holds the key. Only its name is written.",
)
@click.option("--hooks", is_flag=True, help="Also install hooks (Claude Code only).")
@click.option("--no-verify", is_flag=True, help="Do not start the configured server to verify it.")
def install(
    agent: str,
    scope: Scope,
    folder: Path | None,
    dry_run: bool,
    as_json: bool,
    url: str | None,
    key_env: str | None,
    hooks: bool,
    no_verify: bool,
) -> None:
    """Add Scrubjay to an agent's configuration: show the change, back up the file, and verify the result.

    Only Scrubjay's own entry is changed; comments and everything else stay as they are. Running it again changes
    nothing.
    """
    installation = _installation(agent, scope, folder, url=url, key_env=key_env, hooks=hooks)
    changes = installer.changes_to_install(installation, os.environ)
    backups = [] if dry_run else installer.apply_changes(changes, _home(), installs=True)
    if not as_json:  # before the verification, which may fail
        _print_changes(changes, backups, dry_run=dry_run)
    tools = None
    if not (dry_run or no_verify):
        try:
            tools = verification.listed_tools(installation, server_entry(installation))
        except ScrubjayError as error:
            error.details = _fields(changes, backups, dry_run=dry_run)
            raise
    if as_json:
        show_json({**_fields(changes, backups, dry_run=dry_run), "tools": tools})
    elif tools is not None:
        click.echo(f"It works: the configured server lists {len(tools)} tools.")


@click.command()
@_options
def uninstall(agent: str, scope: Scope, folder: Path | None, dry_run: bool, as_json: bool) -> None:
    """Remove from an agent's configuration exactly what install added, including hooks."""
    record = installer.read_record(_home())
    changes = installer.changes_to_uninstall(_installation(agent, scope, folder), os.environ, record)
    backups = [] if dry_run else installer.apply_changes(changes, _home(), installs=False)
    if as_json:
        show_json({**_fields(changes, backups, dry_run=dry_run), "tools": None})
    else:
        _print_changes(changes, backups, dry_run=dry_run)


def _installation(agent: str, scope: Scope, folder: Path | None, **options: Any) -> Installation:
    return Installation(
        agent=agent,
        scope=scope,
        folder=(folder or Path.cwd()).absolute(),
        program=_program(),
        home=str(_home()) if os.environ.get("SCRUBJAY_HOME") else None,
        **options,
    )


def _home() -> Path:
    home = os.environ.get("SCRUBJAY_HOME") or _DEFAULT_HOME
    return Path(os.path.abspath(os.path.expanduser(home)))  # noqa: PTH100, PTH111


def _program() -> list[str]:
    """Return the command that starts this very program, whatever the agent's PATH is."""
    started = Path(sys.argv[0])
    if started.name == "scrubjay" and started.is_file():
        return [str(started.absolute())]
    return [sys.executable, "-m", "scrubjay.app"]


def _fields(changes: "list[Change]", backups: list[Path], *, dry_run: bool) -> dict[str, Any]:
    needed = [change for change in changes if change.is_needed]
    return {
        "changed": bool(needed) and not dry_run,
        "files": [{"file": str(change.file), "diff": change.diff} for change in needed],
        "backups": [str(backup) for backup in backups],
    }


def _print_changes(changes: "list[Change]", backups: list[Path], *, dry_run: bool) -> None:
    needed = [change for change in changes if change.is_needed]
    for change in needed:
        click.echo(change.diff, nl=False)
    if not needed:
        click.echo("Nothing to change: the configuration is up to date.")
    elif dry_run:
        click.echo("Dry run: nothing was changed.")
    for backup in backups:
        click.echo(f"Backup of the previous file: {backup}")
