"""The commands that run, look after and describe a server; tools become commands by themselves."""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scrubjay import __version__
from scrubjay.app.key_commands import keys
from scrubjay.core.errors import Misconfigured, StoreUnusable
from scrubjay.servers.cli.groups import ScrubjayGroup

if TYPE_CHECKING:
    from scrubjay.app.settings import Settings
    from scrubjay.app.store import Store
    from scrubjay.tooling.dispatcher import Dispatcher
    from scrubjay.tooling.served_tools import Offering

T = TypeVar("T")

HELP = """A memory for AI agents: local, durable, searchable by words and by meaning.

Start a server with `scrubjay serve`, or let an agent start one with `scrubjay mcp`. Every tool is also a command.
"""


# Loaded when asked for.
INSTALLING = ("install", "uninstall")


class Scrubjay(ScrubjayGroup):
    """The root: its own commands first, then a group per family of tools, loaded when asked for."""

    @cached_property
    def _families(self) -> dict[str, click.Group]:
        from scrubjay.app.tool_catalog import ALL
        from scrubjay.servers.cli.commands import tool_commands
        from scrubjay.servers.cli.watch import watch_command
        from scrubjay.tooling.registry import Registry

        registry = Registry(ALL)
        families = {group.name or "": group for group in tool_commands(registry, opened_dispatcher)}
        families["code"].add_command(watch_command(registry, opened_dispatcher, "keep_repo_index"))
        return families

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *INSTALLING, *self._families]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in INSTALLING:
            from scrubjay.app.install import commands

            return getattr(commands, cmd_name)
        return super().get_command(ctx, cmd_name) or self._families.get(cmd_name.replace("_", "-"))


@click.group(cls=Scrubjay, name="scrubjay", help=HELP)
@click.version_option(__version__, prog_name="scrubjay")
def scrubjay() -> None:
    pass


@asynccontextmanager
async def opened_dispatcher() -> AsyncGenerator["Dispatcher"]:
    """What a tool's command needs: a process of its own on the store, which leaves others' jobs alone."""
    from scrubjay.app.lifespan import running

    async with running(_prepared("warning"), adopts_jobs=False) as application:
        yield application.dispatcher


tools_option = click.option(
    "--tools", metavar="SPEC", help="Which tools are listed: core, all, or families and names joined by commas."
)


profile_option = click.option(
    "--profile",
    type=click.Choice(["mimo", "do-memory", "mira", "mimir", "neo"]),
    help="List exactly the tools of this system, under its names.",
)


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")


