"""Facts that people state in so many words, found by rules: what they prefer, decided, use, are called, always do.

The rules take the words as they stand, read English, and would rather miss a fact than make one up: a statement must
begin a sentence of somebody's own, and questions, guesses, quotations, code and pasted texts are left out. All of them
are told in docs/facts.md.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scrubjay.features.memory.models import Kind
from scrubjay.features.summaries.extractive import LONG_SENTENCE, sentences_of

# What is longer is mostly somebody else's text.
LONGEST_OF_ONES_OWN = 2_000
FEWEST_WORDS = 3
LONGEST_SUBJECT = 200
# How sure it is that what was said is so: of their own affairs people know best, and an agent may only have meant well.
SURE_OF_A_PERSON = 0.9
SURE_OF_AN_AGENT = 0.6
# Who speaks when nobody is named.
USER, AGENT = "user", "assistant"


class FactCategory(StrEnum):
    """What part of somebody's life a fact is of."""

    PROFILE = "profile"
    PERSONAL = "personal"
    PREFERENCES = "preferences"
    WORK = "work"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact that somebody stated."""

    text: str
    kind: Kind
    category: FactCategory
    speaker: str
    confidence: float
    subject: str | None = None
    """What it is about, where another statement about the same would take its place."""


def statements_in(text: str, *, speaker: str, is_agent: bool) -> list[Statement]:
    """The facts that somebody states in a text, in their order; of an agent only what was decided together."""
    if len(text) > LONGEST_OF_ONES_OWN:
        return []
    rules = _RULES_FOR_AGENTS if is_agent else _RULES
    confidence = SURE_OF_AN_AGENT if is_agent else SURE_OF_A_PERSON
    found: dict[str, Statement] = {}
    for sentence in sentences_of(_own_words(text)):
        stated = _OPENING.sub("", sentence)
        if len(stated.split()) < FEWEST_WORDS or len(sentence) >= LONG_SENTENCE or _is_no_statement(stated):
            continue
        for rule in rules:
            if match := rule.form.match(stated):
                # What is true besides takes nothing's place.
                about = None if _BESIDES.search(sentence) else rule.subject
                subject = about(match, speaker) if about else None
                found[stated] = Statement(
                    text=stated,
                    kind=rule.kind,
                    category=rule.category,
                    speaker=speaker,
                    confidence=confidence,
                    subject=subject[:LONGEST_SUBJECT] if subject else None,
                )
                break
    return list(found.values())


# -- what is somebody's own ------------------------------------------------------------------------

_FENCED = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
# Several sentences between quotation marks; a single word may be quoted in a statement.
_QUOTATION = re.compile(r'"[^"]*[.!?]\s[^"]*"|\u201c[^\u201d]*[.!?]\s[^\u201d]*\u201d')
# What follows such a line is what the speaker is talking about, such as a text to translate.
_ANNOUNCED = re.compile(r":[ \t]*\n.*\Z", re.DOTALL)
_OPENING = re.compile(
    r"^(?:(?:also|and|so|but|well|ok|okay|yes|no|hi|hello|hey|thanks|thank you|by the way|btw|please|for the record|"
    r"fyi|just so you know|in general|actually|as of (?:now|today)|right|sorry|important|note)\b"
    r"[\s,:;!.\u2013\u2014-]*)+",
    re.IGNORECASE,
)
_BESIDES = re.compile(r"\b(?:also|too|as well|additionally|both)\b", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|might|not sure|unsure|i guess|i suppose|would|could|suppose|imagine|pretend|hypothetical\w*|"
    r"for (?:example|instance)|e\.g\.|let'?s say|kidding|joking|supposedly|allegedly|rumou?r\w*)\b",
    re.IGNORECASE,
)


def _own_words(text: str) -> str:
    text = _QUOTED_LINE.sub("", _FENCED.sub("\n", text))
    return _ANNOUNCED.sub("", _QUOTATION.sub(" ", text))


def _is_no_statement(sentence: str) -> bool:
    """A question, a guess, or a piece of a quotation."""
    return "?" in sentence or sentence.count('"') % 2 == 1 or _UNSURE.search(sentence) is not None


# -- what is a fact --------------------------------------------------------------------------------

_Subject = Callable[[re.Match[str], str], str | None]


@dataclass(frozen=True, slots=True)
class _Rule:
    form: re.Pattern[str]
    kind: Kind
    category: FactCategory
    subject: _Subject | None = None


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ADVERBS = (
    r"(?:(?:really|now|still|always|usually|generally|strongly|much|also|currently|only|mostly|just|finally)\s+)*"
)
# What "I like this" is about cannot be told without what was said before.
_POINTING = (
    r"(?!(?:it|this|that|these|those|what|how|where|when|your?|him|her|them|one|"
    r"the (?:idea|way|look|first|second|third|last|latter|former|other))\b)"
)
# "Never heard of it" tells what was, and "always good to see you" nothing.
_NO_HABIT = (
    r"(?!(?:mind|good|nice|great|happy|glad|fun|a|an|the|had|been|was|were|is|are|have|has|seen|heard|thought|knew|known|"
    r"got|gotten|did|done|made|went|found|felt|said|took|\w+ed)\b)"
)
_WHEN = (
    r"(?=.*(?:\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december)\b|\b(?:today|tomorrow|tonight|next|end of)\b))"
)
_REASONS = re.compile(r"\s*(?:[,;(]|\s[-\u2013\u2014]\s|\b(?:because|since|so that|as it|as they)\b).*$", re.IGNORECASE)
_ARTICLES = frozenset({"the", "a", "an", "our", "my", "your", "this"})
_WORD = re.compile(r"[\w+#/@'-]+(?:\.[\w+#/@'-]+)*")


def _bare(text: str) -> str:
    """The words that tell what a statement is about, without reasons and articles."""
    words = _WORD.findall(_REASONS.sub("", text).casefold())
    return " ".join(word for word in words if word not in _ARTICLES)


def _personal(name: str) -> _Subject:
    return lambda match, speaker: f"{speaker}: {name}"


def _about(name: str, label: str) -> _Subject:
    """What the speaker says of the thing in this group."""

    def subject(match: re.Match[str], speaker: str) -> str | None:
        thing = _bare(match[name])
        return f"{speaker}: {label} {thing}" if thing else None

    return subject


_COMPARED = _form(
    r"(?:to use\s+|using\s+)?(?P<one>(?!to\b).{1,60}?)\s+(?:over|rather than|instead of|to)\s+(?P<other>.+)"
)
_CIRCUMSTANCE = _form(r"(?P<thing>.+?)\s+(?P<when>(?:in|for|when|on|at|with|while|during)\s+.+)")


def _preference(match: re.Match[str], speaker: str) -> str | None:
    """The things compared, in whichever order they were preferred, or what something is preferred for."""
    rest = _REASONS.sub("", match["rest"])
    if compared := _COMPARED.match(rest):
        other, when = compared["other"], ""
        if circumstance := _CIRCUMSTANCE.match(other):
            other, when = circumstance["thing"], f" {_bare(circumstance['when'])}"
        things = sorted((_bare(compared["one"]), _bare(other)))
        return f"{speaker}: {' or '.join(things)}{when}" if all(things) else None
    if purpose := re.search(r"\sfor\s+(?P<purpose>.+)", rest, re.IGNORECASE):
        return f"{speaker}: preferred for {_bare(purpose['purpose'])}"
    return None


_NO_PURPOSES = frozenset({"", "now", "moment", "time being", "while", "today", "long time", "years"})


def _use(match: re.Match[str], speaker: str) -> str | None:
    """What the thing is used for: another thing for the same takes its place."""
    purpose = _bare(match["purpose"] or "")
    return f"used for {purpose}" if purpose not in _NO_PURPOSES else None


_CHOSEN = _form(r".{1,80}?\s(?:for|as)\s+(?P<purpose>.+)")


def _choice(match: re.Match[str], speaker: str) -> str | None:
    """The same for a decision, which says that something is used from now on."""
    chosen = _CHOSEN.match(match["thing"])
    return _use(chosen, speaker) if chosen else None


def _date(match: re.Match[str], speaker: str) -> str | None:
    """The words of what has a date, in no order: the release deadline is the deadline for the release."""
    return " ".join(sorted({*_bare(match["what"]).split(), *_bare(match["of"] or "").split()}))


def _order(match: re.Match[str], speaker: str) -> str | None:
    """What is always or never to be done: one takes the place of the other."""
    return f"rule: {_bare(match['what'])}"


_DECIDED = {
    who: (
        _Rule(
            _form(
                rf"{who}(?:'ve|\s+have)?\s+{_ADVERBS}(?:decided\s+(?:to\s+(?:use|go with|adopt|keep)|on)|agreed\s+on|"
                rf"chose|chosen|settled\s+on|opted\s+for)\s+{_POINTING}(?P<thing>.+)"
            ),
            Kind.DECISION,
            FactCategory.WORK,
            _choice,
        ),
        _Rule(
            _form(rf"{who}(?:'ve|\s+have)?\s+{_ADVERBS}(?:decided|agreed|opted)\s+(?:to|that|against|not)\s+.+"),
            Kind.DECISION,
            FactCategory.WORK,
        ),
    )
    for who in ("we", "I")
}
_NAMED_AFFAIRS = (
    r"(?P<thing>(?:full |first |last )?name|nickname|e-?mail(?: address)?|time ?zone|role|job title|birthday|pronouns|"
    r"native language|mother tongue|user ?name|(?:github |slack )?handle)"
)
_DATED = r"(?P<what>(?:[\w-]+\s+){0,3}?(?:deadline|due date|release date|launch date|code freeze|budget))"
_MOVED = r"(?:(?:was|has been|got|has)\s+)?(?:moved|extended|changed|postponed|cut|raised)\s+to"

_RULES: Sequence[_Rule] = (
    _Rule(
        _form(rf"I\s+{_ADVERBS}prefer\s+{_POINTING}(?P<rest>.+)"),
        Kind.PREFERENCE,
        FactCategory.PREFERENCES,
        _preference,
    ),
    _Rule(
        _form(
            rf"I\s+{_ADVERBS}(?:like|love|enjoy|hate|dislike|(?:don't|do not) (?:like|enjoy)|(?:can't|cannot) stand)\s+"
            rf"{_POINTING}(?P<thing>.+)"
        ),
        Kind.PREFERENCE,
        FactCategory.PERSONAL,
        _about("thing", "likes"),
    ),
    _Rule(
        _form(r"my\s+(?:new\s+|current\s+)?favou?rite\s+(?P<thing>[\w -]{2,40}?)\s+(?:is|are|has become)\s+.+"),
        Kind.PREFERENCE,
        FactCategory.PREFERENCES,
        _about("thing", "favourite"),
    ),
    _Rule(
        _form(rf"my\s+(?:new\s+)?{_NAMED_AFFAIRS}\s+(?:is|are)\s+(?!(?:not|wrong|missing|broken|\w+ing)\b).+"),
        Kind.CONTEXT,
        FactCategory.PROFILE,
        _about("thing", "own"),
    ),
    _Rule(
        _form(rf"I(?:'m|\s+am)?\s+{_ADVERBS}(?:live|based)\s+in\s+.+"),
        Kind.CONTEXT,
        FactCategory.PERSONAL,
        _personal("home"),
    ),
    _Rule(
        _form(rf"I\s+{_ADVERBS}work\s+(?:at|for)\s+{_POINTING}.+"),
        Kind.CONTEXT,
        FactCategory.PROFILE,
        _personal("employer"),
    ),
    _Rule(_form(rf"I\s+{_ADVERBS}work\s+as\s+.+"), Kind.CONTEXT, FactCategory.PROFILE, _personal("job")),
    _Rule(_form(r"I(?:'m|\s+am)\s+allergic\s+to\s+.+"), Kind.CONTEXT, FactCategory.PERSONAL),
    *_DECIDED["we"],
    *_DECIDED["I"],
    _Rule(
        _form(
            rf"we(?:'re|\s+are)?\s+{_ADVERBS}us(?:e|ing)\s+{_POINTING}.{{1,80}}?"
            r"(?:\s+(?:for|as|to)\s+(?P<purpose>.+)|[.!]?$)"
        ),
        Kind.CONTEXT,
        FactCategory.WORK,
        _use,
    ),
    _Rule(
        _form(r"we(?:'ve|\s+have)?\s+(?:just\s+|now\s+)?(?:switched|moved|migrated)\s+.*?from\s+.+?\s+to\s+.+"),
        Kind.CONTEXT,
        FactCategory.WORK,
    ),
    _Rule(
        _form(
            rf"(?:the|our|my)\s+{_DATED}(?:\s+(?:for|of)\s+(?P<of>.+?))?\s+(?:is(?:\s+now)?|{_MOVED})\s+{_WHEN}(?!not\b).+"
        ),
        Kind.CONTEXT,
        FactCategory.WORK,
        _date,
    ),
    _Rule(
        _form(
            rf"(?:you\s+(?:should|must)\s+|we\s+)?(?:always|never|(?:don't|do not)\s+ever)\s+{_NO_HABIT}(?P<what>.+)"
        ),
        Kind.PREFERENCE,
        FactCategory.PREFERENCES,
        _order,
    ),
    _Rule(
        _form(rf"I\s+(?:always|never)\s+{_NO_HABIT}(?P<what>.+)"),
        Kind.PREFERENCE,
        FactCategory.PERSONAL,
        _about("what", "habit"),
    ),
    _Rule(_form(r"(?:from now on|going forward)\b.+"), Kind.PREFERENCE, FactCategory.PREFERENCES),
    _Rule(
        _form(r"(?:remember|keep in mind|for (?:later|future reference))(?:\s+that\b|\s*[:,]).+"),
        Kind.CONTEXT,
        FactCategory.WORK,
    ),
)
_RULES_FOR_AGENTS: Sequence[_Rule] = _DECIDED["we"]
