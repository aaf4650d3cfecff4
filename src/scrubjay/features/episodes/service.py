"""Create, extend, complete, read, change and delete episodes."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, Conflict, NotFound, ScrubjayError
from scrubjay.core.scopes import Visibility
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.episodes.embedding import EmbeddingSource
from scrubjay.features.episodes.limits import (
    MAX_DATA_BYTES,
    MAX_DESCRIPTION_BYTES,
    MAX_EPISODE_BYTES,
    MAX_RESULT_BYTES,
    MAX_STEPS,
    MAX_TEXT_BYTES,
    refuse_longer,
)
from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    EpisodeChange,
    EpisodeStep,
    FailureOutcome,
    Learned,
    Learner,
    Outcome,
    PartialSuccessOutcome,
    Quality,
    Reward,
    StepDetails,
    StepResult,
    SuccessOutcome,
    TaskContext,
    TaskType,
    normal_tags,
    typical_effort,
)
from scrubjay.features.episodes.quality import quality_of
from scrubjay.features.episodes.reflection import reflect
from scrubjay.features.episodes.reward import reward_of
from scrubjay.features.episodes.salience import salient_features
from scrubjay.features.episodes.search_text import embedding_text, index_terms
from scrubjay.features.episodes.store import EpisodeFilter, EpisodeStore, EpisodeText

logger = logging.getLogger("scrubjay.features.episodes")

# Attempts when concurrent callers change the same episode.
ATTEMPTS: Final = 10
# Similar tasks, the last ones, whose median effort is typical.
MAX_SIMILAR_TASKS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """Arguments of a new episode."""

    task_description: str
    domain: str
    task_type: TaskType
    language: str | None = None
    framework: str | None = None
    tags: Sequence[str] = ()
    complexity: Complexity = Complexity.MODERATE


@dataclass(frozen=True, slots=True)
class WrittenEpisode:
    """An episode as stored."""

    episode: Episode
    masked: Sequence[str]
    """Kinds of the secrets that were masked."""


@dataclass(frozen=True, slots=True)
class CompletedEpisode:
    """A newly completed episode as stored."""

    episode: Episode
    reward: Reward
    quality: Quality
    masked: Sequence[str]


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """Result of adding a step."""

    is_new: bool
    """False when an equal step was already stored."""
    masked: Sequence[str]


class EpisodeService:
    """Manage the episodes of one store."""

    def __init__(
        self,
        store: EpisodeStore,
        rules: WritingRules,
        embeddings: EmbeddingSource,
        *,
        learner: Learner | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Without a learner, completed episodes create no patterns."""
        self._store = store
        self._rules = rules
        self._embeddings = embeddings
        self._learner = learner
        self._clock = clock

    async def create(self, new: NewEpisode, project_id: str | None, client: str | None) -> WrittenEpisode:
        """Create an episode in this project, or in none."""
        refuse_longer(new.task_description, MAX_DESCRIPTION_BYTES, "task_description")
        writing = Writing(self._rules, client)
        episode = Episode(
            episode_id=str(uuid4()),
            project_id=project_id,
            client=client,
            task_type=new.task_type,
            task_description=writing.text(new.task_description) or new.task_description,
            context=TaskContext(
                domain=new.domain,
                language=new.language or None,
                framework=new.framework or None,
                complexity=new.complexity,
                tags=normal_tags(new.tags),
            ),
            start_time=self._clock(),
        )
        return WrittenEpisode(await self._store.add(episode, writing.allowance), writing.masked)

    async def add_step(
        self, visibility: Visibility, episode_id: str, new: StepDetails, client: str | None
    ) -> WrittenStep:
        """Store a step; it is durable when this returns. Adding an equal step again changes nothing.

        Raises `NotFound` for an unknown episode, `Conflict` when it is complete, full, or has a different step with
        this number, and `TooLarge` when the step or the episode exceeds its size limit.
        """
        refuse_longer(new.action, MAX_TEXT_BYTES, "action")
        refuse_longer(json.dumps(new.parameters, ensure_ascii=False), MAX_DATA_BYTES, "parameters")
        if new.result is not None:
            refuse_longer(new.result.output, MAX_TEXT_BYTES, "the result's output")
            refuse_longer(new.result.message, MAX_TEXT_BYTES, "the result's message")
        writing = Writing(self._rules, client)
        step = EpisodeStep(
            step_number=new.step_number,
            timestamp=self._clock(),
            tool=new.tool,
            action=writing.text(new.action) or new.action,
            parameters=writing.data(new.parameters),
            result=None if new.result is None else _guarded_result(new.result, writing),
            latency_ms=new.latency_ms,
            tokens_used=new.tokens_used,
        )
        is_new = await self._store.add_step(
            visibility, episode_id, step, max_steps=MAX_STEPS, max_bytes=MAX_EPISODE_BYTES
        )
        if is_new is None:
            raise unknown_episode(episode_id)
        return WrittenStep(is_new, writing.masked)

    async def complete(
        self, visibility: Visibility, episode_id: str, outcome: Outcome, client: str | None
    ) -> CompletedEpisode:
        """Complete an episode: reflect, learn patterns, compute reward and quality, and store all of it at once.

        Episodes of low quality are stored and marked. Raises `Conflict` when the episode is already complete.
        """
        _refuse_large(outcome)
        writing = Writing(self._rules, client)
        guarded = _guarded_outcome(outcome, writing)
        for _ in range(ATTEMPTS):
            episode = await self.get(visibility, episode_id)
            if episode.is_complete:
                raise Conflict(
                    f"Episode {episode_id} is already completed",
                    hint="get_episode shows its outcome; create_episode starts a new one",
                )
            ended, learned = await self._ended(episode, guarded)
            reward, quality = reward_of(ended), quality_of(ended)
            completed = replace(ended, reward=reward, quality=quality)
            text = await self._text(completed)
            kept = await self._store.complete(completed, learned, text, max_bytes=MAX_EPISODE_BYTES)
            if kept is not None:
                return CompletedEpisode(kept, reward, quality, writing.masked)
        raise _concurrent_changes(episode_id)

    async def get(self, visibility: Visibility, episode_id: str) -> Episode:
        if (episode := await self._store.get(visibility, episode_id)) is None:
            raise unknown_episode(episode_id)
        return episode

    async def get_many(self, visibility: Visibility, episode_ids: Sequence[str]) -> Sequence[Episode]:
        """Return the existing episodes in the order of the ids, without duplicates."""
        return await self._store.get_many(visibility, episode_ids, max_bytes=MAX_RESULT_BYTES)

    async def tagged(
        self, visibility: Visibility, tags: Sequence[str], limit: int, *, every: bool
    ) -> Sequence[Episode]:
        """Return episodes with any or every one of these tags, without steps, most recently created first."""
        only = EpisodeFilter(tags=tuple(tags), all_tags=every)
        return [episode for _, episode in await self._store.find(visibility, only, limit, with_steps=False)]

    async def change(
        self, visibility: Visibility, episode_id: str, change: EpisodeChange, client: str | None
    ) -> WrittenEpisode:
        """Apply a change; for a completed episode the search index is updated too."""
        refuse_longer(change.description, MAX_DESCRIPTION_BYTES, "description")
        writing = Writing(self._rules, client)
        guarded = replace(
            change,
            description=writing.text(change.description),
            set_tags=None if change.set_tags is None else normal_tags(change.set_tags),
            add_tags=normal_tags(change.add_tags),
            remove_tags=normal_tags(change.remove_tags),
            metadata=writing.data(change.metadata),
        )
        for _ in range(ATTEMPTS):
            episode = await self.get(visibility, episode_id)
            text = (episode.revision, await self._text(guarded.apply_to(episode))) if episode.is_complete else None
            changed = await self._store.change(visibility, episode_id, guarded, max_bytes=MAX_EPISODE_BYTES, text=text)
            if changed is not None:
                return WrittenEpisode(changed, writing.masked)
        raise _concurrent_changes(episode_id)

    async def delete(self, visibility: Visibility, episode_id: str) -> Episode:
        """Delete an episode with its steps and index entries; return the deleted episode."""
        if (gone := await self._store.delete(visibility, episode_id)) is None:
            raise unknown_episode(episode_id)
        return gone

    async def _ended(self, episode: Episode, outcome: Outcome) -> tuple[Episode, Learned]:
        """Return the episode with outcome, reflection, features and lessons, before the final reward and quality."""
        now = max(self._clock(), episode.start_time)
        ended = replace(episode, outcome=outcome, end_time=now)
        typical = typical_effort(await self._store.similar_efforts(ended, MAX_SIMILAR_TASKS))
        ended = replace(ended, reflection=reflect(ended, now, typical))
        ended = replace(ended, salient_features=salient_features(ended), reward=reward_of(ended))
        learned = await self._learned(ended)
        patterns, heuristics = (one.id for one in learned.patterns), (one.id for one in learned.heuristics)
        return (
            replace(
                ended,
                patterns=tuple(patterns),
                heuristics=tuple(heuristics),
                applied_patterns=tuple(learned.applied) or ended.applied_patterns,
            ),
            learned,
        )

    async def _learned(self, ended: Episode) -> Learned:
        """Return the lessons; none when learning fails, because a failure must not block the completion."""
        if self._learner is None:
            return Learned()
        try:
            return await self._learner.learn(ended)
        except ScrubjayError as error:
            logger.warning("learning from an episode failed", extra={"problem": error.message})
            return Learned()

    async def _text(self, episode: Episode) -> EpisodeText:
        embeddings = await self._embeddings.embed_texts([embedding_text(episode)])
        # Tokenising a long episode is slow: keep it off the event loop.
        passages = await anyio.to_thread.run_sync(index_terms, episode)
        return EpisodeText(passages=passages, vector=embeddings.vectors[0], model=embeddings.model)


