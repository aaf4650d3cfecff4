"""The official MCP inspector, against the real program over stdio."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.conftest import Node

INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
SERVER = (sys.executable, "-m", "scrubjay.app", "mcp")


@pytest.fixture(params=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> str:
    return request.param


def inspect(node: Node, home: Path, era: str, *arguments: str) -> Any:
    options = ["--cli", "--protocol-era", era, "--format", "json", "-e", f"SCRUBJAY_HOME={home}"]
    options += ["--connect-timeout", "60000"]
    ran = node([INSPECTOR, *options, *SERVER, *arguments], home)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)["result"]


def test_every_listed_schema_is_portable(node: Node, era: str, tmp_path: Path) -> None:
    listed = inspect(node, tmp_path, era, "--method", "tools/list", "--strict")
    assert "remember" in [tool["name"] for tool in listed["tools"]]


def test_a_tool_can_be_called(node: Node, era: str, tmp_path: Path) -> None:
    arguments = json.dumps({"content": "Inspected."})
    call = ["--method", "tools/call", "--tool-name", "remember", "--tool-args-json", arguments]
    assert inspect(node, tmp_path, era, *call)["isError"] is False
