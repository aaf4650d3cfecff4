"""Episodes in SQLite."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrubjay.core.errors import Conflict, TooLarge
from scrubjay.core.lazy import lazy_module
from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.columns import json_text
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.fts_terms import index_text
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.episodes.models import Episode, EpisodeChange, EpisodeStep, Learned, TaskEffort
from scrubjay.features.episodes.rows import (
    bytes_of,
    changeable_values,
    completion_values,
    episode_from,
    episode_values,
    filter_values,
    step_from,
    step_values,
)
from scrubjay.features.episodes.store import Choose, EpisodeFilter, EpisodeQuery, EpisodeText
from scrubjay.features.projects.rows import require_project

if TYPE_CHECKING:
    from scrubjay.features.episodes import search_sqlite
else:  # imports numpy
    search_sqlite = lazy_module("scrubjay.features.episodes.search_sqlite")

_SQL = load_queries(__file__)

WriteLessons = Callable[[Connection, Episode, Learned], None]
"""Store the lessons of an episode in the transaction that completes it."""


class SqliteEpisodes:
    """Implement `EpisodeStore` with SQLite."""

    def __init__(self, writer: Writer, readers: Readers, write_lessons: WriteLessons | None = None) -> None:
        self._writer = writer
        self._readers = readers
        self._write_lessons = write_lessons

    async def add(self, episode: Episode, allowance: StorageQuota | None = None) -> Episode:
        values = episode_values(episode)

        def work(connection: Connection) -> Episode:
            require_project(connection, episode.project_id)
            connection.execute(_SQL["add"], values | {"bytes": bytes_of(values)})
            if allowance is not None:
                allowance.check_count(
                    connection.value(_SQL["count_of_client"], {"client": allowance.client}), "episodes"
                )
            return episode

        return await self._writer.write(work)

    async def get(self, visibility: Visibility, episode_id: str) -> Episode | None:
        found = await self._readers.read(lambda connection: _episode(connection, visibility, episode_id))
        return found[1] if found else None

    async def get_many(
        self, visibility: Visibility, episode_ids: Sequence[str], *, max_bytes: int
    ) -> Sequence[Episode]:
        values = {"ids": json_text(list(episode_ids)), "project": visibility.project_id}

        def work(connection: Connection) -> Sequence[Episode]:
            if (size := connection.value(_SQL["bytes"], values)) > max_bytes:
                raise TooLarge(
                    f"these episodes have {size} bytes; one call returns at most {max_bytes}",
                    hint="request fewer episodes",
                    details={"bytes": size, "max_bytes": max_bytes},
                )
            found = {row[1]: _with_steps(connection, row) for row in connection.execute(_SQL["get_many"], values)}
            return [found[one] for one in dict.fromkeys(episode_ids) if one in found]

        return await self._readers.read(work)

    async def add_step(
        self, visibility: Visibility, episode_id: str, step: EpisodeStep, *, max_steps: int, max_bytes: int
    ) -> bool | None:
        values = step_values(step)
        size = bytes_of(values)

        def work(connection: Connection) -> bool | None:
            state = connection.execute(_SQL["state"], {"id": episode_id, "project": visibility.project_id})
            if not state:
                return None
            seq, is_complete, steps, stored_bytes = state[0]
            if is_complete:
                raise _complete_episode(episode_id)
            if rows := connection.execute(_SQL["step"], {"seq": seq, "number": step.step_number}):
                if not step.is_same_as(step_from(rows[0])):
                    raise _different_step(step.step_number)
                return False
            if steps >= max_steps:
                raise Conflict(
                    f"the episode has {steps} steps, which is the limit",
                    hint="complete it and create a new one",
                    details={"max_steps": max_steps},
                )
            _check_size(stored_bytes + size, max_bytes)
            connection.execute(_SQL["add_step"], values | {"seq": seq})
            connection.execute(_SQL["count_step"], {"seq": seq, "bytes": size})
            return True

        return await self._writer.write(work)

    async def change(
        self,
        visibility: Visibility,
        episode_id: str,
        change: EpisodeChange,
        *,
        max_bytes: int,
        text: tuple[int, EpisodeText] | None = None,
    ) -> Episode | None:
        def work(connection: Connection) -> Episode | None:
            if (found := _episode(connection, visibility, episode_id)) is None:
                return None
            seq, episode = found
            if episode.is_complete:
                if text is None or text[0] != episode.revision:
                    return None
                _write_text(connection, seq, text[1])
            changed = change.apply_to(episode)
            values = changeable_values(changed)
            size = _stored_bytes(connection, episode) + bytes_of(values) - bytes_of(changeable_values(episode))
            _check_size(size, max_bytes)
            connection.execute(_SQL["change"], values | {"seq": seq, "bytes": size})
            return replace(changed, revision=episode.revision + 1)

        return await self._writer.erase(work)  # `erase` also empties the log, which still has the previous text

    async def complete(
        self, completed: Episode, learned: Learned, text: EpisodeText, *, max_bytes: int
    ) -> Episode | None:
        values = completion_values(completed)
        values["bytes"] = bytes_of(values)

        def work(connection: Connection) -> Episode | None:
            if (seq := connection.value(_SQL["complete"], values)) is None:
                return None
            _check_size(_stored_bytes(connection, completed), max_bytes)
            _write_text(connection, seq, text)
            if self._write_lessons is not None:
                self._write_lessons(connection, completed, learned)
            return replace(completed, revision=completed.revision + 1)

        return await self._writer.write(work)

    async def set_vectors(self, model: str, vectors: Sequence[tuple[Episode, bytes]]) -> None:
        def work(connection: Connection) -> None:
            for episode, vector in vectors:
                if (seq := _current_seq(connection, episode)) is not None:
                    connection.execute(_SQL["add_vector"], {"seq": seq, "model": model, "vector": vector})

        await self._writer.write(work)

    async def delete(self, visibility: Visibility, episode_id: str) -> Episode | None:
        values = {"id": episode_id, "project": visibility.project_id}

        def work(connection: Connection) -> Episode | None:
            rows = connection.execute(_SQL["get"], values)
            if not rows:
                return None
            connection.execute(_SQL["delete"], {"seq": rows[0][0]})
            return episode_from(rows[0])

        return await self._writer.erase(work)

    async def find(
        self,
        visibility: Visibility,
        only: EpisodeFilter,
        limit: int,
        *,
        after: int | None = None,
        with_steps: bool = True,
    ) -> Sequence[tuple[int, Episode]]:
        values = filter_values(visibility, only) | {"after": after, "limit": limit}

        def work(connection: Connection) -> Sequence[tuple[int, Episode]]:
            rows = connection.execute(_SQL["find"], values)
            return [(row[0], _with_steps(connection, row) if with_steps else episode_from(row)) for row in rows]

        return await self._readers.read(work)

    async def search(self, query: EpisodeQuery, choose: Choose) -> Mapping[int, Episode]:
        def work(connection: Connection) -> Mapping[int, Episode]:
            chosen = choose(search_sqlite.pool_of(connection, query))
            rows = {row[0]: row for row in connection.execute(_SQL["by_seq"], {"seqs": json_text(list(chosen))})}
            return {seq: episode_from(rows[seq]) for seq in chosen if seq in rows}

        return await self._readers.read(work)

    async def similar_efforts(self, episode: Episode, limit: int) -> Sequence[TaskEffort]:
        values = episode_values(episode)
        values = {name: values[name] for name in ("id", "project_id", "folded_domain", "task_type", "complexity")}
        rows = await self._readers.read(
            lambda connection: connection.execute(_SQL["similar_efforts"], values | {"limit": limit})
        )
        return [TaskEffort(steps, latency_ms, duration / 1e6) for steps, latency_ms, duration in rows]

    async def unembedded(self, model: str, limit: int) -> Sequence[Episode]:
        values = {"model": model, "limit": limit}
        return await self._readers.read(
            lambda connection: [episode_from(row) for row in connection.execute(_SQL["unembedded"], values)]
        )


def _episode(connection: Connection, visibility: Visibility, episode_id: str) -> tuple[int, Episode] | None:
    rows = connection.execute(_SQL["get"], {"id": episode_id, "project": visibility.project_id})
    return (rows[0][0], _with_steps(connection, rows[0])) if rows else None


def _with_steps(connection: Connection, row: Sequence[Any]) -> Episode:
    return episode_from(row, [step_from(one) for one in connection.execute(_SQL["steps"], {"seq": row[0]})])


def _stored_bytes(connection: Connection, episode: Episode) -> int:
    *_, stored_bytes = connection.execute(_SQL["state"], {"id": episode.episode_id, "project": episode.project_id})[0]
    return stored_bytes


def _current_seq(connection: Connection, episode: Episode) -> int | None:
    """Return the seq of an episode that is still at this revision."""
    return connection.value(_SQL["seq_at_revision"], {"id": episode.episode_id, "revision": episode.revision})


def _write_text(connection: Connection, seq: int, text: EpisodeText) -> None:
    connection.execute(_SQL["delete_words"], {"seq": seq})
    connection.execute(_SQL["add_words"], {"seq": seq, "terms": index_text(text.passages)})
    connection.execute(_SQL["add_vector"], {"seq": seq, "model": text.model, "vector": text.vector})


def _complete_episode(episode_id: str) -> Conflict:
    return Conflict(
        f"episode {episode_id} is complete and accepts no more steps",
        hint="create_episode starts a new one; get_episode shows this one",
    )


def _different_step(step_number: int) -> Conflict:
    return Conflict(
        f"the episode has a different step with number {step_number}",
        hint="use the next number; stored steps cannot be changed",
        details={"step_number": step_number},
    )


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise TooLarge(
            f"the episode would have {size} bytes; the limit is {max_bytes}",
            hint="shorten the output, or complete the episode and create a new one",
            details={"bytes": size, "max_bytes": max_bytes},
        )
