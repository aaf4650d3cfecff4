"""Which store a question belongs to, and how it wants to be searched, by rules over its words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class StoreName(StrEnum):
    """Where something may be remembered."""

    WORKING = "working"
    """What the session has in mind."""
    EPISODIC = "episodic"
    """What happened, and what was said."""
    SEMANTIC = "semantic"
    """How things are related."""
    PROCEDURAL = "procedural"
    """How something is done."""


@dataclass(frozen=True, slots=True)
class _Indicators:
    keywords: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    baseline: float = 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _patterns(*sources: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source) for source in sources)


KEYWORD_WEIGHT: Final = 2.0
PATTERN_WEIGHT: Final = 1.5
# A question without any sign is about what happened.
EPISODIC_BASELINE: Final = 1.0
# Keeps the shares below 1, so that nothing is ever quite sure.
DOUBT: Final = 0.01
SECONDARY_ABOVE: Final = 0.2
SURE_FROM: Final = 0.7

# Of two equal scores the first one here wins.
_INDICATORS: Final[Mapping[StoreName, _Indicators]] = {
    StoreName.EPISODIC: _Indicators(
        _words("remember when before earlier previously history past experience"),
        _patterns(
            r"\b(?:remember|recall|when|before)\b",
            r"\b(?:last time|previously|earlier)\b",
            r"\b(?:experience|story|happened)\b",
            r"\b(?:vibe|feel|atmosphere|mood)\b",
        ),
        EPISODIC_BASELINE,
    ),
    StoreName.PROCEDURAL: _Indicators(
        _words("code bug fix function method class implement compile error syntax"),
        _patterns(
            r"\b(?:function|method|class|def|fn)\b",
            r"\b(?:bug|error|fix|debug)\b",
            r"\b(?:implement|code|compile|runtime)\b",
            r"\([^()]*\)",
            r"_[a-z]+",
        ),
    ),
    StoreName.SEMANTIC: _Indicators(
        _words("relationship between depends structure architecture graph linked"),
        _patterns(
            r"\b(?:between|relates?|connects?|linked)\b",
            r"\b(?:depends|requires|uses)\b",
            r"\b(?:structure|architecture|diagram)\b",
        ),
    ),
}

_WORKING: Final = re.compile(
    r"\b(?:(?:working|short[- ]term) memory|scratch ?pad|just now|a (?:moment|minute|second) ago"
    r"|(?:have|has|had|having) in mind|on (?:my|your|the) mind)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which stores are to be asked, and why."""

    primary: StoreName
    secondary: tuple[StoreName, ...]
    confidence: float
    reasoning: str
    requires_synthesis: bool
    """Whether no one store can be trusted to have the whole answer."""
    scores: Mapping[StoreName, float]
    """The share of all signs that speak for each store."""
    keywords: Mapping[StoreName, tuple[str, ...]]
    """The signs among the question's words."""
    decided_by: str = "rules"
    """`rules`, or the name of the language model that was asked because they were not sure."""

    @property
    def is_sure(self) -> bool:
        return self.primary is StoreName.WORKING or self.scores[self.primary] >= SURE_FROM


def decide(query: str) -> Decision:
    """The store that the words of a question speak for; working memory only when the question names it."""
    lowered = query.lower()
    tokens = re.sub(r"[^\w\s]", " ", lowered).split()
    keywords = {
        store: tuple(token for token in tokens if token in signs.keywords) for store, signs in _INDICATORS.items()
    }
    raw = {
        store: KEYWORD_WEIGHT * len(keywords[store])
        + PATTERN_WEIGHT * sum(bool(pattern.search(lowered)) for pattern in signs.patterns)
        + signs.baseline
        for store, signs in _INDICATORS.items()
    }
    total = sum(raw.values()) + DOUBT
    scores = {store: score / total for store, score in raw.items()}
    primary = max(scores, key=lambda store: scores[store])
    secondary = tuple(store for store in scores if store is not primary and scores[store] > SECONDARY_ABOVE)
    if named := _WORKING.search(lowered):
        return Decision(
            primary=StoreName.WORKING,
            secondary=(primary, *secondary),
            confidence=1.0,
            reasoning=f"Working store selected; the question names it: {named.group()}",
            requires_synthesis=True,
            scores=scores,
            keywords=keywords,
        )
    found = keywords[primary]
    return Decision(
        primary=primary,
        secondary=secondary,
        confidence=round(scores[primary], 2),
        reasoning=f"{primary.capitalize()} store selected; keywords detected: {', '.join(found)}"
        if found
        else f"{primary.capitalize()} store selected as default for general query",
        requires_synthesis=scores[primary] < SURE_FROM or bool(secondary),
        scores=scores,
        keywords=keywords,
    )


