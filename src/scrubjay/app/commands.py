"""The commands that run, maintain and describe a server. Commands for tools are generated from their declarations."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scrubjay import __version__
from scrubjay.app.command_output import json_option, print_result
from scrubjay.core.errors import Misconfigured
from scrubjay.core.lazy import lazy_module
from scrubjay.servers.cli.errors import show_json
from scrubjay.servers.cli.groups import ScrubjayGroup

if TYPE_CHECKING:
    import anyio

    from scrubjay.app import (
        command_runtime,
        hook_command,
        http_server,
        instructions,
        key_commands,
        lifespan,
        lost_store,
        reference_pages,
        tool_catalog,
    )
    from scrubjay.app import (
        doctor as doctor_module,
    )
    from scrubjay.app.install import commands as install_commands
    from scrubjay.app.settings import Settings
    from scrubjay.compat.do_memory import mcp_methods
    from scrubjay.core import ids
    from scrubjay.servers.cli import commands as tool_commands
    from scrubjay.servers.cli import watch
    from scrubjay.servers.docs import pages
    from scrubjay.servers.mcp import server as mcp_server
    from scrubjay.servers.mcp import stdio
    from scrubjay.tooling import registry
    from scrubjay.tooling.dispatcher import Dispatcher
    from scrubjay.tooling.served_tools import ServedTools
else:
    anyio = lazy_module("anyio")
    command_runtime = lazy_module("scrubjay.app.command_runtime")
    doctor_module = lazy_module("scrubjay.app.doctor")
    hook_command = lazy_module("scrubjay.app.hook_command")
    http_server = lazy_module("scrubjay.app.http_server")
    install_commands = lazy_module("scrubjay.app.install.commands")
    instructions = lazy_module("scrubjay.app.instructions")
    key_commands = lazy_module("scrubjay.app.key_commands")
    lifespan = lazy_module("scrubjay.app.lifespan")
    lost_store = lazy_module("scrubjay.app.lost_store")
    reference_pages = lazy_module("scrubjay.app.reference_pages")
    tool_catalog = lazy_module("scrubjay.app.tool_catalog")
    mcp_methods = lazy_module("scrubjay.compat.do_memory.mcp_methods")
    ids = lazy_module("scrubjay.core.ids")
    tool_commands = lazy_module("scrubjay.servers.cli.commands")
    watch = lazy_module("scrubjay.servers.cli.watch")
    pages = lazy_module("scrubjay.servers.docs.pages")
    mcp_server = lazy_module("scrubjay.servers.mcp.server")
    stdio = lazy_module("scrubjay.servers.mcp.stdio")
    registry = lazy_module("scrubjay.tooling.registry")

HELP = """Memory for AI agents: local, durable, searchable by keyword and by meaning.

