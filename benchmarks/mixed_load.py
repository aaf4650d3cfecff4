"""Measure the tail of mixed calls of many clients at once, and where their time goes.

The clients run in several processes, so that they do not measure their own event loop. Each waits for its answer before
its next call. The server reports in `X-Mimo-Latency-Ms` how long it had a request until the response began; the rest of
the time that a client sees was spent before: in the sockets, while the event loop worked for others.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psutil

from benchmarks.calls import SUBJECTS, sentence
from benchmarks.process_environment import clean_environment
from benchmarks.report import PROJECT, ReportRow
from benchmarks.stdio_child import OURS

PROCESSES = 4
SEED_BATCH = 500
# Tools and their share of the calls: an agent mostly reads.
MIX = {"recall": 0.6, "remember": 0.2, "working_put": 0.1, "task": 0.05, "working_recent": 0.05}
# Maximum of the 99th percentile divided by the median: all clients wait in one queue, so none may wait much longer.
RATIO = {"recall": 10.0}
PROBE_SECONDS = 0.05
SETTLE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Sample:
    """One answered call, in milliseconds."""

    tool: str
    total: float
    in_server: float
    status: int


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--memories", type=int, default=2_000)


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    command = [*OURS[:-1], "serve", "--port", "0"]
    with (
        tempfile.TemporaryDirectory() as home,
        subprocess.Popen(
            command, env=clean_environment(home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process,
    ):
        try:
            assert process.stdout
            found = next(found for line in process.stdout if (found := re.search(rb"127\.0\.0\.1:(\d+)", line)))
            port = int(found[1])
            asyncio.run(_seed(port, options.memories))
            _run_clients(port, clients=1, seconds=SETTLE_SECONDS)  # loads what is loaded on first use
            alone = _run_clients(port, clients=1, seconds=min(5.0, options.seconds))
            server, before = psutil.Process(process.pid), _cpu(process.pid)
            began = time.perf_counter()
            samples = _run_clients(port, clients=options.clients, seconds=options.seconds)
            cpu, elapsed = _cpu(process.pid) - before, time.perf_counter() - began
            threads = server.num_threads()
        finally:
            process.terminate()
    return _rows(samples, alone, cpu, elapsed), [
        f"{options.clients} clients in {PROCESSES} processes for {options.seconds:g} s, {options.memories} memories, "
        f"calls: {MIX}; {threads} threads in the server",
        f"CPU of the server: {cpu:.1f} s of {elapsed:.1f} s",
    ]


def _rows(samples: Sequence[Sample], alone: Sequence[Sample], cpu: float, elapsed: float) -> list[ReportRow]:
    answered = [sample for sample in samples if sample.tool != "probe"]
    rows = [
        ReportRow("calls answered a second", len(answered) / elapsed),
        ReportRow("calls not answered with 200", sum(sample.status != 200 for sample in answered), at_most=0),
        ReportRow("server CPU of a call, ms", cpu * 1000 / max(1, len(answered))),
        ReportRow("server CPU, share of one core", cpu / elapsed),
    ]
    for tool in [*MIX, "probe"]:
        times = [sample for sample in samples if sample.tool == tool]
        quiet = [sample.total for sample in alone if sample.tool == tool]
        median, p99 = _percentile([s.total for s in times], 0.5), _percentile([s.total for s in times], 0.99)
        rows += [
            ReportRow(f"{tool}: median, ms", median, {"one client": _percentile(quiet, 0.5)}),
            ReportRow(f"{tool}: 99 % within, ms", p99, {"one client": _percentile(quiet, 0.99)}),
            ReportRow(f"{tool}: p99 / median", p99 / median if median and p99 else None, at_most=RATIO.get(tool)),
            ReportRow(f"{tool}: median in the server, ms", _percentile([s.in_server for s in times], 0.5)),
            ReportRow(f"{tool}: 99 % in the server within, ms", _percentile([s.in_server for s in times], 0.99)),
            ReportRow(f"{tool}: slowest, ms", max((s.total for s in times), default=None)),
        ]
    return rows


def _percentile(values: Sequence[float], share: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else None


def _cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system + times.children_user + times.children_system


def _run_clients(port: int, *, clients: int, seconds: float) -> list[Sample]:
    """Run the clients in processes of their own; return the samples of all."""
    shares = [clients // PROCESSES + (n < clients % PROCESSES) for n in range(PROCESSES)]
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.mixed_load", str(port), str(share), str(seconds), str(seed)],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
        )
        for seed, share in enumerate(shares)
        if share
    ]
    samples: list[Sample] = []
    for child in children:
        output, _ = child.communicate()
        samples += [Sample(*fields) for fields in json.loads(output)]
    return samples


async def _seed(port: int, memories: int) -> None:
    client = _Client(*await asyncio.open_connection("127.0.0.1", port))
    for first in range(0, memories, SEED_BATCH):
        many = [{"content": sentence(number)} for number in range(first, min(memories, first + SEED_BATCH))]
        sample = await client.call("remember_many", {"memories": many})
        assert sample.status == 200, sample


class _Client:
    """One keep-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Sample:
        content = json.dumps(arguments).encode()
        head = f"POST /v1/tools/{tool} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        return await self._exchange(tool, f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)

    async def probe(self) -> Sample:
        return await self._exchange("probe", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    async def _exchange(self, tool: str, request: bytes) -> Sample:
        began = time.perf_counter()
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        total = (time.perf_counter() - began) * 1000
        length, latency = (
            re.search(rb"%s: ([\d.]+)" % name, head) for name in (b"content-length", b"x-mimo-latency-ms")
        )
        assert length, head
        assert latency, head
        await self._reader.readexactly(int(length[1]))
        return Sample(tool, round(total, 2), float(latency[1]), int(head[9:12]))


async def _client_process(port: int, clients: int, seconds: float, seed: int) -> list[Sample]:
    samples: list[Sample] = []
    ends_at = time.perf_counter() + seconds

    async def work(number: int) -> None:
        choice = random.Random(seed * 1000 + number)
        client = _Client(*await asyncio.open_connection("127.0.0.1", port))
        await asyncio.sleep(choice.random() * 0.2)  # clients do not start in step
        while time.perf_counter() < ends_at:
            (tool,) = choice.choices(list(MIX), list(MIX.values()))
            samples.append(await client.call(tool, _arguments(tool, choice)))

    async def probe() -> None:
        client = _Client(*await asyncio.open_connection("127.0.0.1", port))
        while time.perf_counter() < ends_at:
            samples.append(await client.probe())
            await asyncio.sleep(PROBE_SECONDS)

    await asyncio.gather(*(work(number) for number in range(clients)), probe())
    return samples


def _arguments(tool: str, choice: random.Random) -> dict[str, Any]:
    number = choice.randrange(1_000_000)
    match tool:
        case "recall":
            return {"query": f"why did {SUBJECTS[number % 7]} move in week {number % 2000}?", "limit": 5}
        case "remember":
            return {"content": sentence(number)}
        case "working_put":
            return {"content": sentence(number), "session_id": f"session-{number % 200}"}
        case "task":
            return {"action": "list"}
        case _:
            return {"limit": 20, "session_id": f"session-{number % 200}"}


if __name__ == "__main__":
    arguments = sys.argv[1:]
    found_samples = asyncio.run(
        _client_process(int(arguments[0]), int(arguments[1]), float(arguments[2]), int(arguments[3]))
    )
    print(json.dumps([[s.tool, s.total, s.in_server, s.status] for s in found_samples]))
