"""Creating, extending, completing, changing and deleting episodes. Numbers are rows of the feature table."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import (
    Busy,
    Conflict,
    InvalidRequest,
    NotFound,
    QuotaExceeded,
    RateLimited,
    ScrubjayError,
    TooLarge,
    Unavailable,
)
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes import service
from scrubjay.features.episodes.limits import (
    MAX_DATA_BYTES,
    MAX_DESCRIPTION_BYTES,
    MAX_EPISODE_BYTES,
    MAX_STEPS,
    MAX_TEXT_BYTES,
)
from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    EpisodeChange,
    FailureOutcome,
    Learned,
    Outcome,
    PartialSuccessOutcome,
    ResultType,
    StepResult,
    SuccessOutcome,
    TaskContext,
    TaskType,
)
from scrubjay.features.episodes.quality import quality_of
from scrubjay.features.episodes.reflection import reflect
from scrubjay.features.episodes.reward import reward_of
from scrubjay.features.episodes.search import Sort
from scrubjay.features.episodes.service import NewEpisode
from scrubjay.features.memory.quota import Quota
from tests.contracts.samples import NOW, ManualClock
from tests.features.episodes.environment import GLOBAL, EpisodeEnvironment, UnavailableModel
from tests.features.episodes.samples import identifier

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@dataclass(frozen=True)
class FakeLessons:
    id: str


class FakeLearner:
    """A learner that returns fixed lessons."""

    def __init__(self, learned: Learned | ScrubjayError) -> None:
        self._learned = learned
        self.episodes: list[Episode] = []

    async def learn(self, episode: Episode) -> Learned:
        self.episodes.append(episode)
        if isinstance(self._learned, ScrubjayError):
            raise self._learned
        return self._learned

    async def relevant(
        self, visibility: Visibility, query: str, domain: str, task_type: TaskType | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        return [{"type": "tool_sequence", "arguments": [visibility.project_id, query, domain, task_type, limit]}]


async def test_070_a_new_episode_is_open_with_a_random_id_and_normalized_tags(env: EpisodeEnvironment) -> None:
    new = NewEpisode(
        task_description="Fix it",
        domain="web",
        task_type=TaskType.TESTING,
        language="python",
        framework="",
        tags=[" Auth", "auth", "", "Slow "],
        complexity=Complexity.SIMPLE,
    )
    episode = (await env.service.create(new, None, "ada")).episode
    assert UUID(episode.episode_id).version == 4
    assert episode == Episode(
        episode_id=episode.episode_id,
        client="ada",
        task_type=TaskType.TESTING,
        task_description="Fix it",
        context=TaskContext(domain="web", language="python", complexity=Complexity.SIMPLE, tags=("auth", "slow")),
        start_time=NOW,
    )
    assert await env.get(episode.episode_id) == episode


async def test_071_a_step_is_stored_immediately_and_an_equal_one_only_once(env: EpisodeEnvironment) -> None:
    episode_id = await env.begin()
    assert await env.add_step(episode_id, 1)
    env.clock.advance(5)
    assert not await env.add_step(episode_id, 1)
    with pytest.raises(Conflict):
        await env.add_step(episode_id, 1, "-")
    assert [one.result_type for one in (await env.get(episode_id)).steps] == ["success"]
    with pytest.raises(NotFound, match="Episode not found"):
        await env.add_step(identifier(9), 1)


async def test_071_values_above_the_byte_limits_are_refused_and_change_nothing(env: EpisodeEnvironment) -> None:
    episode_id = await env.begin("ü" * (MAX_DESCRIPTION_BYTES // 2))
    with pytest.raises(TooLarge):
        await env.begin("ü" * (MAX_DESCRIPTION_BYTES // 2) + "x")
    fits, too_long = "ü" * (MAX_TEXT_BYTES // 2), "ü" * (MAX_TEXT_BYTES // 2 + 1)
    success = ResultType.SUCCESS
    assert await env.add_step(episode_id, 1, action=fits, result=StepResult(type=success, output=fits, message=fits))
    longer: list[dict[str, Any]] = [
        {"action": too_long},
        {"result": StepResult(type=success, output=too_long)},
        {"result": StepResult(type=success, message=too_long)},
        {"parameters": {"a": "x" * MAX_DATA_BYTES}},
    ]
    for fields in longer:
        with pytest.raises(TooLarge):
            await env.add_step(episode_id, 2, **fields)
    for outcome in (
        SuccessOutcome(verdict=too_long),
        SuccessOutcome(verdict="v", artifacts=("x" * (MAX_DATA_BYTES + 1),)),
        PartialSuccessOutcome(verdict="v", completed=(too_long,)),
        PartialSuccessOutcome(verdict="v", failed=(too_long,)),
        FailureOutcome(reason=too_long),
        FailureOutcome(reason="r", error_details=too_long),
    ):
        with pytest.raises(TooLarge):
            await env.end(episode_id, outcome)
    with pytest.raises(TooLarge):
        await env.service.change(GLOBAL, episode_id, EpisodeChange(description="x" * 10_001), "ada")
    episode = await env.get(episode_id)
    assert (episode.is_complete, len(episode.steps), episode.revision) == (False, 1, 1)


async def test_071_an_episode_is_limited_to_a_thousand_steps_and_ten_million_bytes(env: EpisodeEnvironment) -> None:
    episode_id = await env.begin()
    for number in range(MAX_STEPS):
        await env.add_step(episode_id, number)
    with pytest.raises(Conflict, match="which is the limit"):
        await env.add_step(episode_id, MAX_STEPS)
    assert len((await env.end(episode_id)).steps) == MAX_STEPS
    large = await env.begin()
    parameters = {"a": "x" * (MAX_DATA_BYTES - 200)}
    for number in range(MAX_EPISODE_BYTES // MAX_DATA_BYTES):
        await env.add_step(large, number, parameters=parameters)
    with pytest.raises(TooLarge):
        await env.add_step(large, 100, parameters=parameters)
    assert len((await env.get(large)).steps) == 10


async def test_072_a_completion_computes_reflection_reward_and_quality(env: EpisodeEnvironment) -> None:
    episode_id = await env.begin()
    await env.add_step(episode_id, 1, "-")
    await env.add_step(episode_id, 2)
    env.clock.advance(90)
    outcome = SuccessOutcome(verdict="It works", artifacts=("a.py",))
    completed = await env.service.complete(GLOBAL, episode_id, outcome, "ada")
    episode = await env.get(episode_id)
    assert episode == completed.episode
    assert (episode.outcome, episode.duration_seconds) == (outcome, 90)
    assert episode.reflection == reflect(episode, env.clock.now)
    assert (episode.reward, episode.quality) == (reward_of(episode), quality_of(episode))
    assert (completed.reward, completed.quality) == (episode.reward, episode.quality)
    assert episode.salient_features is not None
    assert episode.salient_features.error_recovery_patterns == ("error → action 2 (grep)",)
    assert episode.quality is not None
    assert episode.quality.low  # stored all the same
    with pytest.raises(Conflict, match="already completed"):
        await env.end(episode_id, FailureOutcome(reason="no"))
    with pytest.raises(Conflict):
        await env.add_step(episode_id, 3)
    with pytest.raises(NotFound):
        await env.end(identifier(9))
    assert await env.get(episode_id) == episode


async def test_072_learned_patterns_raise_the_reward_and_the_quality(store: SqliteStore) -> None:
    learner = FakeLearner(
        Learned(patterns=[FakeLessons("p1"), FakeLessons("p2"), FakeLessons("p3")], heuristics=[FakeLessons("h1")])
    )
    env = EpisodeEnvironment(store, ManualClock(), learner=learner)
    episode_id = await env.begin()
    await env.add_step(episode_id, 1)
    done = await env.end(episode_id)
    assert (done.patterns, done.heuristics) == (("p1", "p2", "p3"), ("h1",))
    (seen,) = learner.episodes
    assert (seen.quality, seen.patterns, seen.outcome, seen.end_time) == (None, (), done.outcome, done.end_time)
    assert (seen.reflection, seen.salient_features) == (done.reflection, done.salient_features)
    assert seen.reward is not None
    assert done.reward is not None
    assert done.reward.learning_bonus == pytest.approx(seen.reward.learning_bonus + 0.3)
    assert done.quality is not None
    assert done.quality.novelty == 0.75


async def test_072_a_failing_learner_or_model_does_not_block_a_completion(store: SqliteStore) -> None:
    env = EpisodeEnvironment(
        store, ManualClock(), learner=FakeLearner(Unavailable("gone")), meanings=UnavailableModel()
    )
    done = await env.end(await env.begin())
    assert (done.is_complete, done.patterns) == (True, ())
    assert [one.episode_id for one in await store.episodes.unembedded("static-v1", 9)] == [done.episode_id]


async def test_072_a_step_added_during_completion_is_included_or_refused(env: EpisodeEnvironment) -> None:
    episode_id = await env.begin()
    outcomes = await asyncio.gather(
        env.end(episode_id), *(env.add_step(episode_id, number) for number in range(9)), return_exceptions=True
    )
    episode = await env.get(episode_id)
    assert episode == outcomes[0]
    added = [outcome for outcome in outcomes[1:] if outcome is True]
    refused = [outcome for outcome in outcomes[1:] if isinstance(outcome, Conflict)]
    assert (len(added), len(added) + len(refused)) == (len(episode.steps), 9)


async def test_072_the_completion_of_a_constantly_changing_episode_is_abandoned(
    env: EpisodeEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode_id = await env.begin()
    number = 0

    async def learn_while_steps_are_added(episode: Episode) -> Learned:
        nonlocal number
        number += 1
        await env.add_step(episode_id, number)
        return Learned()

    monkeypatch.setattr(env.service, "_learned", learn_while_steps_are_added)
    with pytest.raises(Busy):
        await env.end(episode_id)
    assert (number, (await env.get(episode_id)).is_complete) == (service.ATTEMPTS, False)


async def test_070_to_074_an_episode_of_another_project_is_not_visible(env: EpisodeEnvironment) -> None:
    here, there = [(await env.store.projects.ensure(path, None)).id for path in ("/proj/here", "/proj/there")]
    episode_id = await env.begin(project_id=here)
    change = EpisodeChange(add_tags=("x",))
    for visibility in (Visibility(there), Visibility()):
        for request in (
            env.service.get(visibility, episode_id),
            env.service.complete(visibility, episode_id, SuccessOutcome(verdict="v"), None),
            env.service.change(visibility, episode_id, change, None),
            env.service.delete(visibility, episode_id),
        ):
            with pytest.raises(NotFound):
                await request
        assert await env.service.get_many(visibility, [episode_id]) == []
    assert not (await env.service.get(Visibility(here), episode_id)).is_complete


async def test_070_071_072_secrets_are_masked_or_refused_as_in_memories(
    store: SqliteStore, env: EpisodeEnvironment
) -> None:
    episode_id = await env.begin(f"Use {SECRET}")
    leaky = StepResult(type=ResultType.ERROR, output=SECRET, message=SECRET)
    await env.add_step(episode_id, 1, action=SECRET, parameters={"password": "x", "other": SECRET}, result=leaky)
    await env.end(episode_id, FailureOutcome(reason=SECRET, error_details=SECRET))
    await env.service.change(GLOBAL, episode_id, EpisodeChange(metadata={"api_key": "x"}), "ada")
    episode = await env.get(episode_id)
    assert SECRET not in repr(episode)
    assert episode.metadata["api_key"] != "x"
    strict = EpisodeEnvironment(store, ManualClock(), secrets=SecretsPolicy.REFUSE)
    with pytest.raises(InvalidRequest):
        await strict.begin(f"Use {SECRET}")
    safe = await strict.begin()
    with pytest.raises(InvalidRequest):
        await strict.add_step(safe, 1, parameters={"password": "x"})
    assert (await strict.get(safe)).steps == ()


async def test_070_quotas_of_the_operator_apply_to_clients(store: SqliteStore) -> None:
    env = EpisodeEnvironment(store, ManualClock(), quota=Quota(memories_per_client=1))
    await env.begin()
    with pytest.raises(QuotaExceeded):
        await env.begin()
    hasty = EpisodeEnvironment(store, ManualClock(), quota=Quota(writes_per_minute=1))
    episode_id = await hasty.begin()
    with pytest.raises(RateLimited):
        await hasty.add_step(episode_id, 1)


async def test_085_a_changed_complete_episode_is_found_by_its_new_words(env: EpisodeEnvironment) -> None:
    done = await env.add_completed("Fix the login")
    change = EpisodeChange(description="Mend the printer", set_tags=(" New ",), add_tags=("B",), metadata={"k": "v"})
    changed = (await env.service.change(GLOBAL, done, change, "ada")).episode
    assert (changed.task_description, changed.context.tags) == ("Mend the printer", ("new", "b"))
    assert changed == replace(await env.get(done))
    for words, expected in (("login", []), ("printer", [done]), ("new", [done])):
        found = await env.queries.query(GLOBAL, words, "web-api", None, 5, Sort.RELEVANCE)
        assert [one.episode.episode_id for one in found.episodes] == expected, words


async def test_074_a_deleted_episode_is_gone_and_cannot_be_deleted_again(env: EpisodeEnvironment) -> None:
    done = await env.add_completed("Fix the login")
    deleted = await env.service.delete(GLOBAL, done)
    assert deleted.episode_id == done
    with pytest.raises(NotFound):
        await env.service.delete(GLOBAL, done)
    with pytest.raises(NotFound):
        await env.get(done)


async def test_076_a_reflection_compares_the_steps_with_those_of_similar_tasks(env: EpisodeEnvironment) -> None:
    async def work(steps: int, seconds: float = 60, outcome: Outcome | None = None, **fields: Any) -> Episode:
        episode_id = await env.begin("Fix the login", **fields)
        for number in range(1, steps + 1):
            await env.add_step(episode_id, number, tool=f"tool {number % 7}")
        env.clock.now += timedelta(seconds=seconds)
        return await env.end(episode_id, outcome)

    for steps in (4, 5, 6):
        assert "similar" not in str((await work(steps)).reflection)
    await work(40, outcome=FailureOutcome(reason="no"))
    await work(40, task_type=TaskType.TESTING)
    await work(40, domain="other")
    await work(40, complexity=Complexity.COMPLEX)
    reflection = (await work(11, 150)).reflection
    assert reflection is not None
    assert "Took 11 steps, more than twice the 5 steps of similar tasks (median of 3)" in reflection.insights
    assert "Took 150 s, similar tasks 60 s (median of 3): look for unnecessary steps" in reflection.improvements
