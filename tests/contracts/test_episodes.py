"""What every backend keeps of episodes. Numbers are rows of the feature table."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict, NotFound, QuotaExceeded, TooLarge
from scrubjay.core.policies import Allowance
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import (
    Checkpoint,
    Complexity,
    Episode,
    EpisodeChange,
    Failure,
    Learned,
    OutcomeType,
    PartialSuccess,
    ResultType,
    Step,
    StepResult,
    TaskContext,
    TaskType,
)
from scrubjay.features.episodes.store import EpisodeFilter, EpisodeQuery, EpisodeText
from scrubjay.features.memory.models import CandidatePool
from tests.contracts.samples import MODEL, NOBODY_IN_PARTICULAR, NOW, vector
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
    to: Visibility = NOBODY_IN_PARTICULAR,
    most_steps: int = 1_000,
    most_bytes: int = MOST,
    **fields: Any,
) -> bool | None:
    one = step(number, outcome, **fields)
    return await store.episodes.add_step(to, identifier(of), one, most_steps=most_steps, most_bytes=most_bytes)


async def kept(store: Store, number: int = 1, to: Visibility = NOBODY_IN_PARTICULAR) -> Episode:
    found = await store.episodes.get(to, identifier(number))
    assert found is not None
    return found


async def put_complete(store: Store, one: Episode, *words: str, own: bytes = b"", **fields: Any) -> Episode:
    await store.episodes.add(one)
    done = await store.episodes.complete(completed(one, **fields), Learned(), text(*words, own=own), most_bytes=MOST)
    assert done is not None
    return done


async def found(
    store: Store,
    *terms: str,
    own: bytes = b"",
    model: str = MODEL,
    to: Visibility = NOBODY_IN_PARTICULAR,
    limit: int = 10,
    **only: Any,
) -> dict[str, tuple[float, float]]:
    """What is offered: its words' score and its similarity, by id."""
    seen: list[CandidatePool] = []

    def choose(pool: CandidatePool) -> Sequence[int]:
        seen.append(pool)
        return pool.handles.tolist()

    query = EpisodeQuery(visibility=to, only=EpisodeFilter(**only), terms=terms, vector=own, model=model, limit=limit)
    episodes = await store.episodes.search(query, choose)
    return {
        one.episode_id: (round(float(seen[0].text_bm25[place]), 3), round(float(seen[0].cosines[place]), 3))
        for place, one in enumerate(episodes.values())
    }


