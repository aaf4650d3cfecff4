"""Run one code search engine in its own process: JSON requests on stdin, JSON answers on stdout.

Run as `python -m benchmarks.code_worker NAME ROOT HOME INSTALLED`, with a Python that has the engine installed.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.code_engine import ENGINES, CodeEngine, Hit


class CodeWorker:
    """Handles requests. Each answer contains wall and CPU seconds."""

    def __init__(self, engine: CodeEngine) -> None:
        self._engine = engine

    async def index(self) -> dict[str, Any]:
        return await self._timed(self._engine.index)

    async def check_unchanged(self) -> dict[str, Any]:
        return await self._timed(self._engine.check_unchanged)

    async def search(self, queries: Sequence[str], symbols: bool = False) -> dict[str, Any]:
        """Search each query separately and return hits and times."""
        ask = self._engine.symbol if symbols else self._engine.search
        found: list[list[Hit]] = []
        seconds: list[float] = []
        cpu: list[float] = []
        for query in queries:
            began, spent = time.perf_counter(), self._engine.cpu()
            found.append(await ask(query))
            seconds.append(time.perf_counter() - began)
            cpu.append(self._engine.cpu() - spent)
        return {"found": found, "seconds": seconds, "cpu": cpu}

    async def change(self, path: str, added: str, name: str) -> dict[str, Any]:
        """Append a function to a file, refresh the index and search for it. The time is from change to answer."""
        with (Path(sys.argv[2]) / path).open("a", encoding="utf-8") as file:
            file.write(added)
        began, spent = time.perf_counter(), self._engine.cpu()
        await self._engine.refresh()
        found = await self._engine.symbol(name)
        return {
            "seconds": time.perf_counter() - began,
            "cpu": self._engine.cpu() - spent,
            "found": any(hit.path == path for hit in found),
        }

    async def _timed(self, do: Callable[[], Awaitable[None]]) -> dict[str, Any]:
        began, spent = time.perf_counter(), self._engine.cpu()
        await do()
        return {"seconds": time.perf_counter() - began, "cpu": self._engine.cpu() - spent}


async def serve(name: str, root: Path, home: Path, installed: Path) -> None:
    # Libraries may print to stdout, which must contain only answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module, kind = ENGINES[name].module.split(":")
    engine: CodeEngine = getattr(import_module(module), kind)(root, home, installed)
    await engine.open()
    worker = CodeWorker(engine)
    try:
        # In a thread, so that background work of the event loop continues between requests.
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            answer = await getattr(worker, request.pop("command"))(**request)
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    finally:
        await engine.close()


def main(arguments: Sequence[str]) -> None:
    name, *folders = arguments
    root, home, installed = map(Path, folders)
    asyncio.run(serve(name, root, home, installed))


if __name__ == "__main__":
    main(sys.argv[1:])
