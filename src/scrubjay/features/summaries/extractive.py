"""Extractive summaries, without a language model: original sentences and scores, both selected by rules."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.features.summaries.evidence import classify, compute_scores, count_evidence
from scrubjay.features.summaries.models import GenerationMethod, SessionMaterial, Summary, SummaryCategory, WorkScores
from scrubjay.features.summaries.selection import outcome_of
from scrubjay.features.summaries.technologies import find_technologies
from scrubjay.features.summaries.titles import TITLE_WORDS, clip_title
from scrubjay.features.summaries.validity import judge
from scrubjay.search_index.terms import significant_terms

MAX_TECHNOLOGIES = 12
# The summary of a day or a week consists of a third of the sentences, within these limits.
MIN_SENTENCES = 2
MAX_SENTENCES = 6
MAX_CHARACTERS = 900
# A longer sentence, usually a list or a log, is cut.
MAX_SENTENCE_LENGTH = 280
MIN_WORDS = 3
# Penalty of a sentence for the terms that it shares with a better one.
REPETITION_PENALTY = 0.7
# Bonus of a sentence by its position and its words; its terms give up to 1.
OPENING = 0.1
REASON = 0.2

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


# Lines of a session's summary that do not belong into the summary of a day.
_OTHER_PARTS = re.compile(r"^(?:Request|Files): .*$|^(?:Decided|Outcome|Open): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Sentence:
    position: int
    text: str
    terms: frozenset[str]
    bonus: float


def summarise_session(material: SessionMaterial) -> Summary:
    """Summarise a session in its own sentences."""
    session = judge([(turn.prompt, turn.response) for turn in material.turns])
    outcome = outcome_of(session, [(fact.text, fact.importance) for fact in material.facts])
    text = "\n".join(outcome.lines)
    if not session.judged and material.turns:  # only code
        text = _cut(" ".join(f"{material.turns[0].prompt} {material.turns[0].response}".split()))
    first = next((part for part in (outcome.ended, outcome.decided, outcome.open) if part), (text,))[0]
    evidence = count_evidence(material, session)
    texts = [text for turn in material.turns for text in (turn.prompt, turn.response)]
    return Summary(
        title=outcome.title or clip_title(first),
        text=text,
        category=classify(material),
        scores=compute_scores(evidence),
        technologies=find_technologies([*texts, *(fact.text for fact in material.facts)])[:MAX_TECHNOLOGIES],
        method=GenerationMethod.EXTRACTIVE,
        evidence=evidence,
        outcome=outcome,
    )


def summarise_period(parts: Sequence[tuple[Summary, int]]) -> Summary:
    """Summarise a day or a week by the best sentences of its parts: summaries with their numbers of memories."""
    sentences: list[_Sentence] = []
    for summary, _ in parts:
        for number, text in enumerate(split_sentences(_OTHER_PARTS.sub("", summary.text))):
            bonus = summary.scores.impact / 200 + (OPENING if number == 0 else 0)
            sentences.append(_sentence(len(sentences), text, bonus))
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
    return f"{clip_title(leading, TITLE_WORDS - len(more.split()))}, {more}"


# -- sentences -------------------------------------------------------------------------------------


def _sentence(position: int, text: str, bonus: float) -> _Sentence:
    bonus += REASON if _BECAUSE.search(text) else 0
    return _Sentence(position, text, frozenset(significant_terms(text)), bonus)


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


def _select_text(scored: Sequence[tuple[float, _Sentence]]) -> str:
    """Return the best sentences, in their original order, that do not repeat each other."""
    wanted = min(MAX_SENTENCES, max(MIN_SENTENCES, math.ceil(len(scored) / 3)))
    left = list(scored)
    chosen: list[_Sentence] = []
    characters = 0
    while left and len(chosen) < wanted:
        known = [sentence.terms for sentence in chosen]
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


def _punctuate(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?\u2026\u3002\uff01\uff1f" else f"{sentence}."