async def test_070_071_an_episode_is_kept_whole_and_other_processes_see_it(store: Store, other: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    there = Visibility(project.id)
    whole = episode(
        project_id=project.id,
        client="ada",
        task_type=TaskType.TESTING,
        context=TaskContext(
            domain="Web", language="python", framework="flask", complexity=Complexity.COMPLEX, tags=("a", "b")
        ),
        metadata={"k": "v"},
    )
    assert await store.episodes.add(whole) == whole
    assert await other.episodes.get(there, whole.episode_id) == whole
    first = Step(
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
    assert await store.episodes.add_step(there, whole.episode_id, first, most_steps=9, most_bytes=MOST)
    assert await put_step(other, 2, "?", to=there)
    assert await kept(store, to=there) == replace(whole, steps=(first, step(2, "?")), revision=2)
    with pytest.raises(NotFound):
        await store.episodes.add(episode(2, project_id="prj_none"))


async def test_071_steps_come_by_their_numbers_and_the_same_one_twice_is_kept_once(store: Store) -> None:
    await store.episodes.add(episode())
    assert await put_step(store, 2)
    assert await put_step(store, 1)
    assert await put_step(store, 2, timestamp=NOW + timedelta(hours=1)) is False
    with pytest.raises(Conflict) as refused:
        await put_step(store, 2, action="something else")
    assert refused.value.details == {"step_number": 2}
    assert (await kept(store)).steps == (step(1), step(2))
    assert (await kept(store)).revision == 2


async def test_071_a_step_of_an_unknown_or_complete_or_full_episode_is_refused_and_changes_nothing(
    store: Store,
) -> None:
    assert await put_step(store, 1, of=999) is None
    await store.episodes.add(episode())
    await put_step(store, 1, most_steps=1)
    with pytest.raises(Conflict):
        await put_step(store, 2, most_steps=1)
    sizes: list[int] = []
    for letter in "uü":
        with pytest.raises(TooLarge) as refused:
            await put_step(store, 2, action=letter * 10, most_bytes=1)
        sizes.append(refused.value.details["bytes"])
    assert sizes[1] == sizes[0] + 10  # bytes are counted, not characters
    with pytest.raises(TooLarge):
        await put_step(store, 2, action="ü" * 10, most_bytes=sizes[1] - 1)
    assert len((await kept(store)).steps) == 1
    assert await put_step(store, 2, action="ü" * 10, most_bytes=sizes[1])
    before = await kept(store)
    assert len(before.steps) == 2
    done = await store.episodes.complete(completed(before), Learned(), text(), most_bytes=MOST)
    assert done is not None
    with pytest.raises(Conflict):
        await put_step(store, 3)
    assert await kept(store) == done


async def test_072_an_episode_is_completed_whole_or_not_at_all_and_once(store: Store, other: Store) -> None:
    await store.episodes.add(episode())
    await put_step(store, 1)
    stale = await kept(store)
    await put_step(other, 2)
    assert await store.episodes.complete(completed(stale), Learned(), text("login"), most_bytes=MOST) is None
    fresh = await kept(other)
    assert (fresh.is_complete, len(fresh.steps), await found(store, "login")) == (False, 2, {})
    with pytest.raises(TooLarge):
        await store.episodes.complete(completed(fresh), Learned(), text("login"), most_bytes=50)
    assert (await kept(other), await found(store, "login")) == (fresh, {})
    done = await store.episodes.complete(completed(fresh), Learned(), text("login"), most_bytes=MOST)
    assert done is not None
    assert done == replace(completed(fresh), revision=fresh.revision + 1)
    assert await kept(other) == done
    assert await other.episodes.complete(completed(fresh), Learned(), text("other"), most_bytes=MOST) is None
    assert (list(await found(other, "login")), await found(other, "other")) == ([done.episode_id], {})


@pytest.mark.parametrize(
    "outcome",
    [PartialSuccess(verdict="half", completed=("a", "b"), failed=("c",)), Failure(reason="no", error_details="x")],
)
async def test_072_every_outcome_is_kept_as_it_is(store: Store, outcome: Any) -> None:
    done = await put_complete(store, episode(), outcome=outcome, reflection=None, salient_features=None)
    assert (await kept(store)).outcome == outcome
    assert await kept(store) == done


async def test_072_of_two_who_complete_an_episode_at_once_one_does(store: Store, other: Store) -> None:
    await store.episodes.add(episode())
    one = completed(await kept(store))
    both = await asyncio.gather(
        store.episodes.complete(one, Learned(), text("mine"), most_bytes=MOST),
        other.episodes.complete(one, Learned(), text("yours"), most_bytes=MOST),
    )
    assert sorted(answer is not None for answer in both) == [False, True]


async def test_073_several_episodes_come_in_the_order_of_their_ids(store: Store) -> None:
    for number in (1, 2, 3):
        await store.episodes.add(episode(number))
    await put_step(store, 1, of=2)
    ids = [identifier(3), UNKNOWN, identifier(2), identifier(3)]
    many = await store.episodes.get_many(NOBODY_IN_PARTICULAR, ids, most_bytes=MOST)
    assert many == [episode(3), replace(episode(2), steps=(step(1),), revision=1)]
    with pytest.raises(TooLarge):
        await store.episodes.get_many(NOBODY_IN_PARTICULAR, ids, most_bytes=20)


async def test_074_a_deleted_episode_is_gone_with_its_steps_words_and_meaning(store: Store, other: Store) -> None:
    await store.episodes.add(episode())
    await put_step(store, 1, action="Search in the cellar")
    done = completed(await kept(store))
    await store.episodes.complete(done, Learned(), text("cellar", own=vector(1, 0)), most_bytes=MOST)
    assert list(await found(store, "cellar", own=vector(1, 0))) == [identifier(1)]
    gone = await other.episodes.delete(NOBODY_IN_PARTICULAR, identifier(1))
    assert gone == replace(done, steps=(), revision=done.revision + 1)
    assert await store.episodes.get(NOBODY_IN_PARTICULAR, identifier(1)) is None
    assert (await found(store, "cellar"), await found(store, own=vector(1, 0))) == ({}, {})
    assert await store.episodes.delete(NOBODY_IN_PARTICULAR, identifier(1)) is None
    assert (await store.check()).problems == []


async def test_085_what_is_named_of_an_episode_changes_and_steps_meanwhile_are_not_lost(
    store: Store, other: Store
) -> None:
    await store.episodes.add(episode(tags=("a", "b"), metadata={"k": "v", "l": "w"}))
    change = EpisodeChange(
        description="Another",
        add_tags=("c",),
        remove_tags=("a",),
        metadata={"l": "x"},
        checkpoint=Checkpoint(checkpoint_id="c1", created_at=NOW, reason="lunch", step_number=1, note="go on"),
    )
    changed, added = await asyncio.gather(
        store.episodes.change(NOBODY_IN_PARTICULAR, identifier(1), change, most_bytes=MOST), put_step(other, 1)
    )
    assert changed is not None
    assert added is True
    now = await kept(other)
    assert (now.task_description, now.context.tags, now.metadata) == ("Another", ("b", "c"), {"k": "v", "l": "x"})
    assert (now.checkpoints, now.steps, now.revision) == ((change.checkpoint,), (step(1),), 2)
    emptied = EpisodeChange(set_tags=())
    assert await store.episodes.change(NOBODY_IN_PARTICULAR, UNKNOWN, emptied, most_bytes=MOST) is None
    await store.episodes.change(NOBODY_IN_PARTICULAR, identifier(1), emptied, most_bytes=MOST)
    assert (await kept(other)).context.tags == ()
    longer = EpisodeChange(description="x" * 1_000)
    with pytest.raises(TooLarge):
        await store.episodes.change(NOBODY_IN_PARTICULAR, identifier(1), longer, most_bytes=900)
    assert (await kept(other)).task_description == "Another"


async def test_085_a_complete_episode_changes_only_together_with_what_it_is_found_by(store: Store) -> None:
    done = await put_complete(store, episode(), "login")
    change = EpisodeChange(description="Fix the logout")
    for given in (None, (done.revision - 1, text("logout"))):
        none = await store.episodes.change(NOBODY_IN_PARTICULAR, done.episode_id, change, most_bytes=MOST, text=given)
        assert none is None
    assert await kept(store) == done
    changed = await store.episodes.change(
        NOBODY_IN_PARTICULAR, done.episode_id, change, most_bytes=MOST, text=(done.revision, text("logout"))
    )
    assert changed == replace(done, task_description="Fix the logout", revision=done.revision + 1)
    assert (await found(store, "login"), list(await found(store, "logout"))) == ({}, [done.episode_id])


async def test_063_complete_episodes_are_found_by_words_and_by_meaning(store: Store, other: Store) -> None:
    await put_complete(store, episode(1), "login", "fail", own=vector(1, 0))
    await put_complete(store, episode(2), "login", own=vector(0, 1))
    await put_complete(store, episode(3), "page", own=vector(0.6, 0.8))
    await store.episodes.add(episode(4))
    by_words = await found(other, "login", "fail")
    assert by_words[identifier(1)][0] > by_words[identifier(2)][0] > 0
    assert set(by_words) == {identifier(1), identifier(2)}
    by_meaning = await found(other, own=vector(1, 0), limit=2)
    assert {name: cosine for name, (_, cosine) in by_meaning.items()} == {identifier(1): 1.0, identifier(3): 0.6}
    both = await found(other, "page", own=vector(0, 1), limit=1)
    assert {name: cosine for name, (_, cosine) in both.items() if cosine == cosine} == {identifier(2): 1.0}
    assert set(both) == {identifier(2), identifier(3)}
    assert await found(other, own=vector(1, 0), model="static-other") == {}
    assert await found(other, own=vector(1, 0, 0)) == {}


async def test_063_a_query_of_punctuation_or_syntax_finds_nothing_and_does_not_fail(store: Store) -> None:
    await put_complete(store, episode(), "login")
    assert await found(store) == {}
    for strange in ('"', "*", "a AND b", "NEAR(", "terms:login", "ü" * 2_000):
        assert await found(store, strange) == {}
    assert list(await found(store, "login", '"')) == [identifier(1)]


async def test_063_a_filter_and_a_project_leave_others_out(store: Store) -> None:
    here, there = [(await store.projects.ensure(path, None)).id for path in ("/proj/here", "/proj/there")]
    await put_complete(store, episode(1, domain="Web-API", tags=("a", "b")), "login", own=vector(1, 0))
    await put_complete(
        store,
        episode(2, task_type=TaskType.TESTING, project_id=here, tags=("a",)),
        "login",
        own=vector(1, 0),
        outcome=Failure(reason="no"),
        end_time=NOW + timedelta(days=1),
    )
    await put_complete(store, episode(3, project_id=there), "login", own=vector(1, 0))
    asks: list[tuple[dict[str, Any], set[int]]] = [
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
    for asked, expected in asks:
        ids = {identifier(number) for number in expected}
        assert set(await found(store, "login", to=Visibility(here), **asked)) == ids, asked
        assert set(await found(store, own=vector(1, 0), to=Visibility(here), **asked)) == ids, asked
        listed = await store.episodes.find(Visibility(here), EpisodeFilter(**asked), 10)
        assert {one.episode_id for _, one in listed} == ids, asked
    assert await store.episodes.get(Visibility(here), identifier(3)) is None
    assert await put_step(store, 1, of=3, to=Visibility(here)) is None
    assert await store.episodes.delete(Visibility(here), identifier(3)) is None
    assert await store.episodes.get_many(Visibility(here), [identifier(3)], most_bytes=MOST) == []
    nothing = EpisodeChange(description="mine")
    assert await store.episodes.change(Visibility(here), identifier(3), nothing, most_bytes=MOST) is None
    assert (await kept(store, 3, Visibility(there))).task_description == "Fix the login"


async def test_073_pages_of_episodes_lose_nothing(store: Store) -> None:
    for number in range(1, 6):
        await store.episodes.add(episode(number, steps=()))
    await put_step(store, 1, of=5)
    seen: list[str] = []
    after: int | None = None
    while page := await store.episodes.find(NOBODY_IN_PARTICULAR, EpisodeFilter(), 2, after=after):
        seen += [one.episode_id for _, one in page]
        after = page[-1][0]
    assert seen == [identifier(number) for number in (5, 4, 3, 2, 1)]
    ((_, last),) = await store.episodes.find(NOBODY_IN_PARTICULAR, EpisodeFilter(), 1)
    assert last.steps == steps("+")
    ((_, light),) = await store.episodes.find(NOBODY_IN_PARTICULAR, EpisodeFilter(), 1, with_steps=False)
    assert light == replace(last, steps=())


async def test_063_what_lacks_a_vector_of_a_model_is_found_and_made_up_for(store: Store) -> None:
    first = await put_complete(store, episode(1), "a", own=vector(1, 0))
    await store.episodes.add(episode(2))
    without = await store.episodes.complete(
        completed(await kept(store, 2)), Learned(), text("b", model=""), most_bytes=MOST
    )
    assert without is not None
    await store.episodes.add(episode(3))
    assert [one.episode_id for one in await store.episodes.unembedded(MODEL, 10)] == [identifier(2)]
    lacking = await store.episodes.unembedded("static-new", 10)
    assert {one.episode_id for one in lacking} == {identifier(1), identifier(2)}
    changed = replace(without, revision=without.revision - 1)  # as it was before somebody changed it
    await store.episodes.set_vectors("static-new", [(first, vector(0, 1, 0)), (changed, vector(0, 0, 1))])
    assert [one.episode_id for one in await store.episodes.unembedded("static-new", 10)] == [identifier(2)]
    assert list(await found(store, own=vector(0, 1, 0), model="static-new")) == [identifier(1)]
    assert await found(store, own=vector(1, 0)) == {}
    assert (await store.check()).problems == []


async def test_070_a_client_begins_no_more_episodes_than_it_may(store: Store) -> None:
    allowed = Allowance("ada", 1)
    await store.episodes.add(episode(1, client="ada"), allowed)
    with pytest.raises(QuotaExceeded):
        await store.episodes.add(episode(2, client="ada"), allowed)
    assert await store.episodes.get(NOBODY_IN_PARTICULAR, identifier(2)) is None
    await store.episodes.add(episode(3, client="bob"), Allowance("bob", 1))
