"""Rules that find facts which people state explicitly: preferences, decisions, tools in use, names, habits.

The rules read English and prefer precision to recall: a statement must start a sentence of the speaker's own words.
Questions, guesses, quotations, code and pasted text are ignored. docs/facts.md describes all rules.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.summaries.extractive import MAX_SENTENCE_LENGTH, split_sentences

# Longer text is usually pasted.
MAX_OWN_TEXT_LENGTH = 2_000
MIN_WORDS = 3
MAX_SUBJECT_LENGTH = 200
# Confidence in a statement: people know their own affairs, while an agent may be wrong.
PERSON_CONFIDENCE = 0.9
AGENT_CONFIDENCE = 0.6
# Default speakers.
USER, AGENT = "user", "assistant"


class FactCategory(StrEnum):
    """Area of life that a fact belongs to."""

    PROFILE = "profile"
    PERSONAL = "personal"
    PREFERENCES = "preferences"
    WORK = "work"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact as stated by a speaker."""

    text: str
    kind: MemoryKind
    category: FactCategory
    speaker: str
    confidence: float
    subject: str | None = None
    """Subject, if a later statement about it supersedes this one."""


def find_statements(text: str, *, speaker: str, is_agent: bool) -> list[Statement]:
    """Return the facts stated in a text, in order; of an agent, only joint decisions ("we decided")."""
    if len(text) > MAX_OWN_TEXT_LENGTH:
        return []
    rules = _RULES_FOR_AGENTS if is_agent else _RULES
    confidence = AGENT_CONFIDENCE if is_agent else PERSON_CONFIDENCE
    found: dict[str, Statement] = {}
    for sentence in split_sentences(_own_words(text)):
        stated = _OPENING.sub("", sentence)
        if len(stated.split()) < MIN_WORDS or len(sentence) >= MAX_SENTENCE_LENGTH or _is_no_statement(stated):
            continue
        for rule in rules:
            if match := rule.form.match(stated):
                # "also" adds a fact, which supersedes no other.
                about = None if _ADDITIONAL.search(sentence) else rule.subject
                subject = about(match, speaker) if about else None
                found[stated] = Statement(
                    text=stated,
                    kind=rule.kind,
                    category=rule.category,
                    speaker=speaker,
                    confidence=confidence,
                    subject=subject[:MAX_SUBJECT_LENGTH] if subject else None,
                )
                break
    return list(found.values())


# -- the speaker's own words -----------------------------------------------------------------------

_FENCED = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
# Quoted sentences. A single quoted word may be part of a statement.
_QUOTATION = re.compile(r'"[^"]*[.!?]\s[^"]*"|\u201c[^\u201d]*[.!?]\s[^\u201d]*\u201d')
# The text after a line that ends with a colon is material, such as a text to translate.
_ANNOUNCED = re.compile(r":[ \t]*\n.*\Z", re.DOTALL)
_OPENING = re.compile(
    r"^(?:(?:also|and|so|but|well|ok|okay|yes|no|hi|hello|hey|thanks|thank you|by the way|btw|please|for the record|"
    r"fyi|just so you know|in general|actually|as of (?:now|today)|right|sorry|important|note|then)\b"
    r"[\s,:;!.\u2013\u2014-]*|(?:hm+|fine|great|good|perfect|agreed|alright|sure|understood)\s*[,:;!.\u2013\u2014-]+\s*)+",
    re.IGNORECASE,
)
_ADDITIONAL = re.compile(r"\b(?:also|too|as well|additionally|both)\b", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|might|not sure|unsure|i guess|i suppose|would|could|suppose|imagine|pretend|hypothetical\w*|"
    r"for (?:example|instance)|e\.g\.|let'?s say|kidding|joking|supposedly|allegedly|rumou?r\w*)\b",
    re.IGNORECASE,
)


def _own_words(text: str) -> str:
    text = _QUOTED_LINE.sub("", _FENCED.sub("\n", text))
    return _ANNOUNCED.sub("", _QUOTATION.sub(" ", text))


def _is_no_statement(sentence: str) -> bool:
    """Return True for a question, a guess or a part of a quotation."""
    return "?" in sentence or sentence.count('"') % 2 == 1 or _UNSURE.search(sentence) is not None


