"""What follows by rules, forwards and backwards, always with the triples that it rests on (row 89)."""

from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.knowledge import inference as inferring
from scrubjay.features.knowledge.inference import Proof, Unproved, infer, prove
from scrubjay.features.knowledge.models import Direction, Edge, Generation, GraphScope
from scrubjay.features.knowledge.rules import INVERSES, KNOWN, SYMMETRIC, TRANSITIVE, readings_of


def _edge(triple_id: str, subject: str, predicate: str, object_: str, confidence: str = "1") -> Edge:
    return Edge(triple_id, subject, predicate, object_, float(confidence))


class Stored:
    """Satisfies `Edges`: `a r b` is a triple, and `a r b .5` a less sure one."""

    generation = Generation(1, 1)

    def __init__(self, *said: str, own: Collection[str] = ()) -> None:
        self.edges = [_edge(f"t{number}", *one.split()) for number, one in enumerate(said)]
        self._own = frozenset(own)

    def around(
        self,
        entity_ids: Collection[str],
        predicates: Collection[str] | None,
        direction: Direction,
        *,
        least: float,
        limit: int,
    ) -> Sequence[Edge]:
        found = [
            one
            for one in self.edges
            if (one.subject if direction == "forward" else one.object) in entity_ids
            and (predicates is None or one.predicate in predicates)
            and one.confidence >= least
        ]
        return found[:limit]

    def every(self, predicates: Collection[str], *, least: float, limit: int) -> Sequence[Edge]:
        return [one for one in self.edges if one.predicate in predicates and one.confidence >= least][:limit]

    def own(self, triple_ids: Collection[str]) -> frozenset[str]:
        return self._own & {*triple_ids}


def followed(stored: Stored, *predicates: str, scope: GraphScope | None = None, **more: float) -> dict[str, list[str]]:
    found = infer(stored, scope or GraphScope(), predicates, **more)  # pyright: ignore[reportArgumentType]
    return {f"{one.subject} {one.predicate} {one.object}": [*one.rests_on] for one in found.inferences}


def test_089_a_chain_is_transitive_and_cites_its_links() -> None:
    stored = Stored("a depends_on b", "b depends_on c", "c depends_on d", "d depends_on e")
    assert followed(stored, "depends_on") == {
        "a depends_on c": ["t0", "t1"],
        "a depends_on d": ["t0", "t1", "t2"],
        "b depends_on d": ["t1", "t2"],
        "b depends_on e": ["t1", "t2", "t3"],
        "c depends_on e": ["t2", "t3"],
    }
    found = {one.object: one for one in infer(stored, GraphScope(), ["depends_on"]).inferences if one.subject == "a"}
    assert (found["c"].confidence, found["c"].source) == (0.9, "inference:transitive:depth=2")
    assert (found["d"].confidence, found["d"].source) == (0.81, "inference:transitive:depth=3")


def test_089_real_confidences_count() -> None:
    assert followed(Stored("a depends_on b .85", "b depends_on c"), "depends_on") == {}
    weak = Stored("a depends_on b .5", "b depends_on c .5")
    (found,) = infer(weak, GraphScope(), ["depends_on"], least=0.2).inferences
    assert found.confidence == pytest.approx(0.5 * 0.5 * 0.9)


def test_089_inverse_and_symmetric_relations_follow_from_one_triple() -> None:
    stored = Stored("ann reports_to bob .9", "hall adjacent_to kitchen", "berlin located_in germany", "a owns b")
    found = infer(stored, GraphScope(), ["manages", "adjacent_to", "contains", "owned_by"]).inferences
    assert [(one.subject, one.predicate, one.object, one.confidence, one.source) for one in found] == [
        ("bob", "manages", "ann", 0.9, "inference:inverse:t0"),
        ("kitchen", "adjacent_to", "hall", 1.0, "inference:symmetric:t1"),
        ("germany", "contains", "berlin", 1.0, "inference:inverse:t2"),
        ("b", "owned_by", "a", 1.0, "inference:inverse:t3"),
    ]


def test_089_what_is_stored_and_what_does_not_follow_is_not_inferred() -> None:
    known = Stored("a reports_to b", "b manages a", "b knows c", "c knows d", "a manages x", "x manages y")
    assert followed(known, "manages", "knows") == {}
    loop = Stored("a depends_on b", "b depends_on a")
    assert followed(loop, "depends_on") == {}, "nothing depends on itself by going round"


def test_089_a_project_infers_only_what_rests_on_its_own() -> None:
    stored = Stored("a depends_on b", "b depends_on c", "c depends_on d", own=["t2"])
    assert [*followed(stored, "depends_on", scope=GraphScope("prj"))] == ["a depends_on d", "b depends_on d"]


def test_089_there_is_an_end_of_what_is_inferred_and_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = Stored(*(f"n{number} depends_on n{number + 1}" for number in range(20)))
    monkeypatch.setattr(inferring, "MOST_INFERRED", 5)
    found = infer(stored, GraphScope(), ["depends_on"])
    assert len(found.inferences) == 5
    assert found.problem == "more than 5 triples follow for depends_on: only so many are inferred"
    monkeypatch.setattr(inferring, "MOST_EDGES", 10)
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
    ],
)
def test_089_a_proof_cites_each_stored_triple_in_the_order_of_the_argument(
    goal: str, kind: str, cited: list[str]
) -> None:
    stored = Stored(
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


def test_089_what_nothing_says_is_not_proved() -> None:
    stored = Stored("ann reports_to bob", "bob reports_to carol", "x manages y", "y manages z", "s knows s")
    for goal in ("carol reports_to ann", "x manages z", "ann knows bob", "ann reports_to ann", "n knows n"):
        assert prove(stored, goal.split()[0], goal.split()[1], goal.split()[2], max_depth=10) == Unproved(complete=True)
    assert isinstance(prove(stored, "s", "knows", "s", max_depth=3), Proof)
    assert isinstance(prove(stored, "ann", "reports_to", "carol", max_depth=1), Unproved)


names = st.sampled_from("abcde")
said = st.builds(" ".join, st.tuples(names, st.sampled_from(["contains", "belongs_to", "located_in", "uses"]), names))


@given(st.lists(said, max_size=12))
def test_089_forward_and_backward_agree(triples: list[str]) -> None:
    stored = Stored(*triples)
    for predicate in ("contains", "belongs_to", "located_in", "uses"):
        forward = {*followed(stored, predicate, max_depth=3, least=0.0)}
        for subject in "abcde":
            for object_ in "abcde":
                goal = f"{subject} {predicate} {object_}"
                if subject != object_ and goal not in triples:
                    proof = prove(stored, subject, predicate, object_, max_depth=3)
                    assert isinstance(proof, Proof) == (goal in forward), goal


def test_089_rules_are_those_that_are_told() -> None:
    assert {*INVERSES, *INVERSES.values(), *TRANSITIVE, *SYMMETRIC} <= {*KNOWN}
    assert [reading.predicate for reading in readings_of("belongs_to")] == ["belongs_to", "contains", "located_in"]
    assert [(one.predicate, one.turned) for one in readings_of("overlaps")] == [("overlaps", False), ("overlaps", True)]
    assert [one.predicate for one in readings_of("likes")] == ["likes"]
