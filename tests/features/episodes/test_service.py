"""The life of an episode. Numbers are rows of the feature table."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from scrubjay.features.episodes.limits import DATA_BYTES, DESCRIPTION_BYTES, EPISODE_BYTES, MOST_STEPS, TEXT_BYTES
from scrubjay.features.episodes.models import (
    Complexity,
    Episode,
    EpisodeChange,
    Failure,
    Learned,
    PartialSuccess,
    ResultType,
    StepResult,
    Success,
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
from tests.features.episodes.house import EVERYBODY, House, ModelGone
from tests.features.episodes.samples import identifier

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@dataclass(frozen=True)
class Taught:
    id: str


class Teacher:
    """A learner that says what it is told to."""

    def __init__(self, learned: Learned | ScrubjayError) -> None:
        self._learned = learned
        self.seen: list[Episode] = []

    async def learn(self, episode: Episode) -> Learned:
        self.seen.append(episode)
        if isinstance(self._learned, ScrubjayError):
            raise self._learned
        return self._learned

    async def relevant(
        self, visibility: Visibility, query: str, domain: str, task_type: TaskType | None, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        return [{"type": "tool_sequence", "asked": [visibility.project_id, query, domain, task_type, limit]}]


async def test_070_an_episode_begins_open_with_a_random_id_and_tidy_tags(house: House) -> None:
    new = NewEpisode(
        task_description="Fix it",
        domain="web",
        task_type=TaskType.TESTING,
        language="python",
        framework="",
        tags=[" Auth", "auth", "", "Slow "],
        complexity=Complexity.SIMPLE,
    )
    made = (await house.service.create(new, None, "ada")).episode
    assert UUID(made.episode_id).version == 4
    assert made == Episode(
        episode_id=made.episode_id,
        client="ada",
        task_type=TaskType.TESTING,
        task_description="Fix it",
        context=TaskContext(domain="web", language="python", complexity=Complexity.SIMPLE, tags=("auth", "slow")),
        start_time=NOW,
    )
    assert await house.get(made.episode_id) == made


async def test_071_a_step_is_there_at_once_and_told_twice_is_kept_once(house: House) -> None:
    begun = await house.begin()
    assert await house.tell(begun, 1)
    house.clock.advance(5)
    assert not await house.tell(begun, 1)
    with pytest.raises(Conflict):
        await house.tell(begun, 1, "-")
    assert [one.result_type for one in (await house.get(begun)).steps] == ["success"]
    with pytest.raises(NotFound, match="Episode not found"):
        await house.tell(identifier(9), 1)


async def test_071_what_is_too_large_is_refused_by_its_bytes_and_changes_nothing(house: House) -> None:
    begun = await house.begin("ü" * (DESCRIPTION_BYTES // 2))
    with pytest.raises(TooLarge):
        await house.begin("ü" * (DESCRIPTION_BYTES // 2) + "x")
    fits, too_long = "ü" * (TEXT_BYTES // 2), "ü" * (TEXT_BYTES // 2 + 1)
    success = ResultType.SUCCESS
    assert await house.tell(begun, 1, action=fits, result=StepResult(type=success, output=fits, message=fits))
    longer: list[dict[str, Any]] = [
        {"action": too_long},
        {"result": StepResult(type=success, output=too_long)},
        {"result": StepResult(type=success, message=too_long)},
        {"parameters": {"a": "x" * DATA_BYTES}},
    ]
    for fields in longer:
        with pytest.raises(TooLarge):
            await house.tell(begun, 2, **fields)
    for outcome in (
        Success(verdict=too_long),
        Success(verdict="v", artifacts=("x" * (DATA_BYTES + 1),)),
        PartialSuccess(verdict="v", completed=(too_long,)),
        PartialSuccess(verdict="v", failed=(too_long,)),
        Failure(reason=too_long),
        Failure(reason="r", error_details=too_long),
    ):
        with pytest.raises(TooLarge):
            await house.end(begun, outcome)
    with pytest.raises(TooLarge):
        await house.service.change(EVERYBODY, begun, EpisodeChange(description="x" * 10_001), "ada")
    kept = await house.get(begun)
    assert (kept.is_complete, len(kept.steps), kept.revision) == (False, 1, 1)


async def test_071_an_episode_takes_a_thousand_steps_and_ten_million_bytes(house: House) -> None:
    begun = await house.begin()
    for number in range(MOST_STEPS):
        await house.tell(begun, number)
    with pytest.raises(Conflict, match="can have no more"):
        await house.tell(begun, MOST_STEPS)
    assert len((await house.end(begun)).steps) == MOST_STEPS
    large = await house.begin()
    room = {"a": "x" * (DATA_BYTES - 200)}
    for number in range(EPISODE_BYTES // DATA_BYTES):
        await house.tell(large, number, parameters=room)
    with pytest.raises(TooLarge):
        await house.tell(large, 100, parameters=room)
    assert len((await house.get(large)).steps) == 10


async def test_072_a_completion_looks_back_and_judges_and_marks_what_teaches_little(house: House) -> None:
    begun = await house.begin()
    await house.tell(begun, 1, "-")
    await house.tell(begun, 2)
    house.clock.advance(90)
    ended = Success(verdict="It works", artifacts=("a.py",))
    done = await house.service.complete(EVERYBODY, begun, ended, "ada")
    kept = await house.get(begun)
    assert kept == done.episode
    assert (kept.outcome, kept.duration_seconds) == (ended, 90)
    assert kept.reflection == reflect(kept, house.clock.now)
    assert (kept.reward, kept.quality) == (reward_of(kept), quality_of(kept))
    assert (done.reward, done.quality) == (kept.reward, kept.quality)
    assert kept.salient_features is not None
    assert kept.salient_features.error_recovery_patterns == ("error → action 2 (grep)",)
    assert kept.quality is not None
    assert kept.quality.low  # it is kept all the same
    with pytest.raises(Conflict, match="already completed"):
        await house.end(begun, Failure(reason="no"))
    with pytest.raises(Conflict):
        await house.tell(begun, 3)
    with pytest.raises(NotFound):
        await house.end(identifier(9))
    assert await house.get(begun) == kept


async def test_072_what_is_learned_counts_for_the_reward_and_the_quality(store: SqliteStore) -> None:
    teacher = Teacher(Learned(patterns=[Taught("p1"), Taught("p2"), Taught("p3")], heuristics=[Taught("h1")]))
    house = House(store, ManualClock(), learner=teacher)
    begun = await house.begin()
    await house.tell(begun, 1)
    done = await house.end(begun)
    assert (done.patterns, done.heuristics) == (("p1", "p2", "p3"), ("h1",))
    (seen,) = teacher.seen
    assert (seen.quality, seen.patterns, seen.outcome, seen.end_time) == (None, (), done.outcome, done.end_time)
    assert (seen.reflection, seen.salient_features) == (done.reflection, done.salient_features)
    assert seen.reward is not None
    assert done.reward is not None
    assert done.reward.learning_bonus == pytest.approx(seen.reward.learning_bonus + 0.3)
    assert done.quality is not None
    assert done.quality.novelty == 0.75


async def test_072_a_learner_or_a_model_that_fails_refuses_no_completion(store: SqliteStore) -> None:
    house = House(store, ManualClock(), learner=Teacher(Unavailable("gone")), meanings=ModelGone())
    done = await house.end(await house.begin())
    assert (done.is_complete, done.patterns) == (True, ())
    assert [one.episode_id for one in await store.episodes.unembedded("static-v1", 9)] == [done.episode_id]


async def test_072_a_step_that_comes_while_an_episode_is_completed_is_in_it_or_refused(house: House) -> None:
    begun = await house.begin()
    outcomes = await asyncio.gather(
        house.end(begun), *(house.tell(begun, number) for number in range(9)), return_exceptions=True
    )
    kept = await house.get(begun)
    assert kept == outcomes[0]
    told = [outcome for outcome in outcomes[1:] if outcome is True]
    refused = [outcome for outcome in outcomes[1:] if isinstance(outcome, Conflict)]
    assert (len(told), len(told) + len(refused)) == (len(kept.steps), 9)


async def test_072_an_episode_that_changes_all_the_time_is_given_up(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = await house.begin()
    number = 0

    async def told_meanwhile(episode: Episode) -> Learned:
        nonlocal number
        number += 1
        await house.tell(begun, number)
        return Learned()

    monkeypatch.setattr(house.service, "_learned", told_meanwhile)
    with pytest.raises(Busy):
        await house.end(begun)
    assert (number, (await house.get(begun)).is_complete) == (service.ATTEMPTS, False)


async def test_070_to_074_an_episode_of_another_project_is_not_there(house: House) -> None:
    here, there = [(await house.store.projects.ensure(path, None)).id for path in ("/proj/here", "/proj/there")]
    begun = await house.begin(project_id=here)
    change = EpisodeChange(add_tags=("x",))
    for visibility in (Visibility(there), Visibility()):
        for refused in (
            house.service.get(visibility, begun),
            house.service.complete(visibility, begun, Success(verdict="v"), None),
            house.service.change(visibility, begun, change, None),
            house.service.delete(visibility, begun),
        ):
            with pytest.raises(NotFound):
                await refused
        assert await house.service.get_many(visibility, [begun]) == []
    assert not (await house.service.get(Visibility(here), begun)).is_complete


async def test_070_071_072_secrets_are_masked_or_refused_as_in_memories(store: SqliteStore, house: House) -> None:
    begun = await house.begin(f"Use {SECRET}")
    leaky = StepResult(type=ResultType.ERROR, output=SECRET, message=SECRET)
    await house.tell(begun, 1, action=SECRET, parameters={"password": "x", "other": SECRET}, result=leaky)
    await house.end(begun, Failure(reason=SECRET, error_details=SECRET))
    await house.service.change(EVERYBODY, begun, EpisodeChange(metadata={"api_key": "x"}), "ada")
    kept = await house.get(begun)
    assert SECRET not in repr(kept)
    assert kept.metadata["api_key"] != "x"
    strict = House(store, ManualClock(), secrets=SecretsPolicy.REFUSE)
    with pytest.raises(InvalidRequest):
        await strict.begin(f"Use {SECRET}")
    safe = await strict.begin()
    with pytest.raises(InvalidRequest):
        await strict.tell(safe, 1, parameters={"password": "x"})
    assert (await strict.get(safe)).steps == ()


async def test_070_a_client_keeps_to_what_the_operator_allows(store: SqliteStore) -> None:
    house = House(store, ManualClock(), quota=Quota(memories_per_client=1))
    await house.begin()
    with pytest.raises(QuotaExceeded):
        await house.begin()
    hasty = House(store, ManualClock(), quota=Quota(writes_per_minute=1))
    begun = await hasty.begin()
    with pytest.raises(RateLimited):
        await hasty.tell(begun, 1)


async def test_085_a_change_of_a_complete_episode_is_found_by_its_new_words(house: House) -> None:
    done = await house.done("Fix the login")
    change = EpisodeChange(description="Mend the printer", set_tags=(" New ",), add_tags=("B",), metadata={"k": "v"})
    changed = (await house.service.change(EVERYBODY, done, change, "ada")).episode
    assert (changed.task_description, changed.context.tags) == ("Mend the printer", ("new", "b"))
    assert changed == replace(await house.get(done))
    for words, expected in (("login", []), ("printer", [done]), ("new", [done])):
        found = await house.queries.query(EVERYBODY, words, "web-api", None, 5, Sort.RELEVANCE)
        assert [one.episode.episode_id for one in found.episodes] == expected, words


async def test_074_deleting_leaves_nothing_and_is_said_once(house: House) -> None:
    done = await house.done("Fix the login")
    gone = await house.service.delete(EVERYBODY, done)
    assert gone.episode_id == done
    with pytest.raises(NotFound):
        await house.service.delete(EVERYBODY, done)
    with pytest.raises(NotFound):
        await house.get(done)
