"""Patterns in SQLite."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.columns import json_text, microseconds, moment, optional_microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.episodes.models import Episode, OutcomeType
from scrubjay.features.episodes.patterns.models import Lessons, Pattern, PatternType
from scrubjay.features.episodes.patterns.rows import pattern_from, write_lessons
from scrubjay.features.episodes.patterns.store import EpisodeCounts, PatternCandidate, PatternFilter, QualityPoint
from scrubjay.features.episodes.rows import folded

_SQL = load_queries(__file__)


class SqlitePatterns:
    """Implements `PatternStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def get(self, visibility: Visibility, pattern_id: str) -> Pattern | None:
        values = {"id": pattern_id, "project": visibility.project_id}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["get"], values))
        return pattern_from(rows[0]) if rows else None

    async def same_kind(self, episode: Episode, kind: PatternType, limit: int) -> Sequence[Pattern]:
        values = {
            "project": episode.project_id,
            "type": kind.value,
            "domain": folded(episode.context.domain),
            "task_type": episode.task_type.value,
            "limit": limit,
        }
        return await self._readers.read(
            lambda connection: [pattern_from(row) for row in connection.execute(_SQL["same_kind"], values)]
        )

    async def find(self, visibility: Visibility, only: PatternFilter) -> Sequence[Pattern]:
        values = _filter_values(visibility, only)
        return await self._readers.read(
            lambda connection: [pattern_from(row) for row in connection.execute(_SQL["find"], values)]
        )

    async def candidates(self, visibility: Visibility, only: PatternFilter, model: str) -> Sequence[PatternCandidate]:
        values = _filter_values(visibility, only) | {"model": model}
        return await self._readers.read(
            lambda connection: [
                PatternCandidate(pattern_from(row), vector)
                for vector, *row in connection.execute(_SQL["candidates"], values)
            ]
        )

    async def set_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        def work(connection: Connection) -> None:
            for pattern_id, vector in vectors.items():
                connection.execute(_SQL["set_vector"], {"id": pattern_id, "model": model, "vector": vector})

        await self._writer.write(work)

    async def record_retrieval(self, pattern_ids: Sequence[str], at: datetime, episode_id: str | None = None) -> None:
        ids = json_text(list(pattern_ids))

        def work(connection: Connection) -> None:
            connection.execute(_SQL["count_retrieval"], {"ids": ids, "at": microseconds(at)})
            if episode_id is not None:
                connection.execute(_SQL["add_recommendations"], {"ids": ids, "episode": episode_id})

        await self._writer.write(work)

    async def recommended_for(self, episode_id: str) -> frozenset[str]:
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["recommended"], {"id": episode_id}))
        return frozenset(pattern_id for (pattern_id,) in rows)

    async def unlearned(self, limit: int) -> Sequence[tuple[str, str | None]]:
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["unlearned"], {"limit": limit}))
        return [(episode_id, project_id) for episode_id, project_id in rows]

    async def add_lessons(self, episode: Episode, lessons: Lessons) -> bool:
        def work(connection: Connection) -> bool:
            seq = connection.value(_SQL["episode_seq"], {"id": episode.episode_id})
            if seq is None or connection.value(_SQL["is_learned"], {"seq": seq}):
                return False
            write_lessons(connection, episode, lessons)
            return True

        return await self._writer.write(work)

    async def quality_points(
        self, visibility: Visibility, since: datetime | None, limit: int
    ) -> Sequence[QualityPoint]:
        values = {"project": visibility.project_id, "since": optional_microseconds(since), "limit": limit}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["quality_points"], values))
        return [QualityPoint(moment(at), score) for at, score in reversed(rows)]

    async def counts(self, visibility: Visibility) -> EpisodeCounts:
        values = {"project": visibility.project_id}

        def work(connection: Connection) -> EpisodeCounts:
            rows = connection.execute(_SQL["episode_counts"], values)
            reward, quality, seconds = connection.execute(_SQL["averages"], values)[0]
            kinds = connection.execute(_SQL["pattern_counts"], values)
            return EpisodeCounts(
                open=sum(count for outcome, count, _ in rows if outcome is None),
                outcomes={OutcomeType(outcome): count for outcome, count, _ in rows if outcome is not None},
                steps=sum(steps or 0 for _, _, steps in rows),
                average_reward=reward,
                average_quality=quality,
                average_seconds=seconds,
                patterns={PatternType(kind): count for kind, count in kinds},
            )

        return await self._readers.read(work)


def _filter_values(visibility: Visibility, only: PatternFilter) -> dict[str, Any]:
    """Return the parameters of the query fragments `visible` and `matches_filter`."""
    return {
        "project": visibility.project_id,
        "task_type": None if only.task_type is None else only.task_type.value,
        "domain": None if only.domain is None else folded(only.domain),
        "min_success_rate": only.min_success_rate,
    }
