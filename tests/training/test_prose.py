"""Prose becomes pairs of a question and its answer."""

import random

from models.prose import Synset, common_words, exchanges, first_names, make_question, parse_synset, split_paragraph


def test_a_paragraph_is_split_after_its_first_sentence_or_in_the_middle():
    assert split_paragraph("The pool is closed at once. Then it waits for all work.") == (
        "The pool is closed at once.",
        "Then it waits for all work.",
    )
    assert split_paragraph("One two three. Four five six") == ("One two three.", "Four five six")


def test_a_wordnet_line_is_parsed_to_words_definition_and_examples():
    line = (
        "00001740 03 n 02 living_thing 0 being(a) 0 000 | something alive; "
        '"every being sleeps"; "a small living thing"  '
    )

    assert parse_synset(line) == Synset(
        "03", ("living thing", "being"), "something alive", ("every being sleeps", "a small living thing")
    )


def test_small_talk_yields_each_prompt_with_its_reply():
    corpus = "categories:\n- greetings\nconversations:\n"
    corpus += "- - Hello there\n  - Hi\n  - 'How are you?'\n- - Good night\n  - Bye\n"

    assert list(exchanges(corpus)) == [("Hello there", "Hi"), ("Hi", "How are you?"), ("Good night", "Bye")]


def test_first_names_end_where_last_names_begin():
    source = 'first = (("Ada", 0.02), ("Bob", 1.0e-3))\nlast_names = (("Stone", 0.1),)'

    assert first_names(source) == ["Ada", "Bob"]


def test_the_most_frequent_words_are_common():
    sentences = [f"The barn number{number}" for number in range(200)] + ["Red doors"]

    common = common_words(sentences)

    assert {"the", "barn"} <= common
    assert len(common) == 150


def test_a_generated_question_has_the_speaker_and_distinctive_words_and_is_reproducible():
    common = frozenset({"the", "old"})
    generated = [
        make_question("We painted the old barn, in red.", "Ada", "7", common, random.Random(5)) for _ in range(9)
    ]
    group, question, answer = generated[0]

    assert generated == 9 * [generated[0]]
    assert (group, answer) == ("7", "Ada: We painted the old barn, in red.")
    assert "Ada" in question

    order = random.Random(0)
    questions = [make_question("We painted the old barn, in red.", "Ada", "7", common, order)[1] for _ in range(200)]
    words = {word for question in questions for word in question.rstrip("?").split()}
    assert {"painted", "barn", "red"} <= words
    assert words.isdisjoint({"the", "old", "barn,"})
