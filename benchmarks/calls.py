"""Measure the CPU time of a call over stdio at 1,000 memories, compared with a trivial tool of the bare SDK."""

import tempfile

from benchmarks.process_environment import clean_environment
from benchmarks.report import ReportRow
from benchmarks.stdio_child import BARE, OURS, StdioChild

MEMORIES = 1_000
# Half are stored in bulk and half by single calls, as in a store that was imported and then used.
SEEDED_IN_BULK = 500
CALLS = 100
ROUNDS = 5

SUBJECTS = ("the parser", "the billing service", "Ada", "the release", "our database", "the login page", "the customer")
VERBS = ("was rewritten in", "depends on", "prefers", "moved to", "broke because of", "is documented in", "asked for")
OBJECTS = ("Rust", "PostgreSQL", "dark mode", "Thursday", "a missing index", "the wiki", "an invoice", "two reviewers")


def sentence(number: int) -> str:
    """Return a unique memory of ordinary length."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    verb = VERBS[number // 7 % len(VERBS)]
    thing = OBJECTS[number // 49 % len(OBJECTS)]
    return f"In week {number} {subject} {verb} {thing}, and ticket {number * 37 % 9973} has the reasons."


def measure() -> list[ReportRow]:
    with tempfile.TemporaryDirectory() as home:
        bare, ours = StdioChild(BARE, clean_environment(home)), StdioChild(OURS, clean_environment(home))
        ours.call("remember_many", {"memories": [{"content": sentence(number)} for number in range(SEEDED_IN_BULK)]})
        ours.call("recall", {"query": "who asked for an invoice?"})
        trivial: list[float] = []
        remember: list[float] = []
        recall: list[float] = []
        for first in range(SEEDED_IN_BULK, MEMORIES, CALLS):
            trivial.append(_cpu(bare, "echo", [{"text": sentence(number)} for number in range(CALLS)]))
            remember.append(_cpu(ours, "remember", [{"content": sentence(first + number)} for number in range(CALLS)]))
        for _ in range(ROUNDS):
            trivial.append(_cpu(bare, "echo", [{"text": sentence(number)} for number in range(CALLS)]))
            recall.append(
                _cpu(ours, "recall", [{"query": f"why did {SUBJECTS[n % 7]} move in week {n}?"} for n in range(CALLS)])
            )
        resident = ours.resident_megabytes()
        bare.close()
        ours.close()
    yardstick = min(trivial)
    return [
        ReportRow(
            "remember over stdio, CPU ms above a trivial call",
            min(remember) - yardstick,
            {"bare": yardstick},
            at_most=3.0,
        ),
        ReportRow(
            "recall over stdio, CPU ms above a trivial call", min(recall) - yardstick, {"bare": yardstick}, at_most=3.0
        ),
        ReportRow("resident memory after the recalls, MB", resident, at_most=150.0),
    ]


def _cpu(server: StdioChild, tool: str, requests: list[dict[str, str]]) -> float:
    """Return CPU milliseconds per call."""
    before = server.cpu()
    for request in requests:
        server.call(tool, request)
    return (server.cpu() - before) / len(requests) * 1000
