"""From the start of the process to the answered `initialize`, beside the bare SDK."""

import tempfile
from statistics import median

from benchmarks.environment import environment
from benchmarks.report import Row
from benchmarks.stdio_child import BARE, OURS, StdioChild

ROUNDS = 9


def measure() -> list[Row]:
    """Both servers in turns, so that a busy moment of the machine hits both."""
    cpu: dict[str, list[float]] = {"bare": [], "ours": []}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(ROUNDS + 1):
            for name, command in (("bare", BARE), ("ours", OURS)):
                child = StdioChild(command, environment(home))
                cpu[name].append(child.start_cpu)
                child.close()
    # The first of each warms the disk cache and compiles the modules.
    bare, ours = median(cpu["bare"][1:]), median(cpu["ours"][1:])
    return [
        Row("start to answered initialize, CPU s", ours, {"bare": bare}, ratio_at_most=1.25),
    ]