# -- rules -----------------------------------------------------------------------------------------

_Subject = Callable[[re.Match[str], str], str | None]


@dataclass(frozen=True, slots=True)
class _Rule:
    form: re.Pattern[str]
    kind: MemoryKind
    category: FactCategory
    subject: _Subject | None = None


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ADVERBS = (
    r"(?:(?:really|now|still|always|usually|generally|strongly|much|also|currently|only|mostly|just|finally)\s+)*"
)
# "I like this" has no meaning without the previous sentences.
_NO_PRONOUN = (
    r"(?!(?:it|this|that|these|those|what|how|where|when|your?|him|her|them|one|"
    r"the (?:idea|way|look|first|second|third|last|latter|former|other))\b)"
)
# "Never heard of it" is about the past, and "always good to see you" is a phrase: neither is a habit.
_NO_HABIT = (
    r"(?!(?:mind|good|nice|great|happy|glad|fun|a|an|the|had|been|was|were|is|are|have|has|seen|heard|thought|knew|known|"
    r"got|gotten|did|done|made|went|found|felt|said|took|\w+ed)\b)"
)
_HAS_DATE = (
    r"(?=.*(?:\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december)\b|\b(?:today|tomorrow|tonight|next|end of)\b))"
)
_REASONS = re.compile(r"\s*(?:[,;(]|\s[-\u2013\u2014]\s|\b(?:because|since|so that|as it|as they)\b).*$", re.IGNORECASE)
_ARTICLES = frozenset({"the", "a", "an", "our", "my", "your", "this"})
_WORD = re.compile(r"[\w+#/@'-]+(?:\.[\w+#/@'-]+)*")


def _topic_words(text: str) -> str:
    """Return the words of a topic in lower case, without reasons and articles."""
    words = _WORD.findall(_REASONS.sub("", text).casefold())
    return " ".join(word for word in words if word not in _ARTICLES)


def _personal_subject(name: str) -> _Subject:
    return lambda match, speaker: f"{speaker}: {name}"


def _thing_subject(name: str, label: str) -> _Subject:
    """Return a function that makes the subject from the thing in this group, such as "ada: likes tea"."""

    def subject(match: re.Match[str], speaker: str) -> str | None:
        thing = _topic_words(match[name])
        return f"{speaker}: {label} {thing}" if thing else None

    return subject


_COMPARED = _form(
    r"(?:to use\s+|using\s+)?(?P<one>(?!to\b).{1,60}?)\s+(?:over|rather than|instead of|to)\s+(?P<other>.+)"
)
_CIRCUMSTANCE = _form(r"(?P<thing>.+?)\s+(?P<when>(?:in|for|when|on|at|with|while|during)\s+.+)")


def _preference_subject(match: re.Match[str], speaker: str) -> str | None:
    """Return the compared things in alphabetical order, or the purpose that something is preferred for."""
    rest = _REASONS.sub("", match["rest"])
    if compared := _COMPARED.match(rest):
        other, when = compared["other"], ""
        if circumstance := _CIRCUMSTANCE.match(other):
            other, when = circumstance["thing"], f" {_topic_words(circumstance['when'])}"
        things = sorted((_topic_words(compared["one"]), _topic_words(other)))
        return f"{speaker}: {' or '.join(things)}{when}" if all(things) else None
    if purpose := re.search(r"\sfor\s+(?P<purpose>.+)", rest, re.IGNORECASE):
        return f"{speaker}: preferred for {_topic_words(purpose['purpose'])}"
    return None


_NO_PURPOSES = frozenset({"", "now", "moment", "time being", "while", "today", "long time", "years"})


def _use_subject(match: re.Match[str], speaker: str) -> str | None:
    """Return the purpose that the thing is used for, so that another thing for it supersedes the fact."""
    purpose = _topic_words(match["purpose"] or "")
    return f"used for {purpose}" if purpose not in _NO_PURPOSES else None


_CHOSEN = _form(r".{1,80}?\s(?:for|as)\s+(?P<purpose>.+)")


def _choice_subject(match: re.Match[str], speaker: str) -> str | None:
    """Return the purpose of a chosen thing, as for a thing in use."""
    chosen = _CHOSEN.match(match["thing"])
    return _use_subject(chosen, speaker) if chosen else None


