"""Rule-based extraction of relations from plain English sentences.

Precision comes before recall: negations, questions, hypothetical statements and pronouns yield no relation, and their
sentences are reported as not understood. Names are taken literally. See docs/knowledge.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.features.knowledge.names import clean_name, name_key, normalize_predicate

MAX_SENTENCE_CHARACTERS = 500
MAX_NAME_CHARACTERS = 100
MAX_NAME_WORDS = 8

# Phrases of each predicate. A trailing `<` swaps subject and object: "Ann wrote it" becomes "it authored_by Ann".
PREDICATE_PHRASES: Final[Mapping[str, Sequence[str]]] = {
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
    """A relation that a sentence states; the names are those of the text."""

    subject: str
    predicate: str
    object: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ParsedText:
    """Relations of a text, and the sentences without one."""

    relations: Sequence[Relation]
    not_understood: Sequence[str]
    """Sentences that yielded no relation, each at most `MAX_SENTENCE_CHARACTERS` long."""


def parse_relations(text: str) -> ParsedText:
    """Return the relations of a text in order, without duplicates."""
    found: dict[tuple[str, str, str], Relation] = {}
    not_understood: list[str] = []
    for sentence in _sentences(text):
        relations = _relations_in(sentence)
        if not relations:
            not_understood.append(sentence[:MAX_SENTENCE_CHARACTERS])
        for one in relations:
            found.setdefault((name_key(one.subject), one.predicate, name_key(one.object)), one)
    return ParsedText([*found.values()], not_understood)


_ABBREVIATIONS = ("mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "inc", "ltd", "co", "corp", "no", "e.g", "i.e")
_END = re.compile(r"[.!?]+(?=[\"'\u201d)]*(?:\s|$))|\n+|;")
_QUESTION = re.compile(
    r"\?\s*$|^(?:who|what|which|when|where|why|how|does|do|did|is|are|was|were|can|could|would|should)\b", re.I
)
# Words that negate, weaken or restrict a statement.
_UNCERTAIN = re.compile(
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
    """.split()  # noqa: SIM905 - easier to read as words than as a list
)
# A name that contains one of these words is not a plain name but a clause.
_NOT_IN_NAME = re.compile(
    r"\b(?:that|which|who|whom|whose|when|while|because|since|until|during|for|in|at|by|to|with|from|via|as|than|after"
    r"|before|is|are|was|were|be|been|has|have|had|does|did|on|about|into|over|under|through|so|but|then|however)\b",
    re.I,
)
_ADVERB = re.compile(r"[,\s]+(?:also|currently|now|still|directly|already|mainly|both)$", re.I)
_LIST = re.compile(r"\s*,\s*and\s+|\s+and\s+|\s*,\s*|\s+&\s+", re.I)
_NEW_CLAUSE = re.compile(r"^(?P<ends>[^,]+?)(?:,\s*(?:and|but|while)|\s+and)\s+(?P<begins>[^,]+)$", re.I)
_SAME_SUBJECT = re.compile(r"(?:\s*,)?\s+and$|,$", re.I)
_RELATIVE_PRONOUN = re.compile(r"\s*,?\s+(?:which|that|who)$", re.I)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`|\u201c([^\u201d\n]+)\u201d")
_PLACEHOLDER = re.compile(r"\uE000(\d+)\uE001")
_INFINITIVE = re.compile(r"^to\b", re.I)


def _predicate_phrases() -> Iterator[tuple[str, str, bool]]:
    for predicate, phrases in PREDICATE_PHRASES.items():
        for phrase in phrases:
            yield phrase, predicate.rstrip("<"), predicate.endswith("<")


_PREDICATE_BY_PHRASE = {phrase: (predicate, is_reversed) for phrase, predicate, is_reversed in _predicate_phrases()}
_RELATION = re.compile(
    r"(?<![\w-])(?:(?P<phrase>"
    + "|".join(re.escape(phrase) for phrase in sorted(_PREDICATE_BY_PHRASE, key=len, reverse=True))
    + r")|(?P<written>[a-z]+(?:_[a-z]+)+))(?![\w-])"
)


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        word = text[start : end.start()].rsplit(None, 1)[-1:]
        if end[0] == "." and word and (word[0].lower() in _ABBREVIATIONS or re.fullmatch(r"[A-Z]", word[0])):
            continue
        if sentence := text[start : end.end()].strip(" \t\r\n;-*\u2022"):
            yield sentence
        start = end.end()
    if sentence := text[start:].strip(" \t\r\n;-*\u2022"):
        yield sentence


def _relations_in(sentence: str) -> list[Relation]:
    quoted_names: list[str] = []

    def placeholder(quoted: re.Match[str]) -> str:
        quoted_names.append(next(group for group in quoted.groups() if group is not None))
        return f"\ue000{len(quoted_names) - 1}\ue001"

    plain = _QUOTED.sub(placeholder, sentence.replace("\ue000", " ").replace("\ue001", " "))
    stated = plain.rstrip(".! ")
    if len(sentence) > MAX_SENTENCE_CHARACTERS or _QUESTION.search(plain) or _UNCERTAIN.search(stated):
        return []
    matches = [*_RELATION.finditer(stated)]
    if not matches:
        return []
    found: list[Relation] = []
    subjects = _names(stated[: matches[0].start()], quoted_names)
    for number, match in enumerate(matches):
        is_last = number + 1 == len(matches)
        end = len(stated) if is_last else matches[number + 1].start()
        between = stated[match.end() : end].strip()
        listed, next_subjects = (between, subjects) if is_last else _clauses(between, subjects, quoted_names)
        phrase, written = match["phrase"], match["written"]
        predicate, is_reversed = _PREDICATE_BY_PHRASE[phrase] if phrase else (normalize_predicate(written), False)
        objects = _names(listed, quoted_names)
        needs_action = predicate == "requires" and _INFINITIVE.match(listed)  # "A needs to be restarted"
        of_something = predicate == "is_a" and re.search(r"\bof\b", listed)  # "B is a version of C"
        if not subjects or not objects or needs_action or of_something:
            return []  # a partly understood sentence may mean something else
        for subject in subjects:
            for object_ in objects:
                source, target = (object_, subject) if is_reversed else (subject, object_)
                found.append(Relation(source, predicate, target, sentence))
        subjects = objects if next_subjects is None else next_subjects
    return found


def _clauses(between: str, subjects: Sequence[str], quoted_names: Sequence[str]) -> tuple[str, Sequence[str] | None]:
    """Split the text between two relations into the objects of the first and the subjects of the second.

    The subjects are None when they are the objects of the first relation.
    """
    if pronoun := _RELATIVE_PRONOUN.search(between):
        return between[: pronoun.start()], None
    if same := _SAME_SUBJECT.search(between):
        return between[: same.start()], subjects
    if clause := _NEW_CLAUSE.match(between):
        return clause["ends"], _names(clause["begins"], quoted_names)
    return "", ()


def _names(text: str, quoted_names: Sequence[str]) -> list[str]:
    """Return the names of a list such as `A, B and C`; an empty list when one of them is not a plain name."""
    text = _ADVERB.sub("", text.strip())
    names: list[str] = []
    for part in _LIST.split(text):
        quoted = _PLACEHOLDER.search(part)
        name = _PLACEHOLDER.sub(lambda one: quoted_names[int(one[1])], part) if quoted else part
        shown = clean_name(re.sub(r"^(?:the|a|an)\s+", "", name.strip(), flags=re.I))
        words = shown.split()
        if not name_key(shown) or len(shown) > MAX_NAME_CHARACTERS or len(words) > MAX_NAME_WORDS:
            return []
        if not quoted and (words[0].casefold() in _PRONOUNS or _NOT_IN_NAME.search(shown) or _RELATION.search(shown)):
            return []
        names.append(shown)
    return names