Start a server with `scrubjay serve`, or let an agent start one with `scrubjay mcp`. Every tool is also a command.
"""

# Commands in modules of their own, each loaded when one of its commands is used.
COMMAND_MODULES = {"keys": key_commands, "install": install_commands, "uninstall": install_commands}


class RootGroup(ScrubjayGroup):
    """The root group: commands of this module, then one group per family of tools, loaded on first use."""

    @cached_property
    def _families(self) -> dict[str, click.Group]:
        tools = registry.Registry(tool_catalog.TOOL_CATALOG)
        families = {group.name or "": group for group in tool_commands.tool_commands(tools, open_dispatcher)}
        families["code"].add_command(watch.watch_command(tools, open_dispatcher, "keep_repo_index"))
        return families

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *COMMAND_MODULES, *self._families]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMAND_MODULES:
            return getattr(COMMAND_MODULES[cmd_name], cmd_name)
        return super().get_command(ctx, cmd_name) or self._families.get(cmd_name.replace("_", "-"))


# More findings than this are only listed by --json.
MAX_SHOWN_PROBLEMS = 50


@click.group(cls=RootGroup, name="scrubjay", help=HELP)
@click.version_option(__version__, prog_name="scrubjay")
def scrubjay() -> None:
    pass


@asynccontextmanager
async def open_dispatcher() -> AsyncGenerator["Dispatcher"]:
    """Open a dispatcher on the store for one command, which leaves the jobs of other processes alone."""
    async with lifespan.running(command_runtime.prepare_settings("warning"), adopts_jobs=False) as application:
        yield application.dispatcher


tools_option = click.option(
    "--tools", metavar="SPEC", help="Tools to list: core, all, or families and names separated by commas."
)


profile_option = click.option(
    "--profile",
    type=click.Choice(["mimo", "do-memory", "mira", "mimir", "neo"]),
    help="List exactly the tools of this system, under its names.",
)


@scrubjay.command()
@click.option("--host", help="Address to listen on; any other than loopback needs a key.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="Port to listen on; 0 picks a free one.  [default: 4000]")
@tools_option
@profile_option
@json_option
def serve(host: str | None, port: int | None, tools: str | None, profile: str | None, as_json: bool) -> None:
    """Start the HTTP server: REST, its documentation, and MCP.

    Listens on 127.0.0.1:4000 until you press Ctrl-C, and prints the configuration to paste into an agent.
    """
    settings = command_runtime.prepare_server("info", host=host, port=port, tools=tools, profile=profile)

    async def run() -> None:
        async with lifespan.running(settings) as application:
            await http_server.serve(application, lambda url, with_key: _print_address(url, settings, with_key, as_json))

    anyio.run(run, backend_options={"use_uvloop": True})


@scrubjay.command()
@tools_option
@profile_option
@click.option("--project", type=Path, help="Project that the client works in until it sets another.")
def mcp(tools: str | None, profile: str | None, project: Path | None) -> None:
    """Serve MCP over standard input and output; agents start this command.

    Exits when the agent closes standard input. Several such servers can use one store at the same time.
    """
    settings = command_runtime.prepare_server("warning", tools=tools, profile=profile, project=project)
    client = ids.new_id("stdio")

    async def run() -> None:
        async with lifespan.deferred(settings, own_client=client) as application:
            if settings.tools != "core":
                application()  # report an invalid list of tools now, not when the client first asks for it

            def served_tools() -> "ServedTools":
                app = application()
                app.on_tools_change(server.announce_tools_changed)
                if settings.profile is None:
                    app.learn_skills()
                return app.served_tools

            server = mcp_server.build_server(
                served_tools,
                version=__version__,
                instructions=instructions.INSTRUCTIONS,
                patience=settings.jobs.patience_seconds,
                surface="mcp-stdio",
                client=client,
                working_directory=str(Path.cwd()),
                add_methods=mcp_methods.add_methods,
            )
            await stdio.serve_stdio(server, max_message_bytes=settings.max_body_bytes)

    anyio.run(run, backend_options={"use_uvloop": True})


@scrubjay.command()
@click.argument("event")
@click.option("--home", type=Path, help="Folder of the store.  [default: SCRUBJAY_HOME or ~/.scrubjay]")
def hook(event: str, home: Path | None) -> None:
    """Answer an agent's hook: permission, session-start, user-prompt-submit, post-tool-use or stop.

    Reads the event as JSON from standard input and prints the answer as JSON. It never blocks the agent: on any
    failure it answers {}, prints the reason to standard error, and exits with 0.
    """
    hook_command.main([event, *(["--home", str(home)] if home else [])])


@scrubjay.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check that the store is there, and test a server in a temporary home: remember, recall, crash, recall again."""
    settings = command_runtime.prepare_settings("warning")
    steps: list[dict[str, Any]] = []

    def report(step: str, result: str, seconds: float) -> None:
        steps.append({"step": step, "result": result, "seconds": round(seconds, 3)})
        if not as_json:
            click.echo(f"{click.style('ok', fg='green')}  {step}: {result} ({seconds:.1f} s)")

    doctor_module.examine(report, settings.home)
    print_result("Everything works.", {"steps": steps}, as_json)


@scrubjay.group(cls=ScrubjayGroup)
def store() -> None:
    """Check, back up, restore and compact the store."""


