"""Measure a call of an upstream MCP server through ours, compared with a direct call by the same client."""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import get_default_environment

from benchmarks.process_environment import clean_environment
from benchmarks.report import ReportRow

CHILD = Path(__file__).with_name("bare_server.py")
# Only these tools are served: the SDK's client lists tools before each call of a tool that is not on the first page.
OURS = ["-m", "scrubjay.app", "mcp", "--tools", "skill:kid"]
CALLS, ROUNDS = 200, 15


def measure() -> tuple[list[ReportRow], list[str]]:
    return anyio.run(_measure)


async def _measure() -> tuple[list[ReportRow], list[str]]:
    with tempfile.TemporaryDirectory() as home:
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        skill = {"command": "python3", "args": [str(CHILD)], "env": {"PATH": path}}
        (Path(home) / "skills.json").write_text(json.dumps({"kid": {"config": skill, "tools": [{"name": "echo"}]}}))
        direct = StdioServerParameters(command=sys.executable, args=[str(CHILD)], env=get_default_environment())
        ours = StdioServerParameters(command=sys.executable, args=OURS, env=clean_environment(home))
        async with Client(direct) as alone, Client(ours) as through:
            await _milliseconds(alone, "echo")
            await _milliseconds(through, "kid_echo")
            pairs = [
                (await _milliseconds(alone, "echo"), await _milliseconds(through, "kid_echo")) for _ in range(ROUNDS)
            ]
    beside, proxied = (statistics.median(taken) for taken in zip(*pairs, strict=True))
    notes = [f"median ms of {CALLS} calls, then of {ROUNDS} alternating rounds; both over stdio, same client"]
    return [ReportRow("a call of a skill over stdio, ms", proxied, {"direct": beside}, ratio_at_most=2.0)], notes


async def _milliseconds(client: Client, tool: str) -> float:
    """Return the median of `CALLS` calls."""
    taken: list[float] = []
    for number in range(CALLS):
        started = time.perf_counter()
        answer = await client.call_tool(tool, {"text": f"call {number}"})
        taken.append((time.perf_counter() - started) * 1000)
        if answer.is_error:
            raise RuntimeError(str(answer.content))
    return statistics.median(taken)
