"""PyCG's micro-benchmark: which functions each function of small programs may call, beside what PyCG says of itself."""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from benchmarks.report import Row
from scrubjay.code_index.graph.python_program import Program
from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts

PYCG_F1 = 0.96
_BUILT_IN_TYPES = {"<str>": "<**PyStr**>", "<dict>": "<**PyDict**>", "<list>": "<**PyList**>"}
"""How the benchmark writes the types of literals."""

Pairs = set[tuple[str, str]]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pycg", type=Path, required=True, help="the folder `micro-benchmark` of PyCG's repository")


def measure(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    cases = sorted(path.parent for path in Path(options.pycg).rglob("callgraph.json"))
    for case in cases:
        expected: dict[str, list[str]] = json.loads((case / "callgraph.json").read_bytes())
        wanted = {(caller, callee) for caller, callees in expected.items() for callee in callees}
        found = called_in(case)
        for name in (case.parent.name, ""):
            for place, part in enumerate((found & wanted, found - wanted, wanted - found)):
                counts[name][place] += len(part)
    every = counts.pop("", [0, 0, 0])
    precision, recall, both = _scores(every)
    rows = [
        Row("call graph of Python: F1", both, {"pycg": PYCG_F1}, at_least=0.93),
        Row("call graph of Python: precision", precision),
        Row("call graph of Python: recall", recall),
        *(Row(f"F1 in {name}", _scores(of_category)[2]) for name, of_category in sorted(counts.items())),
    ]
    return rows, [
        f"{len(cases)} cases, {every[0]} calls found of {every[0] + every[2]}, {every[1]} said that are not expected",
        "making an instance counts as a call of `__init__`, as there; PyCG's figure is its own",
    ]


def called_in(folder: Path) -> Pairs:
    """Who calls whom in a program, in dotted names."""
    facts = {
        path.relative_to(folder).as_posix(): read_facts(path.read_bytes(), Language.PYTHON)
        for path in sorted(folder.rglob("*.py"))
    }
    program = Program(facts)
    pairs: Pairs = set()
    for path, calls in program.calls(sorted(facts)).items():
        for call in calls:
            caller = program.qualified(path, call.scope)
            pairs |= {(caller, program.qualified_value(target.value)) for target in call.targets if target.is_function}
            pairs |= {(caller, _as_written_there(name)) for name in call.external}
    return pairs


def _as_written_there(name: str) -> str:
    kind, dot, rest = name.partition(".")
    return _BUILT_IN_TYPES.get(kind, kind) + dot + rest


def _scores(counts: list[int]) -> tuple[float, float, float]:
    right, wrong, missed = counts
    precision = right / (right + wrong) if right + wrong else 0.0
    recall = right / (right + missed) if right + missed else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0
