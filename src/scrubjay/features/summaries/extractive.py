"""Extractive summaries, without a language model: original sentences and scores, both selected by rules."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.features.summaries.evidence import DONE, classify, compute_scores, count_evidence
from scrubjay.features.summaries.models import GenerationMethod, SessionMaterial, Summary, SummaryCategory, WorkScores
from scrubjay.features.summaries.technologies import find_technologies
from scrubjay.search_index.terms import significant_terms

TITLE_WORDS = 10
MAX_TECHNOLOGIES = 12
# A summary consists of a third of the sentences, within these limits.
MIN_SENTENCES = 2
MAX_SENTENCES = 6
MAX_CHARACTERS = 900
# A longer sentence, usually a list or a log, is cut.
MAX_SENTENCE_LENGTH = 280
MIN_WORDS = 3
# Penalty of a sentence for the terms that it shares with a better one.
REPETITION_PENALTY = 0.7

# Bonus of a sentence by its position and its words; its terms give up to 1. A title also gets REQUEST.
FIRST_REQUEST = 0.45
LATER_REQUEST = -0.1
OPENING = 0.1
LAST_ANSWER = 0.25
OUTCOME = 0.25
REASON = 0.2
STORED_FACT = 0.3
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
# Words that a title must not end with.
_DANGLING = frozenset(
    """
    a an and are as at be but by can for from has have in into is of on or so that the their this to was when which will
    with
    """.split()  # noqa: SIM905 - read as words, not as a list
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    position: int
    text: str
    terms: frozenset[str]
    bonus: float
    is_request: bool
    """True if it comes from a prompt, so it can be a title."""


def summarise_session(material: SessionMaterial) -> Summary:
    """Summarise a session in its own sentences."""
    sentences = _session_sentences(material)
    scored = _score_sentences(sentences)
    evidence = count_evidence(material)
    texts = [text for turn in material.turns for text in (turn.prompt, turn.response)]
    title = _title(scored)
    return Summary(
        title=title,
        text=_select_text(scored, frozenset(significant_terms(title))),
        category=classify(material),
        scores=compute_scores(evidence),
        technologies=find_technologies([*texts, *(fact.text for fact in material.facts)])[:MAX_TECHNOLOGIES],
        method=GenerationMethod.EXTRACTIVE,
        evidence=evidence,
    )


def summarise_period(parts: Sequence[tuple[Summary, int]]) -> Summary:
    """Summarise a day or a week by the best sentences of its parts: summaries with their numbers of memories."""
    sentences: list[_Sentence] = []
    for summary, _ in parts:
        for number, text in enumerate(split_sentences(summary.text)):
            bonus = summary.scores.impact / 200 + (OPENING if number == 0 else 0)
            sentences.append(_sentence(len(sentences), text, bonus, is_request=False))
    leading = max(parts, key=lambda part: (part[0].scores.impact, part[1]))[0]
    categories = Counter[SummaryCategory]()
    technologies = Counter[str]()
    for summary, memories in parts:
        categories[summary.category] += memories
        technologies.update(summary.technologies)
    return Summary(
        title=_period_title(leading.title, len(parts)),
        text=_select_text(_score_sentences(sentences)),
        category=categories.most_common(1)[0][0],
        scores=_combine_scores(parts),
        technologies=tuple(name for name, _ in technologies.most_common(MAX_TECHNOLOGIES)),
        method=GenerationMethod.EXTRACTIVE,
        evidence={"parts": len(parts)},
    )


def clip_title(text: str) -> str:
    """Return at most TITLE_WORDS words, not ending with a word such as "the"."""
    words = text.split()
    if len(words) > TITLE_WORDS:
        words = words[:TITLE_WORDS]
        while len(words) > 1 and words[-1].casefold().strip(",;:") in _DANGLING:
            words.pop()
    return " ".join(words).rstrip(".,;:!?-\u2013\u2014\u3002\uff01\uff1f ")


def _combine_scores(parts: Sequence[tuple[Summary, int]]) -> WorkScores:
    """Combine scores: quality and productivity are means weighted by memories, impact and complexity are maxima."""
    weights = [max(1, memories) for _, memories in parts]
    scores = [summary.scores for summary, _ in parts]

    def mean(values: Sequence[int]) -> int:
        return round(sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights))

    return WorkScores(
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


def _session_sentences(material: SessionMaterial) -> list[_Sentence]:
    found: list[_Sentence] = []
    last = len(material.turns) - 1
    for index, turn in enumerate(material.turns):
        for text in split_sentences(turn.prompt):
            bonus = FIRST_REQUEST if index == 0 else LATER_REQUEST
            found.append(_sentence(len(found), text, bonus, is_request=True))
        for number, text in enumerate(split_sentences(turn.response)):
            bonus = (OPENING if number == 0 else 0) + (LAST_ANSWER if index == last else 0)
            bonus += OUTCOME if DONE.search(text) else 0
            found.append(_sentence(len(found), text, bonus, is_request=False))
    if not found and material.turns:  # only code or single words
        text = " ".join(f"{material.turns[0].prompt} {material.turns[0].response}".split())
        found.append(_sentence(0, _cut(text), 0, is_request=True))
    for fact in material.facts:
        found += [
            _sentence(len(found) + number, text, STORED_FACT + fact.importance / 2, is_request=False)
            for number, text in enumerate(split_sentences(fact.text)[:2])
        ]
    return found


def _sentence(position: int, text: str, bonus: float, *, is_request: bool) -> _Sentence:
    bonus += REASON if _BECAUSE.search(text) else 0
    bonus += FILLER if _FILLER.match(text) and not is_request else 0
    bonus += QUESTION if text.endswith("?") and not (is_request and _POLITE.match(text)) else 0
    return _Sentence(position, text, frozenset(significant_terms(text)), bonus, is_request)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without code, Markdown syntax and fragments of fewer than MIN_WORDS words."""
    plain = _LINK.sub(r"\1", _FENCED.sub("\n", text))
    plain = _MARKS.sub("", plain)
    found: list[str] = []
    for piece in _SENTENCE_END.split(plain):
        sentence = " ".join((piece or "").split())
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] = f"{found[-1]} {sentence}"
        elif sentence:
            found.append(sentence)
    return [_cut(sentence) for sentence in found if len(sentence.split()) >= MIN_WORDS or not sentence.isascii()]


