"""What every backend keeps of how things are related. Numbers are rows of the feature table."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import NotFound, QuotaExceeded
from scrubjay.core.policies import Allowance
from scrubjay.features.knowledge.models import Edge, Generation, GraphScope, Inference, Keeping, Kept, Pattern, Triple
from scrubjay.features.knowledge.names import entity_of, keys_of, named, words_of
from scrubjay.features.knowledge.store import Edges
from tests.contracts.samples import NOW

ALL = GraphScope()
LATER = NOW + timedelta(hours=1)


def triple(said: str, name: str = "", **fields: Any) -> Triple:
    """`ann reports_to bob` as a triple."""
    subject, predicate, object_ = said.split()
    plain: dict[str, Any] = {
        "id": f"tri_{name or said.replace(' ', '_')}",
        "subject": entity_of(subject),
        "predicate": predicate,
        "object": entity_of(object_),
        "source": "test",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Triple(**(plain | fields))


async def keep(store: Store, *triples: Triple, replace: bool = False, **more: Any) -> Sequence[Kept]:
    entities = [named(end) for one in triples for end in (one.subject, one.object)]
    return await store.knowledge.keep(triples, entities, replace=replace, **more)


async def edges_of(store: Store, scope: GraphScope = ALL, *starts: str) -> list[Edge]:
    def work(edges: Edges) -> list[Edge]:
        return [*edges.around([*starts], None, "forward", least=0.0, limit=100)]

    return await store.knowledge.walk(scope, work, NOW)


async def test_086_a_triple_is_kept_whole_and_other_processes_see_it(store: Store, other: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    whole = triple(
        "ann reports_to bob",
        project_id=project.id,
        graph_id="people",
        confidence=0.75,
        ttl=60,
        context="at lunch",
        metadata={"a": [1, None]},
        client="ada",
        expires_at=NOW + timedelta(seconds=60),
    )
    assert await keep(store, whole) == [Kept(whole, Keeping.ADDED)]
    scope = GraphScope(project.id, "people")
    assert await other.knowledge.triple(scope, whole.id, NOW) == whole
    for elsewhere in (ALL, GraphScope(project.id), GraphScope(None, "people")):
        assert await other.knowledge.triple(elsewhere, whole.id, NOW) is None
        assert await other.knowledge.named(elsewhere, ["ann"], NOW) == {}
        assert await edges_of(other, elsewhere, "entity:ann") == []
        assert (await other.knowledge.match(elsewhere, [Pattern()], 10, NOW)).subjects == []
        assert await other.knowledge.find(elsewhere, "ann", 0, 10, NOW) == ([], 0)
        assert (await other.knowledge.relationships(elsewhere, "entity:ann", 10, NOW)).outgoing == []
        assert (await other.knowledge.forget_triple(elsewhere, whole.id)).triples == []
    with pytest.raises(NotFound):
        await keep(store, triple("a b c", project_id="prj_none"))


async def test_086_the_same_relation_is_replaced_or_left_and_never_kept_twice(store: Store) -> None:
    first = triple("ann knows bob", context="once", client="ada")
    await keep(store, first)
    again = triple("ann knows bob", "2", confidence=0.5, source="later", metadata={"n": 2}, updated_at=LATER)
    assert await keep(store, again) == [Kept(first, Keeping.KNOWN)]
    ((changed, keeping),) = [(one.triple, one.keeping) for one in await keep(store, again, replace=True)]
    assert (changed.id, changed.confidence, changed.source, changed.metadata) == (first.id, 0.5, "later", {"n": 2})
    assert (changed.context, changed.client, changed.created_at, changed.updated_at) == ("once", "ada", NOW, LATER)
    assert keeping is Keeping.REPLACED
    assert await store.knowledge.triple(ALL, first.id, NOW) == changed
    other_graph = triple("ann knows bob", "3", graph_id="other")
    assert [one.keeping for one in await keep(store, other_graph)] == [Keeping.ADDED]
    assert [edge.triple_id for edge in await edges_of(store, ALL, "entity:ann")] == [first.id]


async def test_086_all_of_a_batch_is_kept_or_none(store: Store) -> None:
    too_many = [triple("a r b", client="ada"), triple("a r c", client="ada")]
    with pytest.raises(QuotaExceeded):
        await keep(store, *too_many, allowance=Allowance("ada", 1))
    assert await edges_of(store, ALL, "entity:a") == []
    assert await store.knowledge.named(ALL, ["a", "b"], NOW) == {}


async def test_086_what_has_expired_is_not_known_and_can_be_erased(store: Store) -> None:
    brief = triple("ann knows bob", ttl=60, expires_at=NOW + timedelta(seconds=60))
    await keep(store, brief, triple("bob knows carol"))
    made_of = (await store.knowledge.state(ALL, NOW)).generation
    follows = Inference(
        subject="entity:bob",
        predicate="known_by",
        object="entity:ann",
        confidence=1.0,
        source="inference:test",
        rests_on=[brief.id],
    )
    assert await store.knowledge.keep_inferred(ALL, made_of, [follows], None, NOW)
    at = NOW + timedelta(seconds=60)
    before = NOW + timedelta(seconds=59)
    for now, seen in ((before, 1), (at, 0)):
        assert len(await store.knowledge.named(ALL, ["ann"], now)) == seen
        assert ((await store.knowledge.entity(ALL, "entity:ann", now)) is not None) == bool(seen)
        assert len(await store.knowledge.triples(ALL, [brief.id], now)) == seen
        known = await store.knowledge.relationships(ALL, "entity:bob", 10, now)
        assert (len(known.incoming), known.incoming_total) == (seen, seen)
        assert [one.predicate for one in known.outgoing] == ["knows", "known_by"][: 1 + seen]
        assert (await store.knowledge.find(ALL, "ann", 0, 10, now))[1] == seen
        assert len((await store.knowledge.match(ALL, [Pattern(object="entity:bob")], 10, now)).subjects) == seen
        state = await store.knowledge.state(ALL, now)
        assert (state.triples, state.inferred, state.entities) == (1 + seen, seen, 2 + seen)
        assert len(await store.knowledge.alike(ALL, words_of("Ann"), 10, now)) == 2 + seen
    again = triple("ann knows bob", "again", created_at=at, updated_at=at)
    assert [one.triple.id for one in await keep(store, again)] == ["tri_again"], "what has expired is not known"
    await keep(store, triple("dan knows eve", ttl=1, expires_at=NOW + timedelta(seconds=1)))
    assert await store.knowledge.forget_expired(NOW) == 0
    assert await store.knowledge.forget_expired(at) == 1
    assert await store.knowledge.entity(ALL, "entity:dan", NOW) is None
    assert (await store.check()).problems == []


async def test_087_entities_are_found_by_their_names_and_by_words_they_share(store: Store) -> None:
    await keep(store, triple("AuthService uses postgres"), triple("auth-gateway uses node_1"))
    found = await store.knowledge.named(ALL, ["auth-service", "authservice", "nothing"], NOW)
    assert {key: [one.name for one in entities] for key, entities in found.items()} == {
        "auth-service": ["AuthService"],
        "authservice": ["AuthService"],
    }
    alike = await store.knowledge.alike(ALL, words_of("auth gateways"), 10, NOW)
    assert alike[0].name == "auth-gateway"
    assert {one.name for one in alike} == {"auth-gateway", "AuthService", "postgres", "node_1"}
    assert [one.name for one in await store.knowledge.alike(ALL, words_of("postgresql"), 1, NOW)] == ["postgres"]
    assert await store.knowledge.add_alias(ALL, "entity:postgres", "PG", keys_of("PG"), words_of("PG"), NOW)
    assert not await store.knowledge.add_alias(ALL, "entity:none", "x", ["x"], ["x"], NOW)
    assert await store.knowledge.aliases(ALL, "entity:postgres") == ["PG"]
    assert [one.id for one in (await store.knowledge.named(ALL, ["pg"], NOW))["pg"]] == ["entity:postgres"]


async def test_086_a_project_sees_its_own_and_what_is_global_as_one_graph(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await keep(store, triple("ann reports_to bob"))
    await keep(store, triple("ann manages dan", project_id=project.id))
    scope = GraphScope(project.id)
    assert {edge.object for edge in await edges_of(store, scope, "entity:ann")} == {"entity:bob", "entity:dan"}
    assert {edge.object for edge in await edges_of(store, ALL, "entity:ann")} == {"entity:bob"}
    assert [one.id for one in (await store.knowledge.named(scope, ["ann"], NOW))["ann"]] == ["entity:ann"]
    state = await store.knowledge.state(scope, NOW)
    assert (state.entities, state.triples) == (3, 2)

    def own(edges: Edges) -> frozenset[str]:
        return edges.own(["tri_ann_reports_to_bob", "tri_ann_manages_dan"])

    assert await store.knowledge.walk(scope, own, NOW) == {"tri_ann_manages_dan"}


async def test_088_edges_go_both_ways_by_predicate_confidence_and_limit(store: Store) -> None:
    await keep(store, triple("a r b"), triple("a r c", confidence=0.5), triple("a s b"), triple("c r b"))

    def work(edges: Edges) -> list[list[str]]:
        return [
            sorted(edge.object for edge in edges.around(["entity:a"], ["r"], "forward", least=0.5, limit=9)),
            [edge.object for edge in edges.around(["entity:a"], ["r"], "forward", least=0.51, limit=9)],
            sorted(edge.subject for edge in edges.around(["entity:b"], ["r", "s"], "backward", least=0, limit=9)),
            sorted(edge.subject for edge in edges.around(["entity:b"], None, "backward", least=0, limit=9)),
            ["x"] * len(edges.around(["entity:a", "entity:c"], None, "forward", least=0, limit=2)),
            [edge.subject for edge in edges.every(["r"], least=0.6, limit=9)],
            ["x"] * len(edges.every(["r", "s"], least=0, limit=3)),
        ]

    assert await store.knowledge.walk(ALL, work, NOW) == [
        ["entity:b", "entity:c"],
        ["entity:b"],
        ["entity:a", "entity:a", "entity:c"],
        ["entity:a", "entity:a", "entity:c"],
        ["x", "x"],
        ["entity:a", "entity:c"],
        ["x", "x", "x"],
    ]


async def test_088_patterns_are_fitted_by_subjects_that_fit_all_of_them(store: Store) -> None:
    await keep(store, triple("a uses x"), triple("a owns y"), triple("b uses x"), triple("c owns y"))
    uses, owns = Pattern(predicate="uses", object="entity:x"), Pattern(predicate="owns")
    both = await store.knowledge.match(ALL, [owns, uses], 10, NOW)
    assert (both.subjects, both.total, both.complete) == (["entity:a"], 2, True)
    assert {one.id for one in both.triples} == {"tri_a_uses_x", "tri_a_owns_y"}
    assert (await store.knowledge.match(ALL, [uses], 1, NOW)).total == 3
    anything = await store.knowledge.match(ALL, [Pattern()], 10, NOW)
    assert sorted(anything.subjects) == ["entity:a", "entity:b", "entity:c"]
    of_c = Pattern(subject="entity:c", predicate="owns", object="entity:y")
    assert (await store.knowledge.match(ALL, [of_c, owns], 10, NOW)).subjects == ["entity:c"]
    assert (await store.knowledge.match(ALL, [of_c, uses], 10, NOW)).subjects == []


async def test_086_triples_are_found_by_a_part_of_a_name_or_predicate(store: Store) -> None:
    await keep(store, triple("PostgreSQL runs_on db-host"), triple("ann likes tea", confidence=0.4))
    for text, found in {"gresq": 1, "db-ho": 1, "runs-on": 1, "tea": 0, "%": 0, "like": 0}.items():
        triples, total = await store.knowledge.find(ALL, text, 0.5, 10, NOW)
        assert (len(triples), total) == (found, found), text
    assert (await store.knowledge.find(ALL, "tea", 0.4, 10, NOW))[1] == 1


async def test_086_forgetting_takes_what_nothing_else_names(store: Store) -> None:
    await keep(store, triple("a r b"), triple("b r c"))
    gone = await store.knowledge.forget_triple(ALL, "tri_a_r_b")
    assert (gone.triples, gone.entities) == (["tri_a_r_b"], ["entity:a"])
    assert await store.knowledge.entity(ALL, "entity:b", NOW) is not None
    gone = await store.knowledge.forget_entity(ALL, "entity:c")
    assert (gone.triples, sorted(gone.entities)) == (["tri_b_r_c"], ["entity:b", "entity:c"])
    assert (await store.knowledge.forget_entity(ALL, "entity:c")).triples == []
    state = await store.knowledge.state(ALL, NOW)
    assert (state.entities, state.triples) == (0, 0)


def inference(rests_on: str, said: str = "b r a") -> Inference:
    subject, predicate, object_ = said.split()
    return Inference(
        subject=f"entity:{subject}",
        predicate=predicate,
        object=f"entity:{object_}",
        confidence=0.9,
        source="inference:symmetric:x",
        rests_on=[rests_on],
    )


@pytest.mark.parametrize("how", ["forgotten", "changed", "entity forgotten"])
async def test_089_what_was_inferred_goes_as_soon_as_what_it_rests_on_is_gone_or_another(
    store: Store, other: Store, how: str
) -> None:
    await keep(store, triple("a r b"), triple("c r d"))
    made_of = (await store.knowledge.state(ALL, NOW)).generation
    both = [inference("tri_a_r_b"), inference("tri_c_r_d", "d r c")]
    assert await store.knowledge.keep_inferred(ALL, made_of, both, "not all", NOW)
    (known,) = (await other.knowledge.relationships(ALL, "entity:a", 10, NOW)).incoming
    assert (known.rests_on, known.inferred, known.source) == (("tri_a_r_b",), True, "inference:symmetric:x")
    assert (known.subject.name, known.object.name) == ("b", "a")
    assert await other.knowledge.triple(ALL, known.id, NOW) == known
    state = await other.knowledge.state(ALL, NOW)
    assert (state.inferred, state.up_to_date, state.problem, state.inferred_at) == (2, True, "not all", NOW)
    assert await other.knowledge.behind() == []
    match how:
        case "forgotten":
            await store.knowledge.forget_triple(ALL, "tri_a_r_b")
        case "changed":
            await keep(store, triple("a r b", confidence=0.1), replace=True)
        case _:
            await store.knowledge.forget_entity(ALL, "entity:a")
    assert await other.knowledge.triple(ALL, known.id, NOW) is None
    state = await other.knowledge.state(ALL, NOW)
    assert (state.inferred, state.up_to_date) == (1, False)
    assert await other.knowledge.behind() == [ALL]
    assert (await store.check()).problems == []


async def test_089_inferences_of_another_state_are_not_kept(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    scope = GraphScope(project.id)
    await keep(store, triple("a r b"), triple("b r c", project_id=project.id))
    made_of = (await store.knowledge.state(scope, NOW)).generation
    assert made_of == Generation(1, 1)
    await keep(store, triple("x r y"))
    assert not await store.knowledge.keep_inferred(scope, made_of, [inference("tri_a_r_b")], None, NOW)
    assert (await store.knowledge.state(scope, NOW)).inferred == 0
    assert {*await store.knowledge.behind()} == {ALL, scope}
    fresh = (await store.knowledge.state(scope, NOW)).generation
    assert await store.knowledge.keep_inferred(scope, fresh, [inference("tri_a_r_b")], None, NOW)
    assert await store.knowledge.behind() == [ALL], "what is global changed, and was seen"
    assert (await store.knowledge.state(ALL, NOW)).inferred == 0, "a project's inferences are its own"
