"""The life of an episode: begun, told step by step, completed, looked at, changed, deleted."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import uuid4

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, Conflict, NotFound, ScrubjayError
from scrubjay.core.scopes import Visibility
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.episodes.embedding import Meanings
from scrubjay.features.episodes.limits import (
    DATA_BYTES,
    DESCRIPTION_BYTES,
    EPISODE_BYTES,
    MOST_STEPS,
    TEXT_BYTES,
    TOLD_BYTES,
    refuse_longer,
)
from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    EpisodeChange,
    Failure,
    Learned,
    Learner,
    Outcome,
    PartialSuccess,
    Quality,
    Reward,
    Step,
    StepResult,
    Success,
    TaskContext,
    TaskType,
    normal_tags,
)
from scrubjay.features.episodes.quality import quality_of
from scrubjay.features.episodes.reflection import reflect
from scrubjay.features.episodes.reward import reward_of
from scrubjay.features.episodes.salience import salient_features
from scrubjay.features.episodes.search_text import meaning_text, words_of
from scrubjay.features.episodes.store import EpisodeFilter, EpisodeStore, EpisodeText

logger = logging.getLogger("scrubjay.features.episodes")

# How often it is tried again when somebody else changes the episode meanwhile.
ATTEMPTS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """A task that somebody begins."""

    task_description: str
    domain: str
    task_type: TaskType
    language: str | None = None
    framework: str | None = None
    tags: Sequence[str] = ()
    complexity: Complexity = Complexity.MODERATE


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStep:
    """Something that was just done."""

    step_number: int
    tool: str
    action: str
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: StepResult | None = None
    latency_ms: int = 0
    tokens_used: int | None = None


@dataclass(frozen=True, slots=True)
class WrittenEpisode:
    """An episode as it was written."""

    episode: Episode
    masked: Sequence[str]
    """The kinds of the secrets that a mark stands for now."""


@dataclass(frozen=True, slots=True)
class CompletedEpisode:
    """An episode that has just ended."""

    episode: Episode
    reward: Reward
    quality: Quality
    masked: Sequence[str]


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """What became of a step."""

    is_new: bool
    """False when the very same step had been told before."""
    masked: Sequence[str]


class EpisodeService:
    """The episodes of one store."""

    def __init__(
        self,
        store: EpisodeStore,
        rules: WritingRules,
        meanings: Meanings,
        *,
        learner: Learner | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Without a learner, episodes are completed all the same, and nothing is learned from them."""
        self._store = store
        self._rules = rules
        self._meanings = meanings
        self._learner = learner
        self._clock = clock

    async def create(self, new: NewEpisode, project_id: str | None, client: str | None) -> WrittenEpisode:
        """Begin an episode of this project, or of none."""
        refuse_longer(new.task_description, DESCRIPTION_BYTES, "task_description")
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

    async def add_step(self, visibility: Visibility, episode_id: str, new: NewStep, client: str | None) -> WrittenStep:
        """Keep what was done; durable when this returns. The very same step once more changes nothing.

        `NotFound` for an unknown episode, `Conflict` for one that is complete or full, or that has another step of this
        number, `TooLarge` when the step or the episode becomes too large.
        """
        refuse_longer(new.action, TEXT_BYTES, "action")
        refuse_longer(json.dumps(new.parameters, ensure_ascii=False), DATA_BYTES, "parameters")
        if new.result is not None:
            refuse_longer(new.result.output, TEXT_BYTES, "the result's output")
            refuse_longer(new.result.message, TEXT_BYTES, "the result's message")
        writing = Writing(self._rules, client)
        step = Step(
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
            visibility, episode_id, step, most_steps=MOST_STEPS, most_bytes=EPISODE_BYTES
        )
        if is_new is None:
            raise unknown_episode(episode_id)
        return WrittenStep(is_new, writing.masked)

    async def complete(
        self, visibility: Visibility, episode_id: str, outcome: Outcome, client: str | None
    ) -> CompletedEpisode:
        """Close an episode: look back at it, learn from it, judge it, and keep all of that at once.

        An episode of low quality is kept as well, and says so. `Conflict` when it is complete already.
        """
        _refuse_large(outcome)
        writing = Writing(self._rules, client)
        guarded = _guarded_outcome(outcome, writing)
        for _ in range(ATTEMPTS):
            episode = await self.get(visibility, episode_id)
            if episode.is_complete:
                raise Conflict(
                    f"Episode {episode_id} is already completed",
                    hint="get_episode shows how; create_episode begins another one",
                )
            ended, learned = await self._ended(episode, guarded)
            reward, quality = reward_of(ended), quality_of(ended)
            completed = replace(ended, reward=reward, quality=quality)
            text = await self._text(completed)
            kept = await self._store.complete(completed, learned, text, most_bytes=EPISODE_BYTES)
            if kept is not None:
                return CompletedEpisode(kept, reward, quality, writing.masked)
        raise _changed_meanwhile(episode_id)

    async def get(self, visibility: Visibility, episode_id: str) -> Episode:
        if (episode := await self._store.get(visibility, episode_id)) is None:
            raise unknown_episode(episode_id)
        return episode

    async def get_many(self, visibility: Visibility, episode_ids: Sequence[str]) -> Sequence[Episode]:
        """Those that there are, in the order of the ids; each once."""
        return await self._store.get_many(visibility, episode_ids, most_bytes=TOLD_BYTES)

    async def tagged(
        self, visibility: Visibility, tags: Sequence[str], limit: int, *, every: bool
    ) -> Sequence[Episode]:
        """Episodes that have one of these tags, or every one, without their steps; the one begun last first."""
        only = EpisodeFilter(tags=tuple(tags), all_tags=every)
        return [episode for _, episode in await self._store.find(visibility, only, limit, with_steps=False)]

    async def change(
        self, visibility: Visibility, episode_id: str, change: EpisodeChange, client: str | None
    ) -> WrittenEpisode:
        """Change what is named; of a complete episode, what it is found by as well."""
        refuse_longer(change.description, DESCRIPTION_BYTES, "description")
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
            text = (episode.revision, await self._text(guarded.of(episode))) if episode.is_complete else None
            changed = await self._store.change(visibility, episode_id, guarded, most_bytes=EPISODE_BYTES, text=text)
            if changed is not None:
                return WrittenEpisode(changed, writing.masked)
        raise _changed_meanwhile(episode_id)

    async def delete(self, visibility: Visibility, episode_id: str) -> Episode:
        """Erase an episode with all that belongs to it."""
        if (gone := await self._store.delete(visibility, episode_id)) is None:
            raise unknown_episode(episode_id)
        return gone

    async def _ended(self, episode: Episode, outcome: Outcome) -> tuple[Episode, Learned]:
        """The episode with what is seen by looking back at it and what it teaches, by which it is then judged."""
        now = max(self._clock(), episode.start_time)
        ended = replace(episode, outcome=outcome, end_time=now)
        ended = replace(ended, reflection=reflect(ended, now))
        ended = replace(ended, salient_features=salient_features(ended), reward=reward_of(ended))
        learned = await self._learned(ended)
        patterns, heuristics = (one.id for one in learned.patterns), (one.id for one in learned.heuristics)
        return replace(ended, patterns=tuple(patterns), heuristics=tuple(heuristics)), learned

    async def _learned(self, ended: Episode) -> Learned:
        """What it teaches; nothing when that cannot be found out, for which no completion is refused."""
        if self._learner is None:
            return Learned()
        try:
            return await self._learner.learn(ended)
        except ScrubjayError as error:
            logger.warning("nothing was learned from an episode", extra={"problem": error.message})
            return Learned()

    async def _text(self, episode: Episode) -> EpisodeText:
        made = await self._meanings.texts([meaning_text(episode)])
        # A long episode takes a while to read, and others are not to wait for it.
        found = await anyio.to_thread.run_sync(words_of, episode)
        return EpisodeText(passages=found, vector=made.vectors[0], model=made.model)


