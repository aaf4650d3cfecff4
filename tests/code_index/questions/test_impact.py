"""Who breaks when something of the shop changes, and how one thing reaches another."""

import pytest

from scrubjay.code_index.questions.impact import impact_of, is_guess, trace_of
from scrubjay.code_index.questions.traversal import Node, Reached, Walker, Way
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.core.errors import NotFound

Shop = tuple[CodeService, Loaded]


def called(node: Node, loaded: Loaded) -> str:
    return loaded.names.qualified(node.symbol) if node.symbol >= 0 else loaded.corpus.files[node.file].path


def names(way: Way, loaded: Loaded) -> list[str]:
    return [called(node, loaded) for node in way.nodes]


def told(reached: Reached, loaded: Loaded) -> tuple[str, int, list[str], float]:
    way = reached.way
    return called(reached.node, loaded), reached.hops, names(way, loaded)[1:-1], round(way.confidence, 2)


async def test_who_breaks_is_told_with_the_way_there_and_the_tests_that_reach_it(shop: Shop) -> None:
    code, loaded = shop
    found = await impact_of("load_user", code, loaded, 3)
    assert [told(one, loaded) for one in found.affected] == [
        ("validate_password", 1, [], 1.0),
        ("Session.login", 2, ["validate_password"], 1.0),
        ("handle_login", 3, ["validate_password", "Session.login"], 0.9),
    ]
    assert [told(one, loaded) for one in found.tests] == [
        ("test_login", 3, ["validate_password", "Session.login"], 0.9)
    ]
    assert (found.guesses, found.incomplete) == (0, False)
    near = await impact_of("load_user", code, loaded, 1)
    assert ([told(one, loaded)[0] for one in near.affected], near.tests) == (["validate_password"], [])


async def test_a_class_breaks_whoever_uses_it_or_what_is_in_it(shop: Shop) -> None:
    code, loaded = shop
    found = await impact_of("AuthService", code, loaded, 1)
    assert {told(one, loaded)[0] for one in found.affected} == {"loginHandler", "changePassword", "start"}
    for constructor, maker in (("Session.__init__", "handle_login"), ("AuthService.constructor", "start")):
        made = await impact_of(constructor, code, loaded, 1)
        assert {told(one, loaded)[0] for one in made.affected} == {maker}


async def test_who_only_breaks_if_a_guess_is_right_is_counted(shop: Shop) -> None:
    code, loaded = shop
    found = await impact_of("Cache.refill_now", code, loaded, 3)
    assert ([told(one, loaded)[0] for one in found.affected], found.guesses) == (["warm_up"], 1)
    assert is_guess(found.affected[0].way)


async def test_the_calls_from_one_to_another_are_told(shop: Shop) -> None:
    code, loaded = shop
    found = await trace_of("handle_login", "load_user", code, loaded, hops=8, limit=5)
    assert [names(way, loaded) for way in found.ways] == [
        ["handle_login", "Session.login", "validate_password", "load_user"]
    ]
    assert [[link.line for link in way.links] for way in found.ways] == [[9, 23, 10]]
    assert (found.is_reversed, found.incomplete) == (False, False)
    assert (await trace_of("handle_login", "load_user", code, loaded, hops=2, limit=5)).ways == []


async def test_a_way_that_only_goes_the_other_way_round_is_told_as_that(shop: Shop) -> None:
    code, loaded = shop
    found = await trace_of("UserStore", "loginHandler", code, loaded, hops=8, limit=1)
    assert found.is_reversed
    assert [names(way, loaded) for way in found.ways] == [
        ["loginHandler", "AuthService.authenticate", "AuthService.validatePassword", "UserStore.findByName"]
    ]


async def test_a_name_that_does_not_exist_is_refused_with_the_nearest(shop: Shop) -> None:
    code, loaded = shop
    with pytest.raises(NotFound) as missing:
        await impact_of("load_usr", code, loaded, 3)
    assert missing.value.record.hint == "did you mean load_user?"


async def test_a_walk_that_meets_too_much_says_so(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    code, loaded = shop
    monkeypatch.setattr("scrubjay.code_index.questions.traversal.MOST_VISITED", 1)
    walker = Walker(loaded.corpus, await code.links(loaded))
    (row,) = loaded.names.find("load_user")
    assert len(walker.backward([walker.node(row)], 3)) == 1
    assert walker.ended_early
