"""Finding episodes by a question. Numbers are rows of the feature table."""

from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Unavailable
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes import search as querying
from scrubjay.features.episodes.models import Failure, Learned, PartialSuccess, Success, TaskType
from scrubjay.features.episodes.search import Findings, Sort
from scrubjay.features.episodes.search_text import words_of
from scrubjay.features.episodes.store import EpisodeText
from tests.contracts.samples import ManualClock, vector
from tests.features.episodes.house import EVERYBODY, House, ModelGone
from tests.features.episodes.test_service import Taught, Teacher

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


async def ask(
    house: House,
    text: str,
    *,
    sort: Sort = Sort.RELEVANCE,
    limit: int = 10,
    domain: str = "web-api",
    task_type: TaskType | None = None,
    to: Visibility = EVERYBODY,
) -> Findings:
    return await house.queries.query(to, text, domain, task_type, limit, sort)


def names(found: Findings) -> list[str]:
    return [one.episode.task_description for one in found.episodes]


@pytest.fixture
async def told(house: House) -> House:
    for task, verdict in TASKS.items():
        await house.done(task, verdict)
    return house


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
async def test_063_a_question_in_plain_words_finds_what_it_is_about(told: House, question: str, first: str) -> None:
    found = await ask(told, question)
    assert names(found)[0] == first
    relevances = [one.relevance for one in found.episodes]
    assert relevances == sorted(relevances, reverse=True)
    assert all(0 < one <= 1 for one in relevances)
    assert (found.matched, found.degraded) == (len(found.episodes), None)


async def test_063_what_nothing_is_about_finds_nothing(told: House) -> None:
    found = await ask(told, "The zebras of the Serengeti migrate in May")
    assert (names(found), found.matched, found.success_rate) == ([], 0, 0.0)
    assert names(await ask(told, "...?!")) == []


async def test_063_an_open_episode_is_not_found_and_a_complete_one_is_at_once(house: House) -> None:
    begun = await house.begin("Fix the login")
    assert names(await ask(house, "login")) == []
    await house.end(begun)
    assert names(await ask(house, "login")) == ["Fix the login"]
    await house.service.delete(EVERYBODY, begun)
    assert names(await ask(house, "login")) == []


async def test_063_steps_and_labels_are_words_to_find_it_by(house: House) -> None:
    begun = await house.begin("Fix it", language="rust", tags=["gardening"])
    await house.tell(begun, 1, action="Bisect the commits")
    await house.end(begun)
    for word in ("bisect", "rust", "gardening", "works"):
        assert names(await ask(house, word)) == ["Fix it"], word


async def test_063_domain_and_kind_of_task_and_project_are_kept_to(house: House) -> None:
    here, there = [(await house.store.projects.ensure(path, None)).id for path in ("/proj/here", "/proj/there")]
    await house.done("Login of all", domain="Web-API")
    await house.done("Login of here", project_id=here, task_type=TaskType.TESTING)
    await house.done("Login of there", project_id=there)
    await house.done("Login of shops", domain="shop")
    asks: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"Login of all"}),
        ({"domain": "WEB-api"}, {"Login of all"}),
        ({"domain": "shop"}, {"Login of shops"}),
        ({"domain": "nowhere"}, set()),
        ({"to": Visibility(here)}, {"Login of all", "Login of here"}),
        ({"to": Visibility(here), "task_type": TaskType.TESTING}, {"Login of here"}),
        ({"to": Visibility(there)}, {"Login of all", "Login of there"}),
    ]
    for fields, expected in asks:
        assert set(names(await ask(house, "login", **fields))) == expected, fields


async def test_063_what_fits_comes_in_every_order_and_insights_are_of_all_that_fits(house: House) -> None:
    await house.done("Login slow and partly done", seconds=50, outcome=PartialSuccess(verdict="v"))
    await house.done("Login that failed", seconds=10, outcome=Failure(reason="r"))
    await house.done("Login done", seconds=400)
    await house.done("Login done fast", seconds=20)
    for sort, expected in {
        Sort.NEWEST: ["done fast", "done", "that failed", "slow and partly done"],
        Sort.OLDEST: ["slow and partly done", "that failed", "done", "done fast"],
        Sort.DURATION: ["that failed", "done fast", "slow and partly done", "done"],
        Sort.SUCCESS: ["done fast", "done", "slow and partly done", "that failed"],
    }.items():
        found = await ask(house, "login", sort=sort)
        assert [name.removeprefix("Login ") for name in names(found)] == expected, sort
    rewards = [one.episode.reward for one in (await ask(house, "login")).episodes]
    rewarding = sum(reward is not None and reward.total > 0.7 for reward in rewards)
    assert 0 < rewarding < 4
    two = await ask(house, "login", sort=Sort.NEWEST, limit=2)
    assert (len(two.episodes), two.matched, two.success_rate) == (2, 4, rewarding / 4)


