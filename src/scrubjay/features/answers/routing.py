"""Route a question to the stores that can answer it, by rules over its words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class StoreName(StrEnum):
    """A store that can be queried."""

    WORKING = "working"
    """Short-lived items of the current session."""
    EPISODIC = "episodic"
    """Memories: events, statements, facts."""
    SEMANTIC = "semantic"
    """Relations between entities."""
    PROCEDURAL = "procedural"
    """Procedures: how something is done."""


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
# Episodic memory is the default for a question without any indicator.
EPISODIC_BASELINE: Final = 1.0
# Keeps the shares below 1: a rule is never certain.
UNCERTAINTY: Final = 0.01
MIN_SECONDARY_SHARE: Final = 0.2
MIN_SURE_SHARE: Final = 0.7

# The first of two equal scores wins.
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
class RoutingDecision:
    """The stores to query, and why."""

    primary: StoreName
    secondary: tuple[StoreName, ...]
    confidence: float
    reasoning: str
    requires_synthesis: bool
    """True if the answer may need more than one store."""
    scores: Mapping[StoreName, float]
    """Share of all indicators for each store, 0 to 1."""
    keywords: Mapping[StoreName, tuple[str, ...]]
    """The indicators of each store found in the question."""
    decided_by: str = "rules"
    """`rules`, or the name of the language model asked because the rules were not sure."""

    @property
    def is_sure(self) -> bool:
        return self.primary is StoreName.WORKING or self.scores[self.primary] >= MIN_SURE_SHARE


def decide(query: str) -> RoutingDecision:
    """Select the store with the most indicators; working memory only if the question names it."""
    lowered = query.lower()
    tokens = re.sub(r"[^\w\s]", " ", lowered).split()
    keywords = {
        store: tuple(token for token in tokens if token in indicators.keywords)
        for store, indicators in _INDICATORS.items()
    }
    raw = {
        store: KEYWORD_WEIGHT * len(keywords[store])
        + PATTERN_WEIGHT * sum(bool(pattern.search(lowered)) for pattern in indicators.patterns)
        + indicators.baseline
        for store, indicators in _INDICATORS.items()
    }
    total = sum(raw.values()) + UNCERTAINTY
    scores = {store: score / total for store, score in raw.items()}
    primary = max(scores, key=lambda store: scores[store])
    secondary = tuple(store for store in scores if store is not primary and scores[store] > MIN_SECONDARY_SHARE)
    if named := _WORKING.search(lowered):
        return RoutingDecision(
            primary=StoreName.WORKING,
            secondary=(primary, *secondary),
            confidence=1.0,
            reasoning=f"Working store selected; the question names it: {named.group()}",
            requires_synthesis=True,
            scores=scores,
            keywords=keywords,
        )
    found = keywords[primary]
    return RoutingDecision(
        primary=primary,
        secondary=secondary,
        confidence=round(scores[primary], 2),
        reasoning=f"{primary.capitalize()} store selected; keywords detected: {', '.join(found)}"
        if found
        else f"{primary.capitalize()} store selected as default for general query",
        requires_synthesis=scores[primary] < MIN_SURE_SHARE or bool(secondary),
        scores=scores,
        keywords=keywords,
    )


def with_known_entities(decision: RoutingDecision, names: Sequence[str]) -> RoutingDecision:
    """Add the semantic store, because the knowledge graph has entities with these names, whatever the verb."""
    if not names or StoreName.SEMANTIC in (decision.primary, *decision.secondary):
        return decision
    return replace(
        decision,
        secondary=(StoreName.SEMANTIC, *decision.secondary),
        reasoning=f"{decision.reasoning}; the knowledge graph knows {', '.join(names)}",
        requires_synthesis=True,
    )


def topic_for_working(query: str) -> str:
    """Return the question without the words that name working memory."""
    return _WORKING.sub(" ", query.lower())


# -- search strategy ------------------------------------------------------------------------------


class QueryType(StrEnum):
    """The kind of information a question asks for."""

    FACTUAL = "factual"
    PROCEDURAL = "procedural"
    RELATIONAL = "relational"
    TEMPORAL = "temporal"
    HYBRID = "hybrid"
    """No single kind."""


class Strategy(StrEnum):
    """How to search for an answer."""

    VECTOR_HEAVY = "vector_heavy"
    GRAPH_HEAVY = "graph_heavy"
    RECENCY_HEAVY = "recency_heavy"
    PROCEDURES = "procedures"
    BALANCED = "balanced"


# The first of two equal scores wins. `what` and `is` occur in almost every question, so FACTUAL comes last.
_TYPE_INDICATORS: Final[Mapping[QueryType, frozenset[str]]] = {
    QueryType.RELATIONAL: _words("related relationship connected link between association"),
    QueryType.TEMPORAL: _words("recent recently latest today yesterday last first newest oldest ago"),
    QueryType.PROCEDURAL: _words("how steps process procedure guide tutorial workflow setup configure"),
    QueryType.FACTUAL: _words("what is define meaning explain describe definition"),
}
# Score by number of indicators; three or more count alike.
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
class QuestionAnalysis:
    """The type of a question and the strategy to search with."""

    type: QueryType
    confidence: float
    type_scores: Mapping[QueryType, float]
    matched: Mapping[QueryType, tuple[str, ...]]
    """The indicators of each type found in the question."""
    strategy: Strategy
    recommended_stores: Sequence[str]


def analyze(query: str) -> QuestionAnalysis:
    """Classify a question by the type with the most indicators; HYBRID if there are none."""
    words = re.sub(r"[^\w\s]", "", query.lower()).split()
    matched = {
        kind: tuple(word for word in words if word in indicators) for kind, indicators in _TYPE_INDICATORS.items()
    }
    scores = {kind: _TYPE_SCORES[min(len(found), len(_TYPE_SCORES) - 1)] for kind, found in matched.items()}
    best = max(scores, key=lambda kind: scores[kind])
    confidence = scores[best]
    if not confidence:
        best, confidence = QueryType.HYBRID, UNKNOWN_TYPE_CONFIDENCE
    strategy, stores = _STRATEGIES[best]
    return QuestionAnalysis(
        type=best,
        confidence=confidence,
        type_scores=scores,
        matched=matched,
        strategy=strategy,
        recommended_stores=stores,
    )
