"""A stdio MCP server in a child process, driven with plain JSON lines so that only the server is measured."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

PROJECT = Path(__file__).parents[1]
BARE = (sys.executable, "-m", "benchmarks.bare_server")
OURS = (sys.executable, "-m", "scrubjay.app", "mcp")


class StdioChild:
    """Starts and initializes a server; `start_wall` and `start_cpu` are the seconds until it answered `initialize`."""

    def __init__(self, command: tuple[str, ...], environment: Mapping[str, str]) -> None:
        started = time.perf_counter()
        self._process = subprocess.Popen(
            command, cwd=PROJECT, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._measured = psutil.Process(self._process.pid)
        self._requests = 0
        self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "1"},
            },
        )
        self.start_wall = time.perf_counter() - started
        self.start_cpu = self.cpu()
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def cpu(self) -> float:
        """Return the CPU seconds that the server has used so far."""
        times = self._measured.cpu_times()
        return times.user + times.system

    def resident_megabytes(self) -> float:
        return self._measured.memory_info().rss / 1e6

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        if answer.get("isError"):
            raise RuntimeError(answer["content"][0]["text"])
        return answer.get("structuredContent")

    def request(self, method: str, params: Mapping[str, Any]) -> Any:
        self._requests += 1
        self._send({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params})
        assert self._process.stdout
        while line := self._process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._requests:
                return message["result"]
        raise RuntimeError("the server exited")

    def close(self) -> None:
        self._process.communicate(timeout=30)

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
