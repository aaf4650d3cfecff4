"""Parser for questions: kind of answer, terms, names and time spans."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag
from functools import cache

from scrubjay.features.memory.ranking.dates import TimeSpan, find_time_spans
from scrubjay.search_index.terms import terms

# Names of roles in a conversation, which name no person.
ASSISTANTS = frozenset({"assistant", "system", "tool", "ai", "bot", "model", "agent"})
_ROLES = ASSISTANTS | {"user", "human"}
# Parsing more names for each question takes too long.
MAX_SPEAKERS = 2_000


class QuestionKind(IntFlag):
    """Kind of answer that a question asks for."""

    WHEN = 1
    NAME = 2
    SUMMARY = 4
    ASKED = 8
    """The assistant's own words."""
    ADVICE = 16
    """Advice, to which standing preferences apply."""
    ORDER = 32
    """A sequence of events."""
    SEVERAL = 64
    """Several things, which may be spread over several memories."""


_SAYING = "say|tell|suggest|recommend|mention|give|explain|advise|list|provide"
_SAID = "said|told|suggested|recommended|mentioned|gave|explained|advised|listed|provided"
_CUES = (
    (QuestionKind.WHEN, r"when|how (?:long|often)|(?:what|which) (?:date|day|month|year|time)"),
    (QuestionKind.NAME, r"who|where|which|what (?:is|was) the name|what\b.{0,80}\b(?:called|named)"),
    (QuestionKind.SUMMARY, r"summar\w+|overview|recap|sum up"),
    (
        QuestionKind.ORDER,
        r"timeline|chronolog\w+|in (?:what|which) (?:order|sequence)|(?:order|sequence) of (?:events|things)"
        r"|order in which|chang\w+ over time"
        r"|how (?:did|does|do|has|have|had)\b.{1,80}\b(?:develop|evolve|progress|unfold)(?:e?d|s)?"
        r"(?=\W*$| (?:over|since|during|through|throughout|from|across|in)\b)",
    ),
    (
        QuestionKind.SEVERAL,
        # "What are", and a plural in lower case: "which big cities". Names such as "James" are none.
        r"(?:what|which) (?:are|were)|(?:what|which) (?-i:(?:[a-z]+ ){0,3}[a-z]{3,}[^\Wsiu]s)|both|all (?:the|of)"
        r"|how many (?!(?:minute|hour|day|week|month|year)s)",
    ),
    (
        QuestionKind.ASKED,
        rf"(?:did|do|have|had) you (?:{_SAYING})\w*|you (?:{_SAID})|your (?:answer|suggestion|recommendation|advice)",
    ),
    (
        QuestionKind.ADVICE,
        r"(?:can|could) you|sh(?:ould|all) i|help me|how (?:do|can|should|would) i|please|recommend|suggest"
        r"|any (?:tips|ideas|advice)|what should",
    ),
)
_NAME = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"(?<!\w)(?P<word>[^\W\d_]+)(?P<whose>['\u2019]s?)?(?!\w)")
# Numbers, because operations on flags are ten times slower.
_ASKED, _ADVICE, _WANTS_ALL = (
    int(QuestionKind.ASKED),
    int(QuestionKind.ADVICE),
    int(QuestionKind.SUMMARY | QuestionKind.ORDER),
)
_PATTERNS = tuple((int(kind), re.compile(rf"\b(?:{cue})\b", re.IGNORECASE)) for kind, cue in _CUES)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question."""

    text: str
    asked_at: datetime
    words: tuple[str, ...]
    """Its terms without stop words, in order."""
    kind: QuestionKind
    spans: tuple[TimeSpan, ...]

    def search_terms(self, speakers: Sequence[str]) -> tuple[str, ...]:
        """Return the terms to search for. Names of speakers are left out: they say who spoke, not what was said."""
        names = {part for name in with_proper_names(speakers) for part in terms(name)}
        left_out = names | _framing_terms() if self.wants_all else names
        found = tuple(dict.fromkeys(self.words))
        return tuple(term for term in found if term not in left_out) or found

    def to_second_person(self, speakers: Sequence[str]) -> str:
        """Address the speakers that the question names as "you", which brings its embedding nearer to what they said.

            "Where did Ann grow up?" -> "Where did you grow up?"

        Only capitalized words are names: "Will" may be a speaker, "will" is not.
        """
        names = {part for name in with_proper_names(speakers) for part in _NAME.findall(name.casefold())}

        def addressed(found: re.Match[str]) -> str:
            word = found["word"]
            if not word[0].isupper() or word.casefold() not in names:
                return found[0]
            return "your" if found["whose"] else "you"

        return _ADDRESS.sub(addressed, self.text)

    @property
    def wants_all(self) -> bool:
        """True if it asks for everything on a topic, not for one memory."""
        return bool(int(self.kind) & _WANTS_ALL)

    def named_speakers(self, speakers: Sequence[str]) -> list[str]:
        """Return the speakers that the question names."""
        asked = set(self.words)
        return [name for name in with_proper_names(speakers) if not asked.isdisjoint(terms(name))]


def parse_question(text: str, asked_at: datetime) -> ParsedQuestion:
    kind = 0
    for one, pattern in _PATTERNS:
        if pattern.search(text):
            kind |= one
    if kind & _ASKED:
        kind &= ~_ADVICE
    return ParsedQuestion(text, asked_at, terms(text), QuestionKind(kind), find_time_spans(text, asked_at))


def with_proper_names(speakers: Sequence[str]) -> list[str]:
    """Return the speakers with a name, without those that are only a role."""
    return [name for name in speakers[:MAX_SPEAKERS] if name.casefold() not in _ROLES]


def is_assistant(speaker: str) -> bool:
    return speaker.casefold() in ASSISTANTS


@cache
def _framing_terms() -> frozenset[str]:
    """Return the terms that ask for an order or a summary and say nothing about the topic."""
    return frozenset(
        terms(
            """
            summarise summarize summary overview recap sum timeline chronological chronology order sequence event thing
            develop development evolve evolution progress unfold change time give show tell walk list discuss mention
            bring talk conversation chat session throughout across course
            """
        )
    )
