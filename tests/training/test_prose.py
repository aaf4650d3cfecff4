import random

from models.prose import Synset, common_words, exchanges, first_names, halved, question_about, wordnet_synset


def test_a_paragraph_is_parted_after_its_first_sentence_or_in_the_middle():
    assert halved("The pool is closed at once. Then it waits for all work.") == (
        "The pool is closed at once.",
        "Then it waits for all work.",
    )
    assert halved("One two three. Four five six") == ("One two three.", "Four five six")


def test_a_line_of_wordnet_is_a_meaning_with_words_definition_and_examples():
    line = (
        "00001740 03 n 02 living_thing 0 being(a) 0 000 | something alive; "
        '"every being sleeps"; "a small living thing"  '
    )

    assert wordnet_synset(line) == Synset(
        "03", ("living thing", "being"), "something alive", ("every being sleeps", "a small living thing")
    )


def test_small_talk_is_read_turn_by_turn():
    corpus = "categories:\n- greetings\nconversations:\n"
    corpus += "- - Hello there\n  - Hi\n  - 'How are you?'\n- - Good night\n  - Bye\n"

    assert list(exchanges(corpus)) == [("Hello there", "Hi"), ("Hi", "How are you?"), ("Good night", "Bye")]


def test_first_names_end_where_last_names_begin():
    source = 'first = (("Ada", 0.02), ("Bob", 1.0e-3))\nlast_names = (("Stone", 0.1),)'

    assert first_names(source) == ["Ada", "Bob"]


def test_words_that_nearly_every_text_uses_are_common():
    sentences = [f"The barn number{number}" for number in range(200)] + ["Red doors"]

    common = common_words(sentences)

    assert {"the", "barn"} <= common
    assert len(common) == 150


def test_a_made_question_names_the_speaker_and_telling_words_and_is_the_same_each_time():
    common = frozenset({"the", "old"})
    made = [question_about("We painted the old barn, in red.", "Ada", "7", common, random.Random(5)) for _ in range(9)]
    group, question, answer = made[0]

    assert made == 9 * [made[0]]
    assert (group, answer) == ("7", "Ada: We painted the old barn, in red.")
    assert "Ada" in question

    order = random.Random(0)
    asked = [question_about("We painted the old barn, in red.", "Ada", "7", common, order)[1] for _ in range(200)]
    words = {word for question in asked for word in question.rstrip("?").split()}
    assert {"painted", "barn", "red"} <= words
    assert words.isdisjoint({"the", "old", "barn,"})
