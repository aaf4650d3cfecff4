"""Summaries without a language model: sentences that were really said, chosen by rules, and scores counted by rules."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.features.summaries.evidence import DONE, category_of, count_evidence, scores_from
from scrubjay.features.summaries.models import Material, Method, Scores, Summary, SummaryCategory
from scrubjay.features.summaries.technologies import technologies_in
from scrubjay.search_index.terms import telling_terms

TITLE_WORDS = 10
MAX_TECHNOLOGIES = 12
# A summary has a third of the sentences, but not fewer or more than this, and so many characters.
FEWEST_SENTENCES = 2
MOST_SENTENCES = 6
MOST_CHARACTERS = 900
# A longer sentence is cut: it is a list or a log.
LONG_SENTENCE = 280
FEWEST_WORDS = 3
# How much a sentence loses for saying again what a better one says.
NOVELTY = 0.7

# What a sentence gains or loses by its place and its words; the telling terms themselves give up to 1. A title gains
# also by being a whole request.
FIRST_REQUEST = 0.45
LATER_REQUEST = -0.1
OPENING = 0.1
LAST_ANSWER = 0.25
OUTCOME = 0.25
REASON = 0.2
KEPT_FACT = 0.3
QUESTION = -0.25
REQUEST = 0.3
FILLER = -0.6

_FENCED = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_MARKS = re.compile(r"^\s*(?:#+|>+|[-*+•]|\d+[.)])\s+|\*\*|__|<[^>]{1,80}>", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[`]?[^\W\d_a-z])|(?<=[.!?])\s+(?=\d+[.)]\s)|(?<=[\u3002\uff01\uff1f])|\s*\n+\s*"
)
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|Dr|Mr|Mrs|Ms|No|approx)\.$")
_BECAUSE = re.compile(
    r"\b(?:because|since|so that|root cause|reason|decided|chose|instead of|therefore)\b", re.IGNORECASE
)
_FILLER = re.compile(
    r"^(?:sure|okay|ok|great|thanks|thank you|hello|hi\b|let me|let's see|i'?ll|i will|i'm going to|sorry|perfect|"
    r"here(?:'s| is| are)|of course|certainly|absolutely|now,? let|you'?re (?:absolutely )?right|"
    r"good (?:question|idea|point))\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|so|now|well|please|thanks|great|and|then)\b[\s,!.:-]*|"
    r"(?:can|could|would|will) you (?:please )?|i(?:'d| would) like (?:you )?to |i (?:want|need) (?:you )?to |"
    r"help me (?:to |with )?|we (?:need|want|have) to |let'?s )+",
    re.IGNORECASE,
)
# A title does not end with one of these.
_DANGLING = frozenset(
    """
    a an and are as at be but by can for from has have in into is of on or so that the their this to was when which will
    with
    """.split()  # noqa: SIM905 - read as words, not as a list
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    text: str
    terms: frozenset[str]
    bonus: float
    asked: bool
    """Whether it is of what somebody asked for, so that it can be a title."""


def summarise_session(material: Material) -> Summary:
    """What a session came to, in its own words."""
    sentences = _sentences_of_session(material)
    scored = _scored(sentences)
    evidence = count_evidence(material)
    texts = [text for turn in material.turns for text in (turn.prompt, turn.response)]
    title = _title(scored)
    return Summary(
        title=title,
        text=_chosen_text(scored, frozenset(telling_terms(title))),
        category=category_of(material),
        scores=scores_from(evidence),
        technologies=technologies_in([*texts, *(told.text for told in material.facts)])[:MAX_TECHNOLOGIES],
        method=Method.EXTRACTIVE,
        evidence=evidence,
    )


def summarise_period(parts: Sequence[tuple[Summary, int]]) -> Summary:
    """What a day or a week came to: the best sentences of its parts' summaries, each with how many memories it had."""
    sentences: list[_Sentence] = []
    for summary, _ in parts:
        for place, text in enumerate(sentences_of(summary.text)):
            bonus = summary.scores.impact / 200 + (OPENING if place == 0 else 0)
            sentences.append(_sentence(len(sentences), text, bonus, asked=False))
    leading = max(parts, key=lambda part: (part[0].scores.impact, part[1]))[0]
    categories = Counter[SummaryCategory]()
    technologies = Counter[str]()
    for summary, memories in parts:
        categories[summary.category] += memories
        technologies.update(summary.technologies)
    return Summary(
        title=_period_title(leading.title, len(parts)),
        text=_chosen_text(_scored(sentences)),
        category=categories.most_common(1)[0][0],
        scores=_together(parts),
        technologies=tuple(name for name, _ in technologies.most_common(MAX_TECHNOLOGIES)),
        method=Method.EXTRACTIVE,
        evidence={"parts": len(parts)},
    )


def clip_title(text: str) -> str:
    """At most ten words, ending with one that can be the last."""
    words = text.split()
    if len(words) > TITLE_WORDS:
        words = words[:TITLE_WORDS]
        while len(words) > 1 and words[-1].casefold().strip(",;:") in _DANGLING:
            words.pop()
    return " ".join(words).rstrip(".,;:!?-\u2013\u2014\u3002\uff01\uff1f ")


def _together(parts: Sequence[tuple[Summary, int]]) -> Scores:
    """Quality and productivity are means over all memories; impact and complexity are those of the greatest part."""
    weights = [max(1, memories) for _, memories in parts]
    scores = [summary.scores for summary, _ in parts]

    def mean(values: Sequence[int]) -> int:
        return round(sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights))

    return Scores(
        quality=mean([score.quality for score in scores]),
        productivity=mean([score.productivity for score in scores]),
        impact=max(score.impact for score in scores),
        complexity=max(score.complexity for score in scores),
    )


