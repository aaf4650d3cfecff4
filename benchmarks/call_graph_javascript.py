"""Score the JavaScript resolver on SWARM-CG's programs.

Each program has a `callgraph.json` that maps callers to callees, in dotted names. Built-in functions (`<builtin>.…`)
are counted separately: our index lists them as unresolved under other names. Anonymous functions are no symbols of our
index, so expected calls of them count as missed. A class without a constructor is no function in the expected calls, so
our edge from `new` to the class does not count.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from benchmarks.call_graph_cases import MIN_CONFIDENCE, Score, sum_scores
from benchmarks.report import ReportRow
from scrubjay.code_index.graph.definitions import CALLABLES
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import FileFacts, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.languages import load_parser
from scrubjay.code_index.parsing.reader import read_facts

MIN_F1 = 0.80
_CLASSES = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE})
Call = tuple[str, str]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--swarm", type=Path, required=True, help="folder benchmarks/javascript/swarm_js of the SWARM-CG repository"
    )


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    """Return F1 over all programs, and notes with the scores of each category."""
    scores, builtin, _ = evaluate(options.swarm)
    whole = sum_scores(scores.values())
    notes = [
        f"{name}: precision {score.precision:.3f}, recall {score.recall:.3f}, F1 {score.f1:.3f} ({score.true} calls)"
        for name, score in sorted(scores.items())
    ]
    notes.append(
        f"all: precision {whole.precision:.3f}, recall {whole.recall:.3f}, F1 {whole.f1:.3f} ({whole.true} calls)"
    )
    strict = whole._replace(true=whole.true + builtin)
    notes.append(f"with built-in functions, all counted as missed: F1 {strict.f1:.3f} ({strict.true} calls)")
    return [ReportRow("SWARM-CG JavaScript, F1", round(whole.f1, 3), at_least=MIN_F1)], notes


def evaluate(folder: Path) -> tuple[Mapping[str, Score], int, list[str]]:
    """Return the score of each category, the number of built-in calls left out, and the differences."""
    left_out = 0
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    differences: list[str] = []
    files = sorted(folder.glob("*/*/callgraph.json"))
    if not files:
        raise SystemExit(f"{folder} contains no program")
    for file in files:
        case = file.parent
        listed = [
            (_normalize_name(a), _normalize_name(b))
            for a, callees in json.loads(file.read_text()).items()
            for b in callees
        ]
        truth = {call for call in listed if not call[0].startswith("<") and not call[1].startswith("<")}
        left_out += len(set(listed) - truth)
        found = _calls(case, truth)
        sums = counts[case.parent.name]
        for index, amount in enumerate((len(found & truth), len(found), len(truth))):
            sums[index] += amount
        name = f"{case.parent.name}/{case.name}"
        differences += [f"{name}: missed {caller} -> {callee}" for caller, callee in sorted(truth - found)]
        differences += [f"{name}: wrong {caller} -> {callee}" for caller, callee in sorted(found - truth)]
    return {category: Score(*sums) for category, sums in counts.items()}, left_out, differences


def _calls(case: Path, truth: set[Call]) -> set[Call]:
    """Return our calls under the expected names. Of two possible names of a function, the expected one is used."""
    contents = {str(path.relative_to(case)): path.read_bytes() for path in sorted(case.rglob("*.js"))}
    facts = {path: read_facts(content, Language.JAVASCRIPT) for path, content in contents.items()}
    edges = resolve(list(facts), facts)
    known = {name for call in truth for name in call}
    names = {path: _names(path, each, contents[path], known) for path, each in facts.items()}
    found: set[Call] = set()
    for path, own in edges.items():
        for edge in own.edges:
            if edge.kind not in (UseKind.CALL, UseKind.NEW) or edge.confidence < MIN_CONFIDENCE or edge.target < 0:
                continue
            if facts[edge.path].symbols[edge.target].kind in _CLASSES:
                continue
            source = edge.source
            while source >= 0 and facts[path].symbols[source].kind not in CALLABLES:
                source = facts[path].symbols[source].container
            found.add((names[path][source], names[edge.path][edge.target]))
    return found


def _names(path: str, facts: FileFacts, content: bytes, known: set[str]) -> Mapping[int, str]:
    module = re.sub(r"\.index$", "", path.removesuffix(".js").replace("/", "."))
    names = {-1: module}
    arrows = _arrows(facts, content)
    for index, symbol in enumerate(facts.symbols):
        outer = symbol.container
        plain = _normalize_name(f"{names[outer]}.{symbol.name}")
        numbered = f"{names[outer]}.<arrow{arrows[index]}>" if index in arrows else plain
        names[index] = numbered if numbered in known else plain
    return names


def _arrows(facts: FileFacts, content: bytes) -> Mapping[int, int]:
    """Return the arrow functions that are symbols, numbered among the arrow functions of the same container."""
    numbers: dict[int, int] = {}
    counted: dict[int, int] = defaultdict(int)
    waiting = [load_parser(Language.JAVASCRIPT).parse(content).root_node]
    while waiting:
        node = waiting.pop()
        if node.type == "arrow_function":
            around = [
                index
                for index, symbol in enumerate(facts.symbols)
                if symbol.span.start <= node.start_byte < symbol.span.end
            ]
            own = around[-1] if around and facts.symbols[around[-1]].span.end <= node.end_byte + 1 else None
            outer = facts.symbols[own].container if own is not None else around[-1] if around else -1
            counted[outer] += 1
            if own is not None:
                numbers[own] = counted[outer]
        waiting.extend(reversed(node.children))
    return numbers


def _normalize_name(name: str) -> str:
    return name.replace(".[", "[")
