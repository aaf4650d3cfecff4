"""The official TypeScript clients, which validate every result against the tool's output schema."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.conftest import Node
from tests.servers.mcp.conftest import TOYS


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_the_clients_accept_results_and_failures(node: Node, era: str, tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = [
        {"name": "echo", "arguments": {"text": "hello"}},
        {"name": "dig", "arguments": {"to": 2}},
        {"name": "fail", "arguments": {"code": "busy"}},
        {"name": "ecko", "arguments": {}},
    ]
    ran = node(
        ["typescript_client.mjs", era, json.dumps(calls), sys.executable, TOYS, "stdio", str(tmp_path)], tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    echoed, dug, failed, unknown = json.loads(ran.stdout)
    data = {"text": "hello", "note": None}
    assert echoed == {"text": json.dumps(data, separators=(",", ":")), "data": data, "failed": False}
    assert dug["data"]["result"] == {"counted": 2}
    assert failed == {"text": "it went wrong\nHint: do it right", "data": None, "failed": True}
    assert unknown == {"thrown": -32602}
