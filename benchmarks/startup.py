"""Measure CPU time from process start to the answered `initialize`, compared with the bare SDK."""

import tempfile
from statistics import median

from benchmarks.process_environment import clean_environment
from benchmarks.report import ReportRow
from benchmarks.stdio_child import BARE, OURS, StdioChild

ROUNDS = 9


def measure() -> list[ReportRow]:
    """Start both servers in turns, so that changes in machine speed affect both alike."""
    cpu: dict[str, list[float]] = {"bare": [], "ours": []}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(ROUNDS + 1):
            for name, command in (("bare", BARE), ("ours", OURS)):
                child = StdioChild(command, clean_environment(home))
                cpu[name].append(child.start_cpu)
                child.close()
    # The first start of each is a warm-up: it fills the disk cache and compiles modules.
    bare, ours = median(cpu["bare"][1:]), median(cpu["ours"][1:])
    return [
        ReportRow("start to answered initialize, CPU s", ours, {"bare": bare}, ratio_at_most=1.25),
    ]
