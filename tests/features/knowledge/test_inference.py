"""Forward inference and backward proofs, which cite the stored triples they follow from (row 89)."""

from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.knowledge import inference
from scrubjay.features.knowledge.inference import Proof, Unproved, infer, prove
from scrubjay.features.knowledge.models import Direction, GraphEdge, GraphGeneration, GraphScope
from scrubjay.features.knowledge.rules import INVERSES, STANDARD_PREDICATES, SYMMETRIC, TRANSITIVE, implying_predicates


def _edge(triple_id: str, subject: str, predicate: str, object_: str, confidence: str = "1") -> GraphEdge:
    return GraphEdge(triple_id, subject, predicate, object_, float(confidence))


class FakeGraph:
    """Implements `GraphReader`: `a r b` is a triple, and `a r b .5` one with confidence 0.5."""

    generation = GraphGeneration(1, 1)

    def __init__(self, *triples: str, own: Collection[str] = ()) -> None:
        self.edges = [_edge(f"t{number}", *one.split()) for number, one in enumerate(triples)]
        self._own = frozenset(own)

    def edges_from(
        self,
        entity_ids: Collection[str],
        predicates: Collection[str] | None,
        direction: Direction,
        *,
        min_confidence: float,
        limit: int,
    ) -> Sequence[GraphEdge]:
        found = [
            one
            for one in self.edges
            if (one.subject if direction == "forward" else one.object) in entity_ids
            and (predicates is None or one.predicate in predicates)
            and one.confidence >= min_confidence
        ]
        return found[:limit]

    def edges_with(self, predicates: Collection[str], *, min_confidence: float, limit: int) -> Sequence[GraphEdge]:
        return [one for one in self.edges if one.predicate in predicates and one.confidence >= min_confidence][:limit]

    def in_project(self, triple_ids: Collection[str]) -> frozenset[str]:
        return self._own & {*triple_ids}


def inferred_triples(
    stored: FakeGraph, *predicates: str, scope: GraphScope | None = None, **more: float
) -> dict[str, list[str]]:
    found = infer(stored, scope or GraphScope(), predicates, **more)  # pyright: ignore[reportArgumentType]
    return {f"{one.subject} {one.predicate} {one.object}": [*one.rests_on] for one in found.inferences}


def test_089_a_transitive_chain_is_inferred_and_cites_its_triples() -> None:
    stored = FakeGraph("a depends_on b", "b depends_on c", "c depends_on d", "d depends_on e")
    assert inferred_triples(stored, "depends_on") == {
        "a depends_on c": ["t0", "t1"],
        "a depends_on d": ["t0", "t1", "t2"],
        "b depends_on d": ["t1", "t2"],
        "b depends_on e": ["t1", "t2", "t3"],
        "c depends_on e": ["t2", "t3"],
    }
    found = {one.object: one for one in infer(stored, GraphScope(), ["depends_on"]).inferences if one.subject == "a"}
    assert (found["c"].confidence, found["c"].source) == (0.9, "inference:transitive:depth=2")
    assert (found["d"].confidence, found["d"].source) == (0.81, "inference:transitive:depth=3")


def test_089_confidences_are_multiplied() -> None:
    assert inferred_triples(FakeGraph("a depends_on b .85", "b depends_on c"), "depends_on") == {}
    weak = FakeGraph("a depends_on b .5", "b depends_on c .5")
    (found,) = infer(weak, GraphScope(), ["depends_on"], min_confidence=0.2).inferences
    assert found.confidence == pytest.approx(0.5 * 0.5 * 0.9)


def test_089_inverse_and_symmetric_relations_follow_from_one_triple() -> None:
    stored = FakeGraph("ann reports_to bob .9", "hall adjacent_to kitchen", "berlin located_in germany", "a owns b")
    found = infer(stored, GraphScope(), ["manages", "adjacent_to", "contains", "owned_by"]).inferences
    assert [(one.subject, one.predicate, one.object, one.confidence, one.source) for one in found] == [
        ("bob", "manages", "ann", 0.9, "inference:inverse:t0"),
        ("kitchen", "adjacent_to", "hall", 1.0, "inference:symmetric:t1"),
        ("germany", "contains", "berlin", 1.0, "inference:inverse:t2"),
        ("b", "owned_by", "a", 1.0, "inference:inverse:t3"),
    ]


def test_089_stored_and_unsupported_triples_are_not_inferred() -> None:
    known = FakeGraph("a reports_to b", "b manages a", "b knows c", "c knows d", "x owns y", "y owns z")
    assert inferred_triples(known, "manages", "knows", "owns", "owned_by") == {
        "y owned_by x": ["t4"],
        "z owned_by y": ["t5"],
    }
    loop = FakeGraph("a depends_on b", "b depends_on a")
    assert inferred_triples(loop, "depends_on") == {}, "a cycle does not make an entity depend on itself"


