"""Learning over many episodes, with a real store and the real model. Numbers are rows of the feature table."""

from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import (
    Episode,
    FailureOutcome,
    Outcome,
    ResultType,
    StepDetails,
    StepResult,
    TaskType,
)
from scrubjay.features.episodes.patterns.learner import PatternLearner
from scrubjay.features.episodes.patterns.models import DecisionPoint, Lessons, Pattern, ToolSequence
from scrubjay.features.episodes.patterns.search import (
    RECOMMENDATION_WEIGHTS,
    SEARCH_WEIGHTS,
    PatternSearch,
    TaskPatternMatches,
    TaskPatternQuery,
)
from scrubjay.features.episodes.patterns.store import PatternFilter
from tests.contracts.samples import ManualClock
from tests.features.episodes.environment import GLOBAL, EpisodeEnvironment, UnavailableModel


class LearningEnvironment:
    """An episode environment with a pattern learner."""

    def __init__(self, store: SqliteStore, meanings: UnavailableModel | None = None) -> None:
        self.clock = ManualClock()
        plain = EpisodeEnvironment(store, self.clock, meanings=meanings)
        self.store = store
        self.search = PatternSearch(store.patterns, plain.meanings, clock=self.clock)
        self.learner = PatternLearner(store.patterns, store.episodes, self.search)
        self.env = EpisodeEnvironment(store, self.clock, learner=self.learner, meanings=meanings)

    async def add_episode(
        self, task: str, *steps: tuple[str, str, str], outcome: Outcome | None = None, **fields: Any
    ) -> Episode:
        """Complete an episode with these steps (tool, action, + or -)."""
        to = Visibility(fields.get("project_id"))
        episode_id = await self.env.begin(task, **fields)
        for number, (tool, action, sign) in enumerate(steps, 1):
            await self.add_step(to, episode_id, number, tool, action, sign)
        self.clock.now += timedelta(seconds=60)
        return await self.env.end(episode_id, outcome, to)

    async def add_step(self, to: Visibility, episode_id: str, number: int, tool: str, action: str, sign: str) -> None:
        result = StepResult(type=ResultType.SUCCESS if sign == "+" else ResultType.ERROR)
        step = StepDetails(step_number=number, tool=tool, action=action, result=result, latency_ms=10)
        await self.env.service.add_step(to, episode_id, step, "ada")

    async def patterns(self, visibility: Visibility = GLOBAL) -> list[Pattern]:
        return list(await self.store.patterns.find(visibility, PatternFilter()))

    async def find(self, query: str, **fields: Any) -> TaskPatternMatches:
        defaults: dict[str, Any] = {"query": query, "domain": "web-api", "limit": 10}
        return await self.search.search(GLOBAL, TaskPatternQuery(**(defaults | fields)), SEARCH_WEIGHTS)


@pytest.fixture
def learning(store: SqliteStore) -> LearningEnvironment:
    return LearningEnvironment(store)


FIX = (("grep", "find the token", "+"), ("read", "check whether it is stored", "+"), ("edit", "write the fix", "+"))
OTHER = (("cargo", "build it", "+"), ("cargo-test", "verify the borrow", "+"), ("git", "commit it", "+"))


async def test_077_an_episode_creates_patterns_and_lists_them(learning: LearningEnvironment) -> None:
    done = await learning.add_episode("Fix the login", *FIX)
    patterns = await learning.patterns()
    assert sorted(done.patterns) == sorted(pattern.id for pattern in patterns)
    assert {pattern.type.value for pattern in patterns} == {"tool_sequence", "decision_point", "context_pattern"}
    assert done.heuristics == ()
    assert done.quality is not None
    assert done.quality.novelty == 0.75, "three patterns were learned"


async def test_077_a_second_episode_confirms_a_pattern_and_yields_a_heuristic(learning: LearningEnvironment) -> None:
    first = await learning.add_episode("Fix the login", *FIX)
    second = await learning.add_episode("Fix the password reset", *FIX)
    assert sorted(first.patterns) == sorted(second.patterns)
    patterns = await learning.patterns()
    assert {pattern.sample for pattern in patterns} == {2}
    assert {len(pattern.evidence) for pattern in patterns} == {2}
    (decision,) = [pattern for pattern in patterns if isinstance(pattern.form, DecisionPoint)]
    assert decision.id.replace("pattern", "heuristic") in second.heuristics
    assert len(second.heuristics) == 2, "one for the decision and one for the context"


