"""Rule-based extraction of explicitly stated facts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.facts.stated_facts import MAX_OWN_TEXT_LENGTH, FactCategory, Statement, find_statements
from scrubjay.features.memory.models import MemoryKind

PREFERENCE, DECISION, CONTEXT = MemoryKind.PREFERENCE, MemoryKind.DECISION, MemoryKind.CONTEXT


def statements_in(text: str) -> list[Statement]:
    return find_statements(text, speaker="user", is_agent=False)


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("I prefer tabs over spaces.", PREFERENCE, "user: spaces or tabs"),
        ("I now prefer spaces to tabs, because Ada does.", PREFERENCE, "user: spaces or tabs"),
        ("I prefer tabs over spaces in Makefiles.", PREFERENCE, "user: spaces or tabs in makefiles"),
        ("I really prefer pnpm for installing packages.", PREFERENCE, "user: preferred for installing packages"),
        ("I prefer short answers.", PREFERENCE, None),
        ("I don't like semicolons.", PREFERENCE, "user: likes semicolons"),
        ("I like semicolons.", PREFERENCE, "user: likes semicolons"),
        ("My favourite editor is Helix.", PREFERENCE, "user: favourite editor"),
        ("My name is Ada Lovelace.", CONTEXT, "user: own name"),
        ("My time zone is UTC+2.", CONTEXT, "user: own time zone"),
        ("I'm based in Rome.", CONTEXT, "user: home"),
        ("I now live in Paris.", CONTEXT, "user: home"),
        ("I work at ACME.", CONTEXT, "user: employer"),
        ("I work as a nurse.", CONTEXT, "user: job"),
        ("I'm allergic to nuts.", CONTEXT, None),
        ("We decided to use PostgreSQL for the shop's data.", DECISION, "used for shop's data"),
        ("We chose Vitest as our test runner.", DECISION, "used for test runner"),
        ("We've decided against microservices.", DECISION, None),
        ("I decided to use Rust for now.", DECISION, None),
        ("We use MySQL for the shop's data.", CONTEXT, "used for shop's data"),
        ("We use Terraform to manage hosts.", CONTEXT, "used for manage hosts"),
        ("We use PostgreSQL 17.", CONTEXT, None),
        ("We switched from Jest to Vitest.", CONTEXT, None),
        ("The deadline is 30 March.", CONTEXT, "deadline"),
        ("The deadline for the release is next Friday.", CONTEXT, "deadline release"),
        ("The release deadline was moved to 4 April.", CONTEXT, "deadline release"),
        ("Always run the tests before committing.", PREFERENCE, "rule: run tests before committing"),
        ("You must never run the tests before committing.", PREFERENCE, "rule: run tests before committing"),
        ("We never deploy on Fridays.", PREFERENCE, "rule: deploy on fridays"),
        ("I never eat meat.", PREFERENCE, "user: habit eat meat"),
        ("From now on, answer in German.", PREFERENCE, None),
        ("Remember that the staging host is called heron.", CONTEXT, None),
        ("We go with NATS for the messages between services.", DECISION, "used for messages between services"),
        ("We'll stick with Django.", DECISION, None),
        ("We're going with keyset pagination because deep pages are slow.", DECISION, None),
        ("Let's go with option two.", DECISION, None),
        ("PostgreSQL it is.", DECISION, None),
        ("The events must not contain e-mail addresses or anything personal.", DECISION, None),
        ("All passwords must be hashed with Argon2.", DECISION, None),
        ("Reversals must reference the original booking id.", DECISION, None),
        ("We must never send mail on weekends.", DECISION, None),
        ("The export may not take longer than a minute.", DECISION, None),
    ],
)
def test_057_statements_are_extracted_verbatim(text: str, kind: MemoryKind, subject: str | None) -> None:
    (found,) = statements_in(text)
    assert (found.text, found.kind, found.subject) == (text, kind, subject)


@pytest.mark.parametrize(
    "text",
    [
        "Do you think I prefer tabs?",
        "If we decided to use Rust, we need a compiler.",
        "I prefer this.",
        "No, I prefer the second one.",
        "I like how it looks.",
        "I would prefer tabs.",
        "We have not decided to use Rust.",
        "We haven't decided on Rust.",
        "Maybe we use Redis for caching.",
        "I think we use Redis for caching.",
        "We use it for tests.",
        "Never mind the tests.",
        "Never heard of it before.",
        "Always good to see you.",
        "I always wanted that.",
        "We never had a problem.",
        "She said I prefer tabs.",
        "It must be the cache.",
        "There must be a way.",
        "The cause must be the cache.",
        "The test must have failed at night.",
        "The header must be missing somewhere.",
        "This must not happen again.",
        "If we go with NATS, we need three nodes.",
        "Should we go with NATS?",
        "We could go with NATS.",
        "We go with whatever works.",
        "Let's go with it.",
        "How nice it is.",
        "Leave it as it is.",
        "The deadline is tight.",
        "The deadline is not 30 March.",
        "My name is missing in the list.",
        "My shell is broken again.",
        "Translate into German:\nI prefer tea over coffee.",
        "> I prefer tea over coffee.",
        "```\nI prefer tea over coffee.\n```",
        'She wrote "It is late. I prefer tea over coffee." and left.',
        "I prefer tea. " + "Much more was pasted here. " * 100,
    ],
)
def test_057_questions_guesses_quotes_pasted_text_and_pronouns_are_no_facts(text: str) -> None:
    assert statements_in(text) == []


def test_057_a_statement_among_other_sentences_is_found_once_without_its_introduction() -> None:
    text = "Hi! By the way, I prefer tabs over spaces. Can you fix the login? I prefer tabs over spaces."
    assert statements_in(text) == [
        Statement(
            text="I prefer tabs over spaces.",
            kind=PREFERENCE,
            category=FactCategory.PREFERENCES,
            speaker="user",
            confidence=0.9,
            subject="user: spaces or tabs",
        )
    ]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Okay, we go with NATS JetStream. Three nodes?", "we go with NATS JetStream."),
        (
            "JSON then. And the events must not contain e-mail addresses, only the customer id.",
            "the events must not contain e-mail addresses, only the customer id.",
        ),
        ("Fine, then we stick with Celery.", "we stick with Celery."),
    ],
)
def test_057_decisions_are_found_in_the_middle_of_a_prompt(text: str, fact: str) -> None:
    assert [one.text for one in statements_in(text)] == [fact]


def test_057_an_additional_fact_supersedes_nothing() -> None:
    assert [one.subject for one in statements_in("We also use Redis for caching.")] == [None]
    assert [one.subject for one in statements_in("Also, we use Redis for caching.")] == [None]


def test_057_personal_subjects_differ_by_speaker() -> None:
    (ada,) = find_statements("My name is Ada.", speaker="Ada", is_agent=False)
    (bob,) = find_statements("My name is Bob.", speaker="Bob", is_agent=False)
    assert (ada.subject, bob.subject) == ("Ada: own name", "Bob: own name")


def test_057_only_joint_decisions_of_agents_are_extracted_with_less_confidence() -> None:
    text = "I prefer tabs. We decided to use Rust for the parser. I decided to wait. Always run the tests."
    (found,) = find_statements(text, speaker="assistant", is_agent=True)
    assert (found.text, found.confidence) == ("We decided to use Rust for the parser.", 0.6)


PIECES = st.sampled_from(
    [
        "I prefer ",
        "we use ",
        "always ",
        "never ",
        "over",
        " for ",
        "tabs",
        "x",
        ". ",
        "? ",
        '"',
        ">",
        ":\n",
        "\n",
        "```",
    ]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=30).map("".join))
def test_057_every_extracted_fact_occurs_in_its_text(text: str) -> None:
    for one in statements_in(text):
        words = iter(re.findall(r"[^\W_]+", text))
        assert all(word in words for word in re.findall(r"[^\W_]+", one.text)), "the same words in the same order"


def test_pathological_text_is_parsed_quickly() -> None:
    for piece in ("I prefer ", "we use a ", "the deadline for ", "a: b over "):
        statements_in((piece * 1_000)[:MAX_OWN_TEXT_LENGTH])