@store.command()
@json_option
def check(as_json: bool) -> None:
    """Verify the whole store: pages, indexes, every row, text index, vectors, derived files.

    Lists each damaged row with its table and id. Exits with 1 if anything is damaged.
    """
    report = command_runtime.check_store()
    checked, problems = list(report.checked), list(report.problems)
    result = {"checked": checked, "problems": problems}
    if not problems:
        print_result(f"The store is intact. Checked: {', '.join(checked)}.", result, as_json)
        return
    lines = ["The store is damaged:", *(f"  {problem}" for problem in problems[:MAX_SHOWN_PROBLEMS])]
    if (more := len(problems) - MAX_SHOWN_PROBLEMS) > 0:
        lines.append(f"  and {more} more, which --json lists")
    lines.append("`scrubjay store repair` recovers the intact rows; a backup can replace the store.")
    lines.append("If only the text index, vectors or derived files are named, run `scrubjay server rebuild-derived`.")
    print_result("\n".join(lines), result, as_json)
    raise click.exceptions.Exit(1)


@store.command()
@click.option("--dry-run", is_flag=True, help="Change nothing; report what would be recovered and what would be lost.")
@json_option
def repair(dry_run: bool, as_json: bool) -> None:
    """Recover the intact rows of a damaged store into a new database.

    Stop all servers first. The damaged database stays in the folder under another name. Rows that cannot be recovered
    are listed with their table and id. Killing the command at any time leaves the store as it was or repaired.
    """
    report = command_runtime.repair_store(only_report=dry_run)
    result = {
        "recovered": report.recovered,
        "lost": report.lost,
        "uncertain": report.uncertain,
        "without_search_data": report.without_search_data,
        "replaced": None if report.replaced is None else str(report.replaced),
    }
    print_result("\n".join(report.lines()), result, as_json)


@store.command()
@click.argument("target", type=Path)
@json_option
def backup(target: Path, as_json: bool) -> None:
    """Write a complete, verified copy of the store to TARGET. Other processes can keep using the store."""
    info = command_runtime.run_with_store(lambda opened: opened.backup(target))
    print_result(
        f"Wrote {info.bytes:,} bytes to {info.location}.", {"location": info.location, "bytes": info.bytes}, as_json
    )


@store.command()
@click.argument("backup", type=Path)
@json_option
def restore(backup: Path, as_json: bool) -> None:
    """Restore a lost store from BACKUP, a file of `scrubjay store backup`. An existing database is never replaced."""
    settings = command_runtime.prepare_settings("warning")
    lost_store.restore_store(backup, settings.home, command_runtime.BUSY_SECONDS)
    described = lost_store.describe_store(settings.home, command_runtime.BUSY_SECONDS)
    print_result(f"Restored: {described}.", {"location": str(settings.home), "backup": str(backup)}, as_json)


@store.command()
@json_option
def init(as_json: bool) -> None:
    """Create an empty store, also in a home whose database was lost. Other files of the home are kept."""
    settings = command_runtime.prepare_settings("warning")
    if lost_store.has_database(settings.home, command_runtime.BUSY_SECONDS):
        raise lost_store.store_exists(settings.home)
    info = command_runtime.run_with_store(lambda opened: opened.info(), accepts_loss=True)
    print_result(f"The store in {info.location} is empty and ready.", {"location": info.location}, as_json)


@store.command()
@json_option
def vacuum(as_json: bool) -> None:
    """Return unused space of the store to the file system."""
    info = command_runtime.run_with_store(lambda opened: opened.vacuum())
    print_result(
        f"The store now takes {info.bytes:,} bytes.", {"location": info.location, "bytes": info.bytes}, as_json
    )


@scrubjay.command(hidden=True)
@click.argument("folder", type=Path)
@click.option("--check", "only_check", is_flag=True, help="Change nothing; fail if a page is out of date.")
def reference(folder: Path, only_check: bool) -> None:
    """Write the generated reference pages (tools, settings, errors, commands) to FOLDER."""
    generated = reference_pages.reference_pages(scrubjay)
    if not only_check:
        pages.write_pages(generated, folder)
    elif stale := pages.stale_pages(generated, folder):
        raise Misconfigured(f"generated pages are out of date: {', '.join(stale)}", hint="run `make reference`")


def _print_address(url: str, settings: "Settings", with_key: bool, as_json: bool) -> None:
    configuration = http_server.client_configuration(url, with_key=with_key)
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