async def test_063_patterns_come_from_whoever_learns(store: SqliteStore) -> None:
    house = House(store, ManualClock(), learner=Teacher(Learned(patterns=[Taught("p")])))
    (pattern,) = (await ask(house, "login", limit=3, task_type=TaskType.TESTING)).patterns
    assert pattern["asked"] == [None, "login", "web-api", TaskType.TESTING, 3]
    assert (await ask(House(store, ManualClock()), "login")).patterns == []


async def test_063_without_a_model_words_are_enough_and_it_is_said(store: SqliteStore) -> None:
    house = House(store, ManualClock(), meanings=ModelGone())
    await house.done("Fix the login")
    found = await ask(house, "login")
    assert (names(found), found.degraded) == (["Fix the login"], "searched by words only: the model is gone")
    with pytest.raises(Unavailable, match="the model is gone"):
        await house.queries.similar(EVERYBODY, "login", None, None, 5, 0.1)


async def test_063_similarities_are_true_and_the_threshold_is_kept_to(told: House) -> None:
    import numpy as np

    from scrubjay.models.static_model import StaticEmbedder
    from scrubjay.search_index.vectors import cosine

    question = "Why could people not sign in after they changed their password?"
    found = await told.queries.similar(EVERYBODY, question, None, None, 5, 0.3)
    (best,) = found.episodes
    embedder = StaticEmbedder()
    vectors = [
        np.frombuffer(one, "<f2").astype(float).tolist()
        for one in await embedder.embed([question, f"{LOGIN}\n{TASKS[LOGIN]}"])
    ]
    assert best.episode.task_description == LOGIN
    assert best.similarity == pytest.approx(cosine(*vectors), abs=1e-3)
    assert (found.meaning.model, found.meaning.dimensions) == (embedder.model, len(vectors[0]))
    none = await told.queries.similar(EVERYBODY, question, None, None, 5, 0.7)
    assert (none.episodes, none.nearest) == ([], best.similarity)
    every = await told.queries.similar(EVERYBODY, question, None, None, 5, -1)
    similarities = [one.similarity for one in every.episodes]
    assert (len(similarities), similarities) == (5, sorted(similarities, reverse=True))
    assert (await told.queries.similar(EVERYBODY, question, "shop", None, 5, -1)).episodes == []
    same = await told.queries.similar(EVERYBODY, f"{LOGIN}\n{TASKS[LOGIN]}", "Web-Api", TaskType.DEBUGGING, 5, 0.99)
    assert [one.similarity for one in same.episodes] == [pytest.approx(1, abs=1e-3)]


async def test_063_episodes_get_vectors_of_the_model_that_answers_now(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(querying, "AT_ONCE", 2)
    monkeypatch.setattr(querying, "MADE_UP_FOR", 4)
    for number in range(6):
        await house.done(f"Fix the login {number}")
        house.clock.now += timedelta(seconds=1)
    lacking = await house.store.episodes.unembedded("static-before", 9)
    await house.store.episodes.set_vectors("static-before", [(one, vector(1, 0)) for one in lacking])
    assert len(await house.store.episodes.unembedded("static-v1", 9)) == 6
    first = await ask(house, "login")
    assert first.degraded is not None
    assert "static-v1" in first.degraded
    assert len(names(first)) == 6  # by words
    second = await ask(house, "login")
    assert (second.degraded, len(names(second))) == (None, 6)
    assert await house.store.episodes.unembedded("static-v1", 9) == []
    similar = await house.queries.similar(EVERYBODY, "Fix the login 3\nIt works", None, None, 9, 0.9)
    assert similar.episodes[0].similarity == pytest.approx(1, abs=1e-3)


async def test_063_the_longest_episode_is_read_in_bounds(house: House) -> None:
    begun = await house.begin("x " * 5_000)
    for number in range(300):
        await house.tell(begun, number, action="word " * 2_000)
    done = await house.end(begun, Success(verdict="v", artifacts=("long " * 100_000,)))
    words = words_of(done)
    assert sum(map(len, words)) < 40_000
    assert EpisodeText(passages=words).model == ""