def test_089_inverse_rules_apply_to_what_follows_by_transitive_ones() -> None:
    stored = FakeGraph("a depends_on b", "b depends_on c", "c requires d", "d requires e")
    assert inferred_triples(stored, "provides", "requires") == {
        "b provides a": ["t0"],
        "c provides b": ["t1"],
        "d provides c": ["t2"],
        "e provides d": ["t3"],
        "c provides a": ["t1", "t0"],
        "a requires b": ["t0"],
        "b requires c": ["t1"],
        "a requires c": ["t0", "t1"],
    }, "requires alone is not transitive"
    tall = FakeGraph(*(f"n{number} reports_to n{number + 1}" for number in range(9)))
    heads = {one.split()[0] for one in inferred_triples(tall, "manages", max_depth=9, min_confidence=0) if " n0" in one}
    assert heads == {f"n{number}" for number in range(1, 10)}
    assert len(inferred_triples(tall, "manages")) == 9 + 8 + 7, "the depth is limited"


def test_089_a_project_infers_only_triples_that_follow_from_its_own() -> None:
    stored = FakeGraph("a depends_on b", "b depends_on c", "c depends_on d", own=["t2"])
    assert [*inferred_triples(stored, "depends_on", scope=GraphScope("prj"))] == ["a depends_on d", "b depends_on d"]


def test_089_inference_stops_at_its_limit_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = FakeGraph(*(f"n{number} depends_on n{number + 1}" for number in range(20)))
    monkeypatch.setattr(inference, "MAX_INFERENCES", 5)
    found = infer(stored, GraphScope(), ["depends_on"])
    assert len(found.inferences) == 5
    assert found.problem == "more than 5 triples follow for depends_on; the others were not inferred"
    monkeypatch.setattr(inference, "MAX_EDGES", 10)
    assert infer(stored, GraphScope(), ["depends_on"]).inferences == []


@pytest.mark.parametrize(
    ("goal", "kind", "cited"),
    [
        ("ann reports_to bob", "direct", ["t0"]),
        ("bob manages ann", "inverse", ["t0"]),
        ("ann reports_to carol", "transitive", ["t0", "t1"]),
        ("ann reports_to dora", "transitive", ["t0", "t1", "t2"]),
        ("kitchen adjacent_to hall", "symmetric", ["t3"]),
        ("germany contains mitte", "transitive", ["t5", "t4"]),
        ("mitte belongs_to germany", "transitive", ["t4", "t5"]),
        ("dora manages ann", "transitive", ["t2", "t1", "t0"]),
        ("carol manages ann", "transitive", ["t1", "t0"]),
    ],
)
def test_089_a_proof_cites_stored_triples_in_the_order_of_the_derivation(
    goal: str, kind: str, cited: list[str]
) -> None:
    stored = FakeGraph(
        "ann reports_to bob",
        "bob reports_to carol .9",
        "dora manages carol",
        "hall adjacent_to kitchen",
        "mitte located_in berlin",
        "germany contains berlin",
    )
    subject, predicate, object_ = goal.split()
    proof = prove(stored, subject, predicate, object_, max_depth=10)
    assert isinstance(proof, Proof)
    assert (proof.kind, [step.triple_id for step in proof.steps]) == (kind, cited)
    assert (proof.path[0], proof.path[-1]) == (subject, object_)
    if goal == "ann reports_to dora":
        assert proof.confidence == pytest.approx(0.9 * 0.9**2)


def test_089_a_statement_without_a_derivation_is_not_proved() -> None:
    stored = FakeGraph("ann reports_to bob", "bob reports_to carol", "x owns y", "y owns z", "s knows s")
    for goal in (
        "carol reports_to ann",
        "x owns z",
        "z owned_by x",
        "ann knows bob",
        "ann reports_to ann",
        "n knows n",
    ):
        assert prove(stored, goal.split()[0], goal.split()[1], goal.split()[2], max_depth=10) == Unproved(complete=True)
    assert isinstance(prove(stored, "s", "knows", "s", max_depth=3), Proof)
    assert isinstance(prove(stored, "ann", "reports_to", "carol", max_depth=1), Unproved)


PREDICATES = ["contains", "located_in", "uses", "manages", "reports_to", "requires", "depends_on", "provides"]
names = st.sampled_from("abcde")
triple_texts = st.builds(" ".join, st.tuples(names, st.sampled_from(PREDICATES), names))


@given(st.lists(triple_texts, max_size=12))
def test_089_forward_inference_and_backward_proofs_agree(triples: list[str]) -> None:
    stored = FakeGraph(*triples)
    for predicate in ("belongs_to", *PREDICATES):
        forward = {*inferred_triples(stored, predicate, max_depth=3, min_confidence=0.0)}
        for subject in "abcde":
            for object_ in "abcde":
                goal = f"{subject} {predicate} {object_}"
                if subject != object_ and goal not in triples:
                    proof = prove(stored, subject, predicate, object_, max_depth=3)
                    assert isinstance(proof, Proof) == (goal in forward), goal


def test_089_rules_use_only_standard_predicates() -> None:
    assert {*INVERSES, *INVERSES.values(), *TRANSITIVE, *SYMMETRIC} <= {*STANDARD_PREDICATES}
    assert [one.predicate for one in implying_predicates("belongs_to")] == [
        "belongs_to",
        "contains",
        "located_in",
    ]
    assert [(one.predicate, one.is_reversed) for one in implying_predicates("overlaps")] == [
        ("overlaps", False),
        ("overlaps", True),
    ]
    assert [one.predicate for one in implying_predicates("likes")] == ["likes"]
