"""Relations that a text states in plain sentences, found by rules.

The rules take names as they stand, read English, and would rather miss a relation than make one up: what a sentence
denies, asks, supposes or says of a pronoun is left out, and told as not understood. See docs/knowledge.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.features.knowledge.names import key_of, predicate_of, tidy

LONGEST_SENTENCE = 500
LONGEST_NAME = 100
MOST_NAME_WORDS = 8

# How predicates are spoken; those with a mark in front are said of the object: "Ann wrote it" is "it authored_by Ann".
SPOKEN: Final[Mapping[str, Sequence[str]]] = {
    "reports_to": ("reports to", "report to"),
    "manages": ("manages", "manage", "is the manager of"),
    "manages<": ("is managed by", "are managed by"),
    "belongs_to": ("belongs to", "belong to", "is part of", "is a part of", "are part of", "are parts of"),
    "member_of": ("is a member of", "is member of", "are members of"),
    "located_in": ("is located in", "are located in", "is based in", "are based in"),
    "contains": ("contains", "contain", "includes", "include", "consists of", "consist of"),
    "adjacent_to": ("is adjacent to", "are adjacent to", "is next to", "are next to", "borders"),
    "requires": ("requires", "require", "needs", "need"),
    "depends_on": ("depends on", "depend on", "relies on", "rely on", "is dependent on", "are dependent on"),
    "provides": ("provides", "provide"),
    "is_a": ("is a", "is an"),
    "instance_of": ("is an instance of", "are instances of"),
    "subclass_of": ("is a subclass of", "are subclasses of", "is a kind of", "is a type of"),
    "precedes": ("precedes", "precede", "comes before", "come before", "happens before"),
    "follows": ("follows", "follow", "comes after", "come after", "happens after"),
    "overlaps": ("overlaps with", "overlap with", "overlaps"),
    "owns": ("owns", "own", "is the owner of"),
    "owned_by": ("is owned by", "are owned by"),
    "created_by": ("was created by", "is created by", "were created by", "was made by", "was built by"),
    "created_by<": ("created",),
    "authored_by": ("was written by", "is written by", "were written by", "was authored by", "is authored by"),
    "authored_by<": ("wrote", "authored"),
    "uses": ("uses", "use"),
    "uses<": ("is used by", "are used by"),
    "calls": ("calls",),
    "implements": ("implements", "implement"),
    "supports": ("supports", "support"),
    "replaces": ("replaces", "replace", "replaced"),
    "extends": ("extends", "extend"),
    "inherits_from": ("inherits from", "inherit from"),
    "connects_to": ("connects to", "connect to", "is connected to", "are connected to"),
    "runs_on": ("runs on", "run on"),
    "works_for": ("works for", "work for"),
    "works_on": ("works on", "work on"),
    "works_with": ("works with", "work with"),
    "lives_in": ("lives in", "live in"),
    "married_to": ("is married to",),
    "knows": ("knows",),
}


@dataclass(frozen=True, slots=True)
class Relation:
    """What a sentence states, in its own words."""

    subject: str
    predicate: str
    object: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What was understood of a text, and what was not."""

    relations: Sequence[Relation]
    not_understood: Sequence[str]
    """The other sentences, as they stand."""


def read_relations(text: str) -> Reading:
    """The relations that the sentences of a text state, in their order, each once."""
    found: dict[tuple[str, str, str], Relation] = {}
    missed: list[str] = []
    for sentence in _sentences(text):
        relations = _relations_in(sentence)
        if not relations:
            missed.append(sentence[:LONGEST_SENTENCE])
        for one in relations:
            found.setdefault((key_of(one.subject), one.predicate, key_of(one.object)), one)
    return Reading([*found.values()], missed)