async def test_077_similar_patterns_are_merged(learning: LearningEnvironment) -> None:
    await learning.add_episode("Fix the login", *FIX, tags=("auth",), language="python")
    nearly = (FIX[0], ("read", "check whether it is stored now", "+"), FIX[2])
    await learning.add_episode("Fix the login again", *nearly, tags=("auth",), language="python")
    conditions = [
        (pattern.sample, pattern.form.condition)
        for pattern in await learning.patterns()
        if isinstance(pattern.form, DecisionPoint)
    ]
    assert conditions == [(2, "check whether it is stored")]


async def test_077_a_failure_lowers_known_patterns_and_creates_none(learning: LearningEnvironment) -> None:
    no = FailureOutcome(reason="it does not work")
    assert (await learning.add_episode("Fix the login", *FIX, outcome=no)).patterns == ()
    assert await learning.patterns() == []
    await learning.add_episode("Fix the login", *FIX)
    assert len((await learning.add_episode("Fix the login", *FIX, outcome=no)).patterns) == 3
    assert {pattern.success_rate for pattern in await learning.patterns()} == {0.5}


async def test_077_domains_and_projects_learn_separately(learning: LearningEnvironment) -> None:
    here, there = [await learning.store.projects.ensure(f"/proj/{name}", None) for name in ("here", "there")]
    await learning.add_episode("Fix the login", *FIX, project_id=here.id)
    await learning.add_episode("Fix the login", *FIX, project_id=there.id)
    await learning.add_episode("Fix the login", *FIX, project_id=here.id, domain="cli")
    patterns = await learning.patterns(Visibility(here.id))
    assert len(patterns) == 6
    assert {pattern.sample for pattern in patterns} == {1}
    assert await learning.patterns() == []


async def test_077_an_episode_counts_once_for_each_pattern(learning: LearningEnvironment) -> None:
    await learning.add_episode("Fix the login", *FIX)
    twice = (*FIX, ("read", "check whether it is stored", "+"), ("edit", "write the fix", "+"))
    await learning.add_episode("Fix it twice", *twice)
    (decision,) = [pattern for pattern in await learning.patterns() if isinstance(pattern.form, DecisionPoint)]
    assert decision.sample == 2


async def test_077_missed_episodes_are_learned_from_at_the_next_start(
    store: SqliteStore, learning: LearningEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*given: object) -> list[Pattern]:
        raise Unavailable("the store is busy")

    with monkeypatch.context() as patched:
        patched.setattr(learning.store.patterns, "same_kind", unavailable)
        done = await learning.add_episode("Fix the login", *FIX)
        assert done.is_complete
        assert done.patterns == ()
    assert await learning.patterns() == []
    assert await LearningEnvironment(store).learner.catch_up() == 1
    assert {pattern.evidence for pattern in await learning.patterns()} == {(done.episode_id,)}
    assert await learning.learner.catch_up() == 0


async def test_079_the_best_match_comes_first(learning: LearningEnvironment) -> None:
    await learning.add_episode("Users cannot log in after they reset their password", *FIX)
    await learning.add_episode("The borrow checker refuses the parser", *OTHER)
    found = await learning.find("people fail to sign in with a new password")
    assert (found.searched, found.method) == (6, "embedding")
    first = found.scored[0]
    assert first.pattern.about == ("Users cannot log in after they reset their password",)
    spread = {one.breakdown.semantic_similarity for one in found.scored}
    assert len(spread) == len(found.scored) > 1, "each has its own, and none is a constant"
    parts = first.breakdown
    assert first.score == pytest.approx(
        0.4 * parts.semantic_similarity + 0.2 * 1 + 0.1 * 0.25 + 0.1 * parts.recency + 0.2 * 2 / 3
    )
    assert (parts.context_match, parts.effectiveness, parts.success_rate) == (1, 0.25, 2 / 3)


