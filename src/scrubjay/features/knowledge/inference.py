"""Inference by rules: forward from all stored triples, or backward from a statement to prove."""

import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from scrubjay.features.knowledge.models import GraphEdge, GraphScope, Inference
from scrubjay.features.knowledge.rules import (
    BACKGROUND_PREDICATES,
    ImplyingPredicate,
    implying_chains,
    implying_predicates,
)
from scrubjay.features.knowledge.store import GraphReader
from scrubjay.features.knowledge.traversal import GraphPath, PathStep, rule_steps, traverse

# Share of the confidence that each step after the first removes.
DECAY = 0.1
INFERENCE_DEPTH = 3
INFERENCE_MIN_CONFIDENCE = 0.8
# Limits of one run for one graph: inferred triples, stored triples read per predicate, and time.
MAX_INFERENCES = 10_000
MAX_EDGES = 200_000
MAX_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Proof:
    """The derivation of a statement."""

    kind: Literal["direct", "inverse", "symmetric", "transitive"]
    confidence: float
    path: Sequence[str]
    steps: Sequence[PathStep]
    """The stored triples, in the order of the derivation."""


@dataclass(frozen=True, slots=True)
class Unproved:
    """A statement without a derivation."""

    complete: bool
    """False when the search stopped at a limit: a derivation may still exist."""


@dataclass(frozen=True, slots=True)
class InferenceResult:
    """Inferred triples."""

    inferences: Sequence[Inference]
    problem: str | None
    """Why the result is incomplete; None when it is complete."""


def prove(
    graph: GraphReader, subject: str, predicate: str, object_: str, *, max_depth: int, min_confidence: float = 0.0
) -> Proof | Unproved:
    """Return the shortest derivation of a statement, with the highest confidence among equally short ones."""
    if subject == object_:  # a traversal never returns to its start
        steps_from = rule_steps(graph, implying_predicates(predicate))
        own = [step for step in steps_from([subject], min_confidence, MAX_EDGES) if step.target == subject]
        best = max(own, key=lambda step: step.confidence, default=None)
        return Unproved(complete=True) if best is None else _proof(GraphPath(subject, 1, best.confidence, best))
    is_complete, paths = True, list[GraphPath]()
    for chain in implying_chains(predicate):
        depth = max_depth if chain.is_transitive else 1
        steps_from = rule_steps(graph, chain.sources)
        found = traverse(
            steps_from, subject, max_depth=depth, min_confidence=min_confidence, decay=DECAY, target=object_
        )
        is_complete &= found.complete
        if (path := found.reached.get(object_)) is not None:
            paths.append(path)
    return _proof(min(paths, key=lambda path: (path.depth, -path.confidence))) if paths else Unproved(is_complete)


def infer(
    graph: GraphReader,
    scope: GraphScope,
    predicates: Collection[str] = BACKGROUND_PREDICATES,
    *,
    max_depth: int = INFERENCE_DEPTH,
    min_confidence: float = INFERENCE_MIN_CONFIDENCE,
) -> InferenceResult:
    """Return the triples that follow for these predicates and are not stored.

    For a project, only triples that follow from at least one of its own; the others belong to the global graph.
    """
    found: list[Inference] = []
    deadline = time.monotonic() + MAX_SECONDS
    problem: str | None = None
    share = MAX_INFERENCES // max(1, len(predicates))
    for predicate in predicates:
        one, reason = _infer_one(
            graph, predicate, share, max_depth=max_depth, min_confidence=min_confidence, deadline=deadline
        )
        found += one
        problem = reason or problem
    if scope.project_id is not None:
        own = graph.in_project({triple_id for one in found for triple_id in one.rests_on})
        found = [one for one in found if not own.isdisjoint(one.rests_on)]
    return InferenceResult(found, problem)


def _infer_one(
    graph: GraphReader, predicate: str, limit: int, *, max_depth: int, min_confidence: float, deadline: float
) -> tuple[Sequence[Inference], str | None]:
    """Return the triples that follow for one predicate, and the reason when they are incomplete."""
    sources = implying_predicates(predicate)
    stated = graph.edges_with(
        [source.predicate for source in sources], min_confidence=min_confidence, limit=MAX_EDGES + 1
    )
    if len(stated) > MAX_EDGES:
        return [], f"more than {MAX_EDGES} triples imply {predicate}; nothing was inferred for it"
    known = {(edge.subject, edge.object) for edge in stated if edge.predicate == predicate}
    found: list[Inference] = []
    for chain in implying_chains(predicate):
        steps_by_source = _steps_by_source(stated, chain.sources)
        depth = max_depth if chain.is_transitive else 1
        steps_from = partial(_steps_from, steps_by_source)
        for start in steps_by_source:
            reached = traverse(steps_from, start, max_depth=depth, min_confidence=min_confidence, decay=DECAY)
            for path in reached.reached.values():
                if (start, path.entity_id) in known:
                    continue
                if len(found) >= limit:
                    return found, f"more than {limit} triples follow for {predicate}; the others were not inferred"
                known.add((start, path.entity_id))
                found.append(_inference(start, predicate, path))
            if time.monotonic() > deadline or not reached.complete:
                return found, f"inference for {predicate} was not complete within {MAX_SECONDS:g} s"
    return found, None


def _steps_by_source(edges: Sequence[GraphEdge], sources: Sequence[ImplyingPredicate]) -> dict[str, list[PathStep]]:
    steps_by_source: dict[str, list[PathStep]] = defaultdict(list)
    for edge in edges:
        for source in sources:
            if source.predicate == edge.predicate:
                ends = (edge.object, edge.subject) if source.is_reversed else (edge.subject, edge.object)
                step = PathStep(*ends, edge.confidence, edge.triple_id, edge.predicate, source.rule, source.is_reversed)
                steps_by_source[step.source].append(step)
    return steps_by_source


def _steps_from(
    steps_by_source: dict[str, list[PathStep]], entity_ids: Collection[str], min_confidence: float, limit: int
) -> Sequence[PathStep]:
    return [step for entity_id in entity_ids for step in steps_by_source.get(entity_id, ())][:limit]


def _inference(start: str, predicate: str, path: GraphPath) -> Inference:
    steps = path.steps
    by = f"transitive:depth={len(steps)}" if len(steps) > 1 else f"{steps[0].rule}:{steps[0].triple_id}"
    return Inference(
        subject=start,
        predicate=predicate,
        object=path.entity_id,
        confidence=round(path.confidence, 6),
        source=f"inference:{by}",
        rests_on=tuple(dict.fromkeys(step.triple_id for step in steps)),
    )


def _proof(path: GraphPath) -> Proof:
    steps = path.steps
    if len(steps) > 1:
        return Proof("transitive", path.confidence, path.path, steps)
    rule = steps[0].rule
    return Proof("direct" if rule == "stated" else rule, path.confidence, path.path, steps)
