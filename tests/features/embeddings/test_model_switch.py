"""One embedding model takes the place of another while memories are written and recalled."""

from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, Conflict, Forbidden, InvalidRequest, Misconfigured, Unavailable
from scrubjay.core.progress import Progress
from scrubjay.features.embeddings import model_switch as embedding_change
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.embeddings.model_switch import BegunChange, Embedded, EmbeddingChange
from scrubjay.features.embeddings.models import MadeVector, ModelState
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.models.choices import EmbeddingChoice, Pace, kept_form
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.providers import embedder_for
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobRun
from tests.models.service import DIMENSIONS, Answer, Service, Silence, running_service, vector_of

OLD = EmbeddingChoice(pace=Pace(retries=0))


@pytest.fixture
def service() -> Generator[Service]:
    with running_service() as running:
        yield running


@dataclass
class Process:
    """What one process has of a store."""

    store: SqliteStore
    models: ModelsInUse
    memories: MemoryService
    change: EmbeddingChange

    @classmethod
    async def start(cls, home: Path, settings: EmbeddingChoice = OLD) -> "Process":
        store = await SqliteStore.open(home)
        make = partial(embedder_for, environment={}, cache=VectorCache(0))
        models = ModelsInUse(store.embeddings, settings, make)
        return cls(store, models, MemoryService(store.memories, models), EmbeddingChange(store.embeddings, models))

    async def remember(self, *contents: str) -> None:
        await self.memories.remember([Draft(content=content) for content in contents], None)

    async def begin_job(self) -> JobRun:
        job = await self.store.jobs.add("embed_memories", {}, owner="test")
        return JobRun(job.id, job.kind, {}, 1)

    async def end_job(self, run: JobRun, state: JobState = JobState.FAILED) -> None:
        await self.store.jobs.finish(run.job_id, "test", state, progress=Progress())

    async def vectors(self) -> dict[str, int]:
        return (await self.store.memories.counts()).vectors

    async def answering(self) -> str:
        return (await self.models.now()).answering.embedder.model

    async def close(self) -> None:
        await self.models.close()
        await self.store.close()


@pytest.fixture
async def process(tmp_path: Path) -> AsyncGenerator[Process]:
    process = await Process.start(tmp_path)
    yield process
    await process.close()


@pytest.fixture
async def other(tmp_path: Path, process: Process) -> AsyncGenerator[Process]:
    other = await Process.start(tmp_path)
    yield other
    await other.close()


def wanted(service: Service, model: str = "mine") -> EmbeddingChoice:
    return EmbeddingChoice(provider="vllm", model=model, base_url=service.url, pace=Pace(batch_size=2))


async def test_without_memories_a_choice_holds_at_once_and_everywhere(
    process: Process, other: Process, service: Service
) -> None:
    assert await other.answering() == "static-v1"
    begun = await process.change.begin(wanted(service))
    assert begun == BegunChange(model=(await process.models.now()).answering, change_id=None, job_id=None, lacking=0)
    assert begun.model.choice == replace(wanted(service), dimensions=DIMENSIONS, pace=Pace(batch_size=2, retries=0))
    assert (await process.answering(), await other.answering()) == ("vllm/mine", "vllm/mine")


