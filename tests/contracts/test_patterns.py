"""Store contract: patterns extracted from episodes. Numbers are rows of the feature table."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import (
    Episode,
    FailureOutcome,
    Learned,
    OutcomeType,
    Reward,
    TaskContext,
    TaskType,
)
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
    """Return a value that compares approximately inside a larger value."""
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


def lessons(*patterns: Pattern, known: str | None = None, applied: Sequence[str] = ()) -> Lessons:
    found_patterns = [FoundPattern(pattern=one, known_id=known) for one in patterns]
    return Lessons(patterns=patterns, found=found_patterns, applied=applied)


async def complete_episode(store: Store, number: int, learned: Learned, **fields: Any) -> Episode:
    """Store and complete an episode, and extract its patterns."""
    started = await store.episodes.add(episode(number, project_id=fields.pop("project_id", None)))
    started = replace(started, metadata=fields.pop("metadata", {}))
    stored = await store.episodes.complete(completed(started, **fields), learned, TEXT, max_bytes=MOST)
    assert stored is not None
    return stored


async def visible_names(store: Store, visibility: Visibility = EVERYBODY, **only: Any) -> list[str]:
    return [one.id.removeprefix("pattern_") for one in await store.patterns.find(visibility, PatternFilter(**only))]


async def test_077_patterns_of_every_kind_are_stored_with_the_completion(store: Store, other: Store) -> None:
    patterns = [pattern(f"p{place}", form=form) for place, form in enumerate(FORMS)]
    await complete_episode(store, 1, lessons(*patterns))
    for one in patterns:
        assert await other.patterns.get(EVERYBODY, one.id) == replace(one, about=("Fix the login",))
    assert await other.patterns.get(EVERYBODY, "pattern_no") is None


async def test_077_a_failed_completion_stores_no_patterns(store: Store) -> None:
    started = await store.episodes.add(episode(1))
    stale = completed(replace(started, revision=7))
    assert await store.episodes.complete(stale, lessons(pattern("p")), TEXT, max_bytes=MOST) is None
    assert await visible_names(store) == []


async def test_077_a_known_pattern_is_updated_from_its_stored_state(store: Store, other: Store) -> None:
    await complete_episode(store, 1, lessons(pattern("p")))
    # Two processes that each extracted it once.
    await complete_episode(store, 2, lessons(pattern("p", 2, successes=0.0)))
    await complete_episode(other, 3, lessons(pattern("another", 3, last_seen=NOW + timedelta(1)), known="pattern_p"))
    updated = await store.patterns.get(EVERYBODY, "pattern_p")
    assert updated is not None
    assert (updated.sample, updated.successes, updated.last_seen) == (3, 2.0, NOW + timedelta(1))
    assert updated.evidence == (identifier(1), identifier(2), identifier(3))
    assert await visible_names(store) == ["p"]


async def test_077_steps_that_never_succeeded_are_not_a_pattern(store: Store) -> None:
    await complete_episode(store, 1, lessons(pattern("p", successes=0.0)))
    assert await visible_names(store) == []
    assert await store.patterns.unlearned(10) == []


async def test_077_patterns_are_visible_in_their_project_only(store: Store) -> None:
    here, there = [await store.projects.ensure(f"/proj/{name}", None) for name in ("here", "there")]
    await complete_episode(store, 1, lessons(pattern("global")))
    await complete_episode(store, 2, lessons(pattern("own", 2, project_id=here.id)), project_id=here.id)
    assert await visible_names(store) == ["global"]
    assert await visible_names(store, Visibility(here.id)) == ["global", "own"]
    assert await visible_names(store, Visibility(there.id)) == ["global"]
    assert await store.patterns.get(Visibility(there.id), "pattern_own") is None
    episodes = [
        episode(8, project_id=here.id),
        episode(8),
        episode(8, domain="cli"),
        episode(8, task_type=TaskType.TESTING),
    ]
    alike = [await store.patterns.same_kind(one, PatternType.TOOL_SEQUENCE, 9) for one in episodes]
    assert [[one.id for one in patterns] for patterns in alike] == [["pattern_own"], ["pattern_global"], [], []]
    assert await store.patterns.same_kind(episodes[1], PatternType.DECISION_POINT, 9) == []
    # A pattern of another project is neither updated nor credited.
    await complete_episode(
        store, 3, lessons(pattern("x", 3, project_id=there.id), known="pattern_own"), project_id=there.id
    )
    await complete_episode(store, 4, lessons(), project_id=there.id, metadata={"applied_patterns": "pattern_own"})
    own = await store.patterns.get(Visibility(here.id), "pattern_own")
    assert own is not None
    assert (own.sample, own.effectiveness.times_applied) == (1, 0)


async def test_078_filters_and_order(store: Store) -> None:
    often = pattern("often", sample=5, successes=2.0)
    other_task = pattern("task", task_type=TaskType.TESTING, context=TaskContext(domain="cli"))
    await complete_episode(store, 1, lessons(pattern("p"), often, other_task))
    assert await visible_names(store) == ["often", "p", "task"]
    assert await visible_names(store, task_type=TaskType.TESTING) == ["task"]
    assert await visible_names(store, domain="WEB-api") == ["often", "p"]
    assert await visible_names(store, min_success_rate=0.7) == ["p", "task"]
    assert await visible_names(store, min_success_rate=0.4) == ["often", "p", "task"]


async def test_079_vectors_belong_to_one_model_and_are_dropped_when_a_pattern_changes(store: Store) -> None:
    await complete_episode(store, 1, lessons(pattern("p")))
    await store.patterns.set_vectors("m1", {"pattern_p": b"\x00\x3c", "pattern_gone": b""})

    async def vectors(model: str) -> list[bytes | None]:
        return [one.vector for one in await store.patterns.candidates(EVERYBODY, PatternFilter(), model)]

    assert (await vectors("m1"), await vectors("m2")) == ([b"\x00\x3c"], [None])
    await complete_episode(store, 2, lessons(pattern("p", 2)))
    assert await vectors("m1") == [None]


async def test_079_a_recommended_pattern_is_credited_with_the_outcome_if_it_was_applied(store: Store) -> None:
    await complete_episode(store, 1, lessons(pattern("p"), pattern("q")))  # the reward is 1.5
    later = NOW + timedelta(hours=1)
    started = await store.episodes.add(episode(2))
    await store.patterns.record_retrieval(["pattern_p", "pattern_q"], later, started.episode_id)
    done = completed(started, reward=replace(REWARD, total=1.9), end_time=later)
    assert await store.patterns.recommended_for(started.episode_id) == {"pattern_p", "pattern_q"}
    learned = lessons(pattern("p", 2), applied=["pattern_p"])
    assert await store.episodes.complete(done, learned, TEXT, max_bytes=MOST) is not None
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
    assert q.effectiveness == Effectiveness(times_retrieved=1, last_used=later), "it was recommended but not applied"


async def test_079_patterns_named_by_an_episode_are_credited_even_with_a_failure(store: Store) -> None:
    await complete_episode(store, 1, lessons(pattern("p"), pattern("q")))
    failed = FailureOutcome(reason="no")
    done = await complete_episode(store, 2, lessons(applied=["pattern_no", "pattern_p"]), outcome=failed)
    stored = await store.episodes.get(EVERYBODY, done.episode_id)
    assert stored is not None
    assert stored.applied_patterns == ("pattern_p",), "an episode lists what was credited"
    p, q = [await store.patterns.get(EVERYBODY, f"pattern_{name}") for name in "pq"]
    assert p is not None
    assert q is not None
    assert (p.effectiveness.times_applied, p.effectiveness.failure_when_applied) == (1, 1)
    assert q.effectiveness.times_applied == 0


async def test_079_a_complete_episode_accepts_no_recommendations(store: Store) -> None:
    done = await complete_episode(store, 1, lessons(pattern("p")))
    await store.patterns.record_retrieval(["pattern_p"], NOW, done.episode_id)
    stored = await store.patterns.get(EVERYBODY, "pattern_p")
    assert stored is not None
    assert (stored.effectiveness.times_retrieved, stored.effectiveness.times_applied) == (1, 0)


async def test_074_a_pattern_is_deleted_with_the_last_episode_that_it_quotes(store: Store) -> None:
    await complete_episode(store, 1, lessons(pattern("p")))
    await complete_episode(store, 2, lessons(pattern("p", 2)))
    await complete_episode(store, 3, lessons(pattern("alike", 3), known="pattern_p"))
    await store.episodes.delete(EVERYBODY, identifier(1))
    remaining = await store.patterns.get(EVERYBODY, "pattern_p")
    assert remaining is not None
    assert (remaining.evidence, remaining.sample) == ((identifier(2), identifier(3)), 3)
    await store.episodes.delete(EVERYBODY, identifier(2))
    assert await visible_names(store) == [], "the third episode has only a similar pattern"


async def test_077_episodes_without_extraction_are_listed_and_processed_once(store: Store) -> None:
    project = await store.projects.ensure("/proj/here", None)
    await complete_episode(store, 1, Learned())
    missed = await complete_episode(store, 2, Learned(), project_id=project.id)
    await store.episodes.add(episode(3))
    assert await store.patterns.unlearned(10) == [(identifier(1), None), (identifier(2), project.id)]
    own = lessons(pattern("p", 2, project_id=project.id))
    assert [await store.patterns.add_lessons(missed, own) for _ in range(2)] == [True, False]
    assert await store.patterns.unlearned(10) == [(identifier(1), None)]
    stored = await store.patterns.get(Visibility(project.id), "pattern_p")
    assert stored is not None
    assert stored.sample == 1
    assert not await store.patterns.add_lessons(episode(9), own), "there is no such episode"


async def test_084_quality_metrics_cover_visible_episodes_only(store: Store) -> None:
    project = await store.projects.ensure("/proj/here", None)
    empty = await store.patterns.counts(EVERYBODY)
    assert (empty.open, empty.outcomes, empty.steps, empty.average_reward, empty.patterns) == (0, {}, 0, None, {})
    later = NOW + timedelta(days=3)
    await complete_episode(store, 1, lessons(pattern("p")))
    await complete_episode(
        store, 2, lessons(), project_id=project.id, end_time=later, outcome=FailureOutcome(reason="no")
    )
    await store.episodes.add(episode(3))
    first, second = QualityPoint(NOW + timedelta(seconds=90), 0.6), QualityPoint(later, 0.6)
    assert await store.patterns.quality_points(EVERYBODY, None, 10) == [first]
    assert await store.patterns.quality_points(Visibility(project.id), None, 10) == [first, second]
    assert await store.patterns.quality_points(Visibility(project.id), NOW + timedelta(days=1), 10) == [second]
    assert await store.patterns.quality_points(Visibility(project.id), None, 1) == [second]
    counts = await store.patterns.counts(Visibility(project.id))
    assert (counts.open, counts.outcomes) == (1, {OutcomeType.SUCCESS: 1, OutcomeType.FAILURE: 1})
    assert (counts.average_reward, counts.average_quality) == (1.5, 0.6)
    assert counts.average_seconds == pytest.approx((90 + 3 * 86_400) / 2)
    assert counts.patterns == {PatternType.TOOL_SEQUENCE: 1}
