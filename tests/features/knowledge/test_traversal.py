"""Walks through graphs find what a naive search finds, and never take longer than they may (row 88)."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.knowledge.traversal import Step, Steps, walk

Graph = Sequence[tuple[str, str, float]]
NODES = ("ann", "anna", "an", "a", "n", "nan")
CONFIDENCES = (1.0, 0.95, 0.9, 0.8, 0.5, 0.0)
graphs = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES), st.sampled_from(CONFIDENCES)), max_size=24)


def steps_of(graph: Graph) -> Steps:
    leaving: dict[str, list[Step]] = defaultdict(list)
    for number, (source, target, confidence) in enumerate(graph):
        leaving[source].append(Step(source, target, confidence, f"tri_{number}", "r"))

    def steps(entity_ids: Collection[str], least: float, limit: int) -> Sequence[Step]:
        found = [step for one in entity_ids for step in leaving[one] if step.confidence >= least]
        return found[:limit]

    return steps


def simple_paths(graph: Graph, start: str, longest: int) -> Iterator[tuple[tuple[str, ...], float]]:
    """Every way that comes nowhere twice, with its confidence."""
    waiting = [((start,), 1.0)]
    while waiting:
        path, confidence = waiting.pop()
        if len(path) > 1:
            yield path, confidence
        if len(path) <= longest:
            waiting += [
                ((*path, target), confidence * sure)
                for source, target, sure in graph
                if source == path[-1] and target not in path
            ]


@given(graphs, st.integers(1, 6), st.sampled_from([0.0, 0.5, 0.7, 0.81, 0.9, 1.0]))
def test_088_what_is_reached_is_what_the_shortest_sure_enough_paths_reach(
    graph: Graph, depth: int, least: float
) -> None:
    naive: dict[str, tuple[int, float]] = {}
    for path, confidence in simple_paths(graph, "ann", depth):
        if confidence >= least:
            steps, before = len(path) - 1, naive.get(path[-1])
            if before is None or (steps, -confidence) < (before[0], -before[1]):
                naive[path[-1]] = steps, confidence
    found = walk(steps_of(graph), "ann", max_depth=depth, least=least)
    assert found.complete
    assert {one: (trail.depth, trail.confidence) for one, trail in found.reached.items()} == naive
    edges = {(source, target) for source, target, _ in graph}
    for one, trail in found.reached.items():
        path = trail.path
        assert (path[0], path[-1], len(path) - 1, len({*path})) == ("ann", one, trail.depth, len(path))
        assert {*pairwise(path)} <= edges
    assert [trail.depth for trail in found.reached.values()] == sorted(t.depth for t in found.reached.values())


@given(graphs, st.sampled_from(NODES[1:]))
def test_088_a_path_is_the_shortest_and_of_these_the_surest(graph: Graph, target: str) -> None:
    naive = min(
        ((len(path) - 1, -sure) for path, sure in simple_paths(graph, "ann", 10) if path[-1] == target), default=None
    )
    found = walk(steps_of(graph), "ann", max_depth=10, target=target).reached.get(target)
    assert (None if found is None else (found.depth, -found.confidence)) == naive


def test_088_a_longer_way_that_is_surer_opens_what_lies_behind() -> None:
    graph = [("s", "b", 0.8), ("s", "a", 1.0), ("a", "b", 1.0), ("b", "c", 0.8)]
    found = walk(steps_of(graph), "s", max_depth=5, least=0.75).reached
    assert (found["b"].depth, found["b"].confidence) == (1, 0.8)
    assert (found["c"].path, found["c"].confidence) == (["s", "a", "b", "c"], 0.8)


def test_088_names_that_are_parts_of_others_do_not_stop_a_walk() -> None:
    found = walk(steps_of([("joanna", "anna", 1.0), ("anna", "ann", 1.0)]), "joanna", max_depth=5).reached
    assert found["ann"].path == ["joanna", "anna", "ann"]


def test_088_each_step_after_the_first_takes_its_share() -> None:
    found = walk(steps_of([("a", "b", 0.9), ("b", "c", 0.9)]), "a", max_depth=5, decay=0.1).reached
    assert found["b"].confidence == pytest.approx(0.9)
    assert found["c"].confidence == pytest.approx(0.9 * 0.9 * 0.9)


def test_088_a_dense_graph_is_given_up_and_said_so() -> None:
    names = [f"n{number}" for number in range(60)]
    graph = [(one, other, 1.0) for one, other in product(names, names)]
    asked: list[int] = []

    def steps(entity_ids: Collection[str], least: float, limit: int) -> Sequence[Step]:
        asked.append(limit)
        return steps_of(graph)(entity_ids, least, limit)

    found = walk(steps, "n0", max_depth=20, most_edges=1_000)
    assert (found.complete, len(found.reached)) == (False, 59)
    assert asked == [1_001, 941], "no more is asked for than is allowed"
    assert not walk(steps_of(graph), "n0", max_depth=5, most_seconds=-1).complete
    whole = walk(steps_of(graph), "n0", max_depth=20)
    assert (whole.complete, len(whole.reached)) == (True, 59)
