"""Text is split into terms."""

import pytest

from scrubjay.search_index.terms import LONG_TEXT, PASSAGE_WORDS, passages, query_terms, terms


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
def test_text_is_split_into_terms(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


def test_forms_and_accents_do_not_matter() -> None:
    assert terms("Databases") == terms("database")
    assert terms("naïve CAFÉ") == terms("Naive cafe")


def test_a_query_gives_its_distinct_significant_terms() -> None:
    assert query_terms("What is the name of the database, the database's name?") == ("name", "databas")


def test_a_query_of_stop_words_only_keeps_them() -> None:
    assert query_terms("to be or not to be") == ("to", "be", "or", "not")


def test_a_part_of_an_identifier_is_a_term_of_its_own() -> None:
    assert set(query_terms("user")) <= set(terms("def getUserName(): ..."))


@pytest.mark.parametrize(
    ("base_form", "forms"),
    [
        ("buy", "bought"),
        ("go", "went gone going"),
        ("see", "saw seen seeing"),
        ("write", "wrote written writing writes"),
        ("take", "took taken taking"),
        ("teach", "taught teaching teaches"),
        ("child", "children"),
        ("person", "people persons"),
        ("knife", "knives"),
        ("Tell", "TOLD tells"),
    ],
)
def test_irregular_forms_have_the_term_of_their_base_form(base_form: str, forms: str) -> None:
    (base,) = terms(base_form)
    assert set(terms(forms)) == {base}


def sentence(number: int, words: int) -> str:
    """Return a sentence of this many words, each of them a distinct term."""
    return " ".join(f"s{number}w{word}" for word in range(words)) + "."


@pytest.mark.parametrize("text", ["", "Alice bought a boat.", sentence(0, LONG_TEXT), "。" * 500, " \n" * 500])
def test_a_text_that_is_not_long_is_one_passage(text: str) -> None:
    assert passages(text) == (terms(text),)


def test_a_long_text_is_split_at_the_ends_of_sentences() -> None:
    first, second, third, fourth = (sentence(number, 25) for number in range(4))
    assert passages(f"{first} {second}\n\n{third[:-1]}!) {fourth}") == (
        terms(f"{first} {second}"),
        terms(f"{third} {fourth}"),
    )


@pytest.mark.parametrize("end", [". ", "! ", "? ", "?!' ", '." ', ".) ", "\n", "."])
def test_a_sentence_ends_with_a_mark_or_a_line(end: str) -> None:
    first, second = (sentence(number, PASSAGE_WORDS)[:-1] for number in range(2))
    assert passages(first + end + second) == (terms(first), terms(second))


def test_a_passage_may_be_filled_completely() -> None:
    first, second, third = sentence(0, PASSAGE_WORDS - 10), sentence(1, 10), sentence(2, LONG_TEXT)[: -len(".")]
    assert passages(f"{first} {second} {third}")[0] == terms(f"{first} {second}")
    assert passages(f"{first} {second[:-1]} more. {third}")[0] == terms(first)


def test_a_sentence_longer_than_a_passage_is_split_and_the_next_joins_its_rest() -> None:
    long, short = sentence(0, 2 * PASSAGE_WORDS + 5), sentence(1, 3)
    words = long.split()
    assert passages(f"{long} {short}") == (
        terms(" ".join(words[:PASSAGE_WORDS])),
        terms(" ".join(words[PASSAGE_WORDS : 2 * PASSAGE_WORDS])),
        terms(" ".join([*words[2 * PASSAGE_WORDS :], short])),
    )


def test_splitting_a_long_text_loses_no_terms() -> None:
    text = " ".join(sentence(number, 1 + number * 7 % 83) for number in range(40))
    found = passages(text)
    assert tuple(term for passage in found for term in passage) == terms(text)
    # Each word is a distinct term, and as an identifier it has four parts.
    assert max(map(len, found)) <= 5 * PASSAGE_WORDS


def test_a_long_text_without_any_word_is_one_empty_passage() -> None:
    assert passages("- " * (LONG_TEXT + 1)) == ((),)
