"""Traits of texts: questions, times, names, standing rules."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.memory.ranking.traits import Trait, find_traits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it rains", Trait(0)),
        ("", Trait(0)),
        ("how are you?", Trait.ASKS | Trait.QUESTION),
        ("how are you?  \n", Trait.ASKS | Trait.QUESTION),
        ("want to see it? [shares a photo of a dog]", Trait.ASKS | Trait.QUESTION),
        ("want to see it? [a] photo", Trait.ASKS),
        # Searching the end of every opening bracket would take quadratic time.
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
        ("always use tabs", Trait.STANDING | Trait.INSTRUCTION),
        ("the tests pass. Never push without them", Trait.STANDING | Trait.INSTRUCTION),
        ("please always add a test", Trait.STANDING | Trait.INSTRUCTION),
        ("whenever it rains, close the window", Trait.STANDING | Trait.INSTRUCTION),
        ("from now on answer in German", Trait.STANDING | Trait.INSTRUCTION | Trait.NAMES),
        ("it has always rained", Trait.STANDING),
        ("the boat will never sail by default", Trait.STANDING),
        ("she prefers tea", Trait.STANDING),
        ("please do not shout", Trait.STANDING),
        ("tabs rather than spaces", Trait.STANDING),
        ("please come", Trait(0)),
        (
            "Last year I told Alice: never ask me why, will you?",
            Trait.QUESTION
            | Trait.ASKS
            | Trait.TIMED
            | Trait.PERSONAL
            | Trait.NAMES
            | Trait.STANDING
            | Trait.INSTRUCTION,
        ),
    ],
)
def test_traits_are_found_by_the_words_of_a_text(text: str, expected: Trait) -> None:
    assert find_traits(text) == expected


def test_the_stored_bits_of_traits_do_not_change() -> None:
    assert {trait.name: int(trait) for trait in Trait} == {
        "QUESTION": 1,
        "ASKS": 2,
        "TIMED": 4,
        "PERSONAL": 8,
        "NAMES": 16,
        "STANDING": 32,
        "INSTRUCTION": 64,
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


# The reference: all expressions of time in one regular expression, correct but slow.
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
TIMED = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|recently|soon|since|weekend|{_DAY}|january|february|march|april|june"
    r"|july|august|september|october|november|december|\d{4}|\d+(?:st|nd|rd|th)"
    rf"|(?:last|next|this|past) (?:day|night|week|weekend|month|year|morning|evening|summer|winter|spring|fall|autumn"
    rf"|{_DAY})|(?:two|three|four|five|few|several|\d+) (?:days|weeks|months|years)|(?:a|one) (?:week|month|year))\b",
    re.IGNORECASE,
)
STANDING = re.compile(
    r"\b(?:always|never|prefers?|preferred|avoid|rather than|instead of|from now on|make sure|keep in mind|remember to"
    r"|please (?:don't|do not|use|keep|include)|don't ever|by default|whenever)\b",
    re.IGNORECASE,
)


@given(words=st.lists(st.sampled_from(WORDS), max_size=6), joint=st.sampled_from([" ", "-", "\n", ""]))
def test_the_word_prefilter_finds_the_same_traits(words: list[str], joint: str) -> None:
    text = joint.join(words)
    found = find_traits(text)
    assert bool(found & Trait.TIMED) == bool(TIMED.search(text))
    assert bool(found & Trait.STANDING) == bool(STANDING.search(text))
