"""What kind of text a memory is, told from its words when it is written."""

import re
from enum import IntFlag


class Trait(IntFlag):
    """One way in which a text differs from others, whatever the question is."""

    QUESTION = 1
    """It ends with a question: rarely what answers one."""
    ASKS = 2
    """It has a question in it: what follows may be the answer."""
    TIMED = 4
    """It says when."""
    PERSONAL = 8
    """Somebody speaks about themselves."""
    NAMES = 16
    """It names somebody or something."""
    STANDING = 32
    """It says how things are always to be done, or what somebody prefers."""


_DAYS = "mon|tues|wednes|thurs|fri|satur|sun"
_SEASONS = "summer|winter|spring|fall|autumn"
_SPAN = "day|night|week|weekend|month|year|morning|evening"
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_TIMED = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|recently|soon|since|weekend|(?:{_DAYS})day|{_MONTHS}|\d{{4}}"
    rf"|\d+(?:st|nd|rd|th)|(?:last|next|this|past) (?:{_SPAN}|{_SEASONS}|(?:{_DAYS})day)"
    r"|(?:two|three|four|five|few|several|\d+) (?:days|weeks|months|years)|(?:a|one) (?:week|month|year))\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:i|my|mine|me|we|our|ours|us|im|ive)\b", re.IGNORECASE)
# A capital letter inside a sentence.
_NAMES = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_STANDING = re.compile(
    r"\b(?:always|never|prefers?|preferred|avoid|rather than|instead of|from now on|make sure|keep in mind|remember to"
    r"|please (?:don't|do not|use|keep|include)|don't ever|by default|whenever)\b",
    re.IGNORECASE,
)
_AFTERTHOUGHT = re.compile(r"\[[^\[\]]*\]\s*$")


def traits_of(text: str) -> Trait:
    """All that is so of a text."""
    said = _AFTERTHOUGHT.sub("", text).rstrip()
    found = Trait(0)
    if "?" in text:
        found |= Trait.ASKS
    if said.endswith("?"):
        found |= Trait.QUESTION
    for trait, pattern in _PATTERNS:
        if pattern.search(text):
            found |= trait
    return found


_PATTERNS = (
    (Trait.TIMED, _TIMED),
    (Trait.PERSONAL, _PERSONAL),
    (Trait.NAMES, _NAMES),
    (Trait.STANDING, _STANDING),
)
