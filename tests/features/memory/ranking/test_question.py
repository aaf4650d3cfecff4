"""Parsing of questions: words, kind, time spans and named speakers."""

from datetime import UTC, datetime

import pytest

from scrubjay.features.memory.ranking.dates import find_time_spans
from scrubjay.features.memory.ranking.question import (
    MAX_SPEAKERS,
    ParsedQuestion,
    QuestionKind,
    is_assistant,
    parse_question,
    with_proper_names,
)

ASKED_AT = datetime(2024, 6, 15, 10, 30, tzinfo=UTC)


def test_a_question_is_parsed_into_words_kind_and_time_spans() -> None:
    text = "When did Alice buy the house, the big house, in May 2023?"
    assert parse_question(text, ASKED_AT) == ParsedQuestion(
        text,
        ASKED_AT,
        ("alic", "buy", "hous", "big", "hous", "2023"),
        QuestionKind.WHEN,
        find_time_spans("May 2023", ASKED_AT),
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When was the move?", QuestionKind.WHEN),
        ("How long did it take?", QuestionKind.WHEN),
        ("On what day do we leave?", QuestionKind.WHEN),
        ("Who painted it?", QuestionKind.NAME),
        ("Where is the key?", QuestionKind.NAME),
        ("What was the name of the hotel?", QuestionKind.NAME),
        ("What is her dog called?", QuestionKind.NAME),
        ("Which year was that?", QuestionKind.WHEN | QuestionKind.NAME),
        ("Give me an OVERVIEW of the project", QuestionKind.SUMMARY),
        ("Summarise the meeting", QuestionKind.SUMMARY),
        ("Show a timeline of the move", QuestionKind.ORDER),
        ("In what order did we visit the towns?", QuestionKind.ORDER),
        ("Tell me the sequence of events", QuestionKind.ORDER),
        ("How did the budget develop?", QuestionKind.ORDER),
        ("How has her health progressed since spring?", QuestionKind.ORDER),
        ("How did she develop the app?", QuestionKind(0)),
        ("What was the order number?", QuestionKind(0)),
        ("What did you tell me of Rome?", QuestionKind.ASKED),
        ("What was your advice?", QuestionKind.ASKED),
        ("Did you recommend a book?", QuestionKind.ASKED),
        ("Can you recommend a book?", QuestionKind.ADVICE),
        ("Should I take the train?", QuestionKind.ADVICE),
        ("How do I cook rice?", QuestionKind.ADVICE),
        ("Any tips for the trip?", QuestionKind.ADVICE),
        ("What are her hobbies?", QuestionKind.SEVERAL),
        ("which big old towns did we visit?", QuestionKind.SEVERAL | QuestionKind.NAME),
        ("How many towns did we visit?", QuestionKind.SEVERAL),
        ("How many days did it take?", QuestionKind(0)),
        ("What did James paint?", QuestionKind(0)),
        ("What is the process?", QuestionKind(0)),
        ("What colour is the car?", QuestionKind(0)),
        ("whenever, whoever, somewhere", QuestionKind(0)),
        ("", QuestionKind(0)),
    ],
)
def test_the_kind_of_a_question_follows_from_its_words(text: str, kind: QuestionKind) -> None:
    assert parse_question(text, ASKED_AT).kind == kind


def test_a_question_about_earlier_advice_asks_for_no_new_advice() -> None:
    assert (
        parse_question("Please tell me: which wine have you suggested?", ASKED_AT).kind
        == QuestionKind.NAME | QuestionKind.ASKED
    )


def test_names_of_speakers_are_not_search_terms() -> None:
    question = parse_question("What did Alice Miller say of Bob's new kitchen?", ASKED_AT)
    assert question.search_terms([]) == ("alic", "miller", "say", "bob", "new", "kitchen")
    assert question.search_terms(["Alice Miller", "Carol"]) == ("say", "bob", "new", "kitchen")
    assert question.search_terms(["ALICE", "bob"]) == ("miller", "say", "new", "kitchen")


@pytest.mark.parametrize(
    ("text", "addressed"),
    [
        ("Where did Alice grow up?", "Where did you grow up?"),
        ("What is Alice's dog called, and James' cat?", "What is your dog called, and your cat?"),
        ("Did ALICE meet Bob Stone or Stoneman?", "Did you meet you you or Stoneman?"),
        ("will alice come?", "will alice come?"),
        ("What does the user think of René?", "What does the user think of you?"),
        ("Paris?", "Paris?"),
    ],
)
def test_a_question_is_rephrased_in_the_second_person_for_named_speakers(text: str, addressed: str) -> None:
    speakers = ["user", "alice", "Bob Stone", "James", "René", "Will"]
    assert parse_question(text, ASKED_AT).to_second_person(speakers) == addressed
    assert parse_question(text, ASKED_AT).to_second_person(["assistant"]) == text


def test_names_are_search_terms_if_no_other_words_remain() -> None:
    assert parse_question("Who is Alice, and who is Bob?", ASKED_AT).search_terms(["Alice", "Bob"]) == ("alic", "bob")


def test_a_question_about_order_or_a_summary_searches_only_its_topic() -> None:
    question = parse_question("Summarise in what order Alice brought up the garden over time", ASKED_AT)
    assert question.wants_all
    assert question.search_terms(["Alice"]) == ("garden",)
    assert parse_question("Give me a timeline", ASKED_AT).search_terms([]) == ("give", "timelin")
    plain = parse_question("What did the order of things cost?", ASKED_AT)
    assert parse_question("What did the thing cost over time?", ASKED_AT).search_terms([]) == ("thing", "cost", "time")
    assert (plain.wants_all, plain.search_terms([])) == (True, ("cost",))


def test_search_terms_are_unique() -> None:
    assert parse_question("A house is a house is home", ASKED_AT).search_terms([]) == ("hous", "home")


def test_roles_are_not_proper_names() -> None:
    roles = ["user", "Human", "assistant", "SYSTEM", "tool", "ai", "bot", "model", "agent"]
    assert with_proper_names([*roles, "Alice", "Usher"]) == ["Alice", "Usher"]
    question = parse_question("Which model does the user or the assistant prefer?", ASKED_AT)
    assert question.named_speakers(roles) == []
    assert question.search_terms(roles) == ("model", "user", "assist", "prefer")


def test_named_speakers_are_found_regardless_of_case_and_accents() -> None:
    speakers = ["user", "alice", "Bob Stone", "Carol", "René"]
    assert parse_question("What does ALICE's brother Stone say to Rene?", ASKED_AT).named_speakers(speakers) == [
        "alice",
        "Bob Stone",
        "René",
    ]
    assert parse_question("What is new?", ASKED_AT).named_speakers(speakers) == []


def test_the_number_of_speaker_names_is_limited() -> None:
    crowd = [f"speaker{number}" for number in range(MAX_SPEAKERS)]
    assert with_proper_names([*crowd, "Alice"]) == crowd
    assert parse_question("Where is Alice?", ASKED_AT).named_speakers([*crowd[1:], "Alice"]) == ["Alice"]
    assert parse_question("Where is Alice?", ASKED_AT).named_speakers([*crowd, "Alice"]) == []


def test_assistants_are_recognised_by_their_role() -> None:
    known = ["assistant", "Assistant", "AI", "bot", "model", "agent", "system", "tool"]
    others = ["user", "human", "Alice", "assistants", ""]
    assert [speaker for speaker in [*known, *others] if is_assistant(speaker)] == known