def topic_for_working(query: str) -> str:
    """The question without the words that only name working memory."""
    return _WORKING.sub(" ", query.lower())


# -- how a question wants to be searched -----------------------------------------------------------


class QueryType(StrEnum):
    """What sort of thing a question wants to know."""

    FACTUAL = "factual"
    PROCEDURAL = "procedural"
    RELATIONAL = "relational"
    TEMPORAL = "temporal"
    HYBRID = "hybrid"
    """Nothing in particular, or several things at once."""


class Strategy(StrEnum):
    """What such a question should be searched by."""

    VECTOR_HEAVY = "vector_heavy"
    GRAPH_HEAVY = "graph_heavy"
    RECENCY_HEAVY = "recency_heavy"
    PROCEDURES = "procedures"
    BALANCED = "balanced"


# Of two equal scores the first one here wins: almost every question has a `what` or an `is`, which tells least.
_TYPE_INDICATORS: Final[Mapping[QueryType, frozenset[str]]] = {
    QueryType.RELATIONAL: _words("related relationship connected link between association"),
    QueryType.TEMPORAL: _words("recent recently latest today yesterday last first newest oldest ago"),
    QueryType.PROCEDURAL: _words("how steps process procedure guide tutorial workflow setup configure"),
    QueryType.FACTUAL: _words("what is define meaning explain describe definition"),
}
# By the number of indicators, three or more being the most.
_TYPE_SCORES: Final = (0.0, 0.4, 0.6, 0.8)
UNKNOWN_TYPE_CONFIDENCE: Final = 0.5

_STRATEGIES: Final[Mapping[QueryType, tuple[Strategy, tuple[str, ...]]]] = {
    QueryType.FACTUAL: (Strategy.VECTOR_HEAVY, ("vector",)),
    QueryType.PROCEDURAL: (Strategy.PROCEDURES, ("procedural", "vector")),
    QueryType.RELATIONAL: (Strategy.GRAPH_HEAVY, ("graph", "vector")),
    QueryType.TEMPORAL: (Strategy.RECENCY_HEAVY, ("vector", "recency")),
    QueryType.HYBRID: (Strategy.BALANCED, ("vector", "graph", "recency")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What sort of question it is, and how such a one should be searched."""

    type: QueryType
    confidence: float
    type_scores: Mapping[QueryType, float]
    matched: Mapping[QueryType, tuple[str, ...]]
    """The indicators of each type among the question's words."""
    strategy: Strategy
    recommended_stores: Sequence[str]


def analyze(query: str) -> Analysis:
    """The type that most of the question's words indicate; hybrid when none does."""
    words = re.sub(r"[^\w\s]", "", query.lower()).split()
    matched = {kind: tuple(word for word in words if word in signs) for kind, signs in _TYPE_INDICATORS.items()}
    scores = {kind: _TYPE_SCORES[min(len(found), len(_TYPE_SCORES) - 1)] for kind, found in matched.items()}
    best = max(scores, key=lambda kind: scores[kind])
    confidence = scores[best]
    if not confidence:
        best, confidence = QueryType.HYBRID, UNKNOWN_TYPE_CONFIDENCE
    strategy, stores = _STRATEGIES[best]
    return Analysis(
        type=best,
        confidence=confidence,
        type_scores=scores,
        matched=matched,
        strategy=strategy,
        recommended_stores=stores,
    )
