"""What a question asks for, as far as its words tell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag
from functools import cache

from scrubjay.features.memory.ranking.dates import Span, spans_named
from scrubjay.search_index.terms import terms

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
    ORDER = 32
    """How something went on, one thing after the other."""


_SAYING = "say|tell|suggest|recommend|mention|give|explain|advise|list|provide"
_SAID = "said|told|suggested|recommended|mentioned|gave|explained|advised|listed|provided"
_CUES = (
    (Kind.WHEN, r"when|how (?:long|often)|(?:what|which) (?:date|day|month|year|time)"),
    (Kind.NAME, r"who|where|which|what (?:is|was) the name|what\b.{0,80}\b(?:called|named)"),
    (Kind.SUMMARY, r"summar\w+|overview|recap|sum up"),
    (
        Kind.ORDER,
        r"timeline|chronolog\w+|in (?:what|which) (?:order|sequence)|(?:order|sequence) of (?:events|things)"
        r"|order in which|chang\w+ over time"
        r"|how (?:did|does|do|has|have|had)\b.{1,80}\b(?:develop|evolve|progress|unfold)(?:e?d|s)?"
        r"(?=\W*$| (?:over|since|during|through|throughout|from|across|in)\b)",
    ),
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
_NAME = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"(?<!\w)(?P<word>[^\W\d_]+)(?P<whose>['\u2019]s?)?(?!\w)")
# As numbers, with which it takes a tenth of the time to compute.
_ASKED, _ADVICE, _WANTS_ALL = int(Kind.ASKED), int(Kind.ADVICE), int(Kind.SUMMARY | Kind.ORDER)
_PATTERNS = tuple((int(kind), re.compile(rf"\b(?:{cue})\b", re.IGNORECASE)) for kind, cue in _CUES)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read once."""

    text: str
    asked_at: datetime
    words: tuple[str, ...]
    """Its telling terms in their order."""
    kind: Kind
    spans: tuple[Span, ...]

    def terms_given(self, speakers: Sequence[str]) -> tuple[str, ...]:
        """What to look for, when these speak: their names tell whose words are meant, not what these say."""
        names = {part for name in named(speakers) for part in terms(name)}
        left_out = names | _frame() if self.wants_all else names
        found = tuple(dict.fromkeys(self.words))
        return tuple(term for term in found if term not in left_out) or found

    def put_to(self, speakers: Sequence[str]) -> str:
        """The question as one would ask those whom it names: "Where did you grow up?" of Ann is near to what Ann says.

        Only what begins with a capital is taken for a name: "Will you" and "will you" are different things.
        """
        names = {part for name in named(speakers) for part in _NAME.findall(name.casefold())}

        def addressed(found: re.Match[str]) -> str:
            word = found["word"]
            if not word[0].isupper() or word.casefold() not in names:
                return found[0]
            return "your" if found["whose"] else "you"

        return _ADDRESS.sub(addressed, self.text)

    @property
    def wants_all(self) -> bool:
        """Whether it asks for all that there is about a topic, not for one thing."""
        return bool(int(self.kind) & _WANTS_ALL)

    def speakers_meant(self, speakers: Sequence[str]) -> list[str]:
        """Which of these the question names."""
        asked = set(self.words)
        return [name for name in named(speakers) if not asked.isdisjoint(terms(name))]


def read_question(text: str, asked_at: datetime) -> Question:
    kind = 0
    for one, pattern in _PATTERNS:
        if pattern.search(text):
            kind |= one
    if kind & _ASKED:
        kind &= ~_ADVICE
    return Question(text, asked_at, terms(text), Kind(kind), spans_named(text, asked_at))


def named(speakers: Sequence[str]) -> list[str]:
    """Those among the speakers who have a name, not only a role."""
    return [name for name in speakers[:MOST_SPEAKERS] if name.casefold() not in _ROLES]


def is_assistant(speaker: str) -> bool:
    return speaker.casefold() in ASSISTANTS


@cache
def _frame() -> frozenset[str]:
    """Words of a question about order or a summary that say nothing of its topic."""
    return frozenset(
        terms(
            """
            summarise summarize summary overview recap sum timeline chronological chronology order sequence event thing
            develop development evolve evolution progress unfold change time give show tell walk list discuss mention
            bring talk conversation chat session throughout across course
            """
        )
    )
