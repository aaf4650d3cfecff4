"""When two names mean the same, and what ids they make (row 87)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.knowledge.names import entity_of, key_of, keys_of, predicate_of


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
    assert {*keys_of(one)} & {*keys_of(other)}


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ann", "Anna"), ("Ann A", "Anna"), ("C", "C++"), ("C#", "C++"), ("server 1", "server 2"), ("net", ".NET")],
)
def test_087_names_that_are_only_alike_are_not(one: str, other: str) -> None:
    assert not {*keys_of(one)} & {*keys_of(other)}
    assert entity_of(one).id != entity_of(other).id


def test_087_ids_tell_the_type_and_the_name() -> None:
    assert entity_of("Billing Service").id == "entity:billing-service"
    assert entity_of("Ann", "Person").id == "person:ann"
    assert re.fullmatch(r"entity:[0-9a-f]{10}", entity_of("\N{CJK UNIFIED IDEOGRAPH-6771}").id)
    assert re.fullmatch(r"entity:c-[0-9a-f]{10}", entity_of("C++").id)
    for nothing in ("", " ", "...", '""', "-"):
        with pytest.raises(InvalidRequest):
            entity_of(nothing)


@given(st.text(max_size=120), st.text(max_size=120))
def test_087_two_names_have_one_id_only_if_they_have_one_key(one: str, other: str) -> None:
    if not key_of(one) or not key_of(other):
        return
    first, second = entity_of(one), entity_of(other)
    assert (first.id == second.id) == (key_of(one) == key_of(other))
    assert re.fullmatch(r"entity:[a-z0-9-]{1,50}", first.id)


def test_086_a_predicate_is_small_letters_and_underscores() -> None:
    assert predicate_of(" Depends  on! ") == "depends_on"
    assert predicate_of("is-part-of") == "is_part_of"
    for nothing in ("", "!!", "_", "x" * 101):
        with pytest.raises(InvalidRequest):
            predicate_of(nothing)
