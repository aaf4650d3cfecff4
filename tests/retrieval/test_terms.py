"""Text becomes terms."""

import pytest

from recollect.retrieval.terms import question_terms, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We were running", ("run",)),
        ("Who are you?", ("who", "are", "you")),
        ("She bought what children chose", ("buy", "child", "choos")),
        ("parseJSONFile", ("parsejsonfil", "pars", "json", "file")),
        ("get_user_name", ("get_user_name", "get", "user", "name")),
        ("sha256", ("sha256", "sha", "256")),
        ("Alice's café", ("alic", "cafe")),
        ("東京に", ("東京", "京に")),
        ("猫", ("猫",)),
        ("हिन्दी में", ("हिन्दी", "में")),
        ("Привет, мир", ("привет", "мир")),
        ("مرحبا بالعالم", ("مرحبا", "بالعالم")),
        ("한국어 텍스트", ("한국어", "텍스트")),
        ("?! … \x1b[0m" + "😀", ("0m", "0", "m")),
        ("", ()),
    ],
)
def test_text_is_read_as_its_terms(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


def test_a_word_is_found_whatever_its_form_or_accents() -> None:
    assert terms("Databases") == terms("database")
    assert terms("naïve CAFÉ") == terms("Naive cafe")


def test_a_question_is_looked_up_by_its_telling_words_each_once() -> None:
    assert question_terms("What is the name of the database, the database's name?") == ("name", "databas")


def test_a_question_of_stop_words_only_keeps_them() -> None:
    assert question_terms("to be or not to be") == ("to", "be", "or", "not")


def test_a_part_of_an_identifier_is_found_by_its_own_word() -> None:
    assert set(question_terms("user")) <= set(terms("def getUserName(): ..."))
