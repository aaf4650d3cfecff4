"""Learning from episodes: what recurs in one becomes part of what is known, or the beginning of something new."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio.to_thread

from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import Episode, TaskType
from scrubjay.features.episodes.patterns.extraction import patterns_in
from scrubjay.features.episodes.patterns.models import FoundPattern, Lessons, Pattern, heuristic_of
from scrubjay.features.episodes.patterns.search import SEARCHING, PatternSearch, Wanted
from scrubjay.features.episodes.patterns.similarity import SAME, similarity
from scrubjay.features.episodes.patterns.store import PatternStore
from scrubjay.features.episodes.patterns.views import told
from scrubjay.features.episodes.store import EpisodeStore

logger = logging.getLogger("scrubjay.features.episodes")

# So many known ones of a kind are compared with what is new: those that were seen last.
COMPARED: Final = 200
AT_ONCE: Final = 20


class PatternLearner:
    """Satisfies `domain.episodes.Learner`."""

    def __init__(self, store: PatternStore, episodes: EpisodeStore, search: PatternSearch) -> None:
        self._store = store
        self._episodes = episodes
        self._search = search

    async def learn(self, episode: Episode) -> Lessons:
        """What this episode teaches; what did not go well only bears on what is known already."""
        shown = await anyio.to_thread.run_sync(patterns_in, episode)
        known = {kind: await self._store.alike(episode, kind, COMPARED) for kind in {pattern.type for pattern in shown}}
        matched = await anyio.to_thread.run_sync(
            lambda: [(pattern, _nearest(pattern, known[pattern.type])) for pattern in shown]
        )
        found: list[FoundPattern] = []
        grown: dict[str, Pattern] = {}
        for pattern, same in matched:
            if same is None and pattern.successes == 0:
                continue
            one = FoundPattern(pattern=pattern, known_id=None if same is None else same.id)
            if one.id not in grown:  # an episode is one case, however often it shows the same
                found.append(one)
                grown[one.id] = pattern if same is None else same.with_another(pattern)
        heuristics = [rule for pattern in grown.values() if (rule := heuristic_of(pattern)) is not None]
        return Lessons(patterns=list(grown.values()), heuristics=heuristics, found=found)

    async def relevant(
        self, visibility: Visibility, query: str, domain: str, task_type: TaskType | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        """The patterns of a domain that fit a question, as they are told to callers, best first."""
        wanted = Wanted(query=query, domain=domain, same_domain=True, task_type=task_type, limit=limit)
        found = await self._search.search(visibility, wanted, SEARCHING)
        return [told(one.pattern) | {"relevance_score": one.score} for one in found.scored]

    async def catch_up(self) -> int:
        """Learn from complete episodes in which nobody could look when they ended; how many there were."""
        taught = 0
        while missed := await self._store.unlearned(AT_ONCE):
            before = taught
            for episode_id, project_id in missed:
                episode = await self._episodes.get(Visibility(project_id), episode_id)
                if episode is not None and await self._store.teach(episode, await self.learn(episode)):
                    taught += 1
            if taught == before:  # others are at it
                break
        if taught:
            logger.info("learned from episodes that had been missed", extra={"episodes": taught})
        return taught


def _nearest(pattern: Pattern, known: Sequence[Pattern]) -> Pattern | None:
    """The known one that this is, if there is one."""
    best, score = None, SAME
    for other in known:
        if other.id == pattern.id:
            return other
        if (alike := similarity(pattern, other)) >= score:
            best, score = other, alike
    return best
