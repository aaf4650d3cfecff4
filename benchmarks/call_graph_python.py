"""Score the Python resolver on PyCG's micro-benchmark of small programs, compared with the published score of PyCG."""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from benchmarks.report import ReportRow
from scrubjay.code_index.graph.python_program import PythonProgram
from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts

PYCG_F1 = 0.96
_BUILT_IN_TYPES = {"<str>": "<**PyStr**>", "<dict>": "<**PyDict**>", "<list>": "<**PyList**>"}
"""Names of the types of literals in the benchmark's expected calls."""

Pairs = set[tuple[str, str]]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pycg", type=Path, required=True, help="folder `micro-benchmark` of the PyCG repository")


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    cases = sorted(path.parent for path in Path(options.pycg).rglob("callgraph.json"))
    for case in cases:
        expected: dict[str, list[str]] = json.loads((case / "callgraph.json").read_bytes())
        wanted = {(caller, callee) for caller, callees in expected.items() for callee in callees}
        found = resolve_calls(case)
        for name in (case.parent.name, ""):
            for place, part in enumerate((found & wanted, found - wanted, wanted - found)):
                counts[name][place] += len(part)
    every = counts.pop("", [0, 0, 0])
    precision, recall, both = _scores(every)
    rows = [
        ReportRow("call graph of Python: F1", both, {"pycg": PYCG_F1}, at_least=0.93),
        ReportRow("call graph of Python: precision", precision),
        ReportRow("call graph of Python: recall", recall),
        *(ReportRow(f"F1 in {name}", _scores(of_category)[2]) for name, of_category in sorted(counts.items())),
    ]
    return rows, [
        f"{len(cases)} cases, {every[0]} calls found of {every[0] + every[2]}, {every[1]} found that are not expected",
        "creating an instance counts as a call of `__init__`, as in PyCG; the score of PyCG is the published one",
    ]


def resolve_calls(folder: Path) -> Pairs:
    """Return the (caller, callee) pairs of a program, in dotted names."""
    facts = {
        path.relative_to(folder).as_posix(): read_facts(path.read_bytes(), Language.PYTHON)
        for path in sorted(folder.rglob("*.py"))
    }
    program = PythonProgram(facts)
    pairs: Pairs = set()
    for path, calls in program.resolve_call_sites(sorted(facts)).items():
        for call in calls:
            caller = program.qualified_name(path, call.scope)
            pairs |= {
                (caller, program.qualified_name_of_value(target.value)) for target in call.targets if target.is_function
            }
            pairs |= {(caller, _benchmark_name(name)) for name in call.external}
    return pairs


def _benchmark_name(name: str) -> str:
    kind, dot, rest = name.partition(".")
    return _BUILT_IN_TYPES.get(kind, kind) + dot + rest


def _scores(counts: list[int]) -> tuple[float, float, float]:
    right, wrong, missed = counts
    precision = right / (right + wrong) if right + wrong else 0.0
    recall = right / (right + missed) if right + missed else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0
