"""What a question asks for, as far as its words tell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag

from recollect.retrieval.dates import Span, spans_named
from recollect.retrieval.terms import terms

# Words for those who take part in a conversation without being anybody.
ASSISTANTS = frozenset({"assistant", "system", "tool", "ai", "bot", "model", "agent"})
_ROLES = ASSISTANTS | {"user", "human"}
# Reading more names than this for each question costs more than it tells.
MOST_SPEAKERS = 2_000


class Kind(IntFlag):
    """What sort of answer is wanted."""

    WHEN = 1
    NAME = 2
    SUMMARY = 4
    ASKED = 8
    """What the assistant itself said."""
    ADVICE = 16
    """Something to do now, for which standing preferences count."""


_SAYING = "say|tell|suggest|recommend|mention|give|explain|advise|list|provide"
_SAID = "said|told|suggested|recommended|mentioned|gave|explained|advised|listed|provided"
_CUES = (
    (Kind.WHEN, r"when|how (?:long|often)|(?:what|which) (?:date|day|month|year|time)"),
    (Kind.NAME, r"who|where|which|what (?:is|was) the name|what\b.{0,80}\b(?:called|named)"),
    (Kind.SUMMARY, r"summar\w+|overview|recap|sum up"),
    (
        Kind.ASKED,
        rf"(?:did|do|have|had) you (?:{_SAYING})\w*|you (?:{_SAID})|your (?:answer|suggestion|recommendation|advice)",
    ),
    (
        Kind.ADVICE,
        r"(?:can|could) you|sh(?:ould|all) i|help me|how (?:do|can|should|would) i|please|recommend|suggest"
        r"|any (?:tips|ideas|advice)|what should",
    ),
)
_PATTERNS = tuple((kind, re.compile(rf"\b(?:{cue})\b", re.IGNORECASE)) for kind, cue in _CUES)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read once."""

    text: str
    words: tuple[str, ...]
    """Its telling terms in their order."""
    kind: Kind
    spans: tuple[Span, ...]

    def terms_given(self, speakers: Sequence[str]) -> tuple[str, ...]:
        """What to look for, when these speak: their names tell whose words are meant, not what these say."""
        names = {part for name in named(speakers) for part in terms(name)}
        found = tuple(dict.fromkeys(self.words))
        return tuple(term for term in found if term not in names) or found

    def speakers_meant(self, speakers: Sequence[str]) -> list[str]:
        """Which of these the question names."""
        asked = set(self.words)
        return [name for name in named(speakers) if not asked.isdisjoint(terms(name))]


def read_question(text: str, asked_at: datetime) -> Question:
    kind = Kind(0)
    for one, pattern in _PATTERNS:
        if pattern.search(text):
            kind |= one
    if Kind.ASKED in kind:
        kind &= ~Kind.ADVICE
    return Question(text, terms(text), kind, spans_named(text, asked_at))


def named(speakers: Sequence[str]) -> list[str]:
    """Those among the speakers who have a name, not only a role."""
    return [name for name in speakers[:MOST_SPEAKERS] if name.casefold() not in _ROLES]


def is_assistant(speaker: str) -> bool:
    return speaker.casefold() in ASSISTANTS
