"""The generated reference pages: tools, settings, errors and commands."""

from collections.abc import Mapping

import click

from scrubjay.app.setting_sources import PREFIX
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.servers.cli.errors import EXIT_CODES
from scrubjay.servers.cli.options import command_line
from scrubjay.servers.docs.cli import cli_page
from scrubjay.servers.docs.errors import error_page
from scrubjay.servers.docs.settings import settings_page
from scrubjay.servers.docs.tools import tool_pages
from scrubjay.servers.http.errors import STATUS
from scrubjay.servers.mcp.errors import JSONRPC_CODES
from scrubjay.tooling.registry import Registry


def reference_pages(root: click.Group) -> Mapping[str, str]:
    """Return the text of each page by its path below the folder of the reference."""
    return {
        **tool_pages(Registry(TOOL_CATALOG), command_line),
        "settings.md": settings_page(Settings, PREFIX),
        "errors.md": error_page({"HTTP status": STATUS, "Exit code": EXIT_CODES, "MCP": JSONRPC_CODES}),
        "cli.md": cli_page(root),
    }
