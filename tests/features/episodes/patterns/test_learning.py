"""Learning over many episodes, with a real store and the real model. Numbers are rows of the feature table."""

from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import Episode, Failure, Outcome, ResultType, StepResult, TaskType
from scrubjay.features.episodes.patterns.learning import PatternLearner
from scrubjay.features.episodes.patterns.models import DecisionPoint, Lessons, Pattern, ToolSequence
from scrubjay.features.episodes.patterns.search import RECOMMENDING, SEARCHING, FoundPatterns, PatternSearch, Wanted
from scrubjay.features.episodes.patterns.store import PatternFilter
from scrubjay.features.episodes.service import NewStep
from tests.contracts.samples import ManualClock
from tests.features.episodes.house import EVERYBODY, House, ModelGone


class School:
    """A house whose episodes teach."""

    def __init__(self, store: SqliteStore, meanings: ModelGone | None = None) -> None:
        self.clock = ManualClock()
        plain = House(store, self.clock, meanings=meanings)
        self.store = store
        self.search = PatternSearch(store.patterns, plain.meanings, clock=self.clock)
        self.learner = PatternLearner(store.patterns, store.episodes, self.search)
        self.house = House(store, self.clock, learner=self.learner, meanings=meanings)

    async def lesson(
        self, task: str, *told: tuple[str, str, str], outcome: Outcome | None = None, **fields: Any
    ) -> Episode:
        """An episode with these steps (tool, action, + or -)."""
        to = Visibility(fields.get("project_id"))
        episode_id = await self.house.begin(task, **fields)
        for number, (tool, action, sign) in enumerate(told, 1):
            await self.tell(to, episode_id, number, tool, action, sign)
        self.clock.now += timedelta(seconds=60)
        return await self.house.end(episode_id, outcome, to)

    async def tell(self, to: Visibility, episode_id: str, number: int, tool: str, action: str, sign: str) -> None:
        result = StepResult(type=ResultType.SUCCESS if sign == "+" else ResultType.ERROR)
        step = NewStep(step_number=number, tool=tool, action=action, result=result, latency_ms=10)
        await self.house.service.add_step(to, episode_id, step, "ada")

    async def patterns(self, visibility: Visibility = EVERYBODY) -> list[Pattern]:
        return list(await self.store.patterns.find(visibility, PatternFilter()))

    async def find(self, query: str, **fields: Any) -> FoundPatterns:
        plain: dict[str, Any] = {"query": query, "domain": "web-api", "limit": 10}
        return await self.search.search(EVERYBODY, Wanted(**(plain | fields)), SEARCHING)


@pytest.fixture
def school(store: SqliteStore) -> School:
    return School(store)


FIX = (("grep", "find the token", "+"), ("read", "check whether it is stored", "+"), ("edit", "write the fix", "+"))
OTHER = (("cargo", "build it", "+"), ("cargo-test", "verify the borrow", "+"), ("git", "commit it", "+"))


async def test_077_an_episode_teaches_and_names_what_it_taught(school: School) -> None:
    done = await school.lesson("Fix the login", *FIX)
    kept = await school.patterns()
    assert sorted(done.patterns) == sorted(pattern.id for pattern in kept)
    assert {pattern.type.value for pattern in kept} == {"tool_sequence", "decision_point", "context_pattern"}
    assert done.heuristics == ()
    assert done.quality is not None
    assert done.quality.novelty == 0.75, "three things were learned"


async def test_077_the_same_again_grows_and_gives_a_rule_with_the_second_episode(school: School) -> None:
    first = await school.lesson("Fix the login", *FIX)
    second = await school.lesson("Fix the password reset", *FIX)
    assert sorted(first.patterns) == sorted(second.patterns)
    kept = await school.patterns()
    assert {pattern.sample for pattern in kept} == {2}
    assert {len(pattern.evidence) for pattern in kept} == {2}
    (decision,) = [pattern for pattern in kept if isinstance(pattern.form, DecisionPoint)]
    assert decision.id.replace("pattern", "heuristic") in second.heuristics
    assert len(second.heuristics) == 2, "of the decision and of the context"


