"""Small programs of our own with the calls that are in them, and how well what we resolve agrees with these.

A case is a folder with the sources and an `expected.json`:

    {"kind": "inheritance", "calls": ["main.ts:12 main -> shapes.ts Circle.area", ...]}

A call is told by the file and line where the called name is written, the function around it (`<file>` for none), and
the file and name of a function that it may reach when the program runs. A name has before it, with dots, the names of
what it is in: functions, types, namespaces, variables; `@` and the line of its own name behind it where others of its
file have the same. What has no name or no body is never the end of a call, and what a function without a name calls
counts for the function around it. Files of a case that are no code (`tsconfig.json`, `go.mod`) are read as well.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Row
from scrubjay.code_index.discovery.languages import language_by_content, language_by_name
from scrubjay.code_index.graph.definitions import CALLABLES
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import Edge, FileFacts, SymbolKind, UseKind
from scrubjay.code_index.parsing.reader import read_facts

CASES = Path(__file__).parent / "call_graphs"
EXPECTED = "expected.json"
CERTAIN = 0.5
"""Edges below are guesses, and are not counted."""

_CALLS = frozenset({UseKind.CALL, UseKind.NEW, UseKind.DECORATE})
_BODIES = CALLABLES - {SymbolKind.SIGNATURE}


class Score(NamedTuple):
    """How found calls agree with the true ones."""

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


class Case(NamedTuple):
    """A program, and the calls that are in it."""

    name: str
    kind: str
    sources: Mapping[str, bytes]
    calls: frozenset[str]


class Outcome(NamedTuple):
    """What was found in a case, and what is there."""

    case: Case
    found: frozenset[str]

    @property
    def score(self) -> Score:
        return Score(len(self.found & self.case.calls), len(self.found), len(self.case.calls))

    @property
    def differences(self) -> Sequence[str]:
        """What was missed and what was said wrongly, for whoever mends it."""
        missed, wrong = sorted(self.case.calls - self.found), sorted(self.found - self.case.calls)
        return [
            *(f"{self.case.name}: missed {call}" for call in missed),
            *(f"{self.case.name}: wrong {call}" for call in wrong),
        ]


def measure() -> tuple[list[Row], list[str]]:
    """The rows of all three languages, and what was missed or said wrongly in the cases that are not held out."""
    rows: list[Row] = []
    notes: list[str] = []
    for language in ("TypeScript", "Go", "Rust"):
        outcomes = [outcome_of(case) for case in cases_in(CASES / language.lower())]
        rows += rows_of(language, outcomes)
        notes.append(f"{language}: {counted(outcomes)}")
        seen = (outcome for outcome in outcomes if not is_held_out(language, outcome.case.name))
        notes += [f"{language}: {line}" for outcome in seen for line in outcome.differences]
    return rows, notes


def rows_of(language: str, outcomes: Sequence[Outcome]) -> list[Row]:
    """Precision, recall and F1 of all cases of a language, and F1 of those that nobody looked at and of each kind."""
    kinds: dict[str, list[Score]] = defaultdict(list)
    for outcome in outcomes:
        kinds[outcome.case.kind].append(outcome.score)
    whole = total(outcome.score for outcome in outcomes)
    unseen = total(outcome.score for outcome in outcomes if is_held_out(language, outcome.case.name))
    return [
        Row(f"{language}: precision", whole.precision),
        Row(f"{language}: recall", whole.recall),
        Row(f"{language}: F1", whole.f1),
        Row(f"{language}: F1 of the held-out third", unseen.f1),
        *(Row(f"{language}: F1 in {kind}", total(scores).f1) for kind, scores in sorted(kinds.items())),
    ]


def counted(outcomes: Sequence[Outcome]) -> str:
    whole = total(outcome.score for outcome in outcomes)
    return f"{len(outcomes)} cases, {whole.right} calls found of {whole.true}, {whole.found - whole.right} wrong"


def is_held_out(language: str, name: str) -> bool:
    """Whether a case is of the third whose differences nobody looked at while the resolver was worked on."""
    return int(sha256(f"{language.lower()}/{name}".encode()).hexdigest(), 16) % 3 == 0


def total(scores: Iterable[Score]) -> Score:
    kept = list(scores)
    return Score(sum(each.right for each in kept), sum(each.found for each in kept), sum(each.true for each in kept))


def cases_in(folder: Path) -> list[Case]:
    """All cases of a folder."""
    cases = [_case(file.parent) for file in sorted(folder.glob(f"*/{EXPECTED}"))]
    if not cases:
        raise SystemExit(f"there is no case in {folder}")
    return cases


def _case(folder: Path) -> Case:
    expected = json.loads((folder / EXPECTED).read_bytes())
    sources = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / EXPECTED
    }
    return Case(folder.name, expected["kind"], sources, frozenset(expected["calls"]))


def outcome_of(case: Case) -> Outcome:
    """What our resolver says of a case, in the case's words."""
    facts = {
        path: read_facts(content, language_by_name(path) or language_by_content(content[:200]))
        for path, content in case.sources.items()
    }
    found = frozenset(
        told
        for path, own in resolve(list(facts), facts).items()
        for edge in own.edges
        if _is_call(facts, edge) and (told := _told(facts, path, edge, case.calls))
    )
    return Outcome(case, found)


def _is_call(facts: Mapping[str, FileFacts], edge: Edge) -> bool:
    return (
        edge.kind in _CALLS
        and edge.confidence >= CERTAIN
        and edge.target >= 0
        and facts[edge.path].symbols[edge.target].kind in _BODIES
    )


def _told(facts: Mapping[str, FileFacts], path: str, edge: Edge, known: frozenset[str]) -> str:
    source = edge.source
    while source >= 0 and facts[path].symbols[source].kind not in CALLABLES:
        source = facts[path].symbols[source].container
    caller = name_of(facts[path], source)
    plain = f"{path}:{edge.line} {caller} -> {edge.path} {name_of(facts[edge.path], edge.target)}"
    precise = f"{plain}@{facts[edge.path].symbols[edge.target].line}"
    return precise if precise in known else plain


def name_of(facts: FileFacts, place: int) -> str:
    """The name of a definition with what it is in."""
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
