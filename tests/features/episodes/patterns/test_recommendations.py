"""Recommendations from thirty episodes of four kinds of work with mixed outcomes, asked for as an agent would."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.features.episodes.models import Outcome, TaskType
from scrubjay.features.episodes.patterns.models import DecisionPoint, ErrorRecovery
from scrubjay.features.episodes.patterns.search import RECOMMENDATION_WEIGHTS, ScoredPattern, TaskPatternQuery
from tests.features.episodes.environment import GLOBAL
from tests.features.episodes.patterns.history import DOMAIN, DONE, FAILED, HISTORY, Way
from tests.features.episodes.patterns.test_learner import LearningEnvironment

DEBUGGING, TESTING = TaskType.DEBUGGING, TaskType.TESTING
REFACTORING, DOCUMENTATION = TaskType.REFACTORING, TaskType.DOCUMENTATION
# Tools and actions of the ways that failed in every episode.
FAILED_WAYS = ("deploy", "curl", "restart", "raise the timeout", "retry", "sleep", "health endpoint")

TASKS = (
    (DEBUGGING, "Users must sign in again after lunch"),
    (DEBUGGING, "The session ends too early in Japan"),
    (DEBUGGING, "Login request times out on Mondays"),
    (DEBUGGING, "API key is reported as expired"),
    (TESTING, "The calendar sync test fails on some days"),
    (TESTING, "Stabilise the flaky reminder test"),
    (TESTING, "Flaky test of the chat"),
    (REFACTORING, "Split the billing module into two files"),
    (REFACTORING, "Extract the PDF code from the report class"),
    (DOCUMENTATION, "Write a guide for the logging settings"),
    (DOCUMENTATION, "Describe the options of the proxy"),
)
UNRELATED = (
    "Bake a chocolate cake for the party",
    "Train a neural network to classify X-ray images",
    "Plan the summer holiday in Portugal",
    "Optimise the GPU shader of the water",
    "Negotiate the rent of the office",
    "Compute the eigenvalues of a sparse matrix",
    "zzz qqq",
)


@pytest.fixture
def learning(store: SqliteStore) -> LearningEnvironment:
    return LearningEnvironment(store)


async def record(learning: LearningEnvironment, kind: TaskType, task: str, way: Way, outcome: Outcome) -> None:
    await learning.add_episode(
        task, *((tool, action, "+") for tool, action in way), outcome=outcome, task_type=kind, domain=DOMAIN
    )


@pytest.fixture(scope="module")
async def team(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LearningEnvironment]:
    home: Path = tmp_path_factory.mktemp("team")
    store = await SqliteStore.open(home)
    learning = LearningEnvironment(store)
    for kind, task, way, outcome in HISTORY:
        await record(learning, kind, task, way, outcome)
    yield learning
    await store.close()


async def recommend(
    learning: LearningEnvironment, query: str, kind: TaskType | None, limit: int = 3
) -> list[ScoredPattern]:
    task = TaskPatternQuery(
        query=query, domain=DOMAIN, same_domain=True, kind=kind, only_proven=True, min_score=0.4, limit=limit
    )
    return [*(await learning.search.search(GLOBAL, task, RECOMMENDATION_WEIGHTS)).scored]


@pytest.mark.parametrize(("kind", "query"), TASKS)
async def test_079_the_patterns_of_the_kind_of_task_come_first(
    team: LearningEnvironment, kind: TaskType, query: str
) -> None:
    found = await recommend(team, query, kind)
    assert found, "something of the same kind is known"
    assert found[0].pattern.task_type is kind


async def test_079_nothing_is_recommended_because_it_was_tried_in_episodes_that_failed(
    team: LearningEnvironment,
) -> None:
    found = [one for kind, query in TASKS for one in await recommend(team, query, kind, limit=100)]
    assert not [one for one in found if any(word in one.pattern.description for word in FAILED_WAYS)]
    counts = {(one.pattern.task_type, one.pattern.sample, round(one.pattern.success_rate, 2)) for one in found}
    assert counts == {(DEBUGGING, 7, 0.86), (TESTING, 5, 0.8), (REFACTORING, 5, 0.8), (DOCUMENTATION, 3, 1.0)}


@pytest.mark.parametrize("query", UNRELATED)
async def test_079_an_unrelated_query_finds_no_pattern(team: LearningEnvironment, query: str) -> None:
    assert await recommend(team, query, None) == []
    assert (await team.find(query)).scored == []


async def test_079_a_pattern_that_failed_as_often_as_it_succeeded_is_no_longer_recommended(
    learning: LearningEnvironment,
) -> None:
    way: Way = (("grep", "find the cause"), ("read", "verify the header"), ("edit", "set the header"))
    await record(learning, DEBUGGING, "The CORS header is missing", way, DONE)
    assert len(await recommend(learning, "CORS header is missing again", DEBUGGING)) == 3
    await record(learning, DEBUGGING, "The CORS header is wrong", way, FAILED)
    assert await recommend(learning, "CORS header is missing again", DEBUGGING) == []
    assert len((await learning.find("CORS header is missing again")).scored) == 3, "a search shows it with its rate"
    for number in range(2):
        await record(learning, DEBUGGING, f"The CORS header is missing in version {number}", way, DONE)
    assert len(await recommend(learning, "CORS header is missing again", DEBUGGING)) == 3


async def test_079_of_two_patterns_the_one_seen_more_often_scores_higher(learning: LearningEnvironment) -> None:
    often: Way = (("grep", "find the query"), ("explain", "verify the index"), ("edit", "add the index"))
    once: Way = (("profile", "measure the query"), ("cache", "decide on a cache"), ("config", "set its size"))
    for _ in range(5):
        await record(learning, DEBUGGING, "The report query is slow", often, DONE)
    await record(learning, DEBUGGING, "The report query is slow", once, DONE)
    found = {one.pattern.description: one for one in await recommend(learning, "The report query is slow", None, 10)}
    rates = {one.breakdown.success_rate for name, one in found.items() if "index" in name}
    assert rates == {6 / 7}
    assert {one.breakdown.success_rate for name, one in found.items() if "cache" in name} == {2 / 3}


async def test_077_a_failed_episode_whose_steps_failed_too_counts_against_what_it_tried(
    learning: LearningEnvironment,
) -> None:
    way = (("grep", "find the lock"), ("read", "verify the order"), ("edit", "swap the locks"))
    await learning.add_episode("Deadlock in the importer", *((tool, action, "+") for tool, action in way))
    tried = [*((tool, action, "+") for tool, action in way), *(("pytest", f"run part {n}", "-") for n in range(3))]
    await learning.add_episode("Deadlock in the exporter", *tried, outcome=FAILED)
    (decision,) = [one for one in await learning.patterns() if isinstance(one.form, DecisionPoint)]
    assert (decision.sample, decision.success_rate, decision.is_proven) == (2, 0.5, False)
    assert {one.sample for one in await learning.patterns() if not isinstance(one.form, ErrorRecovery)} >= {2}


async def test_077_a_recovery_in_a_failed_episode_is_not_learned(learning: LearningEnvironment) -> None:
    steps = (("npm", "install", "-"), ("npm", "delete the lock file", "+"), ("npm", "build", "+"))
    await learning.add_episode("The build is broken", *steps, outcome=FAILED)
    assert await learning.patterns() == []
    await learning.add_episode("The build is broken", *steps)
    assert [one.success_rate for one in await learning.patterns() if isinstance(one.form, ErrorRecovery)] == [1.0]


async def test_079_applied_patterns_and_times_applied_agree(learning: LearningEnvironment) -> None:
    way: Way = (("grep", "find the cause"), ("read", "verify the header"), ("edit", "set the header"))
    await record(learning, DEBUGGING, "The CORS header is missing", way, DONE)
    known = {one.type.value: one.id for one in await learning.patterns()}
    episode_id = await learning.env.begin("The CORS header is missing again", domain=DOMAIN, task_type=DEBUGGING)
    task = TaskPatternQuery(query="CORS header", domain=DOMAIN, limit=9, min_score=0, episode_id=episode_id)
    assert len((await learning.search.search(GLOBAL, task, RECOMMENDATION_WEIGHTS)).scored) == 3
    for number, (tool, action) in enumerate((*way[:2], ("restart", "restart it")), 1):
        await learning.add_step(GLOBAL, episode_id, number, tool, action, "+")
    done = await learning.env.end(episode_id, None)
    listed = {one.id for one in await learning.patterns() if one.effectiveness.times_applied == 1}
    stored = await learning.env.get(episode_id)
    assert {*done.applied_patterns} == {*stored.applied_patterns} == listed
    assert known["tool_sequence"] not in listed, "it was recommended and not followed"
    assert done.reward is not None