def unknown_episode(episode_id: str) -> NotFound:
    return NotFound(
        f"Episode not found: {episode_id[:80]}",
        hint="query_memory finds complete ones; an episode of another project can only be seen there",
    )


def _changed_meanwhile(episode_id: str) -> Busy:
    return Busy(f"episode {episode_id} is being changed by others all the time", hint="nothing was changed; try again")


def _refuse_large(outcome: Outcome) -> None:
    match outcome:
        case Success(verdict=verdict, artifacts=artifacts):
            refuse_longer(verdict, TEXT_BYTES, "verdict")
            for artifact in artifacts:
                refuse_longer(artifact, DATA_BYTES, "an artifact")
        case PartialSuccess(verdict=verdict, completed=completed, failed=failed):
            refuse_longer(verdict, TEXT_BYTES, "verdict")
            for part in (*completed, *failed):
                refuse_longer(part, TEXT_BYTES, "a subtask")
        case Failure(reason=reason, error_details=details):
            refuse_longer(reason, TEXT_BYTES, "reason")
            refuse_longer(details, TEXT_BYTES, "error_details")


def _guarded_outcome(outcome: Outcome, writing: Writing) -> Outcome:
    def kept(text: str) -> str:
        return writing.text(text) or text

    match outcome:
        case Success(verdict=verdict, artifacts=artifacts):
            return Success(verdict=kept(verdict), artifacts=_each(kept, artifacts))
        case PartialSuccess(verdict=verdict, completed=completed, failed=failed):
            return PartialSuccess(verdict=kept(verdict), completed=_each(kept, completed), failed=_each(kept, failed))
        case Failure(reason=reason, error_details=details):
            return Failure(reason=kept(reason), error_details=writing.text(details))


def _each(kept: Callable[[str], str], texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(kept, texts))


def _guarded_result(result: StepResult, writing: Writing) -> StepResult:
    return replace(result, output=writing.text(result.output), message=writing.text(result.message))
