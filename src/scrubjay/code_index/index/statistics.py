"""What is told of a repository as a whole: how many uses there are, and which files could not be read."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from scrubjay.code_index.facts.packed_facts import LateFacts
from scrubjay.code_index.models import FileEdges, FileFacts, FileTrait, Skipped, Snapshot
from scrubjay.code_index.path_text import printable

# So many files of each sort that could not be read are named.
MOST_TOLD = 200
# So many files that were left out for one reason are named.
MOST_LEFT_OUT = 20
# By which name an index's details tell why it is not known who uses what.
PROBLEM = "graph_problem"


@dataclass
class Counts:
    """The counts, while files come and go."""

    symbols: int = 0
    edges: int = 0
    unresolved: int = 0
    broken: set[str] = field(default_factory=set[str])
    """The paths of files whose syntax is broken somewhere."""
    unparsed: dict[str, str] = field(default_factory=dict[str, str])
    """Those that were read as text only, and why."""
    problem: str = ""
    """Why it is not known what the uses in all files lead to; empty when it is."""

    @classmethod
    def of(cls, details: Mapping[str, Any]) -> Self:
        """As they are among the details of an index."""
        return cls(
            details.get("symbols", 0),
            details.get("edges", 0),
            details.get("unresolved", 0),
            {*details.get("broken", ())},
            {**details.get("unparsed", {})},
            details.get(PROBLEM, ""),
        )

    def as_data(self) -> dict[str, Any]:
        return {
            "symbols": self.symbols,
            "edges": self.edges,
            "unresolved": self.unresolved,
            "broken": sorted(self.broken)[:MOST_TOLD],
            "unparsed": dict(sorted(self.unparsed.items())[:MOST_TOLD]),
            **({PROBLEM: self.problem} if self.problem else {}),
        }

    def merge(self, other: "Counts") -> None:
        """What was counted of other files."""
        self.symbols += other.symbols
        self.edges += other.edges
        self.unresolved += other.unresolved
        self.broken |= other.broken
        self.unparsed |= other.unparsed

    def take_out(self, path: str, facts: FileFacts | None, edges: FileEdges | None) -> None:
        """A file is not as it was; None where it has nothing, or that part of it stays."""
        if facts is not None:
            self.symbols -= len(facts.symbols)
            self.broken.discard(printable(path))
            self.unparsed.pop(printable(path), None)
        if edges is not None:
            self.edges -= len(edges.edges)
            self.unresolved -= len(edges.unresolved)

    def put_in(self, path: str, facts: FileFacts | LateFacts | None, edges: FileEdges | None) -> None:
        """What it is now."""
        if facts is not None:
            self.symbols += facts.symbol_count if isinstance(facts, LateFacts) else len(facts.symbols)
            if facts.problems:
                self.broken.add(printable(path))
            self.unparsed.update({printable(path): problem.message for problem in facts.problems if problem.line == 0})
        if edges is not None:
            self.edges += len(edges.edges)
            self.unresolved += len(edges.unresolved)


def counted(facts: Mapping[str, FileFacts], found: Mapping[str, FileEdges]) -> Counts:
    """Of all files."""
    counts = Counts()
    for path, own in facts.items():
        counts.put_in(path, own, found.get(path))
    return counts


class LeftOut(NamedTuple):
    """Files that were not read, for one reason."""

    reason: str
    files: int
    paths: list[str]
    """The first of them."""


def left_out_of(details: Mapping[str, Any]) -> list[LeftOut]:
    """As it is among the details of an index, the commonest reason first."""
    return [LeftOut(*one) for one in details.get("left_out", ())]


def told_of_files(snapshot: Snapshot) -> dict[str, Any]:
    """What an index's details tell of its files: what was left out and why, and which sorts were recognised."""
    # As numbers, which are counted several times as fast.
    traits = Counter([int(file.traits) for file in snapshot.files])
    sorts = {str(trait.name).lower(): sum(traits[own] for own in traits if trait & own) for trait in FileTrait}
    return {
        "left_out": [list(one) for one in _by_reason(snapshot.skipped)],
        "sorts": {name: files for name, files in sorts.items() if files},
    }


def _by_reason(skipped: Iterable[Skipped]) -> list[LeftOut]:
    reasons: dict[str, list[str]] = {}
    for one in sorted(skipped):
        reasons.setdefault(one.reason, []).append(one.path)
    by_reason = [
        LeftOut(reason, len(paths), [*map(printable, paths[:MOST_LEFT_OUT])]) for reason, paths in reasons.items()
    ]
    return sorted(by_reason, key=lambda one: (-one.files, one.reason))