async def test_the_old_model_answers_and_nothing_is_missing_at_the_switch(
    process: Process, other: Process, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH", 2)
    await process.remember("one", "two", "three")
    begun = await process.change.begin(wanted(service))
    assert (begun.change_id is not None, begun.job_id, begun.lacking) == (True, None, 3)
    assert await process.answering() == "static-v1"
    run = await process.begin_job()
    service.next = [Silence()]
    asked = len(service.requests)
    done: list[Embedded] = []

    async def carry_out() -> None:
        done.append(await process.change.carry_out(begun.change_id, run))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(carry_out)
            await anyio.to_thread.run_sync(service.wait_for_requests, asked + 1)
            # The job waits for its first vectors.
            assert await other.answering() == "static-v1"
            assert await process.vectors() == {"static-v1": 3}
            await other.remember("four")
            assert await process.vectors() == {"static-v1": 4, "vllm/mine": 1}
            service.release()
    assert done == [Embedded(model="vllm/mine", embedded=3, refused=0, dropped=4)]
    assert run.progress == Progress(3, 3, "dropped 4 vectors of other models")
    assert await process.vectors() == {"vllm/mine": 4}
    assert (await process.answering(), await other.answering()) == ("vllm/mine", "vllm/mine")
    state = await process.store.embeddings.state()
    assert (state.coming, state.answering is not None and state.answering.choice) == (
        None,
        kept_form(begun.model.choice),
    )
    await process.remember("five")
    assert await process.vectors() == {"vllm/mine": 5}
    assert (await process.store.check()).problems == []


async def test_a_write_that_began_before_the_change_has_its_vector_after_it(
    process: Process, other: Process, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = (await other.models.now()).answering.embedder
    embed, reached, go_on = embedder.embed, anyio.Event(), anyio.Event()

    async def embed_slowly(texts: list[str]) -> object:
        vectors = await embed(texts)
        reached.set()
        await go_on.wait()
        return vectors

    monkeypatch.setattr(embedder, "embed", embed_slowly)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other.remember, "slowly")
            await reached.wait()
            await process.change.begin(wanted(service))
            assert await process.answering() == "vllm/mine"
            go_on.set()
    assert await process.store.embeddings.count_lacking("vllm/mine", DIMENSIONS) == 0


async def test_a_provider_that_dies_leaves_the_old_model_and_a_second_try_goes_on(
    process: Process, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH", 2)
    await process.remember("one", "two", "three", "four")
    begun = await process.change.begin(wanted(service))
    run = await process.begin_job()

    async def die_after_the_first_batch(done: float, total: float | None = None, message: str = "") -> None:
        if done:
            service.always = Answer(status=500)

    monkeypatch.setattr(run, "report", die_after_the_first_batch)
    with pytest.raises(Unavailable, match="fails"):
        await process.change.carry_out(begun.change_id, run)
    await process.end_job(run)
    assert await process.answering() == "static-v1"
    assert (await process.models.now()).coming is None
    assert await process.vectors() == {"static-v1": 4, "vllm/mine": 2}
    with pytest.raises(Conflict, match="nothing was changed"):
        await process.change.begin(wanted(service))
    service.always = None
    service.requests.clear()
    again = await process.change.begin(wanted(service))
    assert again.lacking == 2
    service.requests.clear()
    done = await process.change.carry_out(again.change_id, await process.begin_job())
    assert service.texts == ["three", "four"]
    assert (done.embedded, await process.vectors()) == (2, {"vllm/mine": 4})


async def test_cancelling_leaves_the_old_model(process: Process, service: Service) -> None:
    await process.remember("one")
    begun = await process.change.begin(wanted(service))
    run = await process.begin_job()
    run.stop_asked = True
    with pytest.raises(Cancelled):
        await process.change.carry_out(begun.change_id, run)
    assert (await process.answering(), await process.vectors()) == ("static-v1", {"static-v1": 1})


async def test_the_same_choice_twice_is_one_change(process: Process, service: Service) -> None:
    await process.remember("one")
    first = await process.change.begin(wanted(service))
    run = await process.begin_job()
    assert first.change_id is not None
    await process.store.embeddings.claim(first.change_id, run.job_id)
    second = await process.change.begin(wanted(service))
    assert second == BegunChange(model=first.model, change_id=None, job_id=run.job_id, lacking=1)


async def test_a_later_choice_ends_the_change_before_it(process: Process, service: Service) -> None:
    await process.remember("one")
    first = await process.change.begin(wanted(service))
    run = await process.begin_job()
    assert first.change_id is not None
    await process.store.embeddings.claim(first.change_id, run.job_id)
    second = await process.change.begin(wanted(service, "better"))
    with pytest.raises(Conflict, match="another embedding model"):
        await process.change.carry_out(first.change_id, run)
    await process.change.carry_out(second.change_id, await process.begin_job())
    assert (await process.answering(), await process.vectors()) == ("vllm/better", {"vllm/better": 1})


async def test_a_change_that_is_replaced_at_work_stops_at_the_next_batch(
    process: Process, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH", 1)
    await process.remember("one", "two", "three")
    first = await process.change.begin(wanted(service))
    run = await process.begin_job()

    async def choose_another(done: float, total: float | None = None, message: str = "") -> None:
        if done == 1:
            await process.change.begin(wanted(service, "better"))

    monkeypatch.setattr(run, "report", choose_another)
    with pytest.raises(Conflict, match="another embedding model"):
        await process.change.carry_out(first.change_id, run)
    assert (await process.vectors())["vllm/mine"] == 1


async def test_a_job_that_was_killed_after_the_switch_only_tidies_up(process: Process, service: Service) -> None:
    await process.remember("one")
    begun = await process.change.begin(wanted(service))
    run = await process.begin_job()
    assert begun.change_id is not None
    (lacking,) = await process.store.embeddings.lacking("vllm/mine", DIMENSIONS, -1, 10)
    await process.store.embeddings.keep("vllm/mine", [MadeVector(lacking.memory_id, "one", vector_of("one"))])
    assert await process.store.embeddings.complete(begun.change_id)
    assert await process.vectors() == {"static-v1": 1, "vllm/mine": 1}
    done = await process.change.carry_out(begun.change_id, run)
    assert done == Embedded(model="vllm/mine", embedded=0, refused=0, dropped=1)


async def test_going_back_to_the_settings_makes_their_vectors_again(
    process: Process, other: Process, service: Service
) -> None:
    await process.change.begin(wanted(service))
    await process.remember("one")
    back = await process.change.begin(None)
    assert (back.lacking, await other.answering()) == (1, "vllm/mine")
    await other.change.carry_out(back.change_id, await other.begin_job())
    assert (await process.answering(), await process.vectors()) == ("static-v1", {"static-v1": 1})
    state = await process.store.embeddings.state()
    assert state.answering is not None
    assert state == ModelState(answering=replace(state.answering, choice=None))


async def test_what_was_kept_while_the_provider_was_down_gets_its_vector_later(
    process: Process, service: Service
) -> None:
    await process.change.begin(wanted(service))
    await process.remember("one")
    service.always = Answer(status=500)
    await process.remember("two")
    assert await process.vectors() == {"vllm/mine": 1}
    assert await process.store.embeddings.count_lacking("vllm/mine", DIMENSIONS) == 1
    service.always = None
    service.requests.clear()
    done = await process.change.carry_out(None, await process.begin_job())
    assert (done.embedded, service.texts) == (1, ["two"])
    assert await process.vectors() == {"vllm/mine": 2}


async def test_a_text_that_the_provider_refuses_does_not_stop_the_others(process: Process, service: Service) -> None:
    await process.remember("one", "poison", "three")
    begun = await process.change.begin(wanted(service))
    service.poison = "poison"
    done = await process.change.carry_out(begun.change_id, await process.begin_job())
    assert done == Embedded(model="vllm/mine", embedded=3, refused=1, dropped=3)
    assert (await process.answering(), await process.vectors()) == ("vllm/mine", {"vllm/mine": 2})


@pytest.mark.parametrize(
    ("choice", "error", "said"),
    [
        (EmbeddingChoice(provider="vllm", base_url="http://evil.example.com"), Forbidden, "may not have texts sent"),
        (EmbeddingChoice(provider="vllm", base_url="nowhere"), InvalidRequest, "not an address"),
        (EmbeddingChoice(provider="openai"), InvalidRequest, "OPENAI_API_KEY is empty"),
        (EmbeddingChoice(model="static-v9"), InvalidRequest, "there is no local model"),
        (EmbeddingChoice(provider="azure"), InvalidRequest, "needs a resource and a deployment"),
        (
            EmbeddingChoice(provider="vllm", base_url="http://127.0.0.1:9"),
            Conflict,
            "cannot be reached .*; nothing was",
        ),
        (EmbeddingChoice(provider="vllm", model="a/" * 60), InvalidRequest, "name is too long"),
    ],
)
async def test_what_is_not_allowed_or_does_not_work_changes_nothing(
    process: Process, choice: EmbeddingChoice, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        await process.change.begin(choice)
    assert await process.store.embeddings.state() == ModelState()


async def test_a_choice_is_tried_once_whatever_the_patience_of_the_settings(tmp_path: Path, service: Service) -> None:
    process = await Process.start(tmp_path, replace(OLD, pace=Pace(retries=5)))
    service.always = Answer(status=500)
    with pytest.raises(Conflict, match="fails"):
        await process.change.begin(replace(wanted(service), dimensions=DIMENSIONS))
    assert len(service.requests) == 1
    await process.close()


async def test_going_back_to_settings_is_not_carried_out_by_a_process_that_has_others(
    tmp_path: Path, process: Process, service: Service
) -> None:
    await process.change.begin(wanted(service))
    await process.remember("one")
    back = await process.change.begin(None)
    stranger = await Process.start(tmp_path, wanted(service, "other"))
    with pytest.raises(Misconfigured, match="are for vllm/other, not for static-v1"):
        await stranger.change.carry_out(back.change_id, await stranger.begin_job())
    await stranger.close()
    assert await process.vectors() == {"vllm/mine": 1}
