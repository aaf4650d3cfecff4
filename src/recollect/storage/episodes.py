"""What a backend must offer to keep episodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.episodes import Episode, EpisodeChange, Learned, OutcomeType, Step, TaskType
from recollect.domain.rules import Allowance
from recollect.domain.scopes import Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFilter:
    """Which episodes are meant; an empty filter means all that can be seen."""

    completed: bool | None = None
    domain: str | None = None
    """Whatever its capitals."""
    task_type: TaskType | None = None
    outcome: OutcomeType | None = None
    tags: tuple[str, ...] = ()
    """One of these."""
    all_tags: bool = False
    """All of them."""
    since: datetime | None = None
    """Those that ended at this moment or later, or began, when they have no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeText:
    """What search needs of an episode; can always be made again from it."""

    words: tuple[str, ...]
    """The terms by which it can be found."""
    vector: bytes
    """Little-endian float16 values of length 1, or empty when there is no meaning or no model."""
    model: str
    """Whose vector it is; empty when none could be had, which is then to be made up for."""


@dataclass(frozen=True, slots=True)
class Match:
    """An episode that may answer, not yet ranked."""

    seq: int
    matched: tuple[int, ...]
    """The places of those terms of the question that it has."""
    bm25: float
    """Of the text index, higher is better; 0 when no term matches."""
    vector: bytes
    """Empty when it is not to be compared with the question's."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What may answer, and what it is found among."""

    matches: Sequence[Match]
    texts: int
    """How many episodes there are that pass the filter."""
    frequencies: Sequence[int]
    """For each term, how many episodes of the store have it."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A completed episode that has no vector of a model."""

    seq: int
    episode: Episode


class EpisodeStore(Protocol):
    """Keeps episodes, each of one project or of all, with what search needs of them, always in one transaction.

    Whoever sees an episode may add to it, change it and delete it.
    """

    async def add(self, episode: Episode, text: EpisodeText, allowance: Allowance | None = None) -> Episode:
        """Keep a new episode. `NotFound` when there is no such project, `QuotaExceeded` beyond what a client may keep."""
        ...

    async def get(self, visibility: Visibility, episode_id: str) -> Episode | None: ...

    async def get_many(self, visibility: Visibility, episode_ids: Sequence[str]) -> Sequence[Episode]:
        """Those that can be seen, in the order of the ids."""
        ...

    async def add_step(
        self, visibility: Visibility, episode_id: str, step: Step, *, most_steps: int, most_bytes: int
    ) -> bool | None:
        """Keep a step of an open episode: False when the very same was there already, None without such an episode.

        `Conflict` when the episode is complete or full, or has another step of this number; `TooLarge` when it would
        have more bytes than that.
        """
        ...

    async def change(
        self, visibility: Visibility, episode_id: str, change: EpisodeChange, *, most_bytes: int
    ) -> Episode | None:
        """Change an episode; as it is then. Its text is to be made anew with `set_text`. None without such an episode."""
        ...

    async def complete(self, completed: Episode, learned: Learned, text: EpisodeText) -> bool:
        """Keep what completes an episode, and what it teaches, all at once.

        False, and nothing is kept, when the episode is not any more at the revision that this was made of: when it has
        changed, is complete already, or is gone.
        """
        ...

    async def set_text(self, episode_id: str, text: EpisodeText, revision: int) -> bool:
        """Replace what search needs of an episode; False when it is not at this revision any more."""
        ...

    async def delete(self, visibility: Visibility, episode_id: str) -> Episode | None:
        """Erase an episode with its steps, its words and its vectors; what it was."""
        ...

    async def find(
        self, visibility: Visibility, only: EpisodeFilter, limit: int, *, after: int | None = None
    ) -> Sequence[tuple[int, Episode]]:
        """Episodes with their steps and their places, the one that began last first; those behind a place."""
        ...

    async def matches(
        self, visibility: Visibility, only: EpisodeFilter, terms: Sequence[str], model: str, limit: int
    ) -> Matches:
        """What has at least one of the terms, the best first by the text index, and what has a vector of the model."""
        ...

    async def by_seq(self, seqs: Sequence[int]) -> Sequence[Episode]:
        """The episodes at these places that are still there, in this order."""
        ...

    async def unembedded(self, model: str, after: int, limit: int) -> Sequence[Unembedded]:
        """Episodes of every project without a vector of this model, by their places; for maintenance only."""
        ...
