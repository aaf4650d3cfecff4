"""Run one store in its own process: JSON requests on stdin, JSON answers with CPU times on stdout.

Run as `python -m benchmarks.store_worker NAME STORE CORPUS`, with the Python that has the system installed.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

if sys.argv[1:2] == ["scrubjay"]:
    import_module("scrubjay.app")  # first, as in a real process, before the imports of the benchmark

from benchmarks.corpus import RARE_CATEGORY
from benchmarks.corpus_files import CorpusFiles, Probe
from benchmarks.store_adapter import STORES, StoreAdapter


class StoreWorker:
    """Handles requests. Each answer contains CPU seconds."""

    def __init__(self, adapter: StoreAdapter, corpus: CorpusFiles) -> None:
        self._adapter = adapter
        self._corpus = corpus
        self._questions: dict[str, list[Probe]] = {}

    async def add(self, first: int, last: int) -> dict[str, Any]:
        """Add the rows `first` to `last` (exclusive) of one chunk in bulk."""
        return {"cpu": [await self._timed_add(first, last)]}

    async def write_and_search(self, first: int, last: int, questions: str) -> dict[str, Any]:
        """Add rows one by one and search after each, to measure what a write costs the next search."""
        written: list[float] = []
        searched: list[float] = []
        for row, probe in zip(range(first, last), self._probes(questions), strict=False):
            written.append(await self._timed_add(row, row + 1))
            started = time.process_time()
            await self._adapter.search(probe, None)
            searched.append(time.process_time() - started)
        return {"cpu": written, "after": searched}

    async def finish(self) -> dict[str, Any]:
        started = time.process_time()
        await self._adapter.finish()
        return {"cpu": [time.process_time() - started]}

    async def search(self, mode: str, questions: str, first: int, last: int, rare: bool = False) -> dict[str, Any]:
        """Search the questions `first` to `last` (exclusive), each measured separately."""
        category = RARE_CATEGORY if rare else None
        costs: list[float] = []
        found: list[list[int] | None] = []
        for probe in self._probes(questions)[first:last]:
            started = time.process_time()
            match mode:
                case "text":
                    rows = await self._adapter.search_text(probe)
                case "nearest":
                    rows = await self._adapter.nearest(probe, category)
                case _:
                    rows = await self._adapter.search(probe, category)
            costs.append(time.process_time() - started)
            found.append(rows)
        return {"cpu": costs, "found": found}

    async def usage(self) -> dict[str, Any]:
        """Return CPU seconds since the start, resident memory and its private part in megabytes."""
        return {"cpu": [time.process_time()], "resident": _megabytes("VmRSS"), "own": _megabytes("RssAnon")}

    async def _timed_add(self, first: int, last: int) -> float:
        memories, vectors = self._corpus.memories(first, last), self._corpus.vectors(first, last)
        started = time.process_time()
        await self._adapter.add(memories, vectors)
        return time.process_time() - started

    def _probes(self, name: str) -> list[Probe]:
        if name not in self._questions:
            self._questions[name] = self._corpus.questions(name)
        return self._questions[name]


def _megabytes(name: str) -> float:
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(f"{name}:"))


async def serve(name: str, store: Path, corpus: Path) -> None:
    # Libraries may print to stdout, which must contain only answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module, kind = STORES[name].split(":")
    adapter: StoreAdapter = getattr(import_module(module), kind)(store)
    await adapter.open()
    worker = StoreWorker(adapter, CorpusFiles(corpus))
    # In a thread, so that background work of the event loop continues between requests.
    while line := await asyncio.to_thread(sys.stdin.readline):
        request = json.loads(line)
        answer = await getattr(worker, request.pop("command"))(**request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    await adapter.close()


def main(arguments: Sequence[str]) -> None:
    name, store, corpus = arguments
    asyncio.run(serve(name, Path(store), Path(corpus)))


if __name__ == "__main__":
    main(sys.argv[1:])
