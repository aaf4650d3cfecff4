"""What every backend keeps of what episodes teach. Numbers are rows of the feature table."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import Episode, Failure, Learned, OutcomeType, Reward, TaskContext, TaskType
from scrubjay.features.episodes.patterns.models import (
    ContextPattern,
    DecisionPoint,
    Effectiveness,
    ErrorRecovery,
    FoundPattern,
    Lessons,
    Pattern,
    PatternType,
    ToolSequence,
)
from scrubjay.features.episodes.patterns.store import PatternFilter, QualityPoint
from scrubjay.features.episodes.store import EpisodeText
from tests.contracts.samples import NOW
from tests.features.episodes.samples import completed, episode, identifier

EVERYBODY = Visibility()
TEXT = EpisodeText(passages=(("login",),), vector=b"", model="")
MOST = 100_000
REWARD = Reward(total=1.5, base=1.0, efficiency=1.1, complexity_bonus=1.1, quality_multiplier=1.0, learning_bonus=0.29)
FORMS = (
    ToolSequence(tools=("grep", "edit"), avg_latency_ms=12.5),
    DecisionPoint(condition="check", action="go", success_count=1, failure_count=0, avg_duration_secs=0.5),
    ErrorRecovery(error_type="E1", recovery_steps=("pip: install",)),
    ContextPattern(context_features=("domain: web-api",), recommended_approach="Work with grep"),
)


def nearly(value: float) -> Any:
    """Compared as approx does, within a whole value."""
    return pytest.approx(value)


def pattern(name: str, number: int = 1, **fields: Any) -> Pattern:
    plain: dict[str, Any] = {
        "id": f"pattern_{name}",
        "task_type": TaskType.DEBUGGING,
        "context": TaskContext(domain="Web-API", language="python", framework="flask", tags=("auth",)),
        "form": FORMS[0],
        "sample": 1,
        "successes": 1.0,
        "evidence": (identifier(number),),
        "created_at": NOW,
        "last_seen": NOW,
    }
    return Pattern(**(plain | fields))


def lessons(*patterns: Pattern, known: str | None = None) -> Lessons:
    found = [FoundPattern(pattern=one, known_id=known) for one in patterns]
    return Lessons(patterns=patterns, found=found)


async def ended(store: Store, number: int, learned: Learned, **fields: Any) -> Episode:
    """An episode that was kept, completed and learned from."""
    begun = await store.episodes.add(episode(number, project_id=fields.pop("project_id", None)))
    begun = replace(begun, metadata=fields.pop("metadata", {}))
    done = await store.episodes.complete(completed(begun, **fields), learned, TEXT, most_bytes=MOST)
    assert done is not None
    return done


async def seen(store: Store, visibility: Visibility = EVERYBODY, **only: Any) -> list[str]:
    return [one.id.removeprefix("pattern_") for one in await store.patterns.find(visibility, PatternFilter(**only))]


async def test_077_patterns_of_every_kind_are_kept_whole_with_the_completion(store: Store, other: Store) -> None:
    made = [pattern(f"p{place}", form=form) for place, form in enumerate(FORMS)]
    await ended(store, 1, lessons(*made))
    for one in made:
        assert await other.patterns.get(EVERYBODY, one.id) == replace(one, about=("Fix the login",))
    assert await other.patterns.get(EVERYBODY, "pattern_no") is None


async def test_077_a_completion_that_is_not_kept_teaches_nothing(store: Store) -> None:
    begun = await store.episodes.add(episode(1))
    stale = completed(replace(begun, revision=7))
    assert await store.episodes.complete(stale, lessons(pattern("p")), TEXT, most_bytes=MOST) is None
    assert await seen(store) == []


async def test_077_a_known_pattern_grows_by_what_is_there_when_it_is_written(store: Store, other: Store) -> None:
    await ended(store, 1, lessons(pattern("p")))
    # Two processes that both saw it once.
    await ended(store, 2, lessons(pattern("p", 2, successes=0.0)))
    await ended(other, 3, lessons(pattern("another", 3, last_seen=NOW + timedelta(1)), known="pattern_p"))
    grown = await store.patterns.get(EVERYBODY, "pattern_p")
    assert grown is not None
    assert (grown.sample, grown.successes, grown.last_seen) == (3, 2.0, NOW + timedelta(1))
    assert grown.evidence == (identifier(1), identifier(2), identifier(3))
    assert await seen(store) == ["p"]


async def test_077_what_never_went_well_is_no_pattern(store: Store) -> None:
    await ended(store, 1, lessons(pattern("p", successes=0.0)))
    assert await seen(store) == []
    assert await store.patterns.unlearned(10) == []


async def test_077_patterns_are_seen_in_their_project_only(store: Store) -> None:
    here, there = [await store.projects.ensure(f"/proj/{name}", None) for name in ("here", "there")]
    await ended(store, 1, lessons(pattern("global")))
    await ended(store, 2, lessons(pattern("own", 2, project_id=here.id)), project_id=here.id)
    assert await seen(store) == ["global"]
    assert await seen(store, Visibility(here.id)) == ["global", "own"]
    assert await seen(store, Visibility(there.id)) == ["global"]
    assert await store.patterns.get(Visibility(there.id), "pattern_own") is None
    asking = [
        episode(8, project_id=here.id),
        episode(8),
        episode(8, domain="cli"),
        episode(8, task_type=TaskType.TESTING),
    ]
    alike = [await store.patterns.alike(one, PatternType.TOOL_SEQUENCE, 9) for one in asking]
    assert [[one.id for one in found] for found in alike] == [["pattern_own"], ["pattern_global"], [], []]
    assert await store.patterns.alike(asking[1], PatternType.DECISION_POINT, 9) == []
    # The id of another project's pattern neither grows nor is credited.
    await ended(store, 3, lessons(pattern("x", 3, project_id=there.id), known="pattern_own"), project_id=there.id)
    await ended(store, 4, lessons(), project_id=there.id, metadata={"applied_patterns": "pattern_own"})
    own = await store.patterns.get(Visibility(here.id), "pattern_own")
    assert own is not None
    assert (own.sample, own.effectiveness.times_applied) == (1, 0)


async def test_078_filters_and_order(store: Store) -> None:
    often = pattern("often", sample=5, successes=2.0)
    other_task = pattern("task", task_type=TaskType.TESTING, context=TaskContext(domain="cli"))
    await ended(store, 1, lessons(pattern("p"), often, other_task))
    assert await seen(store) == ["often", "p", "task"]
    assert await seen(store, task_type=TaskType.TESTING) == ["task"]
    assert await seen(store, domain="WEB-api") == ["often", "p"]
    assert await seen(store, least_success_rate=0.7) == ["p", "task"]
    assert await seen(store, least_success_rate=0.4) == ["often", "p", "task"]


async def test_079_vectors_are_those_of_one_model_and_go_when_a_pattern_grows(store: Store) -> None:
    await ended(store, 1, lessons(pattern("p")))
    await store.patterns.set_vectors("m1", {"pattern_p": b"\x00\x3c", "pattern_gone": b""})

    async def vectors(model: str) -> list[bytes | None]:
        return [one.vector for one in await store.patterns.candidates(EVERYBODY, PatternFilter(), model)]

    assert (await vectors("m1"), await vectors("m2")) == ([b"\x00\x3c"], [None])
    await ended(store, 2, lessons(pattern("p", 2)))
    assert await vectors("m1") == [None]


async def test_079_who_is_told_a_pattern_and_shows_it_is_credited_with_how_it_ended(store: Store) -> None:
    await ended(store, 1, lessons(pattern("p"), pattern("q")))  # whose reward is 1.5
    later = NOW + timedelta(hours=1)
    begun = await store.episodes.add(episode(2))
    await store.patterns.retrieved(["pattern_p", "pattern_q"], later, begun.episode_id)
    done = completed(begun, reward=replace(REWARD, total=1.9), end_time=later)
    assert await store.episodes.complete(done, lessons(pattern("p", 2)), TEXT, most_bytes=MOST) is not None
    p, q = [await store.patterns.get(EVERYBODY, f"pattern_{name}") for name in "pq"]
    assert p is not None
    assert p.effectiveness == Effectiveness(
        times_retrieved=1,
        times_applied=1,
        success_when_applied=1,
        avg_reward_delta=nearly(0.4),
        compared=1,
        last_used=later,
    )
    assert q is not None
    assert q.effectiveness == Effectiveness(times_retrieved=1, last_used=later), "it was told, and not gone by"


async def test_079_patterns_that_an_episode_names_are_credited_also_with_a_failure(store: Store) -> None:
    await ended(store, 1, lessons(pattern("p"), pattern("q")))
    await ended(
        store, 2, lessons(), metadata={"applied_patterns": "pattern_p, pattern_no"}, outcome=Failure(reason="no")
    )
    p, q = [await store.patterns.get(EVERYBODY, f"pattern_{name}") for name in "pq"]
    assert p is not None
    assert q is not None
    assert (p.effectiveness.times_applied, p.effectiveness.failure_when_applied) == (1, 1)
    assert q.effectiveness.times_applied == 0


async def test_079_a_complete_episode_takes_no_recommendations(store: Store) -> None:
    done = await ended(store, 1, lessons(pattern("p")))
    await store.patterns.retrieved(["pattern_p"], NOW, done.episode_id)
    found = await store.patterns.get(EVERYBODY, "pattern_p")
    assert found is not None
    assert (found.effectiveness.times_retrieved, found.effectiveness.times_applied) == (1, 0)


async def test_074_with_the_last_episode_that_has_its_words_a_pattern_is_gone(store: Store) -> None:
    await ended(store, 1, lessons(pattern("p")))
    await ended(store, 2, lessons(pattern("p", 2)))
    await ended(store, 3, lessons(pattern("alike", 3), known="pattern_p"))
    await store.episodes.delete(EVERYBODY, identifier(1))
    left = await store.patterns.get(EVERYBODY, "pattern_p")
    assert left is not None
    assert (left.evidence, left.sample) == ((identifier(2), identifier(3)), 3)
    await store.episodes.delete(EVERYBODY, identifier(2))
    assert await seen(store) == [], "the third says the same in other words"


async def test_077_episodes_that_nobody_could_learn_from_are_known_and_taught_once(store: Store) -> None:
    project = await store.projects.ensure("/proj/here", None)
    await ended(store, 1, Learned())
    missed = await ended(store, 2, Learned(), project_id=project.id)
    await store.episodes.add(episode(3))
    assert await store.patterns.unlearned(10) == [(identifier(1), None), (identifier(2), project.id)]
    own = lessons(pattern("p", 2, project_id=project.id))
    assert [await store.patterns.teach(missed, own) for _ in range(2)] == [True, False]
    assert await store.patterns.unlearned(10) == [(identifier(1), None)]
    found = await store.patterns.get(Visibility(project.id), "pattern_p")
    assert found is not None
    assert found.sample == 1
    assert not await store.patterns.teach(episode(9), own), "there is no such episode"


async def test_084_qualities_and_counts_are_those_of_what_can_be_seen(store: Store) -> None:
    project = await store.projects.ensure("/proj/here", None)
    empty = await store.patterns.counts(EVERYBODY)
    assert (empty.open, empty.outcomes, empty.steps, empty.average_reward, empty.patterns) == (0, {}, 0, None, {})
    later = NOW + timedelta(days=3)
    await ended(store, 1, lessons(pattern("p")))
    await ended(store, 2, lessons(), project_id=project.id, end_time=later, outcome=Failure(reason="no"))
    await store.episodes.add(episode(3))
    first, second = QualityPoint(NOW + timedelta(seconds=90), 0.6), QualityPoint(later, 0.6)
    assert await store.patterns.qualities(EVERYBODY, None, 10) == [first]
    assert await store.patterns.qualities(Visibility(project.id), None, 10) == [first, second]
    assert await store.patterns.qualities(Visibility(project.id), NOW + timedelta(days=1), 10) == [second]
    assert await store.patterns.qualities(Visibility(project.id), None, 1) == [second]
    counts = await store.patterns.counts(Visibility(project.id))
    assert (counts.open, counts.outcomes) == (1, {OutcomeType.SUCCESS: 1, OutcomeType.FAILURE: 1})
    assert (counts.average_reward, counts.average_quality) == (1.5, 0.6)
    assert counts.average_seconds == pytest.approx((90 + 3 * 86_400) / 2)
    assert counts.patterns == {PatternType.TOOL_SEQUENCE: 1}
