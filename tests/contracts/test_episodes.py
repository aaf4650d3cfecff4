"""Store contract: episodes. Numbers are rows of the feature table."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict, NotFound, QuotaExceeded, TooLarge
from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import (
    Checkpoint,
    Complexity,
    Episode,
    EpisodeChange,
    EpisodeStep,
    FailureOutcome,
    Learned,
    OutcomeType,
    PartialSuccessOutcome,
    ResultType,
    StepResult,
    TaskContext,
    TaskType,
)
from scrubjay.features.episodes.store import EpisodeFilter, EpisodeQuery, EpisodeText
from scrubjay.features.memory.candidates import CandidatePool
from tests.contracts.samples import GLOBAL_ONLY, MODEL, NOW, vector
from tests.features.episodes.samples import completed, episode, identifier, step, steps

MOST = 100_000
UNKNOWN = identifier(999)


def text(*words: str, own: bytes = b"", model: str = MODEL) -> EpisodeText:
    return EpisodeText(passages=(words,), vector=own, model=model)


async def put_step(
    store: Store,
    number: int,
    outcome: str = "+",
    *,
    of: int = 1,
    to: Visibility = GLOBAL_ONLY,
    max_steps: int = 1_000,
    max_bytes: int = MOST,
    **fields: Any,
) -> bool | None:
    one = step(number, outcome, **fields)
    return await store.episodes.add_step(to, identifier(of), one, max_steps=max_steps, max_bytes=max_bytes)


async def get_episode(store: Store, number: int = 1, to: Visibility = GLOBAL_ONLY) -> Episode:
    stored = await store.episodes.get(to, identifier(number))
    assert stored is not None
    return stored


async def put_complete(store: Store, one: Episode, *words: str, own: bytes = b"", **fields: Any) -> Episode:
    await store.episodes.add(one)
    stored = await store.episodes.complete(completed(one, **fields), Learned(), text(*words, own=own), max_bytes=MOST)
    assert stored is not None
    return stored


async def search_episodes(
    store: Store,
    *terms: str,
    own: bytes = b"",
    model: str = MODEL,
    to: Visibility = GLOBAL_ONLY,
    limit: int = 10,
    **only: Any,
) -> dict[str, tuple[float, float]]:
    """Return the keyword score and similarity of each candidate by id."""
    pools: list[CandidatePool] = []

    def choose(pool: CandidatePool) -> Sequence[int]:
        pools.append(pool)
        return pool.handles.tolist()

    query = EpisodeQuery(visibility=to, only=EpisodeFilter(**only), terms=terms, vector=own, model=model, limit=limit)
    episodes = await store.episodes.search(query, choose)
    return {
        one.episode_id: (round(float(pools[0].text_bm25[place]), 3), round(float(pools[0].cosines[place]), 3))
        for place, one in enumerate(episodes.values())
    }


async def test_070_071_an_episode_is_stored_completely_and_visible_to_other_processes(
    store: Store, other: Store
) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    there = Visibility(project.id)
    complete = episode(
        project_id=project.id,
        client="ada",
        task_type=TaskType.TESTING,
        context=TaskContext(
            domain="Web", language="python", framework="flask", complexity=Complexity.COMPLEX, tags=("a", "b")
        ),
        metadata={"k": "v"},
    )
    assert await store.episodes.add(complete) == complete
    assert await other.episodes.get(there, complete.episode_id) == complete
    first = EpisodeStep(
        step_number=1,
        timestamp=NOW,
        tool="grep",
        action="look",
        parameters={"a": [1, {"b": None}]},
        result=StepResult(type=ResultType.TIMEOUT, output="half", message="too long"),
        latency_ms=7,
        tokens_used=11,
        metadata={"m": "n"},
    )
    assert await store.episodes.add_step(there, complete.episode_id, first, max_steps=9, max_bytes=MOST)
    assert await put_step(other, 2, "?", to=there)
    assert await get_episode(store, to=there) == replace(complete, steps=(first, step(2, "?")), revision=2)
    with pytest.raises(NotFound):
        await store.episodes.add(episode(2, project_id="prj_none"))


async def test_071_steps_are_ordered_by_number_and_a_repeated_step_is_stored_once(store: Store) -> None:
    await store.episodes.add(episode())
    assert await put_step(store, 2)
    assert await put_step(store, 1)
    assert await put_step(store, 2, timestamp=NOW + timedelta(hours=1)) is False
    with pytest.raises(Conflict) as refused:
        await put_step(store, 2, action="something else")
    assert refused.value.details == {"step_number": 2}
    assert (await get_episode(store)).steps == (step(1), step(2))
    assert (await get_episode(store)).revision == 2


async def test_071_a_step_of_an_unknown_complete_or_full_episode_is_refused(
    store: Store,
) -> None:
    assert await put_step(store, 1, of=999) is None
    await store.episodes.add(episode())
    await put_step(store, 1, max_steps=1)
    with pytest.raises(Conflict):
        await put_step(store, 2, max_steps=1)
    sizes: list[int] = []
    for letter in "uü":
        with pytest.raises(TooLarge) as refused:
            await put_step(store, 2, action=letter * 10, max_bytes=1)
        sizes.append(refused.value.details["bytes"])
    assert sizes[1] == sizes[0] + 10  # bytes are counted, not characters
    with pytest.raises(TooLarge):
        await put_step(store, 2, action="ü" * 10, max_bytes=sizes[1] - 1)
    assert len((await get_episode(store)).steps) == 1
    assert await put_step(store, 2, action="ü" * 10, max_bytes=sizes[1])
    before = await get_episode(store)
    assert len(before.steps) == 2
    stored = await store.episodes.complete(completed(before), Learned(), text(), max_bytes=MOST)
    assert stored is not None
    with pytest.raises(Conflict):
        await put_step(store, 3)
    assert await get_episode(store) == stored


async def test_072_an_episode_is_completed_once_and_atomically(store: Store, other: Store) -> None:
    await store.episodes.add(episode())
    await put_step(store, 1)
    stale = await get_episode(store)
    await put_step(other, 2)
    assert await store.episodes.complete(completed(stale), Learned(), text("login"), max_bytes=MOST) is None
    fresh = await get_episode(other)
    assert (fresh.is_complete, len(fresh.steps), await search_episodes(store, "login")) == (False, 2, {})
    with pytest.raises(TooLarge):
        await store.episodes.complete(completed(fresh), Learned(), text("login"), max_bytes=50)
    assert (await get_episode(other), await search_episodes(store, "login")) == (fresh, {})
    stored = await store.episodes.complete(completed(fresh), Learned(), text("login"), max_bytes=MOST)
    assert stored is not None
    assert stored == replace(completed(fresh), revision=fresh.revision + 1)
    assert await get_episode(other) == stored
    assert await other.episodes.complete(completed(fresh), Learned(), text("other"), max_bytes=MOST) is None
    assert (list(await search_episodes(other, "login")), await search_episodes(other, "other")) == (
        [stored.episode_id],
        {},
    )


@pytest.mark.parametrize(
    "outcome",
    [
        PartialSuccessOutcome(verdict="half", completed=("a", "b"), failed=("c",)),
        FailureOutcome(reason="no", error_details="x"),
    ],
)
async def test_072_every_outcome_is_stored_unchanged(store: Store, outcome: Any) -> None:
    stored = await put_complete(store, episode(), outcome=outcome, reflection=None, salient_features=None)
    assert (await get_episode(store)).outcome == outcome
    assert await get_episode(store) == stored


async def test_072_only_one_of_two_concurrent_completions_succeeds(store: Store, other: Store) -> None:
    await store.episodes.add(episode())
    one = completed(await get_episode(store))
    both = await asyncio.gather(
        store.episodes.complete(one, Learned(), text("mine"), max_bytes=MOST),
        other.episodes.complete(one, Learned(), text("yours"), max_bytes=MOST),
    )
    assert sorted(answer is not None for answer in both) == [False, True]


async def test_073_episodes_are_returned_in_the_order_of_the_requested_ids(store: Store) -> None:
    for number in (1, 2, 3):
        await store.episodes.add(episode(number))
    await put_step(store, 1, of=2)
    ids = [identifier(3), UNKNOWN, identifier(2), identifier(3)]
    many = await store.episodes.get_many(GLOBAL_ONLY, ids, max_bytes=MOST)
    assert many == [episode(3), replace(episode(2), steps=(step(1),), revision=1)]
    with pytest.raises(TooLarge):
        await store.episodes.get_many(GLOBAL_ONLY, ids, max_bytes=20)


async def test_074_deleting_an_episode_deletes_its_steps_terms_and_embedding(store: Store, other: Store) -> None:
    await store.episodes.add(episode())
    await put_step(store, 1, action="Search in the cellar")
    complete = completed(await get_episode(store))
    await store.episodes.complete(complete, Learned(), text("cellar", own=vector(1, 0)), max_bytes=MOST)
    assert list(await search_episodes(store, "cellar", own=vector(1, 0))) == [identifier(1)]
    deleted = await other.episodes.delete(GLOBAL_ONLY, identifier(1))
    assert deleted == replace(complete, steps=(), revision=complete.revision + 1)
    assert await store.episodes.get(GLOBAL_ONLY, identifier(1)) is None
    assert (await search_episodes(store, "cellar"), await search_episodes(store, own=vector(1, 0))) == ({}, {})
    assert await store.episodes.delete(GLOBAL_ONLY, identifier(1)) is None
    assert (await store.check()).problems == []


async def test_085_an_update_changes_the_named_fields_and_loses_no_concurrent_step(store: Store, other: Store) -> None:
    await store.episodes.add(episode(tags=("a", "b"), metadata={"k": "v", "l": "w"}))
    change = EpisodeChange(
        description="Another",
        add_tags=("c",),
        remove_tags=("a",),
        metadata={"l": "x"},
        checkpoint=Checkpoint(checkpoint_id="c1", created_at=NOW, reason="lunch", step_number=1, note="go on"),
    )
    changed, added = await asyncio.gather(
        store.episodes.change(GLOBAL_ONLY, identifier(1), change, max_bytes=MOST), put_step(other, 1)
    )
    assert changed is not None
    assert added is True
    current = await get_episode(other)
    assert (current.task_description, current.context.tags, current.metadata) == (
        "Another",
        ("b", "c"),
        {"k": "v", "l": "x"},
    )
    assert (current.checkpoints, current.steps, current.revision) == ((change.checkpoint,), (step(1),), 2)
    emptied = EpisodeChange(set_tags=())
    assert await store.episodes.change(GLOBAL_ONLY, UNKNOWN, emptied, max_bytes=MOST) is None
    await store.episodes.change(GLOBAL_ONLY, identifier(1), emptied, max_bytes=MOST)
    assert (await get_episode(other)).context.tags == ()
    longer = EpisodeChange(description="x" * 1_000)
    with pytest.raises(TooLarge):
        await store.episodes.change(GLOBAL_ONLY, identifier(1), longer, max_bytes=900)
    assert (await get_episode(other)).task_description == "Another"


async def test_085_a_complete_episode_changes_together_with_its_search_data(store: Store) -> None:
    stored = await put_complete(store, episode(), "login")
    change = EpisodeChange(description="Fix the logout")
    for given in (None, (stored.revision - 1, text("logout"))):
        none = await store.episodes.change(GLOBAL_ONLY, stored.episode_id, change, max_bytes=MOST, text=given)
        assert none is None
    assert await get_episode(store) == stored
    changed = await store.episodes.change(
        GLOBAL_ONLY, stored.episode_id, change, max_bytes=MOST, text=(stored.revision, text("logout"))
    )
    assert changed == replace(stored, task_description="Fix the logout", revision=stored.revision + 1)
    assert (await search_episodes(store, "login"), list(await search_episodes(store, "logout"))) == (
        {},
        [stored.episode_id],
    )


async def test_063_complete_episodes_are_found_by_keyword_and_by_meaning(store: Store, other: Store) -> None:
    await put_complete(store, episode(1), "login", "fail", own=vector(1, 0))
    await put_complete(store, episode(2), "login", own=vector(0, 1))
    await put_complete(store, episode(3), "page", own=vector(0.6, 0.8))
    await store.episodes.add(episode(4))
    by_words = await search_episodes(other, "login", "fail")
    assert by_words[identifier(1)][0] > by_words[identifier(2)][0] > 0
    assert set(by_words) == {identifier(1), identifier(2)}
    by_meaning = await search_episodes(other, own=vector(1, 0), limit=2)
    assert {name: cosine for name, (_, cosine) in by_meaning.items()} == {identifier(1): 1.0, identifier(3): 0.6}
    both = await search_episodes(other, "page", own=vector(0, 1), limit=1)
    assert {name: cosine for name, (_, cosine) in both.items() if cosine == cosine} == {identifier(2): 1.0}
    assert set(both) == {identifier(2), identifier(3)}
    assert await search_episodes(other, own=vector(1, 0), model="static-other") == {}
    assert await search_episodes(other, own=vector(1, 0, 0)) == {}


async def test_063_a_query_of_punctuation_or_syntax_finds_nothing_and_does_not_fail(store: Store) -> None:
    await put_complete(store, episode(), "login")
    assert await search_episodes(store) == {}
    for text_ in ('"', "*", "a AND b", "NEAR(", "terms:login", "ü" * 2_000):
        assert await search_episodes(store, text_) == {}
    assert list(await search_episodes(store, "login", '"')) == [identifier(1)]


async def test_063_a_filter_and_a_project_exclude_other_episodes(store: Store) -> None:
    here, there = [(await store.projects.ensure(path, None)).id for path in ("/proj/here", "/proj/there")]
    await put_complete(store, episode(1, domain="Web-API", tags=("a", "b")), "login", own=vector(1, 0))
    await put_complete(
        store,
        episode(2, task_type=TaskType.TESTING, project_id=here, tags=("a",)),
        "login",
        own=vector(1, 0),
        outcome=FailureOutcome(reason="no"),
        end_time=NOW + timedelta(days=1),
    )
    await put_complete(store, episode(3, project_id=there), "login", own=vector(1, 0))
    cases: list[tuple[dict[str, Any], set[int]]] = [
        ({}, {1, 2}),
        ({"domain": "web-API"}, {1, 2}),
        ({"domain": "web"}, set()),
        ({"task_type": TaskType.TESTING}, {2}),
        ({"outcome": OutcomeType.SUCCESS}, {1}),
        ({"tags": ("b", "z")}, {1}),
        ({"tags": ("a", "b"), "all_tags": True}, {1}),
        ({"since": NOW + timedelta(hours=1)}, {2}),
        ({"completed": False}, set()),
    ]
    for only, expected in cases:
        ids = {identifier(number) for number in expected}
        assert set(await search_episodes(store, "login", to=Visibility(here), **only)) == ids, only
        assert set(await search_episodes(store, own=vector(1, 0), to=Visibility(here), **only)) == ids, only
        listed = await store.episodes.find(Visibility(here), EpisodeFilter(**only), 10)
        assert {one.episode_id for _, one in listed} == ids, only
    assert await store.episodes.get(Visibility(here), identifier(3)) is None
    assert await put_step(store, 1, of=3, to=Visibility(here)) is None
    assert await store.episodes.delete(Visibility(here), identifier(3)) is None
    assert await store.episodes.get_many(Visibility(here), [identifier(3)], max_bytes=MOST) == []
    nothing = EpisodeChange(description="mine")
    assert await store.episodes.change(Visibility(here), identifier(3), nothing, max_bytes=MOST) is None
    assert (await get_episode(store, 3, Visibility(there))).task_description == "Fix the login"


async def test_073_pages_of_episodes_skip_nothing(store: Store) -> None:
    for number in range(1, 6):
        await store.episodes.add(episode(number, steps=()))
    await put_step(store, 1, of=5)
    ids: list[str] = []
    after: int | None = None
    while page := await store.episodes.find(GLOBAL_ONLY, EpisodeFilter(), 2, after=after):
        ids += [one.episode_id for _, one in page]
        after = page[-1][0]
    assert ids == [identifier(number) for number in (5, 4, 3, 2, 1)]
    ((_, last),) = await store.episodes.find(GLOBAL_ONLY, EpisodeFilter(), 1)
    assert last.steps == steps("+")
    ((_, light),) = await store.episodes.find(GLOBAL_ONLY, EpisodeFilter(), 1, with_steps=False)
    assert light == replace(last, steps=())


async def test_063_episodes_without_a_vector_are_found_and_can_get_one(store: Store) -> None:
    first = await put_complete(store, episode(1), "a", own=vector(1, 0))
    await store.episodes.add(episode(2))
    without = await store.episodes.complete(
        completed(await get_episode(store, 2)), Learned(), text("b", model=""), max_bytes=MOST
    )
    assert without is not None
    await store.episodes.add(episode(3))
    assert [one.episode_id for one in await store.episodes.unembedded(MODEL, 10)] == [identifier(2)]
    unembedded = await store.episodes.unembedded("static-new", 10)
    assert {one.episode_id for one in unembedded} == {identifier(1), identifier(2)}
    changed = replace(without, revision=without.revision - 1)  # the state before another process changed it
    await store.episodes.set_vectors("static-new", [(first, vector(0, 1, 0)), (changed, vector(0, 0, 1))])
    assert [one.episode_id for one in await store.episodes.unembedded("static-new", 10)] == [identifier(2)]
    assert list(await search_episodes(store, own=vector(0, 1, 0), model="static-new")) == [identifier(1)]
    assert await search_episodes(store, own=vector(1, 0)) == {}
    assert (await store.check()).problems == []


async def test_070_the_quota_limits_the_episodes_of_a_client(store: Store) -> None:
    allowed = StorageQuota("ada", 1)
    await store.episodes.add(episode(1, client="ada"), allowed)
    with pytest.raises(QuotaExceeded):
        await store.episodes.add(episode(2, client="ada"), allowed)
    assert await store.episodes.get(GLOBAL_ONLY, identifier(2)) is None
    await store.episodes.add(episode(3, client="bob"), StorageQuota("bob", 1))
