"""Search of episodes. Numbers are rows of the feature table."""

from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes import search as querying
from scrubjay.features.episodes.models import FailureOutcome, Learned, PartialSuccessOutcome, SuccessOutcome, TaskType
from scrubjay.features.episodes.search import EpisodeMatches, Sort
from scrubjay.features.episodes.search_text import index_terms
from scrubjay.features.episodes.store import EpisodeText
from tests.contracts.samples import ManualClock, vector
from tests.features.episodes.environment import GLOBAL, EpisodeEnvironment, UnavailableModel
from tests.features.episodes.test_service import FakeLearner, FakeLessons

TASKS = {
    "Fix the login that fails after a password reset": "The reset token is kept until it is used",
    "Add pagination to the orders endpoint": "Cursors work",
    "Write docs for the deployment": "The page is published",
    "Flaky test in the payment suite": "A race in the fake clock was removed",
    "Speed up the image resize worker": "Three times faster with another library",
    "Upgrade the database driver": "The connection pool was tuned",
    "Investigate the memory leak in the websocket server": "Handlers were never removed",
}
LOGIN, ORDERS, _, FLAKY, IMAGES, _, LEAK = TASKS


async def query(
    env: EpisodeEnvironment,
    text: str,
    *,
    sort: Sort = Sort.RELEVANCE,
    limit: int = 10,
    domain: str = "web-api",
    task_type: TaskType | None = None,
    to: Visibility = GLOBAL,
) -> EpisodeMatches:
    return await env.queries.query(to, text, domain, task_type, limit, sort)


def names(found: EpisodeMatches) -> list[str]:
    return [one.episode.task_description for one in found.episodes]


@pytest.fixture
async def filled(env: EpisodeEnvironment) -> EpisodeEnvironment:
    for task, verdict in TASKS.items():
        await env.add_completed(task, verdict)
    return env


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Why could people not sign in after they changed their password?", LOGIN),
        ("How did we make pictures faster?", IMAGES),
        ("What did we do about unstable tests?", FLAKY),
        ("memory leak", LEAK),
        ("How can I show long lists of orders page by page?", ORDERS),
        ("Has anybody used cursors before?", ORDERS),
    ],
)
async def test_063_a_query_in_plain_words_finds_the_matching_episode(
    filled: EpisodeEnvironment, question: str, first: str
) -> None:
    found = await query(filled, question)
    assert names(found)[0] == first
    relevances = [one.relevance for one in found.episodes]
    assert relevances == sorted(relevances, reverse=True)
    assert all(0 < one <= 1 for one in relevances)
    assert (found.matched, found.degraded) == (len(found.episodes), None)


async def test_063_a_query_without_a_match_finds_nothing(filled: EpisodeEnvironment) -> None:
    found = await query(filled, "The zebras of the Serengeti migrate in May")
    assert (names(found), found.matched, found.success_rate) == ([], 0, 0.0)
    assert names(await query(filled, "...?!")) == []


async def test_063_an_episode_is_found_as_soon_as_it_is_complete(env: EpisodeEnvironment) -> None:
    episode_id = await env.begin("Fix the login")
    assert names(await query(env, "login")) == []
    await env.end(episode_id)
    assert names(await query(env, "login")) == ["Fix the login"]
    await env.service.delete(GLOBAL, episode_id)
    assert names(await query(env, "login")) == []


async def test_063_words_of_steps_and_tags_find_an_episode(env: EpisodeEnvironment) -> None:
    episode_id = await env.begin("Fix it", language="rust", tags=["gardening"])
    await env.add_step(episode_id, 1, action="Bisect the commits")
    await env.end(episode_id)
    for word in ("bisect", "rust", "gardening", "works"):
        assert names(await query(env, word)) == ["Fix it"], word


async def test_063_results_are_limited_to_domain_task_type_and_project(env: EpisodeEnvironment) -> None:
    here, there = [(await env.store.projects.ensure(path, None)).id for path in ("/proj/here", "/proj/there")]
    await env.add_completed("Login of all", domain="Web-API")
    await env.add_completed("Login of here", project_id=here, task_type=TaskType.TESTING)
    await env.add_completed("Login of there", project_id=there)
    await env.add_completed("Login of shops", domain="shop")
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"Login of all"}),
        ({"domain": "WEB-api"}, {"Login of all"}),
        ({"domain": "shop"}, {"Login of shops"}),
        ({"domain": "nowhere"}, set()),
        ({"to": Visibility(here)}, {"Login of all", "Login of here"}),
        ({"to": Visibility(here), "task_type": TaskType.TESTING}, {"Login of here"}),
        ({"to": Visibility(there)}, {"Login of all", "Login of there"}),
    ]
    for fields, expected in cases:
        assert set(names(await query(env, "login", **fields))) == expected, fields