async def test_079_minimum_score_limit_and_domain_are_applied(learning: LearningEnvironment) -> None:
    await learning.add_episode("Fix the login", *FIX)
    await learning.add_episode("Fix the parser", *OTHER, domain="compiler")
    everything = await learning.find("fix the login", min_score=0.0)
    assert (len(everything.scored), everything.searched) == (6, 6)
    scores = [one.score for one in everything.scored]
    assert scores == sorted(scores, reverse=True)
    assert len((await learning.find("fix the login", limit=2)).scored) == 2
    assert all(one.score >= 0.6 for one in (await learning.find("fix the login", min_score=0.6)).scored)
    assert (await learning.find("fix the login", min_score=1.0)).scored == []
    only = await learning.find("fix", domain="Compiler", same_domain=True, min_score=0.0)
    assert (only.searched, {one.pattern.context.domain for one in only.scored}) == (3, {"compiler"})


async def test_079_tags_and_age_affect_the_score(learning: LearningEnvironment) -> None:
    await learning.add_episode("Fix the login", *FIX, tags=("auth", "web"))
    tagged = await learning.find("fix the login", tags=["auth"], min_score=0.0)
    assert {one.breakdown.context_match for one in tagged.scored} == {(1 + 0.5) / 2}
    elsewhere = await learning.find("fix the login", domain="cli", min_score=0.0)
    assert {one.breakdown.context_match for one in elsewhere.scored} == {0}
    learning.clock.now += timedelta(days=30)
    old = await learning.find("fix the login", min_score=0.0)
    assert {round(one.breakdown.recency, 3) for one in old.scored} == {0.368}


async def test_079_without_a_model_words_are_compared_and_the_method_is_reported(store: SqliteStore) -> None:
    learning = LearningEnvironment(store, UnavailableModel())
    await learning.add_episode("Fix the login", *FIX)
    found = await learning.find("fix the login page", min_score=0.0)
    assert found.method == "words"
    assert {one.breakdown.semantic_similarity for one in found.scored} == {2 / 3}
    assert (await learning.find("zebra", min_score=0.0)).scored == []


async def test_079_retrievals_are_counted_and_successful_patterns_score_higher(learning: LearningEnvironment) -> None:
    await learning.add_episode("Fix the login", *FIX)
    before = (await learning.find("fix the login")).scored[0].breakdown.effectiveness
    for number in range(3):
        episode_id = await learning.env.begin(f"Fix the login, case {number}")
        query = TaskPatternQuery(
            query="fix the login", domain="web-api", same_domain=True, limit=10, min_score=0.4, episode_id=episode_id
        )
        matches = await learning.search.search(GLOBAL, query, RECOMMENDATION_WEIGHTS)
        assert len(matches.scored) == 3
        for place, (tool, action, sign) in enumerate(FIX, 1):
            await learning.add_step(GLOBAL, episode_id, place, tool, action, sign)
        await learning.env.end(episode_id)
    (sequence,) = [pattern for pattern in await learning.patterns() if isinstance(pattern.form, ToolSequence)]
    effect = sequence.effectiveness
    assert (effect.times_retrieved, effect.times_applied, effect.success_when_applied) == (4, 3, 3)
    assert (await learning.find("fix the login")).scored[0].breakdown.effectiveness > before


async def test_079_queries_for_episodes_return_patterns_too(learning: LearningEnvironment) -> None:
    await learning.add_episode("Fix the login", *FIX)
    (sequence,) = [
        pattern
        for pattern in await learning.learner.relevant(GLOBAL, "fix the login", "web-api", TaskType.DEBUGGING, 5)
        if pattern["type"] == "tool_sequence"
    ]
    assert (sequence["tools"], sequence["occurrence_count"]) == (["grep", "read", "edit"], 1)
    assert sequence["relevance_score"] > 0.3
    assert await learning.learner.relevant(GLOBAL, "fix", "web-api", TaskType.TESTING, 5) == []


async def test_077_learning_writes_nothing_itself(learning: LearningEnvironment) -> None:
    done = await learning.add_episode("Fix the login", *FIX)
    before = await learning.patterns()
    assert isinstance(await learning.learner.learn(done), Lessons)
    assert await learning.patterns() == before