def unknown_episode(episode_id: str) -> NotFound:
    return NotFound(
        f"Episode not found: {episode_id[:80]}",
        hint="query_memory finds completed episodes; an episode of another project is only visible in that project",
    )


def _concurrent_changes(episode_id: str) -> Busy:
    return Busy(f"episode {episode_id} is changed by other callers too often", hint="nothing was changed; try again")


def _refuse_large(outcome: Outcome) -> None:
    match outcome:
        case SuccessOutcome(verdict=verdict, artifacts=artifacts):
            refuse_longer(verdict, MAX_TEXT_BYTES, "verdict")
            for artifact in artifacts:
                refuse_longer(artifact, MAX_DATA_BYTES, "an artifact")
        case PartialSuccessOutcome(verdict=verdict, completed=completed, failed=failed):
            refuse_longer(verdict, MAX_TEXT_BYTES, "verdict")
            for part in (*completed, *failed):
                refuse_longer(part, MAX_TEXT_BYTES, "a subtask")
        case FailureOutcome(reason=reason, error_details=details):
            refuse_longer(reason, MAX_TEXT_BYTES, "reason")
            refuse_longer(details, MAX_TEXT_BYTES, "error_details")


def _guarded_outcome(outcome: Outcome, writing: Writing) -> Outcome:
    def kept(text: str) -> str:
        return writing.text(text) or text

    match outcome:
        case SuccessOutcome(verdict=verdict, artifacts=artifacts):
            return SuccessOutcome(verdict=kept(verdict), artifacts=_each(kept, artifacts))
        case PartialSuccessOutcome(verdict=verdict, completed=completed, failed=failed):
            return PartialSuccessOutcome(
                verdict=kept(verdict), completed=_each(kept, completed), failed=_each(kept, failed)
            )
        case FailureOutcome(reason=reason, error_details=details):
            return FailureOutcome(reason=kept(reason), error_details=writing.text(details))


def _each(kept: Callable[[str], str], texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(kept, texts))


def _guarded_result(result: StepResult, writing: Writing) -> StepResult:
    return replace(result, output=writing.text(result.output), message=writing.text(result.message))
