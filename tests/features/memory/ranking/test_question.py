"""What a question asks for."""

from datetime import UTC, datetime

import pytest

from scrubjay.features.memory.ranking.dates import spans_named
from scrubjay.features.memory.ranking.question import MOST_SPEAKERS, Kind, Question, is_assistant, named, read_question

ASKED_AT = datetime(2024, 6, 15, 10, 30, tzinfo=UTC)


def test_a_question_is_read_once_into_its_words_its_kind_and_its_moments() -> None:
    text = "When did Alice buy the house, the big house, in May 2023?"
    assert read_question(text, ASKED_AT) == Question(
        text,
        ASKED_AT,
        ("alic", "buy", "hous", "big", "hous", "2023"),
        Kind.WHEN,
        spans_named("May 2023", ASKED_AT),
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When was the move?", Kind.WHEN),
        ("How long did it take?", Kind.WHEN),
        ("On what day do we leave?", Kind.WHEN),
        ("Who painted it?", Kind.NAME),
        ("Where is the key?", Kind.NAME),
        ("What was the name of the hotel?", Kind.NAME),
        ("What is her dog called?", Kind.NAME),
        ("Which year was that?", Kind.WHEN | Kind.NAME),
        ("Give me an OVERVIEW of the project", Kind.SUMMARY),
        ("Summarise the meeting", Kind.SUMMARY),
        ("Show a timeline of the move", Kind.ORDER),
        ("In what order did we visit the towns?", Kind.ORDER),
        ("Tell me the sequence of events", Kind.ORDER),
        ("How did the budget develop?", Kind.ORDER),
        ("How has her health progressed since spring?", Kind.ORDER),
        ("How did she develop the app?", Kind(0)),
        ("What was the order number?", Kind(0)),
        ("What did you tell me of Rome?", Kind.ASKED),
        ("What was your advice?", Kind.ASKED),
        ("Did you recommend a book?", Kind.ASKED),
        ("Can you recommend a book?", Kind.ADVICE),
        ("Should I take the train?", Kind.ADVICE),
        ("How do I cook rice?", Kind.ADVICE),
        ("Any tips for the trip?", Kind.ADVICE),
        ("What colour is the car?", Kind(0)),
        ("whenever, whoever, somewhere", Kind(0)),
        ("", Kind(0)),
    ],
)
def test_the_words_tell_what_sort_of_answer_is_wanted(text: str, kind: Kind) -> None:
    assert read_question(text, ASKED_AT).kind == kind


def test_what_the_assistant_said_is_not_asked_for_as_new_advice() -> None:
    assert read_question("Please tell me: which wine have you suggested?", ASKED_AT).kind == Kind.NAME | Kind.ASKED


def test_names_of_those_who_speak_are_not_looked_for() -> None:
    question = read_question("What did Alice Miller say of Bob's new kitchen?", ASKED_AT)
    assert question.terms_given([]) == ("alic", "miller", "say", "bob", "new", "kitchen")
    assert question.terms_given(["Alice Miller", "Carol"]) == ("say", "bob", "new", "kitchen")
    assert question.terms_given(["ALICE", "bob"]) == ("miller", "say", "new", "kitchen")


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
def test_a_question_is_put_to_those_whom_it_names(text: str, addressed: str) -> None:
    speakers = ["user", "alice", "Bob Stone", "James", "René", "Will"]
    assert read_question(text, ASKED_AT).put_to(speakers) == addressed
    assert read_question(text, ASKED_AT).put_to(["assistant"]) == text


def test_names_are_looked_for_when_nothing_else_remains() -> None:
    assert read_question("Who is Alice, and who is Bob?", ASKED_AT).terms_given(["Alice", "Bob"]) == ("alic", "bob")


def test_a_question_about_order_or_a_summary_looks_for_its_topic_alone() -> None:
    question = read_question("Summarise in what order Alice brought up the garden over time", ASKED_AT)
    assert question.wants_all
    assert question.terms_given(["Alice"]) == ("garden",)
    assert read_question("Give me a timeline", ASKED_AT).terms_given([]) == ("give", "timelin")
    plain = read_question("What did the order of things cost?", ASKED_AT)
    assert read_question("What did the thing cost over time?", ASKED_AT).terms_given([]) == ("thing", "cost", "time")
    assert (plain.wants_all, plain.terms_given([])) == (True, ("cost",))


def test_each_term_is_looked_for_once() -> None:
    assert read_question("A house is a house is home", ASKED_AT).terms_given([]) == ("hous", "home")


def test_a_role_is_no_name() -> None:
    roles = ["user", "Human", "assistant", "SYSTEM", "tool", "ai", "bot", "model", "agent"]
    assert named([*roles, "Alice", "Usher"]) == ["Alice", "Usher"]
    question = read_question("Which model does the user or the assistant prefer?", ASKED_AT)
    assert question.speakers_meant(roles) == []
    assert question.terms_given(roles) == ("model", "user", "assist", "prefer")


def test_the_speakers_whom_the_question_names_are_meant_in_any_spelling() -> None:
    speakers = ["user", "alice", "Bob Stone", "Carol", "René"]
    assert read_question("What does ALICE's brother Stone say to Rene?", ASKED_AT).speakers_meant(speakers) == [
        "alice",
        "Bob Stone",
        "René",
    ]
    assert read_question("What is new?", ASKED_AT).speakers_meant(speakers) == []


def test_of_very_many_speakers_only_so_many_names_are_read() -> None:
    crowd = [f"speaker{number}" for number in range(MOST_SPEAKERS)]
    assert named([*crowd, "Alice"]) == crowd
    assert read_question("Where is Alice?", ASKED_AT).speakers_meant([*crowd[1:], "Alice"]) == ["Alice"]
    assert read_question("Where is Alice?", ASKED_AT).speakers_meant([*crowd, "Alice"]) == []


def test_an_assistant_is_known_by_its_role_and_a_user_is_none() -> None:
    known = ["assistant", "Assistant", "AI", "bot", "model", "agent", "system", "tool"]
    others = ["user", "human", "Alice", "assistants", ""]
    assert [speaker for speaker in [*known, *others] if is_assistant(speaker)] == known