@scrubjay.command()
@click.option("--host", help="The address to listen on; others than loopback need a key.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="The port to listen on; 0 takes a free one.  [default: 4000]")
@tools_option
@profile_option
@json_option
def serve(host: str | None, port: int | None, tools: str | None, profile: str | None, as_json: bool) -> None:
    """Start the server: REST, its documentation, and MCP over HTTP.

    Listens on 127.0.0.1:4000 until you press Ctrl-C, and prints what to paste into an agent's configuration.
    """
    import anyio

    from scrubjay.app.http_server import serve as listen
    from scrubjay.app.lifespan import running

    settings = _prepared("info", host=host, port=port, tools=tools, profile=profile)

    async def run() -> None:
        async with running(settings) as application:
            await listen(application, lambda url, with_key: _announce(url, settings, with_key, as_json))

    anyio.run(run, backend_options={"use_uvloop": True})


@scrubjay.command()
@tools_option
@profile_option
@click.option("--project", type=Path, help="The project that the client works in until it sets another.")
def mcp(tools: str | None, profile: str | None, project: Path | None) -> None:
    """Serve MCP over standard input and output; agents start this.

    Ends when the agent closes its end. Several of these may run on one store at the same time.
    """
    import anyio

    from scrubjay.app.instructions import INSTRUCTIONS
    from scrubjay.app.lifespan import deferred
    from scrubjay.compat.do_memory.mcp_methods import add_methods
    from scrubjay.core.ids import new_id
    from scrubjay.servers.mcp.server import build_server
    from scrubjay.servers.mcp.stdio import serve_stdio

    settings = _prepared("warning", tools=tools, profile=profile, project=project)

    client = new_id("stdio")

    async def run() -> None:
        async with deferred(settings, own_client=client) as application:
            if settings.tools != "core":
                application()  # a list that cannot be made is refused now, not at the client's first look

            def offering() -> "Offering":
                app = application()
                app.when_tools_change(server.announce_tools_changed)
                if settings.profile is None:
                    app.learn_skills()
                return app.offering

            server = build_server(
                offering,
                version=__version__,
                instructions=INSTRUCTIONS,
                patience=settings.jobs.patience_seconds,
                surface="mcp-stdio",
                client=client,
                working_directory=str(Path.cwd()),
                add_methods=add_methods,
            )
            await serve_stdio(server, max_message_bytes=settings.max_body_bytes)

    anyio.run(run, backend_options={"use_uvloop": True})


@scrubjay.command()
@click.argument("event")
@click.option("--home", type=Path, help="The folder of the store.  [default: SCRUBJAY_HOME or ~/.scrubjay]")
def hook(event: str, home: Path | None) -> None:
    """Answer an agent's hook: permission, session-start, user-prompt-submit, post-tool-use or stop.

    Reads what the agent tells as JSON on standard input and answers as JSON on standard output. It never stops an
    agent: whatever goes wrong, it answers {}, says why on standard error, and ends with 0.
    """
    from scrubjay.app.hook_command import main

    main([event, *(["--home", str(home)] if home else [])])


@scrubjay.command()
@json_option
def doctor(as_json: bool) -> None:
    """Try everything with a real server in a temporary home: remember, recall, crash, recall again."""
    from scrubjay.app.doctor import examine
    from scrubjay.servers.cli.errors import show_json

    steps: list[dict[str, Any]] = []

    def say(step: str, seen: str, seconds: float) -> None:
        steps.append({"step": step, "seen": seen, "seconds": round(seconds, 3)})
        if not as_json:
            click.echo(f"{click.style('ok', fg='green')}  {step}: {seen} ({seconds:.1f} s)")

    examine(say)
    if as_json:
        show_json({"steps": steps})
    else:
        click.echo("Everything works.")


@scrubjay.group(cls=ScrubjayGroup)
def store() -> None:
    """Look after the store: check it, copy it, shrink it."""


@store.command()
@json_option
def check(as_json: bool) -> None:
    """Read everything and prove it whole: pages, indexes, text index, vectors, derived files."""
    from scrubjay.servers.cli.errors import show_json

    report = with_store(lambda opened: opened.check())
    if report.problems:
        raise StoreUnusable(
            f"the store is damaged: {'; '.join(report.problems)}",
            hint="keep a copy of the folder; `scrubjay server rebuild-derived` mends what is derived",
            details={"checked": list(report.checked), "problems": list(report.problems)},
        )
    if as_json:
        show_json({"checked": list(report.checked), "problems": []})
    else:
        click.echo("The store is whole. Checked: " + ", ".join(report.checked) + ".")


@store.command()
@click.argument("target", type=Path)
@json_option
def backup(target: Path, as_json: bool) -> None:
    """Write a whole, checked copy to TARGET while others go on working."""
    info = with_store(lambda opened: opened.backup(target))
    tell(f"Wrote {info.bytes:,} bytes to {info.location}.", {"location": info.location, "bytes": info.bytes}, as_json)


@store.command()
@json_option
def vacuum(as_json: bool) -> None:
    """Give unused space back to the disk."""
    info = with_store(lambda opened: opened.vacuum())
    tell(f"The store now takes {info.bytes:,} bytes.", {"location": info.location, "bytes": info.bytes}, as_json)


scrubjay.add_command(keys)


@scrubjay.command(hidden=True)
@click.argument("folder", type=Path)
@click.option("--check", "only_check", is_flag=True, help="Change nothing; fail when a page is not up to date.")
def reference(folder: Path, only_check: bool) -> None:
    """Write the generated pages (tools, settings, errors, commands) into FOLDER."""
    from scrubjay.app.reference_pages import reference_pages
    from scrubjay.servers.docs.pages import stale_pages, write_pages

    pages = reference_pages(scrubjay)
    if not only_check:
        write_pages(pages, folder)
    elif stale := stale_pages(pages, folder):
        raise Misconfigured(f"generated pages are not up to date: {', '.join(stale)}", hint="run `make reference`")


def _prepared(log_level: str, **chosen: Any) -> "Settings":
    """The settings, with logging started by them."""
    import logging

    from scrubjay.app.logs import start_logging
    from scrubjay.app.settings import load_settings, unknown_variables

    settings = load_settings(**chosen)
    start_logging(settings.log, log_level)
    logger = logging.getLogger("scrubjay.app")
    for name, near in unknown_variables(os.environ).items():
        logger.warning("this variable sets nothing", extra={"variable": name, "nearest": near})
    return settings


def _announce(url: str, settings: "Settings", with_key: bool, as_json: bool) -> None:
    from scrubjay.app.http_server import client_configuration
    from scrubjay.servers.cli.errors import show_json

    configuration = client_configuration(url, with_key=with_key)
    if as_json:
        show_json({"url": url, "home": str(settings.home), "mcp_configuration": configuration})
        return
    click.echo(f"Scrubjay {__version__} listens on {click.style(url, bold=True)}")
    click.echo(f"  Documentation  {url}/docs  (OpenAPI: {url}/openapi.json)")
    click.echo(f"  Store          {settings.home}")
    click.echo(f"  MCP            {url}/mcp\n")
    click.echo("Paste this into your agent's MCP configuration:\n")
    click.echo(json.dumps(configuration, indent=2))
    click.echo("\nPress Ctrl-C to stop.")


def with_store(work: "Callable[[Store], Awaitable[T]]") -> T:
    import anyio

    from scrubjay.app.sqlite_store import SqliteStore

    settings = _prepared("warning")

    async def run() -> T:
        opened = await SqliteStore.open(settings.home)
        try:
            return await work(opened)
        finally:
            await opened.close()

    return anyio.run(run)


def tell(sentence: str, facts: dict[str, Any], as_json: bool) -> None:
    from scrubjay.servers.cli.errors import show_json

    if as_json:
        show_json(facts)
    else:
        click.echo(sentence)