def _date_subject(match: re.Match[str], speaker: str) -> str | None:
    """Return the words of the dated thing, sorted: "release deadline" equals "deadline for the release"."""
    return " ".join(sorted({*_topic_words(match["what"]).split(), *_topic_words(match["of"] or "").split()}))


def _rule_subject(match: re.Match[str], speaker: str) -> str | None:
    """Return the action of the rule, so that "always" and "never" supersede each other."""
    return f"rule: {_topic_words(match['what'])}"


_DECIDED = {
    who: (
        _Rule(
            _form(
                rf"{who}(?:'ve|\s+have)?\s+{_ADVERBS}(?:decided\s+(?:to\s+(?:use|go with|adopt|keep)|on)|agreed\s+on|"
                rf"chose|chosen|settled\s+on|opted\s+for)\s+{_NO_PRONOUN}(?P<thing>.+)"
            ),
            MemoryKind.DECISION,
            FactCategory.WORK,
            _choice_subject,
        ),
        _Rule(
            _form(rf"{who}(?:'ve|\s+have)?\s+{_ADVERBS}(?:decided|agreed|opted)\s+(?:to|that|against|not)\s+.+"),
            MemoryKind.DECISION,
            FactCategory.WORK,
        ),
        _Rule(
            _form(
                rf"{who}(?:'ll|'re|'m|\s+will|\s+are|\s+am)?\s+{_ADVERBS}(?:go(?:ing)?|went|stick(?:ing)?|stay(?:ing)?)\s+"
                rf"with\s+{_NO_PRONOUN}(?!the\s+flow\b|what|which|either\b)(?P<thing>.+)"
            ),
            MemoryKind.DECISION,
            FactCategory.WORK,
            _choice_subject,
        ),
    )
    for who in ("we", "I")
}
# "It must be the cache" is a guess; "the events must be signed" and "... must not contain addresses" are requirements.
_NO_GUESS = (
    r"(?!have\b|be\s+(?:(?:a|an|the|this|that|some\w*|any\w*|wrong|broken|missing|due|because|related|on|in|at|there|"
    r"my|your|our|it|so)\b|\w+ing\b))"
)
_NAMED = (
    r"(?!(?:it|this|that|there|you|he|she|they|i|one|something|some(?:body|one)|which|what|who|these|those|here|if|when|"
    r"because|so)\b)(?:[\w'\u2019/.-]+\s+){0,5}?[\w'\u2019/.-]+"
)
_PERSONAL_DATA = (
    r"(?P<thing>(?:full |first |last )?name|nickname|e-?mail(?: address)?|time ?zone|role|job title|birthday|pronouns|"
    r"native language|mother tongue|user ?name|(?:github |slack )?handle)"
)
_DATED = r"(?P<what>(?:[\w-]+\s+){0,3}?(?:deadline|due date|release date|launch date|code freeze|budget))"
_MOVED = r"(?:(?:was|has been|got|has)\s+)?(?:moved|extended|changed|postponed|cut|raised)\s+to"

