"""Interface of the storage of episodes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import (
    Episode,
    EpisodeChange,
    EpisodeStep,
    Learned,
    OutcomeType,
    TaskEffort,
    TaskType,
)
from scrubjay.features.memory.candidates import CandidatePool

Choose = Callable[[CandidatePool], Sequence[int]]
"""Ranks candidates and returns the handles of those to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFilter:
    """Filter for episodes; an empty filter matches all visible ones."""

    completed: bool | None = None
    domain: str | None = None
    """Case-insensitive."""
    task_type: TaskType | None = None
    outcome: OutcomeType | None = None
    tags: tuple[str, ...] = ()
    """Episodes with any of these tags."""
    all_tags: bool = False
    """Require all tags."""
    since: datetime | None = None
    """Episodes that ended at this time or later; open episodes by their start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeText:
    """Search index entry of a completed episode; can be rebuilt from it."""

    passages: tuple[tuple[str, ...], ...]
    """Index terms."""
    vector: bytes = b""
    """Little-endian float16 values, normalised to length 1; empty when the model has no vector for the text."""
    model: str = ""
    """Model of the vector; empty when the model could not be reached and the vector must be created later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeQuery:
    """Query for completed episodes, by words, by a vector, or both."""

    visibility: Visibility
    only: EpisodeFilter
    terms: tuple[str, ...]
    vector: bytes
    model: str
    limit: int
    """Maximum number of candidates of each search method."""


class EpisodeStore(Protocol):
    """Store episodes of one project or of none together with their index entries, in one transaction.

    A caller that can see an episode may also extend, change and delete it.
    """

    async def add(self, episode: Episode, allowance: StorageQuota | None = None) -> Episode:
        """Store a new, open episode without steps.

        Raises `NotFound` for an unknown project and `QuotaExceeded` when the client exceeds its allowance.
        """
        ...

    async def get(self, visibility: Visibility, episode_id: str) -> Episode | None: ...

    async def get_many(
        self, visibility: Visibility, episode_ids: Sequence[str], *, max_bytes: int
    ) -> Sequence[Episode]:
        """Return visible episodes in the order of the ids, without duplicates. `TooLarge` above `max_bytes`."""
        ...

    async def add_step(
        self, visibility: Visibility, episode_id: str, step: EpisodeStep, *, max_steps: int, max_bytes: int
    ) -> bool | None:
        """Store a step of an open episode; False when an equal step exists, None when the episode does not.

        Raises `Conflict` when the episode is complete, full, or has a different step with this number, and `TooLarge`
        when it would exceed `max_bytes`.
        """
        ...

    async def change(
        self,
        visibility: Visibility,
        episode_id: str,
        change: EpisodeChange,
        *,
        max_bytes: int,
        text: tuple[int, EpisodeText] | None = None,
    ) -> Episode | None:
        """Change an episode and return it, or None without such an episode. `TooLarge` above `max_bytes`.

        A completed episode needs `text`, its new index entry and the revision it was computed from. Without it, or
        for another revision, nothing changes and the result is None.
        """
        ...

    async def complete(
        self, completed: Episode, learned: Learned, text: EpisodeText, *, max_bytes: int
    ) -> Episode | None:
        """Store the completion of an episode and its lessons at once; return the stored episode.

        Returns None and stores nothing when the episode is not at the given revision any more: it was changed,
        completed or deleted. `TooLarge` above `max_bytes`.
        """
        ...

    async def set_vectors(self, model: str, vectors: Sequence[tuple[Episode, bytes]]) -> None:
        """Store vectors of a model; skip episodes whose revision has changed."""
        ...

    async def delete(self, visibility: Visibility, episode_id: str) -> Episode | None:
        """Delete an episode with its steps, words and vector; return it without steps."""
        ...

    async def find(
        self,
        visibility: Visibility,
        only: EpisodeFilter,
        limit: int,
        *,
        after: int | None = None,
        with_steps: bool = True,
    ) -> Sequence[tuple[int, Episode]]:
        """Return episodes with their seq, most recently created first, starting after the seq `after`."""
        ...

    async def search(self, query: EpisodeQuery, choose: Choose) -> Mapping[int, Episode]:
        """Pass candidates to `choose` and return the chosen episodes, without steps, by handle and in its order.

        Candidates are the best matches by words and by vector. `choose` may run on another thread.
        """
        ...

    async def similar_efforts(self, episode: Episode, limit: int) -> Sequence[TaskEffort]:
        """Return the efforts of the last other tasks of its project, domain, kind and complexity that did not fail."""
        ...

    async def unembedded(self, model: str, limit: int) -> Sequence[Episode]:
        """Return completed episodes of all projects without a vector of this model, without steps; for maintenance."""
        ...
