"""Learn from episodes: merge their patterns with known ones or add new ones."""

import logging
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

import anyio.to_thread

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import Episode, TaskType
from scrubjay.features.episodes.patterns.extraction import extract_patterns
from scrubjay.features.episodes.patterns.models import (
    FoundPattern,
    Lessons,
    Pattern,
    applied_pattern_ids,
    derive_heuristic,
)
from scrubjay.features.episodes.patterns.search import SEARCH_WEIGHTS, PatternSearch, TaskPatternQuery
from scrubjay.features.episodes.patterns.similarity import SAME_PATTERN_SIMILARITY, similarity
from scrubjay.features.episodes.patterns.store import PatternStore
from scrubjay.features.episodes.patterns.views import pattern_fields
from scrubjay.features.episodes.store import EpisodeStore

logger = logging.getLogger("scrubjay.features.episodes")

# Known patterns of one type that a new one is compared with: the most recently seen.
MAX_COMPARED: Final = 200
BATCH_SIZE: Final = 20


class PatternLearner:
    """Implements `Learner` with the patterns of one store."""

    def __init__(self, store: PatternStore, episodes: EpisodeStore, search: PatternSearch) -> None:
        self._store = store
        self._episodes = episodes
        self._search = search

    async def learn(self, episode: Episode) -> Lessons:
        """Return the patterns and heuristics of an episode; an unsuccessful pattern only updates a known one."""
        shown = await anyio.to_thread.run_sync(extract_patterns, episode)
        known = {
            kind: await self._store.same_kind(episode, kind, MAX_COMPARED)
            for kind in {pattern.type for pattern in shown}
        }
        matched = await anyio.to_thread.run_sync(
            lambda: [(pattern, _find_same(pattern, known[pattern.type])) for pattern in shown]
        )
        found: list[FoundPattern] = []
        grown: dict[str, Pattern] = {}
        for pattern, same in matched:
            if same is None and pattern.successes == 0:
                continue
            one = FoundPattern(pattern=pattern, known_id=None if same is None else same.id)
            if one.id not in grown:  # an episode counts once, however often it shows a pattern
                found.append(one)
                grown[one.id] = pattern if same is None else same.merge(pattern)
        heuristics = [rule for pattern in grown.values() if (rule := derive_heuristic(pattern)) is not None]
        applied = await self._applied(episode, {one.id for one in found})
        return Lessons(patterns=list(grown.values()), heuristics=heuristics, found=found, applied=applied)

    async def _applied(self, episode: Episode, shown: Set[str]) -> Sequence[str]:
        """Return the recommended patterns that the episode shows, and the existing ones that its client names."""
        recommended = await self._store.recommended_for(episode.episode_id)
        named = [*episode.applied_patterns, *applied_pattern_ids(episode.metadata)]
        where = Visibility(episode.project_id)
        known = {pattern_id for pattern_id in named if await self._store.get(where, pattern_id) is not None}
        return sorted(known | (recommended & shown))

    async def relevant(
        self, visibility: Visibility, query: str, domain: str, task_type: TaskType | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        """Return the patterns of a domain that match a query, in wire format, best first."""
        task = TaskPatternQuery(
            query=query, domain=domain, same_domain=True, task_type=task_type, limit=limit, only_proven=True
        )
        found = await self._search.search(visibility, task, SEARCH_WEIGHTS)
        return [pattern_fields(one.pattern) | {"relevance_score": one.score} for one in found.scored]

    async def catch_up(self) -> int:
        """Learn from complete episodes whose learning failed or was interrupted; return their number."""
        learned = 0
        while missed := await self._store.unlearned(BATCH_SIZE):
            before = learned
            for episode_id, project_id in missed:
                episode = await self._episodes.get(Visibility(project_id), episode_id)
                if episode is not None and await self._store.add_lessons(episode, await self.learn(episode)):
                    learned += 1
            if learned == before:  # another process is doing it
                break
        if learned:
            logger.info("learned from missed episodes", extra={"episodes": learned})
        return learned


def _find_same(pattern: Pattern, known: Sequence[Pattern]) -> Pattern | None:
    """Return the known pattern with the same id, else the most similar one above the threshold."""
    best, score = None, SAME_PATTERN_SIMILARITY
    for other in known:
        if other.id == pattern.id:
            return other
        if (alike := similarity(pattern, other)) >= score:
            best, score = other, alike
    return best
