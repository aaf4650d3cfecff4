"""The generated reference pages: everything that is declared once, told to people."""

from collections.abc import Mapping

import click

from recollect.app.setting_sources import PREFIX
from recollect.app.settings import Settings
from recollect.gateway.cli.errors import EXIT_CODES
from recollect.gateway.cli.options import command_line
from recollect.gateway.http_errors import STATUS
from recollect.gateway.mcp.errors import ANSWERS
from recollect.gateway.reference.cli import cli_page
from recollect.gateway.reference.errors import error_page
from recollect.gateway.reference.settings import settings_page
from recollect.gateway.reference.tools import tool_pages
from recollect.toolkit.registry import Registry
from recollect.tools import ALL


def reference_pages(root: click.Group) -> Mapping[str, str]:
    """Every page by its path below the folder of the reference."""
    return {
        **tool_pages(Registry(ALL), command_line),
        "settings.md": settings_page(Settings, PREFIX),
        "errors.md": error_page({"HTTP status": STATUS, "Exit code": EXIT_CODES, "MCP": ANSWERS}),
        "cli.md": cli_page(root),
    }