async def test_077_what_is_nearly_the_same_is_the_same(school: School) -> None:
    await school.lesson("Fix the login", *FIX, tags=("auth",), language="python")
    nearly = (FIX[0], ("read", "check whether it is stored now", "+"), FIX[2])
    await school.lesson("Fix the login again", *nearly, tags=("auth",), language="python")
    conditions = [
        (pattern.sample, pattern.form.condition)
        for pattern in await school.patterns()
        if isinstance(pattern.form, DecisionPoint)
    ]
    assert conditions == [(2, "check whether it is stored")]


async def test_077_a_failure_counts_against_what_is_known_and_teaches_nothing_new(school: School) -> None:
    no = Failure(reason="it does not work")
    assert (await school.lesson("Fix the login", *FIX, outcome=no)).patterns == ()
    assert await school.patterns() == []
    await school.lesson("Fix the login", *FIX)
    assert len((await school.lesson("Fix the login", *FIX, outcome=no)).patterns) == 3
    assert {pattern.success_rate for pattern in await school.patterns()} == {0.5}


async def test_077_other_domains_and_projects_learn_by_themselves(school: School) -> None:
    here, there = [await school.store.projects.ensure(f"/proj/{name}", None) for name in ("here", "there")]
    await school.lesson("Fix the login", *FIX, project_id=here.id)
    await school.lesson("Fix the login", *FIX, project_id=there.id)
    await school.lesson("Fix the login", *FIX, project_id=here.id, domain="cli")
    kept = await school.patterns(Visibility(here.id))
    assert len(kept) == 6
    assert {pattern.sample for pattern in kept} == {1}
    assert await school.patterns() == []


async def test_077_an_episode_is_one_case_however_often_it_shows_the_same(school: School) -> None:
    await school.lesson("Fix the login", *FIX)
    twice = (*FIX, ("read", "check whether it is stored", "+"), ("edit", "write the fix", "+"))
    await school.lesson("Fix it twice", *twice)
    (decision,) = [pattern for pattern in await school.patterns() if isinstance(pattern.form, DecisionPoint)]
    assert decision.sample == 2


async def test_077_what_could_not_be_learned_is_learned_at_the_next_start(
    store: SqliteStore, school: School, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*given: object) -> list[Pattern]:
        raise Unavailable("the store is busy")

    with monkeypatch.context() as patched:
        patched.setattr(school.store.patterns, "alike", unavailable)
        done = await school.lesson("Fix the login", *FIX)
        assert done.is_complete
        assert done.patterns == ()
    assert await school.patterns() == []
    assert await School(store).learner.catch_up() == 1
    assert {pattern.evidence for pattern in await school.patterns()} == {(done.episode_id,)}
    assert await school.learner.catch_up() == 0


async def test_079_what_fits_the_question_comes_first(school: School) -> None:
    await school.lesson("Users cannot log in after they reset their password", *FIX)
    await school.lesson("The borrow checker refuses the parser", *OTHER)
    found = await school.find("people fail to sign in with a new password")
    assert (found.searched, found.method) == (6, "embedding")
    first = found.scored[0]
    assert first.pattern.about == ("Users cannot log in after they reset their password",)
    spread = {one.breakdown.semantic_similarity for one in found.scored}
    assert len(spread) == len(found.scored) > 1, "each has its own, and none is a constant"
    parts = first.breakdown
    assert first.score == pytest.approx(
        0.4 * parts.semantic_similarity + 0.2 * 1 + 0.2 * 0.25 + 0.1 * parts.recency + 0.1 * 1
    )
    assert (parts.context_match, parts.effectiveness, parts.success_rate) == (1, 0.25, 1)