_RULES: Sequence[_Rule] = (
    _Rule(
        _form(rf"I\s+{_ADVERBS}prefer\s+{_NO_PRONOUN}(?P<rest>.+)"),
        MemoryKind.PREFERENCE,
        FactCategory.PREFERENCES,
        _preference_subject,
    ),
    _Rule(
        _form(
            rf"I\s+{_ADVERBS}(?:like|love|enjoy|hate|dislike|(?:don't|do not) (?:like|enjoy)|(?:can't|cannot) stand)\s+"
            rf"{_NO_PRONOUN}(?P<thing>.+)"
        ),
        MemoryKind.PREFERENCE,
        FactCategory.PERSONAL,
        _thing_subject("thing", "likes"),
    ),
    _Rule(
        _form(r"my\s+(?:new\s+|current\s+)?favou?rite\s+(?P<thing>[\w -]{2,40}?)\s+(?:is|are|has become)\s+.+"),
        MemoryKind.PREFERENCE,
        FactCategory.PREFERENCES,
        _thing_subject("thing", "favourite"),
    ),
    _Rule(
        _form(rf"my\s+(?:new\s+)?{_PERSONAL_DATA}\s+(?:is|are)\s+(?!(?:not|wrong|missing|broken|\w+ing)\b).+"),
        MemoryKind.CONTEXT,
        FactCategory.PROFILE,
        _thing_subject("thing", "own"),
    ),
    _Rule(
        _form(rf"I(?:'m|\s+am)?\s+{_ADVERBS}(?:live|based)\s+in\s+.+"),
        MemoryKind.CONTEXT,
        FactCategory.PERSONAL,
        _personal_subject("home"),
    ),
    _Rule(
        _form(rf"I\s+{_ADVERBS}work\s+(?:at|for)\s+{_NO_PRONOUN}.+"),
        MemoryKind.CONTEXT,
        FactCategory.PROFILE,
        _personal_subject("employer"),
    ),
    _Rule(_form(rf"I\s+{_ADVERBS}work\s+as\s+.+"), MemoryKind.CONTEXT, FactCategory.PROFILE, _personal_subject("job")),
    _Rule(_form(r"I(?:'m|\s+am)\s+allergic\s+to\s+.+"), MemoryKind.CONTEXT, FactCategory.PERSONAL),
    *_DECIDED["we"],
    *_DECIDED["I"],
    _Rule(
        _form(
            rf"we(?:'re|\s+are)?\s+{_ADVERBS}us(?:e|ing)\s+{_NO_PRONOUN}.{{1,80}}?"
            r"(?:\s+(?:for|as|to)\s+(?P<purpose>.+)|[.!]?$)"
        ),
        MemoryKind.CONTEXT,
        FactCategory.WORK,
        _use_subject,
    ),
    _Rule(
        _form(r"we(?:'ve|\s+have)?\s+(?:just\s+|now\s+)?(?:switched|moved|migrated)\s+.*?from\s+.+?\s+to\s+.+"),
        MemoryKind.CONTEXT,
        FactCategory.WORK,
    ),
    _Rule(
        _form(
            rf"(?:the|our|my)\s+{_DATED}(?:\s+(?:for|of)\s+(?P<of>.+?))?\s+(?:is(?:\s+now)?|{_MOVED})\s+{_HAS_DATE}(?!not\b).+"
        ),
        MemoryKind.CONTEXT,
        FactCategory.WORK,
        _date_subject,
    ),
    _Rule(
        _form(
            rf"(?:you\s+(?:should|must)\s+|we\s+)?(?:always|never|(?:don't|do not)\s+ever)\s+{_NO_HABIT}(?P<what>.+)"
        ),
        MemoryKind.PREFERENCE,
        FactCategory.PREFERENCES,
        _rule_subject,
    ),
    _Rule(
        _form(rf"I\s+(?:always|never)\s+{_NO_HABIT}(?P<what>.+)"),
        MemoryKind.PREFERENCE,
        FactCategory.PERSONAL,
        _thing_subject("what", "habit"),
    ),
    _Rule(
        _form(rf"let'?s\s+(?:go|stick|stay)\s+with\s+{_NO_PRONOUN}(?!the\s+flow\b|what|which|either\b)(?P<thing>.+)"),
        MemoryKind.DECISION,
        FactCategory.WORK,
        _choice_subject,
    ),
    _Rule(
        _form(
            r"(?!(?:as|how|what|that|here|there|so|if|where|because|such|like|all|this)\b)[\w.+#/-]+"
            r"(?:\s+[\w.+#/-]+){0,2}?(?<!\bas)(?<!\bhow)(?<!\bwhat)\s+it\s+is(?:\s+then)?[.!]?$"
        ),
        MemoryKind.DECISION,
        FactCategory.WORK,
    ),
    _Rule(
        _form(rf"{_NAMED}\s+(?:must|may\s+(?:not|never|only))\s+{_NO_GUESS}.+"),
        MemoryKind.DECISION,
        FactCategory.WORK,
    ),
    _Rule(_form(r"(?:from now on|going forward)\b.+"), MemoryKind.PREFERENCE, FactCategory.PREFERENCES),
    _Rule(
        _form(r"(?:remember|keep in mind|for (?:later|future reference))(?:\s+that\b|\s*[:,]).+"),
        MemoryKind.CONTEXT,
        FactCategory.WORK,
    ),
)
_RULES_FOR_AGENTS: Sequence[_Rule] = _DECIDED["we"]
