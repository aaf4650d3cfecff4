"""One contestant in a process of its own: reads orders from stdin, measures itself, answers on stdout.

Run as `python -m benchmarks.contest_child NAME STORE CORPUS`, with the Python that has this contestant installed.
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
    import_module("scrubjay.app")  # a process of ours begins with this, and not with what we measure with

from benchmarks.contestant import CONTESTANTS, Contestant
from benchmarks.corpus import RARE_CATEGORY
from benchmarks.corpus_files import CorpusFiles, Probe


class ContestChild:
    """Carries out orders; each answer tells what it cost."""

    def __init__(self, contestant: Contestant, corpus: CorpusFiles) -> None:
        self._contestant = contestant
        self._corpus = corpus
        self._questions: dict[str, list[Probe]] = {}

    async def add(self, first: int, last: int) -> dict[str, Any]:
        """Rows of one chunk, from `first` up to before `last`, at once."""
        return {"cpu": [await self._added(first, last)]}

    async def write_and_search(self, first: int, last: int, questions: str) -> dict[str, Any]:
        """Rows one by one, and after each a question: a write must not make the next search dear."""
        written: list[float] = []
        searched: list[float] = []
        for row, probe in zip(range(first, last), self._probes(questions), strict=False):
            written.append(await self._added(row, row + 1))
            started = time.process_time()
            await self._contestant.search(probe, None)
            searched.append(time.process_time() - started)
        return {"cpu": written, "after": searched}

    async def finish(self) -> dict[str, Any]:
        started = time.process_time()
        await self._contestant.finish()
        return {"cpu": [time.process_time() - started]}

    async def search(self, way: str, questions: str, first: int, last: int, rare: bool = False) -> dict[str, Any]:
        """Questions from `first` up to before `last`, each measured by itself."""
        category = RARE_CATEGORY if rare else None
        costs: list[float] = []
        found: list[list[int] | None] = []
        for probe in self._probes(questions)[first:last]:
            started = time.process_time()
            match way:
                case "text":
                    rows = await self._contestant.search_text(probe)
                case "nearest":
                    rows = await self._contestant.nearest(probe, category)
                case _:
                    rows = await self._contestant.search(probe, category)
            costs.append(time.process_time() - started)
            found.append(rows)
        return {"cpu": costs, "found": found}

    async def self_portrait(self) -> dict[str, Any]:
        """What the process has used: CPU since its start, memory in megabytes, and how much of it is its own."""
        return {"cpu": [time.process_time()], "resident": _megabytes("VmRSS"), "own": _megabytes("RssAnon")}

    async def _added(self, first: int, last: int) -> float:
        memories, vectors = self._corpus.memories(first, last), self._corpus.vectors(first, last)
        started = time.process_time()
        await self._contestant.add(memories, vectors)
        return time.process_time() - started

    def _probes(self, name: str) -> list[Probe]:
        if name not in self._questions:
            self._questions[name] = self._corpus.questions(name)
        return self._questions[name]


def _megabytes(name: str) -> float:
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(f"{name}:"))


async def serve(name: str, store: Path, corpus: Path) -> None:
    # What a library prints must not look like an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module, kind = CONTESTANTS[name].split(":")
    contestant: Contestant = getattr(import_module(module), kind)(store)
    await contestant.open()
    child = ContestChild(contestant, CorpusFiles(corpus))
    # In a thread, so that what goes on beside the calls goes on.
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        answer = await getattr(child, order.pop("do"))(**order)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    await contestant.close()


def main(arguments: Sequence[str]) -> None:
    name, store, corpus = arguments
    asyncio.run(serve(name, Path(store), Path(corpus)))


if __name__ == "__main__":
    main(sys.argv[1:])
