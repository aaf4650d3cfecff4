"""Rule-based extraction of relations from plain sentences (row 87)."""

import pytest

from scrubjay.features.knowledge.rules import STANDARD_PREDICATES
from scrubjay.features.knowledge.sentence_parser import PREDICATE_PHRASES, parse_relations


def relations_in(text: str) -> list[str]:
    return [f"{one.subject} {one.predicate} {one.object}" for one in parse_relations(text).relations]


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("The web shop depends on Postgres and Redis.", ["web shop depends_on Postgres", "web shop depends_on Redis"]),
        ("Ann and Dan report to Bob, and Bob knows Ed!", ["Ann reports_to Bob", "Dan reports_to Bob", "Bob knows Ed"]),
        ("A depends on B, C, and D.", ["A depends_on B", "A depends_on C", "A depends_on D"]),
        ("A depends on B and requires C.", ["A depends_on B", "A requires C"]),
        ("A depends on B, which requires C.", ["A depends_on B", "B requires C"]),
        ("A depends on B and C depends on D", ["A depends_on B", "C depends_on D"]),
        ("Postgres is a database.", ["Postgres is_a database"]),
        ("Dr. Smith manages Ann.", ["Dr. Smith manages Ann"]),
        ('Tolstoy wrote "War and Peace".', ["War and Peace authored_by Tolstoy"]),
        ("api depends_on node.js; api owned_by Team Blue", ["api depends_on node.js", "api owned_by Team Blue"]),
        ("- A requires B\n- C requires D", ["A requires B", "C requires D"]),
        ("The kitchen is next to the hall. The kitchen is next to the hall.", ["kitchen adjacent_to hall"]),
        ("Redis is used by the API.", ["API uses Redis"]),
        ("The secret plan depends on the API.", ["secret plan depends_on API"]),
    ],
)
def test_087_plain_sentences_yield_relations(text: str, relations: list[str]) -> None:
    assert relations_in(text) == relations
    assert parse_relations(text).not_understood == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It depends on B.",
        "A does not depend on B.",
        "A doesn't require B.",
        "A never uses B.",
        "Does A depend on B?",
        "Who reports to Bob?",
        "A may depend on B.",
        "If A depends on B then C requires D.",
        "A depends on B or C.",
        "A depends on B for logins.",
        "A needs to be fixed.",
        "Ann is a friend of Bob.",
        "Bob said Ann reports to Carol.",
        "The team that Ann leads depends on B.",
        "Use Redis for caching.",
        "A depends on it.",
        "A depends on.",
        "depends on B.",
        "The weather is nice.",
        "A depends on B, it requires C.",
        "\N{CJK UNIFIED IDEOGRAPH-6771} \N{CJK UNIFIED IDEOGRAPH-4EAC}",
        "A depends on " + "B" * 200 + ".",
    ],
)
def test_087_negated_interrogative_hypothetical_and_unclear_sentences_are_reported_as_not_understood(
    sentence: str,
) -> None:
    parsed = parse_relations(sentence)
    assert ([*parsed.relations], parsed.not_understood) == ([], [sentence])


def test_087_a_sentence_that_is_not_understood_does_not_affect_others() -> None:
    parsed = parse_relations("Alpha requires Beta. It is red. Gamma requires Delta.")
    assert [one.subject for one in parsed.relations] == ["Alpha", "Gamma"]
    assert parsed.not_understood == ["It is red."]
    assert parsed.relations[0].sentence == "Alpha requires Beta."


def test_087_every_standard_predicate_has_phrases() -> None:
    assert {name.rstrip("<") for name in PREDICATE_PHRASES} >= {*STANDARD_PREDICATES}
    for predicate, phrases in PREDICATE_PHRASES.items():
        for phrase in phrases:
            ends = "Zed", "Yod"
            expected = ends[::-1] if predicate.endswith("<") else ends
            assert relations_in(f"Zed {phrase} Yod.") == [f"{expected[0]} {predicate.rstrip('<')} {expected[1]}"], (
                phrase
            )


def test_087_pathological_texts_are_parsed_quickly() -> None:
    for text in ("A, " * 30_000, "and " * 30_000, "A depends on " * 10_000, '"' * 50_000, "a_" * 40_000, "." * 50_000):
        parse_relations(text)
