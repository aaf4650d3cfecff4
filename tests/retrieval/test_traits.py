"""What kind of text a memory is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.retrieval import traits
from recollect.retrieval.traits import Trait, traits_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it rains", Trait(0)),
        ("", Trait(0)),
        ("how are you?", Trait.ASKS | Trait.QUESTION),
        ("how are you?  \n", Trait.ASKS | Trait.QUESTION),
        ("want to see it? [shares a photo of a dog]", Trait.ASKS | Trait.QUESTION),
        ("want to see it? [a] photo", Trait.ASKS),
        # Looking for the end of each of many brackets that begin would take minutes.
        ("want to see it? [a [b]", Trait.ASKS),
        ("how are you? all is well here.", Trait.ASKS),
        ("[is it so?]", Trait.ASKS),
        ("the boat left yesterday", Trait.TIMED),
        ("the boat left last Tuesday", Trait.TIMED | Trait.NAMES),
        ("the boat left two weeks ago", Trait.TIMED),
        ("the boat left on the 3rd", Trait.TIMED),
        ("the boat left in 2021", Trait.TIMED),
        ("the boat left in august", Trait.TIMED),
        ("it may be the 20215th boat", Trait.TIMED),
        ("the boat may have left 20215 boats behind", Trait(0)),
        ("I'm fine", Trait.PERSONAL),
        ("this is Mine", Trait.PERSONAL | Trait.NAMES),
        ("she gave it to us", Trait.PERSONAL),
        ("iron, myth, weather, used", Trait(0)),
        ("she met Alice", Trait.NAMES),
        ("Alice met her. She smiled", Trait(0)),
        ("then, Bob came", Trait.NAMES),
        ("always use tabs", Trait.STANDING),
        ("she prefers tea", Trait.STANDING),
        ("please do not shout", Trait.STANDING),
        ("tabs rather than spaces", Trait.STANDING),
        ("please come", Trait(0)),
        (
            "Last year I told Alice: never ask me why, will you?",
            Trait.QUESTION | Trait.ASKS | Trait.TIMED | Trait.PERSONAL | Trait.NAMES | Trait.STANDING,
        ),
    ],
)
def test_a_text_has_the_traits_that_its_words_show(text: str, expected: Trait) -> None:
    assert traits_of(text) == expected


def test_traits_are_told_apart_by_their_bits_which_stores_keep() -> None:
    assert {trait.name: int(trait) for trait in Trait} == {
        "QUESTION": 1,
        "ASKS": 2,
        "TIMED": 4,
        "PERSONAL": 8,
        "NAMES": 16,
        "STANDING": 32,
    }


WORDS = [
    "i",
    "I'm",
    "we",
    "us",
    "Ben",
    "it.",
    ",",
    "?",
    "don't",
    "please",
    "keep",
    "use",
    "never-ending",
    "from",
    "now",
    "on",
    "by",
    "default",
    "make",
    "sure",
    "rather",
    "than",
    "two",
    "few",
    "3",
    "12th",
    "2021",
    "last",
    "next",
    "this",
    "a",
    "one",
    "week",
    "days",
    "Summer",
    "mornings",
    "Monday",
    "may",
    "june",
    "ago",
    "since",
]


@given(words=st.lists(st.sampled_from(WORDS), max_size=6), joint=st.sampled_from([" ", "-", "\n", ""]))
def test_looking_for_hints_first_changes_nothing(words: list[str], joint: str) -> None:
    text = joint.join(words)
    found = traits_of(text)
    assert bool(found & Trait.TIMED) == bool(traits.TIMED.search(text))
    assert bool(found & Trait.STANDING) == bool(traits.STANDING.search(text))
