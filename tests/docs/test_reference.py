"""The examples of the reference pages are calls that the tools take."""

import json
import re
import shlex
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import click
import pytest

from scrubjay.app.tool_catalog import ALL
from scrubjay.core.errors import Conflict
from scrubjay.servers.cli.commands import tool_commands
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.examples import example_requests
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.validation import accept

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "tools"


@pytest.mark.parametrize("declared", ALL, ids=lambda declared: declared.name)
def test_every_example_request_fits_its_tool(declared: Tool) -> None:
    for example in example_requests(declared):
        accept(declared, example)


def test_every_command_line_of_the_pages_is_understood() -> None:
    """Each is parsed by the real command, up to the point where it would open the store."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Dispatcher]:
        raise Conflict("parsed")
        yield

    groups = {group.name: group for group in tool_commands(Registry(ALL), opened)}
    lines = [
        line for page in PAGES.glob("*.md") for line in re.findall(r"^scrubjay (.*)$", page.read_text("utf-8"), re.M)
    ]
    assert len(lines) >= len(ALL)
    for line in lines:
        family, *words = shlex.split(line)
        with pytest.raises(Conflict, match="parsed"):
            _invoke(groups[family], words)


def _invoke(group: click.Group, words: list[str]) -> None:
    with group.make_context(group.name, words) as context:
        group.invoke(context)


def test_every_request_body_of_the_pages_is_json_that_its_tool_takes() -> None:
    registry = Registry(ALL)
    found = 0
    for page in PAGES.glob("*.md"):
        for name, body in re.findall(r"/v1/tools/(\w+).*?-d '(\{.*?\})'$", page.read_text("utf-8"), re.M | re.S):
            accept(registry.get(name), json.loads(body))
            found += 1
    assert found >= 5
