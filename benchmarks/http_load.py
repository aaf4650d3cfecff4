"""Measure the HTTP server under sustained load, compared with a bare FastAPI application in the same run."""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

from benchmarks.calls import SUBJECTS, sentence
from benchmarks.process_environment import clean_environment
from benchmarks.report import ReportRow
from benchmarks.stdio_child import OURS
from benchmarks.steady_load import LoadResult, run_load

BARE = [sys.executable, "-m", "benchmarks.bare_http"]
CONNECTIONS = 64
SEED_BATCH = 500
FLAT_OUT_SECONDS = 5.0
P99_MILLISECONDS = 50.0


@dataclass
class MeasuredServer:
    """A running server process."""

    pid: int
    port: int

    def cpu_seconds(self) -> float:
        """Return the CPU seconds used so far, user and system."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def load(self, requests: list[bytes], pace: float, seconds: float) -> tuple[LoadResult, float]:
        """Send requests; return the result and the server's CPU milliseconds per request."""
        before = self.cpu_seconds()
        seen = asyncio.run(
            run_load("127.0.0.1", self.port, requests, pace=pace, seconds=seconds, connections=CONNECTIONS)
        )
        return seen, (self.cpu_seconds() - before) * 1000 / max(1, len(seen.milliseconds))


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--health", type=float, default=2_000, help="requests of /health per second")
    parser.add_argument("--recalls", type=float, default=300, help="recalls per second")
    parser.add_argument("--memories", type=int, default=10_000)


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    health = [_get("/health")]
    questions = [f"why did {SUBJECTS[n % 7]} move in week {n * 61 % options.memories}?" for n in range(997)]
    recalls = [_post("/v1/tools/recall", {"query": question, "limit": 5}) for question in questions]
    serve = [*OURS[:-1], "serve", "--port", "0"]
    with tempfile.TemporaryDirectory() as home, _start_server(BARE, home) as bare, _start_server(serve, home) as ours:
        _remember(ours, options.memories)
        rows = _rows("GET /health", ours, bare, health, options.health, options.seconds)
        rows += _rows("recall", ours, bare, recalls, options.recalls, options.seconds)
    notes = [
        f"{options.health:g} and {options.recalls:g} requests per second for {options.seconds:g} s each, "
        f"{options.memories} memories, {CONNECTIONS} connections, latency from the scheduled time; the generator is on "
        f"the same machine; then {FLAT_OUT_SECONDS:g} s at full speed",
    ]
    return rows, notes


def _rows(
    name: str, ours: MeasuredServer, bare: MeasuredServer, requests: list[bytes], pace: float, seconds: float
) -> list[ReportRow]:
    ours.load(requests, pace, 2)  # warm-up: modules are imported on first use
    bare.load(requests, pace, 2)
    beside, beside_cpu = bare.load(requests, pace, seconds)
    load, cpu = ours.load(requests, pace, seconds)
    fastest, _ = ours.load(requests, 0, FLAT_OUT_SECONDS)
    bare_fastest, _ = bare.load(requests, 0, FLAT_OUT_SECONDS)
    return [
        ReportRow(f"{name}: answered a second", load.per_second, {"fastapi": beside.per_second}, at_least=pace * 0.99),
        ReportRow(f"{name}: not answered, or not with 200", load.failed, {"fastapi": beside.failed}, at_most=0),
        ReportRow(f"{name}: median, ms", load.percentile(0.5), {"fastapi": beside.percentile(0.5)}),
        ReportRow(
            f"{name}: 99 % within, ms",
            load.percentile(0.99),
            {"fastapi": beside.percentile(0.99)},
            at_most=P99_MILLISECONDS,
        ),
        ReportRow(f"{name}: CPU of each, ms", cpu, {"fastapi": beside_cpu}),
        ReportRow(f"{name}: flat out, a second", fastest.per_second, {"fastapi": bare_fastest.per_second}),
    ]


@contextmanager
def _start_server(command: list[str], home: str) -> Generator[MeasuredServer]:
    with subprocess.Popen(
        command, env=clean_environment(home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdout
            found = next(found for line in process.stdout if (found := re.search(rb"127\.0\.0\.1:(\d+)", line)))
            yield MeasuredServer(process.pid, int(found[1]))
        finally:
            process.terminate()


def _remember(server: MeasuredServer, memories: int) -> None:
    for first in range(0, memories, SEED_BATCH):
        many = [{"content": sentence(number)} for number in range(first, min(memories, first + SEED_BATCH))]
        body = json.dumps({"memories": many}).encode()
        request = Request(
            f"http://127.0.0.1:{server.port}/v1/tools/remember_many", body, {"Content-Type": "application/json"}
        )
        with urlopen(request) as answer:
            json.load(answer)


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def _post(path: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