def _cut(sentence: str) -> str:
    return (
        sentence
        if len(sentence) <= MAX_SENTENCE_LENGTH
        else sentence[:MAX_SENTENCE_LENGTH].rsplit(" ", 1)[0] + " \u2026"
    )


# -- selection -------------------------------------------------------------------------------------


def _score_sentences(sentences: Sequence[_Sentence]) -> list[tuple[float, _Sentence]]:
    """Return each sentence with its score: its terms, weighted by frequency and rarity, plus its bonus."""
    frequency = Counter(term for sentence in sentences for term in sentence.terms)
    count = len(sentences)
    weights = {term: (1 + math.log(often)) * math.log(1 + count / often) for term, often in frequency.items()}
    raw = [sum(weights[term] for term in sentence.terms) / math.sqrt(len(sentence.terms) + 3) for sentence in sentences]
    best = max(raw, default=0.0) or 1.0
    return [(value / best + sentence.bonus, sentence) for value, sentence in zip(raw, sentences, strict=True)]


def _select_text(scored: Sequence[tuple[float, _Sentence]], title: frozenset[str] = frozenset()) -> str:
    """Return the best sentences, in their original order, that repeat neither each other nor the title."""
    wanted = min(MAX_SENTENCES, max(MIN_SENTENCES, math.ceil(len(scored) / 3)))
    left = list(scored)
    chosen: list[_Sentence] = []
    characters = 0
    while left and len(chosen) < wanted:
        known = [title, *(sentence.terms for sentence in chosen)]
        best = max(
            left,
            key=lambda pair: (pair[0] - REPETITION_PENALTY * _repeated_share(pair[1].terms, known), -pair[1].position),
        )
        left.remove(best)
        sentence = best[1]
        if chosen and (
            characters + len(sentence.text) > MAX_CHARACTERS
            or _repeated_share(sentence.terms, known) > REPETITION_PENALTY
        ):
            continue
        chosen.append(sentence)
        characters += len(sentence.text)
    return " ".join(_punctuate(sentence.text) for sentence in sorted(chosen, key=lambda sentence: sentence.position))


def _repeated_share(terms: frozenset[str], known: Sequence[frozenset[str]]) -> float:
    """Return the largest share of these terms in a chosen sentence; 1 if there are no terms."""
    return max((len(terms & others) / len(terms) for others in known), default=0.0) if terms else 1.0


def _title(scored: Sequence[tuple[float, _Sentence]]) -> str:
    """Return the best request without polite phrases as title; without a request, the best sentence."""
    requests = [pair for pair in scored if pair[1].is_request] or list(scored)
    if not requests:
        return ""

    def rank(pair: tuple[float, _Sentence]) -> tuple[float, int]:
        value, sentence = pair
        fits = len(sentence.text.split()) <= TITLE_WORDS + 2
        return value + REQUEST * (fits + bool(_POLITE.match(sentence.text))), -sentence.position

    best = max(requests, key=rank)[1].text
    title = clip_title(_POLITE.sub("", best) or best)
    return title[:1].upper() + title[1:]


def _punctuate(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?\u2026\u3002\uff01\uff1f" else f"{sentence}."