async def test_079_the_least_score_the_limit_and_the_domain_are_heeded(school: School) -> None:
    await school.lesson("Fix the login", *FIX)
    await school.lesson("Fix the parser", *OTHER, domain="compiler")
    everything = await school.find("fix the login", least=0.0)
    assert (len(everything.scored), everything.searched) == (6, 6)
    scores = [one.score for one in everything.scored]
    assert scores == sorted(scores, reverse=True)
    assert len((await school.find("fix the login", limit=2)).scored) == 2
    assert all(one.score >= 0.6 for one in (await school.find("fix the login", least=0.6)).scored)
    assert (await school.find("fix the login", least=1.0)).scored == []
    only = await school.find("fix", domain="Compiler", same_domain=True, least=0.0)
    assert (only.searched, {one.pattern.context.domain for one in only.scored}) == (3, {"compiler"})


async def test_079_tags_and_age_count(school: School) -> None:
    await school.lesson("Fix the login", *FIX, tags=("auth", "web"))
    tagged = await school.find("fix the login", tags=["auth"], least=0.0)
    assert {one.breakdown.context_match for one in tagged.scored} == {(1 + 0.5) / 2}
    elsewhere = await school.find("fix the login", domain="cli", least=0.0)
    assert {one.breakdown.context_match for one in elsewhere.scored} == {0}
    school.clock.now += timedelta(days=30)
    old = await school.find("fix the login", least=0.0)
    assert {round(one.breakdown.recency, 3) for one in old.scored} == {0.368}


async def test_079_without_a_model_words_are_compared_and_the_answer_says_so(store: SqliteStore) -> None:
    school = School(store, ModelGone())
    await school.lesson("Fix the login", *FIX)
    found = await school.find("fix the login page", least=0.0)
    assert found.method == "words"
    assert {one.breakdown.semantic_similarity for one in found.scored} == {2 / 3}
    assert {one.breakdown.semantic_similarity for one in (await school.find("zebra", least=0.0)).scored} == {0}


async def test_079_what_is_told_is_counted_and_what_helped_is_worth_more(school: School) -> None:
    await school.lesson("Fix the login", *FIX)
    before = (await school.find("fix the login")).scored[0].breakdown.effectiveness
    for number in range(3):
        episode_id = await school.house.begin(f"Fix the login, case {number}")
        wanted = Wanted(
            query="fix the login", domain="web-api", same_domain=True, limit=10, least=0.4, episode_id=episode_id
        )
        told = await school.search.search(EVERYBODY, wanted, RECOMMENDING)
        assert len(told.scored) == 3
        for place, (tool, action, sign) in enumerate(FIX, 1):
            await school.tell(EVERYBODY, episode_id, place, tool, action, sign)
        await school.house.end(episode_id)
    (sequence,) = [pattern for pattern in await school.patterns() if isinstance(pattern.form, ToolSequence)]
    effect = sequence.effectiveness
    assert (effect.times_retrieved, effect.times_applied, effect.success_when_applied) == (4, 3, 3)
    assert (await school.find("fix the login")).scored[0].breakdown.effectiveness > before


async def test_079_questions_about_episodes_tell_patterns_as_well(school: School) -> None:
    await school.lesson("Fix the login", *FIX)
    (sequence,) = [
        told
        for told in await school.learner.relevant(EVERYBODY, "fix the login", "web-api", TaskType.DEBUGGING, 5)
        if told["type"] == "tool_sequence"
    ]
    assert (sequence["tools"], sequence["occurrence_count"]) == (["grep", "read", "edit"], 1)
    assert sequence["relevance_score"] > 0.3
    assert await school.learner.relevant(EVERYBODY, "fix", "web-api", TaskType.TESTING, 5) == []


async def test_077_learning_only_reads(school: School) -> None:
    done = await school.lesson("Fix the login", *FIX)
    before = await school.patterns()
    assert isinstance(await school.learner.learn(done), Lessons)
    assert await school.patterns() == before
