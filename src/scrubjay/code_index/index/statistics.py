"""Statistics of an index: symbol and edge counts, files left out, files that could not be parsed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from scrubjay.code_index.facts.packed_facts import LazyFacts
from scrubjay.code_index.models import FileEdges, FileFacts, FileTrait, Skipped, Snapshot
from scrubjay.code_index.path_text import printable

# Maximum number of unparsed files listed, of each kind.
MAX_LISTED_FILES = 200
# Maximum number of skipped files listed per reason.
MAX_LISTED_SKIPPED = 20
# Key in an index's details: why the use graph could not be resolved.
GRAPH_PROBLEM = "graph_problem"


@dataclass
class Counts:
    """Running counts, updated as files are added and removed."""

    symbols: int = 0
    edges: int = 0
    unresolved: int = 0
    broken: set[str] = field(default_factory=set[str])
    """Paths of files with syntax errors."""
    unparsed: dict[str, str] = field(default_factory=dict[str, str])
    """Paths of files that were read as plain text, with the reason."""
    problem: str = ""
    """Why the use graph is missing; empty when it is complete."""

    @classmethod
    def of(cls, details: Mapping[str, Any]) -> Self:
        """Read the counts from an index's details."""
        return cls(
            details.get("symbols", 0),
            details.get("edges", 0),
            details.get("unresolved", 0),
            {*details.get("broken", ())},
            {**details.get("unparsed", {})},
            details.get(GRAPH_PROBLEM, ""),
        )

    def as_data(self) -> dict[str, Any]:
        return {
            "symbols": self.symbols,
            "edges": self.edges,
            "unresolved": self.unresolved,
            "broken": sorted(self.broken)[:MAX_LISTED_FILES],
            "unparsed": dict(sorted(self.unparsed.items())[:MAX_LISTED_FILES]),
            **({GRAPH_PROBLEM: self.problem} if self.problem else {}),
        }

    def merge(self, other: "Counts") -> None:
        """Add the counts of other files."""
        self.symbols += other.symbols
        self.edges += other.edges
        self.unresolved += other.unresolved
        self.broken |= other.broken
        self.unparsed |= other.unparsed

    def remove(self, path: str, facts: FileFacts | None, edges: FileEdges | None) -> None:
        """Subtract a file's old facts and edges; None for a part that is absent or unchanged."""
        if facts is not None:
            self.symbols -= len(facts.symbols)
            self.broken.discard(printable(path))
            self.unparsed.pop(printable(path), None)
        if edges is not None:
            self.edges -= len(edges.edges)
            self.unresolved -= len(edges.unresolved)

    def add(self, path: str, facts: FileFacts | LazyFacts | None, edges: FileEdges | None) -> None:
        """Add a file's new facts and edges; None for a part that is absent or unchanged."""
        if facts is not None:
            self.symbols += facts.symbol_count if isinstance(facts, LazyFacts) else len(facts.symbols)
            if facts.problems:
                self.broken.add(printable(path))
            self.unparsed.update({printable(path): problem.message for problem in facts.problems if problem.line == 0})
        if edges is not None:
            self.edges += len(edges.edges)
            self.unresolved += len(edges.unresolved)


def count_files(facts: Mapping[str, FileFacts], found: Mapping[str, FileEdges]) -> Counts:
    """Count all files."""
    counts = Counts()
    for path, own in facts.items():
        counts.add(path, own, found.get(path))
    return counts


class LeftOut(NamedTuple):
    """Files skipped for one reason."""

    reason: str
    files: int
    paths: list[str]
    """The first `MAX_LISTED_SKIPPED` of them."""


def left_out_of(details: Mapping[str, Any]) -> list[LeftOut]:
    """Read the skipped files from an index's details, most frequent reason first."""
    return [LeftOut(*one) for one in details.get("left_out", ())]


def file_statistics(snapshot: Snapshot) -> dict[str, Any]:
    """Return the file statistics stored in an index's details: skipped files by reason, and file counts by trait."""
    # Counting plain integers is several times faster than counting flags.
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
        LeftOut(reason, len(paths), [*map(printable, paths[:MAX_LISTED_SKIPPED])]) for reason, paths in reasons.items()
    ]
    return sorted(by_reason, key=lambda one: (-one.files, one.reason))
