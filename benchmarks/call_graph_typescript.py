"""How many calls of our own small TypeScript programs are resolved, and how many of what we resolve is right."""

import argparse

from benchmarks.call_graph_cases import measured
from benchmarks.report import Row


def measure(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    return measured("TypeScript")
