"""What a backend must offer to keep episodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from scrubjay.core.policies import Allowance
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import Episode, EpisodeChange, Learned, OutcomeType, Step, TaskType
from scrubjay.features.memory.models import Choose


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
    """What search needs of a complete episode; can always be made again from it."""

    passages: tuple[tuple[str, ...], ...]
    """The terms by which it can be found."""
    vector: bytes = b""
    """Little-endian float16 values of length 1, or empty when there is no meaning to the model."""
    model: str = ""
    """Whose vector it is; empty when none could be had, which is then to be made up for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeQuery:
    """What to look for among complete episodes: words, a vector, or both."""

    visibility: Visibility
    only: EpisodeFilter
    terms: tuple[str, ...]
    vector: bytes
    model: str
    limit: int
    """How many candidates each way of searching may bring."""


class EpisodeStore(Protocol):
    """Keeps episodes, each of one project or of all, with what search needs of them, always in one transaction.

    Whoever sees an episode may add to it, change it and delete it.
    """

    async def add(self, episode: Episode, allowance: Allowance | None = None) -> Episode:
        """Keep a new, open episode without steps.

        `NotFound` when there is no such project, `QuotaExceeded` when a client would have more than it may.
        """
        ...

    async def get(self, visibility: Visibility, episode_id: str) -> Episode | None: ...

    async def get_many(
        self, visibility: Visibility, episode_ids: Sequence[str], *, most_bytes: int
    ) -> Sequence[Episode]:
        """Those that can be seen, in the order of the ids, each once. `TooLarge` when they take more bytes."""
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
        self,
        visibility: Visibility,
        episode_id: str,
        change: EpisodeChange,
        *,
        most_bytes: int,
        text: tuple[int, EpisodeText] | None = None,
    ) -> Episode | None:
        """Change an episode; as it is then, or None without such an episode. `TooLarge` beyond so many bytes.

        What search needs of a complete one is changed with it: without the text, or when that was not made of this
        revision, nothing is changed, and None is the answer.
        """
        ...

    async def complete(
        self, completed: Episode, learned: Learned, text: EpisodeText, *, most_bytes: int
    ) -> Episode | None:
        """Keep what completes an episode, and what it teaches, all at once; the episode as it is then.

        None, and nothing is kept, when it is not any more at the revision that this was made of: when it has changed,
        is complete already, or is gone. `TooLarge` when it would take more bytes than that.
        """
        ...

    async def set_vectors(self, model: str, vectors: Sequence[tuple[Episode, bytes]]) -> None:
        """Give episodes the vectors of a model; those that are not at this revision any more are passed over."""
        ...

    async def delete(self, visibility: Visibility, episode_id: str) -> Episode | None:
        """Erase an episode with its steps, its words and its vector; what it was, without the steps."""
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
        """Episodes, each with its place, the one that was begun last first; those behind a place."""
        ...

    async def search(self, query: EpisodeQuery, choose: Choose) -> Mapping[int, Episode]:
        """Offer complete episodes that may answer to `choose`; what it chose, without steps, by handle and in order.

        Ranking is not decided here. Candidates are the best by text and the nearest in meaning. `choose` may run on
        another thread than the caller's.
        """
        ...

    async def unembedded(self, model: str, limit: int) -> Sequence[Episode]:
        """Complete episodes of every project that lack a vector of this model, without steps; for maintenance only."""
        ...
