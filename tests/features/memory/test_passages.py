"""The passage of a long text that answers a question, and its place (feature 60)."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.memory.passages import PASSAGE_CHARACTERS, Passage, beginning, find_passage, part_of
from scrubjay.search_index.terms import query_terms

WORDS = """
river stone window paper garden engine letter market summer bridge copper forest silver morning kitchen
""".split()  # noqa: SIM905
CRANE = "The harbour crane is inspected by Olga Brandt every third Tuesday."
LIGHTHOUSE = "She bought the lighthouse for 90,000 kroner."


def filler(characters: int, seed: int = 0) -> str:
    """Return sentences, some with a line end, that contain no word of the questions below."""
    dice, text = random.Random(seed), ""
    while len(text) < characters:
        sentence = " ".join(dice.choice(WORDS) for _ in range(dice.randrange(5, 16))).capitalize()
        text += sentence + dice.choice([". ", ".\n"])
    return text


def find(text: str, question: str) -> Passage:
    terms = query_terms(question)
    return find_passage(text, terms, [1.0] * len(terms))


@pytest.mark.parametrize("before", [0, 700, 40_000])
@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (CRANE, "Who inspects the harbour crane?"),
        (LIGHTHOUSE, "How much did she buy the lighthouse for?"),  # an irregular verb
        ("Der Leuchtturm gehört der Gemeinde Büsum.", "Wem gehört der Leuchtturm?"),
        ("灯台は一八九五年に建てられました。", "灯台はいつ建てられましたか"),
        ("call HTTPServerFactory.make_server(port)", "what does make_server need?"),
    ],
)
def test_060_the_passage_contains_the_sentence_that_answers(before: int, sentence: str, question: str) -> None:
    text = f"{filler(before)}{sentence}\n{filler(30_000, seed=1)}"
    found = find(text, question)
    assert sentence in found.text
    assert len(found.text) <= PASSAGE_CHARACTERS
    assert text[found.start : found.end] == found.text
    assert text.splitlines()[found.first_line - 1].endswith(found.text.split("\n")[0])
    assert found.last_line - found.first_line == found.text.rstrip("\n").count("\n")
    assert found.length == len(text)


def test_060_words_together_win_over_the_same_words_far_apart() -> None:
    scattered = f"The harbour. {filler(5_000)}A crane. {filler(5_000)}Somebody inspected it. {filler(5_000)}"
    assert CRANE in find(f"{scattered}{CRANE} {filler(5_000)}", "Who inspects the harbour crane?").text


def test_060_a_passage_begins_and_ends_with_a_sentence() -> None:
    found = find(f"{filler(9_000)}{CRANE} {filler(9_000, seed=1)}", "Who inspects the harbour crane?").text
    assert found[0].isupper()
    assert found.endswith(".")


def test_060_without_a_word_of_the_question_the_text_is_quoted_from_its_beginning() -> None:
    text = filler(20_000)
    assert find(text, "Who inspects the harbour crane?") == beginning(text)
    assert beginning(text).start == 0
    assert 0 < len(beginning(text).text) <= PASSAGE_CHARACTERS


def test_060_capital_letters_that_grow_in_lower_case_do_not_move_the_place() -> None:
    text = f"{'İ' * 5_000} {filler(9_000)}{CRANE} {filler(9_000)}"
    assert CRANE in find(text, "Who inspects the harbour crane?").text


def test_060_a_part_of_a_text_ends_with_the_text() -> None:
    assert part_of("one\ntwo\nthree", 4, 3) == Passage("two", 4, 7, 2, 2, 13)
    assert part_of("one\ntwo", 4, 99) == Passage("two", 4, 7, 2, 2, 7)
    assert part_of("one", 99, 5) == Passage("", 3, 3, 1, 1, 3)


@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=6), max_size=4))
def test_060_any_text_and_any_terms_give_a_part_of_the_text(text: str, terms: list[str]) -> None:
    found = find_passage(text, terms, [1.0] * len(terms))
    assert text[found.start : found.end] == found.text
    assert 1 <= found.first_line <= found.last_line <= text.count("\n") + 1