async def test_063_matches_can_be_sorted_and_statistics_cover_all_matches(env: EpisodeEnvironment) -> None:
    await env.add_completed("Login slow and partly done", seconds=50, outcome=PartialSuccessOutcome(verdict="v"))
    await env.add_completed("Login that failed", seconds=10, outcome=FailureOutcome(reason="r"))
    await env.add_completed("Login done", seconds=400)
    await env.add_completed("Login done fast", seconds=20)
    for sort, expected in {
        Sort.NEWEST: ["done fast", "done", "that failed", "slow and partly done"],
        Sort.OLDEST: ["slow and partly done", "that failed", "done", "done fast"],
        Sort.DURATION: ["that failed", "done fast", "slow and partly done", "done"],
        Sort.SUCCESS: ["done fast", "done", "slow and partly done", "that failed"],
    }.items():
        found = await query(env, "login", sort=sort)
        assert [name.removeprefix("Login ") for name in names(found)] == expected, sort
    rewards = [one.episode.reward for one in (await query(env, "login")).episodes]
    rewarding = sum(reward is not None and reward.total > 0.7 for reward in rewards)
    assert 0 < rewarding < 4
    two = await query(env, "login", sort=Sort.NEWEST, limit=2)
    assert (len(two.episodes), two.matched, two.success_rate) == (2, 4, rewarding / 4)


async def test_063_patterns_come_from_the_learner(store: SqliteStore) -> None:
    env = EpisodeEnvironment(store, ManualClock(), learner=FakeLearner(Learned(patterns=[FakeLessons("p")])))
    (pattern,) = (await query(env, "login", limit=3, task_type=TaskType.TESTING)).patterns
    assert pattern["arguments"] == [None, "login", "web-api", TaskType.TESTING, 3]
    assert (await query(EpisodeEnvironment(store, ManualClock()), "login")).patterns == []


async def test_063_without_a_model_the_search_uses_words_and_reports_it(store: SqliteStore) -> None:
    env = EpisodeEnvironment(store, ManualClock(), meanings=UnavailableModel())
    await env.add_completed("Fix the login")
    found = await query(env, "login")
    assert (names(found), found.degraded) == (["Fix the login"], "searched by words only: the model is gone")
    with pytest.raises(Unavailable, match="the model is gone"):
        await env.queries.similar(GLOBAL, "login", None, None, 5, 0.1)


async def test_063_similarities_are_cosines_and_the_threshold_is_applied(filled: EpisodeEnvironment) -> None:
    import numpy as np

    from scrubjay.models.static_model import StaticEmbedder
    from scrubjay.search_index.vectors import cosine

    question = "Why could people not sign in after they changed their password?"
    found = await filled.queries.similar(GLOBAL, question, None, None, 5, 0.3)
    (best,) = found.episodes
    embedder = StaticEmbedder()
    vectors = [
        np.frombuffer(one, "<f2").astype(float).tolist()
        for one in await embedder.embed([question, f"{LOGIN}\n{TASKS[LOGIN]}"])
    ]
    assert best.episode.task_description == LOGIN
    assert best.similarity == pytest.approx(cosine(*vectors), abs=1e-3)
    assert (found.embedding.model, found.embedding.dimensions) == (embedder.model, len(vectors[0]))
    none = await filled.queries.similar(GLOBAL, question, None, None, 5, 0.7)
    assert (none.episodes, none.nearest) == ([], best.similarity)
    every = await filled.queries.similar(GLOBAL, question, None, None, 5, -1)
    similarities = [one.similarity for one in every.episodes]
    assert (len(similarities), similarities) == (5, sorted(similarities, reverse=True))
    assert (await filled.queries.similar(GLOBAL, question, "shop", None, 5, -1)).episodes == []
    same = await filled.queries.similar(GLOBAL, f"{LOGIN}\n{TASKS[LOGIN]}", "Web-Api", TaskType.DEBUGGING, 5, 0.99)
    assert [one.similarity for one in same.episodes] == [pytest.approx(1, abs=1e-3)]


async def test_063_missing_vectors_of_the_active_model_are_created(
    env: EpisodeEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(querying, "BATCH_SIZE", 2)
    monkeypatch.setattr(querying, "MAX_CREATED_VECTORS", 4)
    for number in range(6):
        await env.add_completed(f"Fix the login {number}")
        env.clock.now += timedelta(seconds=1)
    lacking = await env.store.episodes.unembedded("static-before", 9)
    await env.store.episodes.set_vectors("static-before", [(one, vector(1, 0)) for one in lacking])
    assert len(await env.store.episodes.unembedded("static-v1", 9)) == 6
    first = await query(env, "login")
    assert first.degraded is not None
    assert "static-v1" in first.degraded
    assert len(names(first)) == 6  # by words
    second = await query(env, "login")
    assert (second.degraded, len(names(second))) == (None, 6)
    assert await env.store.episodes.unembedded("static-v1", 9) == []
    similar = await env.queries.similar(GLOBAL, "Fix the login 3\nIt works", None, None, 9, 0.9)
    assert similar.episodes[0].similarity == pytest.approx(1, abs=1e-3)


async def test_063_only_a_limited_part_of_a_long_episode_is_indexed(env: EpisodeEnvironment) -> None:
    episode_id = await env.begin("x " * 5_000)
    for number in range(300):
        await env.add_step(episode_id, number, action="word " * 2_000)
    done = await env.end(episode_id, SuccessOutcome(verdict="v", artifacts=("long " * 100_000,)))
    words = index_terms(done)
    assert sum(map(len, words)) < 40_000
    assert EpisodeText(passages=words).model == ""
