"""`scrubjay install AGENT` and `scrubjay uninstall AGENT`."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scrubjay.app.install.agents import AGENTS, Scope, Wish

if TYPE_CHECKING:
    from scrubjay.app.install.file_change import Change

_DEFAULT_HOME = "~/.scrubjay"


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document."),
        click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
        click.option("--folder", type=Path, help="The project's folder.  [default: where you are]"),
        click.option("--scope", type=click.Choice(["user", "project"]), default="user", show_default=True),
        click.argument("agent", type=click.Choice(AGENTS)),
    ):
        command = option(command)
    return command


@click.command()
@_options
@click.option("--http", "url", metavar="URL", help="Use a running server, such as http://127.0.0.1:4000/mcp.")
@click.option(
    "--key-env", metavar="NAME", help="With --http: the variable that holds the key; only its name is written."
)
@click.option("--hooks", is_flag=True, help="Also install hooks (Claude Code).")
@click.option("--no-verify", is_flag=True, help="Do not start what was configured to see whether it works.")
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
    """Put Scrubjay into an agent's configuration: shows what changes, keeps a copy, and tries it.

    Only our own part of a file is changed; comments and all else stay as they are. Done twice, it changes nothing.
    """
    from scrubjay.app.install.agents import entry
    from scrubjay.app.install.installer import carry_out_all, changes_to_install
    from scrubjay.app.install.verification import tools_of
    from scrubjay.core.errors import ScrubjayError
    from scrubjay.servers.cli.errors import show_json

    wish = _wish(agent, scope, folder, url=url, key_env=key_env, hooks=hooks)
    changes = changes_to_install(wish, os.environ)
    backups = [] if dry_run else carry_out_all(changes, _home(), installs=True)
    if not as_json:  # also when what was configured does not work
        _tell_changes(changes, backups, dry_run=dry_run)
    tools = None
    if not (dry_run or no_verify):
        try:
            tools = tools_of(wish, entry(wish))
        except ScrubjayError as error:
            error.details = _told(changes, backups, dry_run=dry_run)
            raise
    if as_json:
        show_json({**_told(changes, backups, dry_run=dry_run), "tools": tools})
    elif tools is not None:
        click.echo(f"It works: the configured server lists {len(tools)} tools.")


@click.command()
@_options
def uninstall(agent: str, scope: Scope, folder: Path | None, dry_run: bool, as_json: bool) -> None:
    """Take Scrubjay out of an agent's configuration: exactly what install added, hooks too."""
    from scrubjay.app.install.installer import carry_out_all, changes_to_uninstall, read_record
    from scrubjay.servers.cli.errors import show_json

    changes = changes_to_uninstall(_wish(agent, scope, folder), os.environ, read_record(_home()))
    backups = [] if dry_run else carry_out_all(changes, _home(), installs=False)
    if as_json:
        show_json({**_told(changes, backups, dry_run=dry_run), "tools": None})
    else:
        _tell_changes(changes, backups, dry_run=dry_run)


def _wish(agent: str, scope: Scope, folder: Path | None, **more: Any) -> Wish:
    home = os.environ.get("SCRUBJAY_HOME")
    return Wish(
        agent=agent,
        scope=scope,
        folder=(folder or Path.cwd()).absolute(),
        program=_program(),
        home=str(_home()) if home else None,
        **more,
    )


def _home() -> Path:
    given = os.environ.get("SCRUBJAY_HOME") or _DEFAULT_HOME
    return Path(os.path.abspath(os.path.expanduser(given)))  # noqa: PTH100, PTH111


def _program() -> list[str]:
    """What starts this very program, whatever an agent's PATH may be."""
    started = Path(sys.argv[0])
    if started.name == "scrubjay" and started.is_file():
        return [str(started.absolute())]
    return [sys.executable, "-m", "scrubjay.app"]


def _told(changes: "list[Change]", backups: list[Path], *, dry_run: bool) -> dict[str, Any]:
    needed = [change for change in changes if change.is_needed]
    return {
        "changed": bool(needed) and not dry_run,
        "files": [{"file": str(change.file), "diff": change.diff} for change in needed],
        "backups": [str(backup) for backup in backups],
    }


def _tell_changes(changes: "list[Change]", backups: list[Path], *, dry_run: bool) -> None:
    needed = [change for change in changes if change.is_needed]
    for change in needed:
        click.echo(change.diff, nl=False)
    if not needed:
        click.echo("Nothing to change: everything is as it should be.")
    elif dry_run:
        click.echo("Nothing was changed: this was a dry run.")
    for backup in backups:
        click.echo(f"What was there before: {backup}")
