"""Traits of a text, computed when a memory is written and used by ranking."""

import re
from enum import IntFlag


class Trait(IntFlag):
    """Property of a text that does not depend on the question."""

    QUESTION = 1
    """It ends with a question, so it rarely answers one."""
    ASKS = 2
    """It contains a question, so the next text may be the answer."""
    TIMED = 4
    """It contains a time."""
    PERSONAL = 8
    """It is in the first person."""
    NAMES = 16
    """It contains a proper name."""
    STANDING = 32
    """It states a standing rule or a preference."""
    INSTRUCTION = 64
    """A sentence of it is an instruction for the future."""


_DAYS = "mon|tues|wednes|thurs|fri|satur|sun"
_SEASONS = "summer|winter|spring|fall|autumn"
_SPAN = "day|night|week|weekend|month|year|morning|evening"
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_WEEKDAYS = "|".join(f"{day}day" for day in _DAYS.split("|"))
# Each of these words gives a time, and so does a number of this form.
_WORDS_OF_TIME = frozenset(
    f"yesterday|today|tonight|tomorrow|ago|recently|soon|since|weekend|{_WEEKDAYS}|{_MONTHS}".split("|")
)
_NUMBER_OF_TIME = re.compile(r"\d{4}|\d+(?:st|nd|rd|th)")
# Each of these words gives a time together with the word before it.
_SPANS_OF_TIME = frozenset(f"{_SPAN}|{_SEASONS}|days|weeks|months|years".split("|"))
_PHRASE_OF_TIME = re.compile(
    rf"\b(?:(?:last|next|this|past) (?:{_SPAN}|{_SEASONS})"
    r"|(?:two|three|four|five|few|several|\d+) (?:days|weeks|months|years)|(?:a|one) (?:week|month|year))\b"
)
_SELF = frozenset(["i", "my", "mine", "me", "we", "our", "ours", "us", "im", "ive"])
# A capital letter inside a sentence.
_NAMES = re.compile(r"[a-z,;] [A-Z][a-z]")
_STANDING = re.compile(
    r"\b(?:always|never|prefers?|preferred|avoid|rather than|instead of|from now on|make sure|keep in mind|remember to"
    r"|please (?:don't|do not|use|keep|include)|don't ever|by default|whenever)\b"
)
_HINTS_OF_STANDING = frozenset(
    "always never prefer prefers preferred avoid rather instead from make keep remember please don by whenever".split()  # noqa: SIM905
)
# At the start of a sentence or after a word that leads to a request; elsewhere "always" and "never" only describe.
_INSTRUCTION = re.compile(
    r"(?:^|[.!?\n;:]\s*|\b(?:please|so|and|but|also) )(?:always|never|don't ever|do not ever|from now on"
    r"|in (?:the )?future|whenever|by default|remember to|make sure (?:to|that|you))\b"
)
_HINTS_OF_INSTRUCTION = frozenset("always never ever from future whenever default remember sure".split())  # noqa: SIM905
_AFTERTHOUGHT = re.compile(r"\[[^\[\]]*\]\s*$")
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


def find_traits(text: str) -> int:
    """Return the traits of a text as a bit set."""
    lower = text.lower()
    words = set(_WORD.findall(lower))
    found = 0
    if "?" in text:
        found |= Trait.ASKS.value
        if _AFTERTHOUGHT.sub("", text).rstrip().endswith("?"):
            found |= Trait.QUESTION.value
    if _says_when(lower, words):
        found |= Trait.TIMED.value
    if not words.isdisjoint(_SELF):
        found |= Trait.PERSONAL.value
    if lower != text and _NAMES.search(text):
        found |= Trait.NAMES.value
    if not words.isdisjoint(_HINTS_OF_STANDING) and _STANDING.search(lower):
        found |= Trait.STANDING.value
    if not words.isdisjoint(_HINTS_OF_INSTRUCTION) and _INSTRUCTION.search(lower):
        found |= Trait.INSTRUCTION.value
    return found


def _says_when(text: str, words: set[str]) -> bool:
    if not words.isdisjoint(_WORDS_OF_TIME):
        return True
    if _DIGIT.search(text) and any(_NUMBER_OF_TIME.fullmatch(word) for word in words if word[0].isdigit()):
        return True
    return not words.isdisjoint(_SPANS_OF_TIME) and _PHRASE_OF_TIME.search(text) is not None
