"""Normalization of entity names, ids and predicates (rows 86 and 87)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.knowledge.names import name_key, name_keys, new_entity, normalize_predicate


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PostgreSQL", "postgresql"),
        ("the auth service", "Auth Service"),
        ("AuthService", "auth service"),
        ("auth_service", "auth-service"),
        ("\N{FULLWIDTH LATIN CAPITAL LETTER A}nn", "ann"),
        (' "Ann". ', "ann"),
    ],
)
def test_087_names_that_differ_only_in_writing_are_the_same(one: str, other: str) -> None:
    assert {*name_keys(one)} & {*name_keys(other)}


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ann", "Anna"), ("Ann A", "Anna"), ("C", "C++"), ("C#", "C++"), ("server 1", "server 2"), ("net", ".NET")],
)
def test_087_similar_names_are_different_entities(one: str, other: str) -> None:
    assert not {*name_keys(one)} & {*name_keys(other)}
    assert new_entity(one).id != new_entity(other).id


def test_087_an_id_contains_the_type_and_the_name() -> None:
    assert new_entity("Billing Service").id == "entity:billing-service"
    assert new_entity("Ann", "Person").id == "person:ann"
    assert re.fullmatch(r"entity:[0-9a-f]{10}", new_entity("\N{CJK UNIFIED IDEOGRAPH-6771}").id)
    assert re.fullmatch(r"entity:c-[0-9a-f]{10}", new_entity("C++").id)
    for invalid in ("", " ", "...", '""', "-"):
        with pytest.raises(InvalidRequest):
            new_entity(invalid)


@given(st.text(max_size=120), st.text(max_size=120))
def test_087_names_have_the_same_id_exactly_when_they_have_the_same_key(one: str, other: str) -> None:
    if not name_key(one) or not name_key(other):
        return
    first, second = new_entity(one), new_entity(other)
    assert (first.id == second.id) == (name_key(one) == name_key(other))
    assert re.fullmatch(r"entity:[a-z0-9-]{1,50}", first.id)


def test_086_a_predicate_is_lower_case_with_underscores() -> None:
    assert normalize_predicate(" Depends  on! ") == "depends_on"
    assert normalize_predicate("is-part-of") == "is_part_of"
    for invalid in ("", "!!", "_", "x" * 101):
        with pytest.raises(InvalidRequest):
            normalize_predicate(invalid)
