"""Graph traversal, compared with a naive search, and its limits (row 88)."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.knowledge.traversal import PathStep, StepSource, traverse

Graph = Sequence[tuple[str, str, float]]
NODES = ("ann", "anna", "an", "a", "n", "nan")
CONFIDENCES = (1.0, 0.95, 0.9, 0.8, 0.5, 0.0)
graphs = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES), st.sampled_from(CONFIDENCES)), max_size=24)


def steps_of(graph: Graph) -> StepSource:
    steps_by_source: dict[str, list[PathStep]] = defaultdict(list)
    for number, (source, target, confidence) in enumerate(graph):
        steps_by_source[source].append(PathStep(source, target, confidence, f"tri_{number}", "r"))

    def steps(entity_ids: Collection[str], min_confidence: float, limit: int) -> Sequence[PathStep]:
        found = [step for one in entity_ids for step in steps_by_source[one] if step.confidence >= min_confidence]
        return found[:limit]

    return steps


def simple_paths(graph: Graph, start: str, max_steps: int) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield every path without a repeated node, with its confidence."""
    pending = [((start,), 1.0)]
    while pending:
        path, confidence = pending.pop()
        if len(path) > 1:
            yield path, confidence
        if len(path) <= max_steps:
            pending += [
                ((*path, target), confidence * step_confidence)
                for source, target, step_confidence in graph
                if source == path[-1] and target not in path
            ]


@given(graphs, st.integers(1, 6), st.sampled_from([0.0, 0.5, 0.7, 0.81, 0.9, 1.0]))
def test_088_traversal_reaches_the_ends_of_the_shortest_paths_above_the_confidence(
    graph: Graph, depth: int, min_confidence: float
) -> None:
    naive: dict[str, tuple[int, float]] = {}
    for path, confidence in simple_paths(graph, "ann", depth):
        if confidence >= min_confidence:
            steps, known = len(path) - 1, naive.get(path[-1])
            if known is None or (steps, -confidence) < (known[0], -known[1]):
                naive[path[-1]] = steps, confidence
    found = traverse(steps_of(graph), "ann", max_depth=depth, min_confidence=min_confidence)
    assert found.complete
    assert {one: (path_found.depth, path_found.confidence) for one, path_found in found.reached.items()} == naive
    edges = {(source, target) for source, target, _ in graph}
    for one, path_found in found.reached.items():
        path = path_found.path
        assert (path[0], path[-1], len(path) - 1, len({*path})) == ("ann", one, path_found.depth, len(path))
        assert {*pairwise(path)} <= edges
    assert [path_found.depth for path_found in found.reached.values()] == sorted(
        t.depth for t in found.reached.values()
    )


@given(graphs, st.sampled_from(NODES[1:]))
def test_088_a_path_is_the_shortest_one_with_the_highest_confidence(graph: Graph, target: str) -> None:
    naive = min(
        ((len(path) - 1, -sure) for path, sure in simple_paths(graph, "ann", 10) if path[-1] == target), default=None
    )
    found = traverse(steps_of(graph), "ann", max_depth=10, target=target).reached.get(target)
    assert (None if found is None else (found.depth, -found.confidence)) == naive


def test_088_a_longer_path_of_higher_confidence_reaches_entities_behind_it() -> None:
    graph = [("s", "b", 0.8), ("s", "a", 1.0), ("a", "b", 1.0), ("b", "c", 0.8)]
    found = traverse(steps_of(graph), "s", max_depth=5, min_confidence=0.75).reached
    assert (found["b"].depth, found["b"].confidence) == (1, 0.8)
    assert (found["c"].path, found["c"].confidence) == (["s", "a", "b", "c"], 0.8)


def test_088_a_name_that_is_part_of_another_does_not_stop_the_traversal() -> None:
    found = traverse(steps_of([("joanna", "anna", 1.0), ("anna", "ann", 1.0)]), "joanna", max_depth=5).reached
    assert found["ann"].path == ["joanna", "anna", "ann"]


def test_088_each_step_after_the_first_reduces_the_confidence() -> None:
    found = traverse(steps_of([("a", "b", 0.9), ("b", "c", 0.9)]), "a", max_depth=5, decay=0.1).reached
    assert found["b"].confidence == pytest.approx(0.9)
    assert found["c"].confidence == pytest.approx(0.9 * 0.9 * 0.9)


def test_088_a_traversal_that_exceeds_a_limit_is_reported_as_incomplete() -> None:
    names = [f"n{number}" for number in range(60)]
    graph = [(one, other, 1.0) for one, other in product(names, names)]
    limits: list[int] = []

    def steps(entity_ids: Collection[str], min_confidence: float, limit: int) -> Sequence[PathStep]:
        limits.append(limit)
        return steps_of(graph)(entity_ids, min_confidence, limit)

    found = traverse(steps, "n0", max_depth=20, max_edges=1_000)
    assert (found.complete, len(found.reached)) == (False, 59)
    assert limits == [1_001, 941], "no more edges are read than the limit allows"
    assert not traverse(steps_of(graph), "n0", max_depth=5, max_seconds=-1).complete
    whole = traverse(steps_of(graph), "n0", max_depth=20)
    assert (whole.complete, len(whole.reached)) == (True, 59)
