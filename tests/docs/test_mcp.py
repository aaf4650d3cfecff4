"""The batch in docs/mcp.md runs as written, and every method that the page names exists."""

import json
import re
from pathlib import Path
from typing import Any

from scrubjay.compat.profiles import PROFILES
from scrubjay.tooling.batch import MAX_INSERTED_CHARACTERS
from scrubjay.tooling.batch_tools import MAX_OPERATIONS
from tests.compat.do_memory.test_mcp_methods import run_requests

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")


def test_9_the_batch_runs_and_every_method_is_answered(tmp_path: Path) -> None:
    (batch,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    first_cells = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    methods = [name for cell in first_cells for name in re.findall(r"`([\w./-]+)`", cell.partition(" with ")[0])]
    nothing: dict[str, Any] = {}
    assert {"tools/list", "tools/describe_batch", "tools.call", "embedding/config", "shutdown"} <= set(methods)
    batch_response, *answers = run_requests(
        tmp_path, ("batch/execute", json.loads(batch)), *((name, nothing) for name in methods)
    )
    result = batch_response["result"]
    assert [operation["id"] for operation in result["results"]] == ["keep", "find", "history"]
    assert result["success_count"] == 3
    assert result["results"][2]["result"]["versions"][0]["id"] == result["results"][0]["result"]["id"]
    assert not [answer for answer in answers if answer.get("error", {}).get("code") == -32601]


def test_the_page_states_the_limits_and_the_profiles() -> None:
    assert f"up to {MAX_OPERATIONS} tools" in PAGE
    assert f"{MAX_INSERTED_CHARACTERS:,} characters" in PAGE
    assert f"--profile {'|'.join(PROFILES)}" in PAGE
