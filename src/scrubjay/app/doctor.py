"""Tries a real server in a temporary home: remember, recall, from another process, after a crash."""

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

from scrubjay.app.setting_sources import PREFIX
from scrubjay.core.errors import Unavailable

FACT = "The release train leaves on Thursdays, because Fridays are for reading."
QUESTION = "on which day do we release?"
START_SECONDS = 60.0

Say = Callable[[str, str, float], None]
"""Told of each step: its name, what was seen, and how many seconds it took."""


def examine(say: Say) -> None:
    """Go through all steps; the first that fails raises."""
    with tempfile.TemporaryDirectory(prefix="scrubjay-doctor-") as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        environment[f"{PREFIX}HOME"] = folder
        _examine(say, environment, Path(folder))


def _examine(say: Say, environment: Mapping[str, str], home: Path) -> None:
    def step(name: str, work: Callable[[], str]) -> None:
        started = time.perf_counter()
        say(name, work(), time.perf_counter() - started)

    server = _Server(environment, home)
    try:
        step("start", server.start)
        step("health", lambda: _healthy(server.call("health_check", {})))
        step("remember", lambda: server.call("remember", {"content": FACT, "key": "release-day"})["id"])
        step("recall", lambda: _found(server.call("recall", {"query": QUESTION})))
        step("recall in another process, over MCP", lambda: _found(_recall_over_stdio(environment)))
        step("kill -9 and start again", lambda: server.crash() or server.start())
        step("recall again", lambda: _found(server.call("recall", {"query": QUESTION})))
    finally:
        server.stop()
    step("check the store", lambda: _checked(environment))
    step("compiled part", _compiled)


class _Server:
    """A `scrubjay serve` of our own, on a free port."""

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
        raise Unavailable(f"the server did not start: {_tail(process)}")

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        import httpx2

        answer = httpx2.post(f"{self._url}/v1/tools/{tool}", json=arguments, timeout=START_SECONDS, trust_env=False)
        if answer.status_code != 200:
            raise Unavailable(f"{tool} answered {answer.status_code}: {answer.text[:500]}")
        return answer.json()

    def crash(self) -> str:
        if self._process:
            self._process.kill()
            self._process.communicate()
        return ""

    def stop(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.terminate()
            self._process.communicate(timeout=START_SECONDS)


_PROGRAM = (sys.executable, "-m", "scrubjay.app")


def _recall_over_stdio(environment: Mapping[str, str]) -> dict[str, Any]:
    from mcp import Client, StdioServerParameters

    async def ask() -> dict[str, Any]:
        parameters = StdioServerParameters(command=_PROGRAM[0], args=[*_PROGRAM[1:], "mcp"], env=dict(environment))
        async with Client(parameters) as client:
            answer = await client.call_tool("recall", {"query": QUESTION})
            return dict(answer.structured_content or {})

    return anyio.run(ask)


def _compiled() -> str:
    """Nothing fails without it."""
    from scrubjay.native.library import library

    if library() is None:
        return "not there: indexing code takes a fifth longer; with a C compiler, install scrubjay anew"
    return "used to index code"


def _found(answer: dict[str, Any]) -> str:
    memories = answer.get("memories", [])
    if not memories or memories[0]["content"] != FACT:
        raise Unavailable(f"what was remembered is not found: {json.dumps(answer)[:500]}")
    return f"found, score {memories[0]['score']:.3f}"


def _healthy(answer: dict[str, Any]) -> str:
    if answer["status"] != "healthy":
        problems = {name: part["problem"] for name, part in answer["components"].items() if part["problem"]}
        raise Unavailable(f"unhealthy: {problems}")
    return ", ".join(f"{name} {part['milliseconds']:.0f} ms" for name, part in answer["components"].items())


def _checked(environment: Mapping[str, str]) -> str:
    done = subprocess.run([*_PROGRAM, "store", "check", "--json"], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"the store is not whole: {done.stdout}{done.stderr}")
    return ", ".join(json.loads(done.stdout)["checked"])


def _tail(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=START_SECONDS)
    return errors[-500:]
