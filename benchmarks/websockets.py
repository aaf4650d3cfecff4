"""Measure many WebSockets at once: idle ones that send heartbeats, and busy ones that query continuously."""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.process_environment import clean_environment
from benchmarks.report import ReportRow
from benchmarks.stdio_child import OURS

QUESTION = "What do users prefer?"
MEMORIES = 200
HEARTBEAT_SECONDS = 30
# After this time caches are filled and memory should be flat.
WARM_SECONDS = 10
GROWTH_MEGABYTES = 16


@dataclass
class _Observations:
    milliseconds: list[float] = field(default_factory=list[float])
    failed: int = 0
    thoughts: int = 0
    resident: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--idle", type=int, default=500)
    parser.add_argument("--busy", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    with tempfile.TemporaryDirectory() as home:
        command = [*OURS[:-1], "serve", "--port", "0"]
        with subprocess.Popen(
            command, env=clean_environment(home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as server:
            try:
                assert server.stdout
                found = next(found for line in server.stdout if (found := re.search(rb"127\.0\.0\.1:\d+", line)))
                seen = asyncio.run(_exchange(found[0].decode(), server.pid, options))
            finally:
                server.terminate()
    return _rows(seen, options), [
        f"{options.idle} idle and {options.busy} busy sockets for {options.seconds:g} s, {MEMORIES} memories; each "
        "busy one queries again as soon as it has its result; clients on the same machine",
        f"thoughts received: {seen.thoughts}",
    ]


def _rows(seen: _Observations, options: argparse.Namespace) -> list[ReportRow]:
    begun = seen.resident[0][0]
    warm = [megabytes for at, megabytes in seen.resident if at - begun >= WARM_SECONDS]
    third = max(1, len(warm) // 3)
    growth = statistics.median(warm[-third:]) - statistics.median(warm[:third]) if warm else None
    ordered = sorted(seen.milliseconds)
    return [
        ReportRow("questions answered a second", len(ordered) / options.seconds),
        ReportRow("median of their time, ms", ordered[len(ordered) // 2]),
        ReportRow("99 % of them within, ms", ordered[int(len(ordered) * 0.99)]),
        ReportRow("questions that failed", seen.failed, at_most=0),
        ReportRow("resident memory in the end, MB", seen.resident[-1][1]),
        ReportRow("its growth from the first to the last third, MB", growth, at_most=GROWTH_MEGABYTES),
    ]


async def _exchange(address: str, pid: int, options: argparse.Namespace) -> _Observations:
    seen = _Observations()
    url = f"ws://{address}/cortex/websocket?vsn=2.0.0"
    sockets: list[ClientConnection] = []
    for _ in range(options.idle + options.busy):
        sockets.append(await connect(url, proxy=None))
    for number, socket in enumerate(sockets):
        await _push(socket, f"cortex:agent-{number}", "phx_join", {})
    for number in range(MEMORIES):  # spread over all busy sockets: each is rate-limited
        index: int = options.idle + number % options.busy
        arguments = {"content": f"User {number} prefers theme {number * 7919}."}
        payload = {"tool": "remember", "arguments": arguments, "ref": number}
        await _push(sockets[index], f"cortex:agent-{index}", "call", payload)
        await _result(sockets[index], number, seen)
    ends_at = time.monotonic() + options.seconds
    async with asyncio.TaskGroup() as tasks:
        for number, socket in enumerate(sockets):
            idle = number < options.idle
            topic = f"cortex:agent-{number}"
            tasks.create_task(_send_heartbeats(socket, ends_at) if idle else _query_until(socket, topic, ends_at, seen))
        tasks.create_task(_sample_memory(pid, ends_at, seen))
    for socket in sockets:
        await socket.close()
    return seen


async def _send_heartbeats(socket: ClientConnection, ends_at: float) -> None:
    while (left := ends_at - time.monotonic()) > 0:
        await _push(socket, "phoenix", "heartbeat", {})
        await asyncio.sleep(min(HEARTBEAT_SECONDS, left))


async def _query_until(socket: ClientConnection, topic: str, ends_at: float, seen: _Observations) -> None:
    number = 0
    while time.monotonic() < ends_at:
        number += 1
        began = time.perf_counter()
        await _push(socket, topic, "query", {"q": QUESTION, "ref": f"q{number}"})
        seen.failed += await _result(socket, f"q{number}", seen) != "success"
        seen.milliseconds.append((time.perf_counter() - began) * 1000)


async def _sample_memory(pid: int, ends_at: float, seen: _Observations) -> None:
    while time.monotonic() < ends_at:
        status = Path(f"/proc/{pid}/status").read_text()  # noqa: ASYNC240 - not a file on a disk
        resident = int(status.split("VmRSS:")[1].split()[0]) / 1024
        seen.resident.append((time.monotonic(), resident))
        await asyncio.sleep(1)


async def _push(socket: ClientConnection, topic: str, event: str, payload: dict[str, Any]) -> None:
    await socket.send(json.dumps([None, "r", topic, event, payload]))
    while (frame := json.loads(await socket.recv()))[3] != "phx_reply":
        pass
    if frame[4]["status"] != "ok":
        raise RuntimeError(frame)


async def _result(socket: ClientConnection, ref: str | int, seen: _Observations) -> str:
    while True:
        frame = json.loads(await socket.recv())
        seen.thoughts += frame[3] == "thought"
        if frame[3] == "result" and frame[4]["ref"] == ref:
            return frame[4]["status"]
