"""Recognize which relations of a named entity an English question asks for, and on which side the entity stands.

"Who does Ann report to?" asks for triples `Ann reports_to …`, "Who reports to Ann?" for `… reports_to Ann`. A question
in another language, or one that asks for a time, a reason or a number, asks for no relation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from scrubjay.features.knowledge.names import predicate_phrase
from scrubjay.features.knowledge.rules import implying_predicates

Side = Literal["subject", "object"]
_OTHER: Final[Mapping[Side, Side]] = {"subject": "object", "object": "subject"}
_BOTH: Final[frozenset[Side]] = frozenset({"subject", "object"})
_NONE: Final[frozenset[Side]] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A relation states no time, reason, manner or number.
_NOT_RELATIONS: Final = _words("when why how not never")
_AMOUNTS: Final = _words("many much long often far old big large")
_BE: Final = _words("is are was were be been being gets get got")
# Endings of a noun for who or what does it (owner, dependent) and for what it is done to (dependency, location).
_AGENT_ENDINGS: Final = ("ents", "ent", "ants", "ant", "ers", "er", "ors", "or")
_PATIENT_ENDINGS: Final = ("encies", "ency", "ances", "ance", "ations", "ation", "ments", "ment", "ions", "ion")
_VERB_ENDINGS: Final = ("ing", "ied", "ies", "ed", "es", "s")
MIN_STEM: Final = 2
MIN_NOUN_STEM: Final = 3

# Other words for relations with a rule. Verbs and nouns are used like those of the predicate itself.
_VERBS: Final = {
    "reports_to": "answer answers",
    "manages": "lead leads led supervise supervises supervised head heads headed run runs",
    "depends_on": "need needs needed rely relies require requires required use uses used",
    "requires": "need needs needed",
    "uses": "need needs needed",
    "owns": "maintain maintains maintained have has",
    "belongs_to": "part",
    "contains": "include includes included have has",
    "created_by": "write writes wrote written make makes made build builds built",
    "authored_by": "write writes wrote written",
}
_AGENT_NOUNS: Final = {
    "manages": "boss bosses supervisor supervisors superior superiors leader leaders lead head chief",
    "reports_to": "report reports subordinate subordinates",
    "owns": "maintainer maintainers",
    "created_by": "author authors",
}
# The entity after one of these words is the object.
_BEFORE_OBJECT: Final = {"manages": "above over", "reports_to": "under below beneath", "owns": "responsible charge"}
# A question of what suffers from a failure asks what depends on it.
_FAILURES: Final = _words("break breaks broken affected affects impacted impacts fail fails outage unavailable")
_DEPENDING: Final = frozenset({"depends_on", "requires", "uses"})
_PLACES: Final = frozenset({"located_in", "lives_in", "belongs_to"})

# Words that restrict nothing: those of a question, and general nouns for what is asked for.
_NEUTRAL: Final = _words(
    """
    a all also an and any anybody anyone are as at be been being both but by can could currently did direct directly do
    does doing down each else every everybody everyone everything exactly for from get give goes had happen happens has
    have if in indirectly into is it its know list may me might must my name named names now of off on or our ours
    please right say shall should show so still tell that the their them there these they thing this those to today up
    us was we were what which who whom whose will with would you your
    app application cache colleague company component country database department employee engineer group human item
    kind library machine man manager member module office one organisation organization owner package part people person
    place platform process product program project queue repository server service site software sort store system team
    technology tool type woman
    """
)
_GENERAL: Final = _words(
    """
    a about all an anything are can describe do everything facts is know list me of on relation relations relationship
    relationships remember show stored tell the was we what who you your
    """
)


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """The words of a question that name an entity."""

    start: int
    end: int
    is_possessive: bool = False
    """True for "Ann's"."""


class QuestionRelations:
    """The relations that one question asks for."""

    def __init__(self, words: Sequence[str], spans: Sequence[NamedSpan]) -> None:
        """Pass the words without punctuation, and the place of each named entity in them."""
        self._words = [word.casefold() for word in words]
        self._named = {place for span in spans for place in range(span.start, span.end)}
        self._free = [place for place in range(len(words)) if place not in self._named]
        free = {self._words[place] for place in self._free}
        self._asks_relation = _NOT_RELATIONS.isdisjoint(free) and not any(word.endswith("n't") for word in free)
        self._asks_how = "how" in free and free.isdisjoint(_AMOUNTS)
        self.is_general = bool(spans) and free <= _GENERAL
        """True if the question asks for everything about the entities: "Who is Ann?", "Tell me about Ann"."""
        self.only_stated = not free.isdisjoint(("direct", "directly"))
        """True if the question excludes what follows by several steps."""
        self.asks_for_entity = not free.isdisjoint(("who", "whom", "whose", "what", "which", "list"))
        """True if the question asks for other entities than those that it names."""
        self._may_connect = self._asks_relation or (self._asks_how and _NOT_RELATIONS.isdisjoint(free - {"how"}))

    def connects(self, predicates: Iterable[str]) -> bool:
        """Return True if the question asks for relations between the entities that it names, or for these relations."""
        implying = (source.predicate for predicate in predicates for source in implying_predicates(predicate))
        stems = {_stem(word) for predicate in implying for word in predicate_phrase(predicate).split()}
        words = (self._words[place] for place in self._free)
        return self._may_connect and all(
            _is_neutral(word) or _stem(word) in stems or _noun_stem(word, _AGENT_ENDINGS + _PATIENT_ENDINGS) in stems
            for word in words
        )

    def sides(self, span: NamedSpan, predicate: str) -> frozenset[Side]:
        """Return the sides of triples with this predicate on which the entity stands, if the question asks for them.

        Predicates from which the predicate follows are recognized too: "Who is Ann's manager?" asks for `reports_to`.
        """
        if not self._asks_relation:
            return _NONE
        if self.is_general:
            return _BOTH
        found: set[Side] = set()
        for source in implying_predicates(predicate):
            for side, place in self._own_sides(span, source.predicate):
                if self._is_unrestricted(place):
                    found.add(_OTHER[side] if source.is_reversed else side)
        return frozenset(found)

    def _own_sides(self, span: NamedSpan, predicate: str) -> Iterator[tuple[Side, int]]:
        """Yield each side with the place of the word that asks for it, verbs before nouns."""
        base, *rest = predicate_phrase(predicate).split()
        is_passive = bool(rest) and rest[-1] == "by"
        stem, nouns = _stem(base), _AGENT_NOUNS.get(predicate, "").split()
        verbs = {*_VERBS.get(predicate, "").split()}
        before_object = _BEFORE_OBJECT.get(predicate, "").split()
        for place in self._free:
            word = self._words[place]
            side: Side | None = None
            if (word in nouns and self._is_noun(span, place)) or (word in before_object and span.start > place):
                side = "object"
            elif word in verbs or _stem(word) == stem:
                side = self._side_by_verb(span, place, is_participle=word == base and not is_passive)
            elif _noun_stem(word, _AGENT_ENDINGS) == stem:
                side = "object"
            elif _noun_stem(word, _PATIENT_ENDINGS) == stem:
                side = "subject"
            elif word in _FAILURES and predicate in _DEPENDING:
                side = "object"
            elif word == "where" and place == 0 and predicate in _PLACES:
                side = "subject"
            if side is not None:
                yield (_OTHER[side] if is_passive else side), place

    def _side_by_verb(self, span: NamedSpan, place: int, *, is_participle: bool) -> Side:
        """Return the side of an entity by its place before or after a verb, in the active or the passive voice."""
        following = self._words[place + 1] if place + 1 < len(self._words) else ""
        is_passive = following == "by" or self._words[0] == "by"
        if not is_participle and self._words[place].endswith(("ed", "en", "own")):
            is_passive |= any(self._words[other] in _BE for other in self._free if other < place)
        side: Side = "subject" if span.start < place else "object"
        return _OTHER[side] if is_passive else side

    def _is_noun(self, span: NamedSpan, place: int) -> bool:
        """Return True for "Ann's boss" and "the boss of Ann"."""
        following = self._words[place + 1] if place + 1 < len(self._words) else ""
        return (span.is_possessive and span.end <= place) or (following in ("of", "for") and place < span.start)

    def _is_unrestricted(self, asking: int) -> bool:
        """Return True when no other word restricts what is asked for: "Which version of B does A use?"."""
        own = _stem(self._words[asking])
        words = (self._words[place] for place in self._free if place != asking)
        return all(_is_neutral(word) or _stem(word) == own for word in words)


_RELATIONAL: Final = (
    frozenset(
        word for table in (_VERBS, _AGENT_NOUNS, _BEFORE_OBJECT) for words in table.values() for word in words.split()
    )
    | _FAILURES
    | _words(
        "where how between connect connected connection connections link linked links relate related relation "
        "relations relationship"
    )
)


def _is_neutral(word: str) -> bool:
    """Return True for a word that does not restrict what is asked for."""
    return word in _NEUTRAL or word.removesuffix("s") in _NEUTRAL or word in _RELATIONAL


def _stem(word: str) -> str:
    """Return a verb without its ending; a short one is unchanged."""
    for ending in _VERB_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word.removesuffix("e") if len(word) > MIN_STEM else word


def _noun_stem(word: str, endings: Sequence[str]) -> str | None:
    """Return the verb's stem in a noun with one of these endings, else None."""
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_NOUN_STEM - 1:
            return _stem(word[: -len(ending)])
    return None
