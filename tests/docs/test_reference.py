"""The examples in the reference pages are valid calls."""

import json
import re
import shlex
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import click
import pytest

from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.core.errors import Conflict
from scrubjay.servers.cli.commands import tool_commands
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.examples import example_requests
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.validation import validate

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "tools"


@pytest.mark.parametrize("declared", TOOL_CATALOG, ids=lambda declared: declared.name)
def test_every_example_request_is_valid_for_its_tool(declared: Tool) -> None:
    for example in example_requests(declared):
        validate(declared, example)


def test_every_command_line_on_the_pages_is_parsed() -> None:
    """Parse each with the real command, which would then open the store."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Dispatcher]:
        raise Conflict("parsed")
        yield

    groups = {group.name: group for group in tool_commands(Registry(TOOL_CATALOG), opened)}
    lines = [
        line for page in PAGES.glob("*.md") for line in re.findall(r"^scrubjay (.*)$", page.read_text("utf-8"), re.M)
    ]
    assert len(lines) >= len(TOOL_CATALOG)
    for line in lines:
        family, *words = shlex.split(line)
        with pytest.raises(Conflict, match="parsed"):
            _invoke(groups[family], words)


def _invoke(group: click.Group, words: list[str]) -> None:
    with group.make_context(group.name, words) as context:
        group.invoke(context)


def test_every_request_body_on_the_pages_is_valid_json_for_its_tool() -> None:
    registry = Registry(TOOL_CATALOG)
    count = 0
    for page in PAGES.glob("*.md"):
        for name, body in re.findall(r"/v1/tools/(\w+).*?-d '(\{.*?\})'$", page.read_text("utf-8"), re.M | re.S):
            validate(registry.get(name), json.loads(body))
            count += 1
    assert count >= 5
