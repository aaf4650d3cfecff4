"""How many calls of SWARM-CG's JavaScript programs are resolved, and how many of what we resolve is right.

Each program has a `callgraph.json`: for a caller the callees, in dotted names. Functions of the language itself
(`<builtin>.…`) are counted apart: we list them as unresolved and do not name them as this set does. A function without
a name is no symbol of ours, so no edge can lead to it: such edges of the truth are missed, and count as missed. A class
without a constructor is no function of the truth's: that we lead `new` to the class itself is not counted.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from benchmarks.call_graph_cases import CERTAIN, Score, total
from benchmarks.report import Row
from scrubjay.code_index.graph.definitions import CALLABLES
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import FileFacts, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.languages import parser_of
from scrubjay.code_index.parsing.reader import read_facts

BAR = 0.80
_CLASSES = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE})
Call = tuple[str, str]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--swarm", type=Path, required=True, help="the folder benchmarks/javascript/swarm_js of SWARM-CG"
    )


def measure(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """F1 over all programs against the bar, and precision and recall for each category."""
    scores, builtin, _ = evaluate(options.swarm)
    whole = total(scores.values())
    notes = [
        f"{name}: precision {score.precision:.3f}, recall {score.recall:.3f}, F1 {score.f1:.3f} ({score.true} calls)"
        for name, score in sorted(scores.items())
    ]
    notes.append(
        f"all: precision {whole.precision:.3f}, recall {whole.recall:.3f}, F1 {whole.f1:.3f} ({whole.true} calls)"
    )
    strict = whole._replace(true=whole.true + builtin)
    notes.append(f"with the language's own functions, all of them missed: F1 {strict.f1:.3f} ({strict.true} calls)")
    return [Row("SWARM-CG JavaScript, F1", round(whole.f1, 3), at_least=BAR)], notes


def evaluate(folder: Path) -> tuple[Mapping[str, Score], int, list[str]]:
    """The score of each category, how many calls of the language's own were left out, and what was missed or wrong."""
    left_out = 0
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    differences: list[str] = []
    files = sorted(folder.glob("*/*/callgraph.json"))
    if not files:
        raise SystemExit(f"there is no program in {folder}")
    for file in files:
        case = file.parent
        told = [(_normal(a), _normal(b)) for a, callees in json.loads(file.read_text()).items() for b in callees]
        truth = {call for call in told if not call[0].startswith("<") and not call[1].startswith("<")}
        left_out += len(set(told) - truth)
        found = _calls(case, truth)
        sums = counts[case.parent.name]
        for index, amount in enumerate((len(found & truth), len(found), len(truth))):
            sums[index] += amount
        name = f"{case.parent.name}/{case.name}"
        differences += [f"{name}: missed {caller} -> {callee}" for caller, callee in sorted(truth - found)]
        differences += [f"{name}: wrong {caller} -> {callee}" for caller, callee in sorted(found - truth)]
    return {category: Score(*sums) for category, sums in counts.items()}, left_out, differences


def _calls(case: Path, truth: set[Call]) -> set[Call]:
    """Our calls in the truth's names; a function that may be called by two names has the one that the truth knows."""
    contents = {str(path.relative_to(case)): path.read_bytes() for path in sorted(case.rglob("*.js"))}
    facts = {path: read_facts(content, Language.JAVASCRIPT) for path, content in contents.items()}
    edges = resolve(list(facts), facts)
    known = {name for call in truth for name in call}
    names = {path: _names(path, each, contents[path], known) for path, each in facts.items()}
    found: set[Call] = set()
    for path, own in edges.items():
        for edge in own.edges:
            if edge.kind not in (UseKind.CALL, UseKind.NEW) or edge.confidence < CERTAIN or edge.target < 0:
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
        plain = _normal(f"{names[outer]}.{symbol.name}")
        numbered = f"{names[outer]}.<arrow{arrows[index]}>" if index in arrows else plain
        names[index] = numbered if numbered in known else plain
    return names


def _arrows(facts: FileFacts, content: bytes) -> Mapping[int, int]:
    """Arrow functions that are symbols, with their numbers among the arrow functions around them."""
    numbers: dict[int, int] = {}
    counted: dict[int, int] = defaultdict(int)
    waiting = [parser_of(Language.JAVASCRIPT).parse(content).root_node]
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


def _normal(name: str) -> str:
    return name.replace(".[", "[")
