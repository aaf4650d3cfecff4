"""`scrubjay doctor`: describes the store; tests a real server in a temporary home, over HTTP, MCP and after a crash."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters

from scrubjay.app import lost_store
from scrubjay.app.setting_sources import PREFIX
from scrubjay.core.errors import Unavailable
from scrubjay.native import library as native_library

FACT = "The release train leaves on Thursdays, because Fridays are for reading."
QUESTION = "on which day do we release?"
TIMEOUT_SECONDS = 60.0
_PROGRAM = (sys.executable, "-m", "scrubjay.app")

Report = Callable[[str, str, float], None]
"""Called after each step with its name, its result and the seconds it took."""


def examine(report: Report, home: Path | None = None) -> None:
    """Run all steps; the first that fails raises. The store of `home` is described first, if given, not changed."""
    if home is not None:
        _step(report, "store of this home", lambda: lost_store.describe_store(home, TIMEOUT_SECONDS))
    with tempfile.TemporaryDirectory(prefix="scrubjay-doctor-") as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        environment[f"{PREFIX}HOME"] = folder
        _run_steps(report, environment, Path(folder))


def _run_steps(report: Report, environment: Mapping[str, str], home: Path) -> None:
    def step(name: str, work: Callable[[], str]) -> None:
        _step(report, name, work)

    server = _Server(environment, home)
    try:
        step("start", server.start)
        step("health", lambda: _check_health(server.call("health_check", {})))
        step("remember", lambda: server.call("remember", {"content": FACT, "key": "release-day"})["id"])
        step("recall", lambda: _check_recall(server.call("recall", {"query": QUESTION})))
        step("recall in another process, over MCP", lambda: _check_recall(_recall_over_stdio(environment)))
        step("kill -9 and start again", lambda: server.crash() or server.start())
        step("recall again", lambda: _check_recall(server.call("recall", {"query": QUESTION})))
    finally:
        server.stop()
    step("check the store", lambda: _check_store(environment))
    step("C extension", _check_extension)


def _step(report: Report, name: str, work: Callable[[], str]) -> None:
    started = time.perf_counter()
    report(name, work(), time.perf_counter() - started)


class _Server:
    """A `scrubjay serve` process on a free port."""

    def __init__(self, environment: Mapping[str, str], home: Path) -> None:
        self._environment = environment
        self._home = home
        self._process: subprocess.Popen[str] | None = None
        self._url = ""

    def start(self) -> str:
        process = subprocess.Popen(
            [*_PROGRAM, "serve", "--port", "0"],
            env=self._environment,
            cwd=self._home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._process = process
        for line in process.stdout or ():
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                self._url = found[0]
                return self._url
        raise Unavailable(f"the server did not start: {_last_errors(process)}")

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        response = httpx2.post(f"{self._url}/v1/tools/{tool}", json=arguments, timeout=TIMEOUT_SECONDS, trust_env=False)
        if response.status_code != 200:
            raise Unavailable(f"{tool} answered {response.status_code}: {response.text[:500]}")
        return response.json()

    def crash(self) -> str:
        if self._process:
            self._process.kill()
            self._process.communicate()
        return ""

    def stop(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.terminate()
            self._process.communicate(timeout=TIMEOUT_SECONDS)


def _recall_over_stdio(environment: Mapping[str, str]) -> dict[str, Any]:
    async def recall() -> dict[str, Any]:
        parameters = StdioServerParameters(command=_PROGRAM[0], args=[*_PROGRAM[1:], "mcp"], env=dict(environment))
        async with Client(parameters) as client:
            result = await client.call_tool("recall", {"query": QUESTION})
            return dict(result.structured_content or {})

    return anyio.run(recall)


def _check_extension() -> str:
    """Return whether the C extension is loaded. It is optional, so this step never fails."""
    if native_library.library() is None:
        return "not compiled: indexing code takes a fifth longer; with a C compiler, reinstall scrubjay"
    return "used to index code"


def _check_recall(answer: dict[str, Any]) -> str:
    memories = answer.get("memories", [])
    if not memories or memories[0]["content"] != FACT:
        raise Unavailable(f"recall did not find the stored memory: {json.dumps(answer)[:500]}")
    return f"found, score {memories[0]['score']:.3f}"


def _check_health(answer: dict[str, Any]) -> str:
    if answer["status"] != "healthy":
        problems = {name: part["problem"] for name, part in answer["components"].items() if part["problem"]}
        raise Unavailable(f"the server is not healthy: {problems}")
    return ", ".join(f"{name} {part['milliseconds']:.0f} ms" for name, part in answer["components"].items())


def _check_store(environment: Mapping[str, str]) -> str:
    done = subprocess.run([*_PROGRAM, "store", "check", "--json"], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"the store is damaged: {done.stdout}{done.stderr}")
    return ", ".join(json.loads(done.stdout)["checked"])


def _last_errors(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    return errors[-500:]