def _period_title(leading: str, parts: int) -> str:
    if parts == 1:
        return leading
    more = f"and {parts - 1} more"
    words = leading.split()[: TITLE_WORDS - len(more.split())]
    while len(words) > 1 and words[-1].casefold() in _DANGLING:
        words.pop()
    return f"{' '.join(words).rstrip('.,;:')}, {more}"


# -- sentences -------------------------------------------------------------------------------------


def _sentences_of_session(material: Material) -> list[_Sentence]:
    found: list[_Sentence] = []
    last = len(material.turns) - 1
    for place, turn in enumerate(material.turns):
        for text in sentences_of(turn.prompt):
            bonus = FIRST_REQUEST if place == 0 else LATER_REQUEST
            found.append(_sentence(len(found), text, bonus, asked=True))
        for number, text in enumerate(sentences_of(turn.response)):
            bonus = (OPENING if number == 0 else 0) + (LAST_ANSWER if place == last else 0)
            bonus += OUTCOME if DONE.search(text) else 0
            found.append(_sentence(len(found), text, bonus, asked=False))
    if not found and material.turns:  # nothing but code, or single words
        said = " ".join(f"{material.turns[0].prompt} {material.turns[0].response}".split())
        found.append(_sentence(0, _cut(said), 0, asked=True))
    for told in material.facts:
        found += [
            _sentence(len(found) + place, text, KEPT_FACT + told.importance / 2, asked=False)
            for place, text in enumerate(sentences_of(told.text)[:2])
        ]
    return found


def _sentence(place: int, text: str, bonus: float, *, asked: bool) -> _Sentence:
    bonus += REASON if _BECAUSE.search(text) else 0
    bonus += FILLER if _FILLER.match(text) and not asked else 0
    bonus += QUESTION if text.endswith("?") and not (asked and _POLITE.match(text)) else 0
    return _Sentence(place, text, frozenset(telling_terms(text)), bonus, asked)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, without code, marks of layout and what is too short to say something."""
    plain = _LINK.sub(r"\1", _FENCED.sub("\n", text))
    plain = _MARKS.sub("", plain)
    found: list[str] = []
    for piece in _SENTENCE_END.split(plain):
        sentence = " ".join((piece or "").split())
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] = f"{found[-1]} {sentence}"
        elif sentence:
            found.append(sentence)
    return [_cut(sentence) for sentence in found if len(sentence.split()) >= FEWEST_WORDS or not sentence.isascii()]


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= LONG_SENTENCE else sentence[:LONG_SENTENCE].rsplit(" ", 1)[0] + " \u2026"


# -- choosing --------------------------------------------------------------------------------------


def _scored(sentences: Sequence[_Sentence]) -> list[tuple[float, _Sentence]]:
    """Each sentence with its score: terms that are said often here but not everywhere, its place and its words."""
    frequency = Counter(term for sentence in sentences for term in sentence.terms)
    count = len(sentences)
    weights = {term: (1 + math.log(often)) * math.log(1 + count / often) for term, often in frequency.items()}
    raw = [sum(weights[term] for term in sentence.terms) / math.sqrt(len(sentence.terms) + 3) for sentence in sentences]
    best = max(raw, default=0.0) or 1.0
    return [(value / best + sentence.bonus, sentence) for value, sentence in zip(raw, sentences, strict=True)]


def _chosen_text(scored: Sequence[tuple[float, _Sentence]], title: frozenset[str] = frozenset()) -> str:
    """The best sentences that each say something new, also to the title, in the order in which they were said."""
    wanted = min(MOST_SENTENCES, max(FEWEST_SENTENCES, math.ceil(len(scored) / 3)))
    left = list(scored)
    chosen: list[_Sentence] = []
    characters = 0
    while left and len(chosen) < wanted:
        known = [title, *(sentence.terms for sentence in chosen)]
        best = max(left, key=lambda pair: (pair[0] - NOVELTY * _repeats(pair[1].terms, known), -pair[1].place))
        left.remove(best)
        sentence = best[1]
        if chosen and (characters + len(sentence.text) > MOST_CHARACTERS or _repeats(sentence.terms, known) > NOVELTY):
            continue
        chosen.append(sentence)
        characters += len(sentence.text)
    return " ".join(_ended(sentence.text) for sentence in sorted(chosen, key=lambda sentence: sentence.place))


def _repeats(terms: frozenset[str], known: Sequence[frozenset[str]]) -> float:
    """The greatest share of these terms that something known has; all, of a sentence without a telling word."""
    return max((len(terms & others) / len(terms) for others in known), default=0.0) if terms else 1.0


def _title(scored: Sequence[tuple[float, _Sentence]]) -> str:
    """What was asked for, without what is only polite; else the best sentence."""
    asked = [pair for pair in scored if pair[1].asked] or list(scored)
    if not asked:
        return ""

    def worth(pair: tuple[float, _Sentence]) -> tuple[float, int]:
        value, sentence = pair
        whole = len(sentence.text.split()) <= TITLE_WORDS + 2
        return value + REQUEST * (whole + bool(_POLITE.match(sentence.text))), -sentence.place

    best = max(asked, key=worth)[1].text
    title = clip_title(_POLITE.sub("", best) or best)
    return title[:1].upper() + title[1:]


def _ended(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?\u2026\u3002\uff01\uff1f" else f"{sentence}."
