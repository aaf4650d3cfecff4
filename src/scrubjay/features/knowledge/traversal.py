"""Breadth-first traversal of a graph: reachable entities, shortest paths and their confidence."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scrubjay.features.knowledge.models import Direction
from scrubjay.features.knowledge.rules import ImplyingPredicate, Rule
from scrubjay.features.knowledge.store import GraphReader

# A traversal that reads more edges stops and reports it; this many take about half a second.
MAX_EDGES = 200_000
MAX_SECONDS = 5.0


class PathStep(NamedTuple):
    """A step from one entity to the next, by a stored triple."""

    source: str
    target: str
    confidence: float
    triple_id: str
    predicate: str
    rule: Rule = "stated"
    is_reversed: bool = False
    """True when the step leads from the object of the stored triple to its subject."""

    @property
    def subject(self) -> str:
        """The subject of the stored triple."""
        return self.target if self.is_reversed else self.source

    @property
    def object(self) -> str:
        """The object of the stored triple."""
        return self.source if self.is_reversed else self.target


StepSource = Callable[[Collection[str], float, int], Sequence[PathStep]]
"""Returns the steps from these entities, with a minimum confidence and a maximum number."""


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A path from the start of a traversal, as a linked list of its last steps."""

    entity_id: str
    depth: int
    confidence: float
    """Product of the confidences of all steps."""
    step: PathStep | None = None
    """The last step; None at the start."""
    previous: "GraphPath | None" = None

    @property
    def steps(self) -> list[PathStep]:
        """The steps from start to end."""
        steps: list[PathStep] = []
        path: GraphPath | None = self
        while path is not None and path.step is not None:
            steps.append(path.step)
            path = path.previous
        return steps[::-1]

    @property
    def path(self) -> list[str]:
        """Ids of the entities on the path, both ends included."""
        steps = self.steps
        return [steps[0].source, *(step.target for step in steps)] if steps else [self.entity_id]


@dataclass(frozen=True, slots=True)
class TraversalResult:
    """Result of a traversal."""

    reached: Mapping[str, GraphPath]
    """The best path to each entity, fewest steps first."""
    complete: bool
    """False when the traversal stopped at a limit."""


def traverse(
    steps_from: StepSource,
    start: str,
    *,
    max_depth: int,
    min_confidence: float = 0.0,
    decay: float = 0.0,
    target: str | None = None,
    max_edges: int = MAX_EDGES,
    max_seconds: float = MAX_SECONDS,
) -> TraversalResult:
    """Return the entities that are reachable by paths of at least this confidence, up to `target` if given.

    The path to an entity is the one with the fewest steps, then the highest confidence. Each step after the first
    reduces the confidence by the share `decay`. With a minimum confidence, a longer path of higher confidence is also
    followed, because entities behind it may be reachable by that path only.
    """
    reached: dict[str, GraphPath] = {}
    best = {start: 1.0}
    frontier = {start: GraphPath(start, 0, 1.0)}
    deadline, edges = time.monotonic() + max_seconds, 0
    for depth in range(1, max_depth + 1):
        steps = steps_from(frontier, min_confidence, max_edges - edges + 1)
        edges += len(steps)
        if edges > max_edges or time.monotonic() > deadline:
            return TraversalResult(reached, complete=False)
        further: dict[str, GraphPath] = {}
        for step in steps:
            previous = frontier[step.source]
            confidence = previous.confidence * step.confidence * (1.0 - decay if depth > 1 else 1.0)
            if min_confidence <= 0 and step.target in best:
                continue
            known = further[step.target].confidence if step.target in further else best.get(step.target, -1.0)
            if confidence >= min_confidence and confidence > known:
                further[step.target] = GraphPath(step.target, depth, confidence, step, previous)
        for entity_id, path in further.items():
            best[entity_id] = path.confidence
            reached.setdefault(entity_id, path)
        if not further or target in reached:
            break
        frontier = further
    return TraversalResult(reached, complete=True)


def stored_steps(graph: GraphReader, predicates: Collection[str] | None, direction: Direction) -> StepSource:
    """Return stored triples as steps; backward steps lead from object to subject."""

    def steps(entity_ids: Collection[str], min_confidence: float, limit: int) -> Sequence[PathStep]:
        found = graph.edges_from(entity_ids, predicates, direction, min_confidence=min_confidence, limit=limit)
        if direction == "forward":
            return [PathStep(one.subject, one.object, one.confidence, one.triple_id, one.predicate) for one in found]
        return [
            PathStep(one.object, one.subject, one.confidence, one.triple_id, one.predicate, is_reversed=True)
            for one in found
        ]

    return steps


def rule_steps(graph: GraphReader, sources: Sequence[ImplyingPredicate]) -> StepSource:
    """Return the steps of all predicates that imply the same predicate; each step has its stored predicate."""

    def steps(entity_ids: Collection[str], min_confidence: float, limit: int) -> Sequence[PathStep]:
        found: list[PathStep] = []
        for source in sources:
            direction: Direction = "backward" if source.is_reversed else "forward"
            for step in stored_steps(graph, [source.predicate], direction)(
                entity_ids, min_confidence, limit - len(found)
            ):
                found.append(step._replace(rule=source.rule))
        return found

    return steps
