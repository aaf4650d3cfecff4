"""Required wording is parsed into index terms and has no query syntax (feature 65)."""

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.memory.models import Wording
from scrubjay.features.memory.ranking.exact_match import required_wordings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("deploys", ((Wording(("deploy",)),),)),
        ('deploy* "blue green"', ((Wording(("deploy",), True), Wording(("deploy",))), (Wording(("blue", "green")),))),
        ("migrations*", ((Wording(("migrations",), True), Wording(("migrat",))),)),
        ("the release", ((Wording(("releas",)),),)),
        ('"blue and green"', ((Wording(("blue", "green")),),)),
        ('"blue gre"*', ((Wording(("blue", "gre"), True), Wording(("blue", "gre"))),)),
        ("the*", ((Wording(("the",), True),),)),
        ("getUserName", ((Wording(("getusernam", "get", "user", "name")),),)),
        ("getUs*", ((Wording(("getus",), True), Wording(("getus", "get"))),)),
        ("blue-green", ((Wording(("blue", "green")),),)),
        ("Café", ((Wording(("cafe",)),),)),
        ("東京都*", ((Wording(("東京", "京都"), True), Wording(("東京", "京都"))),)),
        ("tea tea", ((Wording(("tea",)),),)),
    ],
)
def test_065_words_phrases_and_prefixes_are_required(text: str, expected: tuple[tuple[Wording, ...], ...]) -> None:
    assert required_wordings(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('say "hello', ["say", "hello"]),
        ("NEAR(tea cup, 5)", ["near", "tea", "cup", "5"]),
        ("tea -cup", ["tea", "cup"]),
        ("tea NOT cup AND content:milk", ["tea", "cup", "content", "milk"]),
        ("^tea + (cup)", ["tea", "cup"]),
        ("* tea ** *", ["tea"]),
        ("tea' OR 1=1 --", ["tea", "1", "1"]),
    ],
)
def test_065_punctuation_and_operators_have_no_meaning(text: str, words: list[str]) -> None:
    assert [term for (wording,) in required_wordings(text) for term in wording.terms] == words


@pytest.mark.parametrize("text", ["", " ", "*", '""', "the", '"is not"', "?! - ()", "🎉"])
def test_065_wording_without_a_searchable_word_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidRequest, match="contains no word to search for") as caught:
        required_wordings(text)
    assert caught.value.hint
