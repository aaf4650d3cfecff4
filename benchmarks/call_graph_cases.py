"""Score the resolver on our own small programs with known calls, in TypeScript, Go and Rust.

A case is a folder with the sources and an `expected.json`:

    {"kind": "inheritance", "calls": ["main.ts:12 main -> shapes.ts Circle.area", ...]}

A call is written as the file and line of the called name, the enclosing function (`<file>` for none), and the file and
name of a function that it may reach at run time. Names are qualified with dots by the enclosing functions, types,
namespaces and variables; `@` and a line number are appended when a name is not unique in its file. Functions without a
name or body are never callees, and calls inside an anonymous function count for the enclosing named function. Files
that are not code (`tsconfig.json`, `go.mod`) are read as well.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import ReportRow
from scrubjay.code_index.discovery.languages import language_by_content, language_by_name
from scrubjay.code_index.graph.definitions import CALLABLES
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import Edge, FileFacts, SymbolKind, UseKind
from scrubjay.code_index.parsing.reader import read_facts

CASES = Path(__file__).parent / "call_graphs"
EXPECTED = "expected.json"
MIN_CONFIDENCE = 0.5
"""Edges with a lower confidence are guesses and do not count."""

_CALLS = frozenset({UseKind.CALL, UseKind.NEW, UseKind.DECORATE})
_BODIES = CALLABLES - {SymbolKind.SIGNATURE}


class Score(NamedTuple):
    """Numbers of correct, found and expected calls."""

    right: int
    found: int
    true: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.found + self.true) if self.found + self.true else 1.0


class CallGraphCase(NamedTuple):
    """A program with its expected calls."""

    name: str
    kind: str
    sources: Mapping[str, bytes]
    calls: frozenset[str]


class Outcome(NamedTuple):
    """The calls found in a case, beside the expected ones."""

    case: CallGraphCase
    found: frozenset[str]

    @property
    def score(self) -> Score:
        return Score(len(self.found & self.case.calls), len(self.found), len(self.case.calls))

    @property
    def differences(self) -> Sequence[str]:
        """Missed and wrong calls, one line each."""
        missed, wrong = sorted(self.case.calls - self.found), sorted(self.found - self.case.calls)
        return [
            *(f"{self.case.name}: missed {call}" for call in missed),
            *(f"{self.case.name}: wrong {call}" for call in wrong),
        ]


def measure() -> tuple[list[ReportRow], list[str]]:
    """Return the rows of all languages, and the differences in the cases that are not held out."""
    rows: list[ReportRow] = []
    notes: list[str] = []
    for language in ("TypeScript", "Go", "Rust"):
        outcomes = [resolve_case(case) for case in read_cases(CASES / language.lower())]
        rows += report_rows(language, outcomes)
        notes.append(f"{language}: {summarize(outcomes)}")
        seen = (outcome for outcome in outcomes if not is_held_out(language, outcome.case.name))
        notes += [f"{language}: {line}" for outcome in seen for line in outcome.differences]
    return rows, notes


def report_rows(language: str, outcomes: Sequence[Outcome]) -> list[ReportRow]:
    """Return precision, recall and F1 of a language, and F1 of the held-out cases and of each kind."""
    kinds: dict[str, list[Score]] = defaultdict(list)
    for outcome in outcomes:
        kinds[outcome.case.kind].append(outcome.score)
    whole = sum_scores(outcome.score for outcome in outcomes)
    unseen = sum_scores(outcome.score for outcome in outcomes if is_held_out(language, outcome.case.name))
    return [
        ReportRow(f"{language}: precision", whole.precision),
        ReportRow(f"{language}: recall", whole.recall),
        ReportRow(f"{language}: F1", whole.f1),
        ReportRow(f"{language}: F1 of the held-out third", unseen.f1),
        *(ReportRow(f"{language}: F1 in {kind}", sum_scores(scores).f1) for kind, scores in sorted(kinds.items())),
    ]


def summarize(outcomes: Sequence[Outcome]) -> str:
    whole = sum_scores(outcome.score for outcome in outcomes)
    return f"{len(outcomes)} cases, {whole.right} calls found of {whole.true}, {whole.found - whole.right} wrong"


def is_held_out(language: str, name: str) -> bool:
    """Return True for the third of the cases whose differences were not inspected during development."""
    return int(sha256(f"{language.lower()}/{name}".encode()).hexdigest(), 16) % 3 == 0


def sum_scores(scores: Iterable[Score]) -> Score:
    each = list(scores)
    return Score(sum(one.right for one in each), sum(one.found for one in each), sum(one.true for one in each))


def read_cases(folder: Path) -> list[CallGraphCase]:
    """Return all cases of a folder; exit when there are none."""
    cases = [_read_case(file.parent) for file in sorted(folder.glob(f"*/{EXPECTED}"))]
    if not cases:
        raise SystemExit(f"{folder} contains no case")
    return cases


def _read_case(folder: Path) -> CallGraphCase:
    expected = json.loads((folder / EXPECTED).read_bytes())
    sources = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / EXPECTED
    }
    return CallGraphCase(folder.name, expected["kind"], sources, frozenset(expected["calls"]))


def resolve_case(case: CallGraphCase) -> Outcome:
    """Return the calls that our resolver finds in a case, in the notation of the case."""
    facts = {
        path: read_facts(content, language_by_name(path) or language_by_content(content[:200]))
        for path, content in case.sources.items()
    }
    found = frozenset(
        call
        for path, own in resolve(list(facts), facts).items()
        for edge in own.edges
        if _is_call(facts, edge) and (call := _format_call(facts, path, edge, case.calls))
    )
    return Outcome(case, found)


def _is_call(facts: Mapping[str, FileFacts], edge: Edge) -> bool:
    return (
        edge.kind in _CALLS
        and edge.confidence >= MIN_CONFIDENCE
        and edge.target >= 0
        and facts[edge.path].symbols[edge.target].kind in _BODIES
    )


def _format_call(facts: Mapping[str, FileFacts], path: str, edge: Edge, known: frozenset[str]) -> str:
    source = edge.source
    while source >= 0 and facts[path].symbols[source].kind not in CALLABLES:
        source = facts[path].symbols[source].container
    caller = qualified_name(facts[path], source)
    plain = f"{path}:{edge.line} {caller} -> {edge.path} {qualified_name(facts[edge.path], edge.target)}"
    precise = f"{plain}@{facts[edge.path].symbols[edge.target].line}"
    return precise if precise in known else plain


def qualified_name(facts: FileFacts, place: int) -> str:
    """Return the name of a definition, qualified by its containers."""
    names: list[str] = []
    while place >= 0:
        symbol = facts.symbols[place]
        names.append(
            symbol.name.rpartition(" for ")[2].partition("<")[0] if symbol.kind is SymbolKind.IMPL else symbol.name
        )
        place = symbol.container
        if symbol.owner and place < 0:
            names.append(symbol.owner)
    return ".".join(reversed(names)) or "<file>"