_ABBREVIATIONS = ("mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "inc", "ltd", "co", "corp", "no", "e.g", "i.e")
_END = re.compile(r"[.!?]+(?=[\"'\u201d)]*(?:\s|$))|\n+|;")
_QUESTION = re.compile(
    r"\?\s*$|^(?:who|what|which|when|where|why|how|does|do|did|is|are|was|were|can|could|would|should)\b", re.I
)
# What makes a sentence say less than its words, or the opposite.
_DOUBT = re.compile(
    r"\b(?:not|never|none|nobody|nothing|neither|nor|without|cannot|hardly|no longer|no one|used to|if|unless|whether"
    r"|may|might|could|would|should|shall|will|must|can|maybe|perhaps|probably|possibly|likely|seems?|thinks?|believes?"
    r"|says|said|claims|wants to|plans to|formerly|previously|once|or|either|except|unlike|only|some|every|all|most"
    r"|any)\b"
    r"|n['\u2019]t\b",
    re.I,
)
_PRONOUNS = frozenset(
    """
    it he she they we i you this that these those him her them us me who which one its his their our my your there here
    what everything something anything nothing everybody somebody others another both
    """.split()  # noqa: SIM905 - read as words, not as a list
)
# Words that no plain name has: what follows them says more than a name.
_NO_NAME = re.compile(
    r"\b(?:that|which|who|whom|whose|when|while|because|since|until|during|for|in|at|by|to|with|from|via|as|than|after"
    r"|before|is|are|was|were|be|been|has|have|had|does|did|on|about|into|over|under|through|so|but|then|however)\b",
    re.I,
)
_ADVERB = re.compile(r"[,\s]+(?:also|currently|now|still|directly|already|mainly|both)$", re.I)
_LIST = re.compile(r"\s*,\s*and\s+|\s+and\s+|\s*,\s*|\s+&\s+", re.I)
_NEW_CLAUSE = re.compile(r"^(?P<ends>[^,]+?)(?:,\s*(?:and|but|while)|\s+and)\s+(?P<begins>[^,]+)$", re.I)
_SAME_SUBJECT = re.compile(r"(?:\s*,)?\s+and$|,$", re.I)
_OF_THE_OBJECT = re.compile(r"\s*,?\s+(?:which|that|who)$", re.I)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`|\u201c([^\u201d\n]+)\u201d")
_HELD = re.compile(r"\uE000(\d+)\uE001")
_OBJECT_OF_NEED = re.compile(r"^to\b", re.I)


def _spoken_forms() -> Iterator[tuple[str, str, bool]]:
    for predicate, forms in SPOKEN.items():
        for form in forms:
            yield form, predicate.rstrip("<"), predicate.endswith("<")


_FORMS = {form: (predicate, turned) for form, predicate, turned in _spoken_forms()}
_RELATION = re.compile(
    r"(?<![\w-])(?:(?P<spoken>"
    + "|".join(re.escape(form) for form in sorted(_FORMS, key=len, reverse=True))
    + r")|(?P<written>[a-z]+(?:_[a-z]+)+))(?![\w-])"
)


def _sentences(text: str) -> Iterator[str]:
    begun = 0
    for end in _END.finditer(text):
        word = text[begun : end.start()].rsplit(None, 1)[-1:]
        if end[0] == "." and word and (word[0].lower() in _ABBREVIATIONS or re.fullmatch(r"[A-Z]", word[0])):
            continue
        if sentence := text[begun : end.end()].strip(" \t\r\n;-*\u2022"):
            yield sentence
        begun = end.end()
    if sentence := text[begun:].strip(" \t\r\n;-*\u2022"):
        yield sentence


def _relations_in(sentence: str) -> list[Relation]:
    held: list[str] = []

    def hold(quoted: re.Match[str]) -> str:
        held.append(next(group for group in quoted.groups() if group is not None))
        return f"\ue000{len(held) - 1}\ue001"

    plain = _QUOTED.sub(hold, sentence.replace("\ue000", " ").replace("\ue001", " "))
    stated = plain.rstrip(".! ")
    if len(sentence) > LONGEST_SENTENCE or _QUESTION.search(plain) or _DOUBT.search(stated):
        return []
    said = [*_RELATION.finditer(stated)]
    if not said:
        return []
    found: list[Relation] = []
    subjects = _names(stated[: said[0].start()], held)
    for place, match in enumerate(said):
        ends = said[place + 1].start() if place + 1 < len(said) else len(stated)
        between = stated[match.end() : ends].strip()
        told, next_subjects = (between, subjects) if place + 1 == len(said) else _clauses(between, subjects, held)
        predicate, turned = _FORMS[match["spoken"]] if match["spoken"] else (predicate_of(match["written"]), False)
        objects = _names(told, held)
        needs_doing = predicate == "requires" and _OBJECT_OF_NEED.match(told)
        of_something = predicate == "is_a" and re.search(r"\bof\b", told)
        if not subjects or not objects or needs_doing or of_something:
            return []  # a sentence that is understood in part only may say something else
        for subject in subjects:
            for object_ in objects:
                ends_at = (object_, subject) if turned else (subject, object_)
                found.append(Relation(ends_at[0], predicate, ends_at[1], sentence))
        subjects = objects if next_subjects is None else next_subjects
    return found


def _clauses(between: str, subjects: Sequence[str], held: Sequence[str]) -> tuple[str, Sequence[str] | None]:
    """What stands between two relations: the objects of the first, and the subjects of the second.

    None for these means that they are those objects.
    """
    if of_the_object := _OF_THE_OBJECT.search(between):
        return between[: of_the_object.start()], None
    if same := _SAME_SUBJECT.search(between):
        return between[: same.start()], subjects
    if clause := _NEW_CLAUSE.match(between):
        return clause["ends"], _names(clause["begins"], held)
    return "", ()


def _names(text: str, held: Sequence[str]) -> list[str]:
    """The names in a list such as `A, B and C`; none when one of them is no plain name."""
    text = _ADVERB.sub("", text.strip())
    names: list[str] = []
    for part in _LIST.split(text):
        quoted = _HELD.search(part)
        name = _HELD.sub(lambda one: held[int(one[1])], part) if quoted else part
        shown = tidy(re.sub(r"^(?:the|a|an)\s+", "", name.strip(), flags=re.I))
        words = shown.split()
        if not key_of(shown) or len(shown) > LONGEST_NAME or len(words) > MOST_NAME_WORDS:
            return []
        if not quoted and (words[0].casefold() in _PRONOUNS or _NO_NAME.search(shown) or _RELATION.search(shown)):
            return []
        names.append(shown)
    return names
