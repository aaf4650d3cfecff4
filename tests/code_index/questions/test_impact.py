"""Impact of changes in the shop, and call chains between its definitions."""

import pytest

from scrubjay.code_index.questions.impact import impact_of, is_guess, trace_calls
from scrubjay.code_index.questions.traversal import GraphNode, GraphWalker, ReachedNode, UsePath
from scrubjay.code_index.service import CodeService, LoadedIndex
from scrubjay.core.errors import NotFound

Shop = tuple[CodeService, LoadedIndex]


def called(node: GraphNode, loaded: LoadedIndex) -> str:
    return loaded.names.qualified(node.symbol) if node.symbol >= 0 else loaded.corpus.files[node.file].path


def names(path: UsePath, loaded: LoadedIndex) -> list[str]:
    return [called(node, loaded) for node in path.nodes]


def summary(reached: ReachedNode, loaded: LoadedIndex) -> tuple[str, int, list[str], float]:
    path = reached.path
    return called(reached.node, loaded), reached.hops, names(path, loaded)[1:-1], round(path.confidence, 2)


async def test_impact_lists_users_with_their_paths_and_the_tests(shop: Shop) -> None:
    code, loaded = shop
    found = await impact_of("load_user", code, loaded, 3)
    assert [summary(one, loaded) for one in found.affected] == [
        ("validate_password", 1, [], 1.0),
        ("Session.login", 2, ["validate_password"], 1.0),
        ("handle_login", 3, ["validate_password", "Session.login"], 0.9),
    ]
    assert [summary(one, loaded) for one in found.tests] == [
        ("test_login", 3, ["validate_password", "Session.login"], 0.9)
    ]
    assert (found.guesses, found.incomplete) == (0, False)
    near = await impact_of("load_user", code, loaded, 1)
    assert ([summary(one, loaded)[0] for one in near.affected], near.tests) == (["validate_password"], [])


async def test_impact_of_a_class_includes_users_of_its_members(shop: Shop) -> None:
    code, loaded = shop
    found = await impact_of("AuthService", code, loaded, 1)
    assert {summary(one, loaded)[0] for one in found.affected} == {"loginHandler", "changePassword", "start"}
    for constructor, maker in (("Session.__init__", "handle_login"), ("AuthService.constructor", "start")):
        impact = await impact_of(constructor, code, loaded, 1)
        assert {summary(one, loaded)[0] for one in impact.affected} == {maker}


async def test_users_that_depend_on_a_guess_are_counted(shop: Shop) -> None:
    code, loaded = shop
    found = await impact_of("Cache.refill_now", code, loaded, 3)
    assert ([summary(one, loaded)[0] for one in found.affected], found.guesses) == (["warm_up"], 1)
    assert is_guess(found.affected[0].path)


async def test_trace_returns_the_calls_between_two_functions(shop: Shop) -> None:
    code, loaded = shop
    found = await trace_calls("handle_login", "load_user", code, loaded, hops=8, limit=5)
    assert [names(path, loaded) for path in found.paths] == [
        ["handle_login", "Session.login", "validate_password", "load_user"]
    ]
    assert [[link.line for link in path.links] for path in found.paths] == [[9, 23, 10]]
    assert (found.is_reversed, found.incomplete) == (False, False)
    assert (await trace_calls("handle_login", "load_user", code, loaded, hops=2, limit=5)).paths == []


async def test_trace_reports_a_chain_in_the_opposite_direction(shop: Shop) -> None:
    code, loaded = shop
    found = await trace_calls("UserStore", "loginHandler", code, loaded, hops=8, limit=1)
    assert found.is_reversed
    assert [names(path, loaded) for path in found.paths] == [
        ["loginHandler", "AuthService.authenticate", "AuthService.validatePassword", "UserStore.findByName"]
    ]


async def test_an_unknown_name_is_rejected_with_similar_names(shop: Shop) -> None:
    code, loaded = shop
    with pytest.raises(NotFound) as missing:
        await impact_of("load_usr", code, loaded, 3)
    assert missing.value.record.hint == "did you mean load_user?"


async def test_a_walk_that_stops_at_its_limit_reports_it(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    code, loaded = shop
    monkeypatch.setattr("scrubjay.code_index.questions.traversal.MAX_VISITED", 1)
    walker = GraphWalker(loaded.corpus, await code.use_graph(loaded))
    (row,) = loaded.names.find("load_user")
    assert len(walker.dependents([walker.node(row)], 3)) == 1
    assert walker.ended_early
