"""Walking through a graph: what can be reached, in how few steps, and how sure that is."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scrubjay.features.knowledge.models import Direction
from scrubjay.features.knowledge.rules import Reading, Rule
from scrubjay.features.knowledge.store import Edges

# A walk that meets more than this gives up, and says so: about half a second of work.
MOST_EDGES = 200_000
MOST_SECONDS = 5.0


class Step(NamedTuple):
    """From one entity to the next, as a stored triple says it."""

    source: str
    target: str
    confidence: float
    triple_id: str
    predicate: str
    rule: Rule = "stated"


Steps = Callable[[Collection[str], float, int], Sequence[Step]]
"""The steps from these entities that are at least so sure; so many at most."""


@dataclass(frozen=True, slots=True)
class Trail:
    """A way from where the walk began."""

    entity_id: str
    depth: int
    confidence: float
    """That of all its steps together: their product."""
    step: Step | None = None
    """The last one; None where the walk begins."""
    before: "Trail | None" = None

    @property
    def steps(self) -> list[Step]:
        """In their order."""
        steps: list[Step] = []
        trail: Trail | None = self
        while trail is not None and trail.step is not None:
            steps.append(trail.step)
            trail = trail.before
        return steps[::-1]

    @property
    def path(self) -> list[str]:
        """The entities on it, both ends too."""
        steps = self.steps
        return [steps[0].source, *(step.target for step in steps)] if steps else [self.entity_id]


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a walk came."""

    reached: Mapping[str, Trail]
    """The best way to each entity, those in few steps first."""
    complete: bool
    """False when it gave up before all was seen."""


def walk(
    steps_from: Steps,
    start: str,
    *,
    max_depth: int,
    least: float = 0.0,
    decay: float = 0.0,
    target: str | None = None,
    most_edges: int = MOST_EDGES,
    most_seconds: float = MOST_SECONDS,
) -> Walk:
    """What can be reached by ways whose confidence is at least so high, or only as far as the target.

    Of the ways to an entity the one in the fewest steps is told, and of these the surest. Each step after the first
    takes the share `decay` from a way's confidence. Where ways must be sure, one that is longer but surer than another
    to the same entity is followed too: what lies behind may be reached by it alone.
    """
    reached: dict[str, Trail] = {}
    surest = {start: 1.0}
    frontier = {start: Trail(start, 0, 1.0)}
    ends, edges = time.monotonic() + most_seconds, 0
    for depth in range(1, max_depth + 1):
        steps = steps_from(frontier, least, most_edges - edges + 1)
        edges += len(steps)
        if edges > most_edges or time.monotonic() > ends:
            return Walk(reached, complete=False)
        further: dict[str, Trail] = {}
        for step in steps:
            before = frontier[step.source]
            confidence = before.confidence * step.confidence * (1.0 - decay if depth > 1 else 1.0)
            if least <= 0 and step.target in surest:
                continue
            known = further[step.target].confidence if step.target in further else surest.get(step.target, -1.0)
            if confidence >= least and confidence > known:
                further[step.target] = Trail(step.target, depth, confidence, step, before)
        for entity_id, trail in further.items():
            surest[entity_id] = trail.confidence
            reached.setdefault(entity_id, trail)
        if not further or target in reached:
            break
        frontier = further
    return Walk(reached, complete=True)


def along(edges: Edges, predicates: Collection[str] | None, direction: Direction) -> Steps:
    """The stored triples themselves as steps; from object to subject when it goes backward."""

    def steps(entity_ids: Collection[str], least: float, limit: int) -> Sequence[Step]:
        found = edges.around(entity_ids, predicates, direction, least=least, limit=limit)
        if direction == "forward":
            return [Step(one.subject, one.object, one.confidence, one.triple_id, one.predicate) for one in found]
        return [Step(one.object, one.subject, one.confidence, one.triple_id, one.predicate) for one in found]

    return steps


def by_rules(edges: Edges, readings: Sequence[Reading]) -> Steps:
    """The steps that stored triples say by rules, each in its own words."""

    def steps(entity_ids: Collection[str], least: float, limit: int) -> Sequence[Step]:
        found: list[Step] = []
        for reading in readings:
            direction: Direction = "backward" if reading.turned else "forward"
            for step in along(edges, [reading.predicate], direction)(entity_ids, least, limit - len(found)):
                found.append(step._replace(rule=reading.rule))
        return found

    return steps
