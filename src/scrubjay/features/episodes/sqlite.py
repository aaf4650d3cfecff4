"""Episodes in SQLite."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scrubjay.core.errors import Conflict, TooLarge
from scrubjay.core.policies import Allowance
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.fts_terms import indexed
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.episodes.models import Episode, EpisodeChange, Learned, Step
from scrubjay.features.episodes.rows import (
    asked_for,
    bytes_of,
    changeable_values,
    completion_values,
    episode_from,
    episode_values,
    step_from,
    step_values,
)
from scrubjay.features.episodes.store import EpisodeFilter, EpisodeQuery, EpisodeText
from scrubjay.features.memory.models import Choose
from scrubjay.features.projects.rows import refuse_unknown_project

_SQL = load_queries(__file__)

KeepLearned = Callable[[Connection, Episode, Learned], None]
"""Writes what an episode teaches, in the transaction that completes it."""


class SqliteEpisodes:
    """Satisfies `storage.episodes.EpisodeStore`."""

    def __init__(self, writer: Writer, readers: Readers, keep_learned: KeepLearned | None = None) -> None:
        self._writer = writer
        self._readers = readers
        self._keep_learned = keep_learned

    async def add(self, episode: Episode, allowance: Allowance | None = None) -> Episode:
        values = episode_values(episode)

        def work(connection: Connection) -> Episode:
            refuse_unknown_project(connection, episode.project_id)
            connection.execute(_SQL["add"], values | {"bytes": bytes_of(values)})
            if allowance is not None:
                allowance.refuse_beyond(connection.value(_SQL["from_client"], {"client": allowance.client}), "episodes")
            return episode

        return await self._writer.write(work)

    async def get(self, visibility: Visibility, episode_id: str) -> Episode | None:
        found = await self._readers.read(lambda connection: _episode(connection, visibility, episode_id))
        return found[1] if found else None

    async def get_many(
        self, visibility: Visibility, episode_ids: Sequence[str], *, most_bytes: int
    ) -> Sequence[Episode]:
        values = {"ids": json_text(list(episode_ids)), "project": visibility.project_id}

        def work(connection: Connection) -> Sequence[Episode]:
            if (size := connection.value(_SQL["bytes"], values)) > most_bytes:
                raise TooLarge(
                    f"these episodes take {size} bytes, and {most_bytes} are told at once",
                    hint="ask for fewer of them",
                    details={"bytes": size, "most_bytes": most_bytes},
                )
            found = {row[1]: _with_steps(connection, row) for row in connection.execute(_SQL["get_many"], values)}
            return [found[one] for one in dict.fromkeys(episode_ids) if one in found]

        return await self._readers.read(work)

    async def add_step(
        self, visibility: Visibility, episode_id: str, step: Step, *, most_steps: int, most_bytes: int
    ) -> bool | None:
        values = step_values(step)
        size = bytes_of(values)

        def work(connection: Connection) -> bool | None:
            standing = connection.execute(_SQL["standing"], {"id": episode_id, "project": visibility.project_id})
            if not standing:
                return None
            seq, is_complete, steps, taken = standing[0]
            _refuse_complete(episode_id, is_complete)
            if rows := connection.execute(_SQL["step"], {"seq": seq, "number": step.step_number}):
                _refuse_another(step_from(rows[0]), step)
                return False
            if steps >= most_steps:
                raise Conflict(
                    f"the episode has {steps} steps, and can have no more",
                    hint="complete it and begin another one",
                    details={"most_steps": most_steps},
                )
            _refuse_beyond(taken + size, most_bytes)
            connection.execute(_SQL["add_step"], values | {"seq": seq})
            connection.execute(_SQL["grow"], {"seq": seq, "bytes": size})
            return True

        return await self._writer.write(work)

    async def change(
        self,
        visibility: Visibility,
        episode_id: str,
        change: EpisodeChange,
        *,
        most_bytes: int,
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
            taken: int = connection.execute(_SQL["standing"], {"id": episode_id, "project": visibility.project_id})[0][
                3
            ]
            changed = change.of(episode)
            values = changeable_values(changed)
            size = taken + bytes_of(values) - bytes_of(changeable_values(episode))
            _refuse_beyond(size, most_bytes)
            connection.execute(_SQL["change"], values | {"seq": seq, "bytes": size})
            return replace(changed, revision=episode.revision + 1)

        return await self._writer.erase(work)  # what was there before is to be gone

    async def complete(
        self, completed: Episode, learned: Learned, text: EpisodeText, *, most_bytes: int
    ) -> Episode | None:
        values = completion_values(completed)
        values["bytes"] = bytes_of(values)

        def work(connection: Connection) -> Episode | None:
            if (seq := connection.value(_SQL["complete"], values)) is None:
                return None
            _refuse_beyond(connection.execute(_SQL["standing"], _seen(completed))[0][3], most_bytes)
            _write_text(connection, seq, text)
            if self._keep_learned is not None:
                self._keep_learned(connection, completed, learned)
            return replace(completed, revision=completed.revision + 1)

        return await self._writer.write(work)

    async def set_vectors(self, model: str, vectors: Sequence[tuple[Episode, bytes]]) -> None:
        def work(connection: Connection) -> None:
            for episode, vector in vectors:
                if (seq := _place(connection, episode)) is not None:
                    connection.execute(_SQL["add_vector"], {"seq": seq, "model": model, "vector": vector})

        await self._writer.write(work)

    async def delete(self, visibility: Visibility, episode_id: str) -> Episode | None:
        values = {"id": episode_id, "project": visibility.project_id}

        def work(connection: Connection) -> Episode | None:
            rows = connection.execute(_SQL["get"], values)
            if not rows:
                return None
            connection.execute(_SQL["erase"], {"seq": rows[0][0]})
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
        values = asked_for(visibility, only) | {"after": after, "limit": limit}

        def work(connection: Connection) -> Sequence[tuple[int, Episode]]:
            rows = connection.execute(_SQL["find"], values)
            return [(row[0], _with_steps(connection, row) if with_steps else episode_from(row)) for row in rows]

        return await self._readers.read(work)

    async def search(self, query: EpisodeQuery, choose: Choose) -> Mapping[int, Episode]:
        from scrubjay.features.episodes.search_sqlite import pool_of

        def work(connection: Connection) -> Mapping[int, Episode]:
            chosen = choose(pool_of(connection, query))
            rows = {row[0]: row for row in connection.execute(_SQL["by_seq"], {"seqs": json_text(list(chosen))})}
            return {seq: episode_from(rows[seq]) for seq in chosen}

        return await self._readers.read(work)

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


def _seen(episode: Episode) -> dict[str, Any]:
    return {"id": episode.episode_id, "project": episode.project_id}


def _place(connection: Connection, episode: Episode) -> int | None:
    return connection.value(_SQL["place"], {"id": episode.episode_id, "revision": episode.revision})


def _write_text(connection: Connection, seq: int, text: EpisodeText) -> None:
    connection.execute(_SQL["forget_words"], {"seq": seq})
    connection.execute(_SQL["add_words"], {"seq": seq, "terms": indexed(text.passages)})
    connection.execute(_SQL["add_vector"], {"seq": seq, "model": text.model, "vector": text.vector})


def _refuse_complete(episode_id: str, is_complete: bool) -> None:
    if is_complete:
        raise Conflict(
            f"episode {episode_id} is complete and takes no more steps",
            hint="create_episode begins another one; get_episode shows this one",
        )


def _refuse_another(kept: Step, given: Step) -> None:
    if not given.is_same_as(kept):
        raise Conflict(
            f"the episode has another step of the number {given.step_number}",
            hint="give this one the next number; a step that was told does not change",
            details={"step_number": given.step_number},
        )


def _refuse_beyond(size: int, most_bytes: int) -> None:
    if size > most_bytes:
        raise TooLarge(
            f"the episode would take {size} bytes, and may take {most_bytes}",
            hint="tell less of the output, or complete it and begin another one",
            details={"bytes": size, "most_bytes": most_bytes},
        )
