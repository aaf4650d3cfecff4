"""What follows from stored triples by rules: looked for from what there is, or from what is to be proved."""

import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from scrubjay.features.knowledge.models import GraphScope, Inference
from scrubjay.features.knowledge.rules import IN_BACKGROUND, TRANSITIVE, readings_of
from scrubjay.features.knowledge.store import Edges
from scrubjay.features.knowledge.traversal import Step, Trail, by_rules, walk

# What each step after the first takes from the confidence of what is inferred.
DECAY = 0.1
INFERRED_DEPTH = 3
INFERRED_LEAST = 0.8
# So many triples are inferred of one graph, from so many, in so long a time.
MOST_INFERRED = 10_000
MOST_EDGES = 200_000
MOST_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Proof:
    """Why something is so."""

    kind: Literal["direct", "inverse", "symmetric", "transitive"]
    confidence: float
    path: Sequence[str]
    steps: Sequence[Step]
    """The stored triples, in the order of the argument."""


@dataclass(frozen=True, slots=True)
class Unproved:
    """That something could not be proved."""

    complete: bool
    """False when the search gave up: it may be so nevertheless."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """What follows."""

    inferences: Sequence[Inference]
    problem: str | None
    """Why it is not all that follows."""


def prove(
    edges: Edges, subject: str, predicate: str, object_: str, *, max_depth: int, least: float = 0.0
) -> Proof | Unproved:
    """The shortest argument for it, of stored triples, and of equally short ones the surest."""
    steps_from = by_rules(edges, readings_of(predicate))
    if subject == object_:  # a walk never comes back to where it began
        own = [step for step in steps_from([subject], least, MOST_EDGES) if step.target == subject]
        best = max(own, key=lambda step: step.confidence, default=None)
        return Unproved(complete=True) if best is None else _proof(Trail(subject, 1, best.confidence, best))
    depth = max_depth if predicate in TRANSITIVE else 1
    found = walk(steps_from, subject, max_depth=depth, least=least, decay=DECAY, target=object_)
    trail = found.reached.get(object_)
    return Unproved(found.complete) if trail is None else _proof(trail)


def infer(
    edges: Edges,
    scope: GraphScope,
    predicates: Collection[str] = IN_BACKGROUND,
    *,
    max_depth: int = INFERRED_DEPTH,
    least: float = INFERRED_LEAST,
) -> Inferred:
    """All that follows for these predicates and is not stored.

    Of a project, only what rests on something of its own: the rest follows for everybody.
    """
    found: list[Inference] = []
    ends = time.monotonic() + MOST_SECONDS
    problem: str | None = None
    share = MOST_INFERRED // max(1, len(predicates))
    for predicate in predicates:
        one, reason = _infer_one(edges, predicate, share, max_depth=max_depth, least=least, ends=ends)
        found += one
        problem = reason or problem
    if scope.project_id is not None:
        own = edges.own({triple_id for one in found for triple_id in one.rests_on})
        found = [one for one in found if not own.isdisjoint(one.rests_on)]
    return Inferred(found, problem)


def _infer_one(
    edges: Edges, predicate: str, most: int, *, max_depth: int, least: float, ends: float
) -> tuple[Sequence[Inference], str | None]:
    """What follows for one predicate; and why that is not all, if it is not."""
    readings = readings_of(predicate)
    stated = edges.every([reading.predicate for reading in readings], least=least, limit=MOST_EDGES + 1)
    if len(stated) > MOST_EDGES:
        return [], f"more than {MOST_EDGES} triples say {predicate}: nothing was inferred for it"
    found: list[Inference] = []
    leaving: dict[str, list[Step]] = defaultdict(list)
    known = {(edge.subject, edge.object) for edge in stated if edge.predicate == predicate}
    for edge in stated:
        for reading in readings:
            if reading.predicate == edge.predicate:
                ends_at = (edge.object, edge.subject) if reading.turned else (edge.subject, edge.object)
                step = Step(*ends_at, edge.confidence, edge.triple_id, edge.predicate, reading.rule)
                leaving[step.source].append(step)
    depth = max_depth if predicate in TRANSITIVE else 1
    steps_from = partial(_steps_of, leaving)
    for start in leaving:
        reached = walk(steps_from, start, max_depth=depth, least=least, decay=DECAY)
        for trail in reached.reached.values():
            if (start, trail.entity_id) in known:
                continue
            if len(found) >= most:
                return found, f"more than {most} triples follow for {predicate}: only so many are inferred"
            found.append(_inference(start, predicate, trail))
        if time.monotonic() > ends or not reached.complete:
            return found, f"not all that follows for {predicate} could be inferred in {MOST_SECONDS:g} s"
    return found, None


def _steps_of(leaving: dict[str, list[Step]], entity_ids: Collection[str], least: float, limit: int) -> Sequence[Step]:
    return [step for entity_id in entity_ids for step in leaving.get(entity_id, ())][:limit]


def _inference(start: str, predicate: str, trail: Trail) -> Inference:
    steps = trail.steps
    by = f"transitive:depth={len(steps)}" if len(steps) > 1 else f"{steps[0].rule}:{steps[0].triple_id}"
    return Inference(
        subject=start,
        predicate=predicate,
        object=trail.entity_id,
        confidence=round(trail.confidence, 6),
        source=f"inference:{by}",
        rests_on=tuple(dict.fromkeys(step.triple_id for step in steps)),
    )


def _proof(trail: Trail) -> Proof:
    steps = trail.steps
    if len(steps) > 1:
        return Proof("transitive", trail.confidence, trail.path, steps)
    rule = steps[0].rule
    return Proof("direct" if rule == "stated" else rule, trail.confidence, trail.path, steps)
