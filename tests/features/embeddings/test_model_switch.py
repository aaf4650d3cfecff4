"""Switching the embedding model while memories are stored and recalled."""

from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.callers import OWNER
from scrubjay.core.errors import Cancelled, Conflict, Forbidden, InvalidRequest, Misconfigured, Unavailable
from scrubjay.core.progress import Progress
from scrubjay.features.embeddings import model_switch as embedding_change
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.embeddings.model_switch import EmbeddingRun, ModelSwitch, StartedSwitch
from scrubjay.features.embeddings.models import ModelState, NewVector
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.service import MemoryService
from scrubjay.models.choices import EmbeddingChoice, Pace, stored_form
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.providers import embedder_for
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobRun
from tests.models.service import DIMENSIONS, Answer, Service, Silence, expected_vector, running_service

OLD = EmbeddingChoice(pace=Pace(retries=0))


@pytest.fixture
def service() -> Generator[Service]:
    with running_service() as running:
        yield running


@dataclass
class Process:
    """The services of one process."""

    store: SqliteStore
    models: ModelRegistry
    memories: MemoryService
    change: ModelSwitch

    @classmethod
    async def start(cls, home: Path, settings: EmbeddingChoice = OLD) -> "Process":
        store = await SqliteStore.open(home)
        make = partial(embedder_for, environment={}, cache=VectorCache(0))
        models = ModelRegistry(store.embeddings, settings, make)
        return cls(store, models, MemoryService(store.memories, models), ModelSwitch(store.embeddings, models))

    async def remember(self, *contents: str) -> None:
        await self.memories.remember([Draft(content=content) for content in contents], None)

    async def begin_job(self) -> JobRun:
        job = await self.store.jobs.add("embed_memories", {}, owner="test")
        return JobRun(job.id, job.kind, {}, 1)

    async def end_job(self, run: JobRun, state: JobState = JobState.FAILED) -> None:
        await self.store.jobs.finish(run.job_id, "test", state, progress=Progress())

    async def vectors(self) -> dict[str, int]:
        return (await self.store.memories.counts()).vectors

    async def active_model(self) -> str:
        return (await self.models.current()).active.embedder.model

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


def model_choice(service: Service, model: str = "mine") -> EmbeddingChoice:
    return EmbeddingChoice(provider="vllm", model=model, base_url=service.url, pace=Pace(batch_size=2))


async def test_without_memories_a_choice_is_active_immediately_in_all_processes(
    process: Process, other: Process, service: Service
) -> None:
    assert await other.active_model() == "static-v1"
    started = await process.change.begin(model_choice(service), OWNER)
    assert started == StartedSwitch(
        model=(await process.models.current()).active, change_id=None, job_id=None, missing=0
    )
    assert started.model.choice == replace(
        model_choice(service), dimensions=DIMENSIONS, pace=Pace(batch_size=2, retries=0)
    )
    assert (await process.active_model(), await other.active_model()) == ("vllm/mine", "vllm/mine")


async def test_the_old_model_stays_active_and_no_vector_is_missing_at_the_switch(
    process: Process, other: Process, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH_SIZE", 2)
    await process.remember("one", "two", "three")
    started = await process.change.begin(model_choice(service), OWNER)
    assert (started.change_id is not None, started.job_id, started.missing) == (True, None, 3)
    assert await process.active_model() == "static-v1"
    run = await process.begin_job()
    service.next = [Silence()]
    requests_before = len(service.requests)
    done: list[EmbeddingRun] = []

    async def run_switch() -> None:
        done.append(await process.change.run(started.change_id, run))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_switch)
            await anyio.to_thread.run_sync(service.wait_for_requests, requests_before + 1)
            # The job waits for its first vectors.
            assert await other.active_model() == "static-v1"
            assert await process.vectors() == {"static-v1": 3}
            await other.remember("four")
            assert await process.vectors() == {"static-v1": 4, "vllm/mine": 1}
            service.release()
    assert done == [EmbeddingRun(model="vllm/mine", embedded=3, refused=0, dropped=4)]
    assert run.progress == Progress(3, 3, "dropped 4 vectors of other models")
    assert await process.vectors() == {"vllm/mine": 4}
    assert (await process.active_model(), await other.active_model()) == ("vllm/mine", "vllm/mine")
    state = await process.store.embeddings.state()
    assert (state.next, state.active is not None and state.active.choice) == (
        None,
        stored_form(started.model.choice),
    )
    await process.remember("five")
    assert await process.vectors() == {"vllm/mine": 5}
    assert (await process.store.check()).problems == []


async def test_a_write_that_started_before_the_switch_has_a_vector_after_it(
    process: Process, other: Process, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = (await other.models.current()).active.embedder
    embed, reached, proceed = embedder.embed, anyio.Event(), anyio.Event()

    async def embed_slowly(texts: list[str]) -> object:
        vectors = await embed(texts)
        reached.set()
        await proceed.wait()
        return vectors

    monkeypatch.setattr(embedder, "embed", embed_slowly)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other.remember, "slowly")
            await reached.wait()
            await process.change.begin(model_choice(service), OWNER)
            assert await process.active_model() == "vllm/mine"
            proceed.set()
    assert await process.store.embeddings.count_missing("vllm/mine", DIMENSIONS) == 0


async def test_after_a_failure_of_the_provider_the_old_model_stays_and_a_retry_continues(
    process: Process, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH_SIZE", 2)
    await process.remember("one", "two", "three", "four")
    started = await process.change.begin(model_choice(service), OWNER)
    run = await process.begin_job()

    async def fail_after_the_first_batch(done: float, total: float | None = None, message: str = "") -> None:
        if done:
            service.always = Answer(status=500)

    monkeypatch.setattr(run, "report", fail_after_the_first_batch)
    with pytest.raises(Unavailable, match="fails"):
        await process.change.run(started.change_id, run)
    await process.end_job(run)
    assert await process.active_model() == "static-v1"
    assert (await process.models.current()).next is None
    assert await process.vectors() == {"static-v1": 4, "vllm/mine": 2}
    with pytest.raises(Conflict, match="nothing was changed"):
        await process.change.begin(model_choice(service), OWNER)
    service.always = None
    service.requests.clear()
    again = await process.change.begin(model_choice(service), OWNER)
    assert again.missing == 2
    service.requests.clear()
    done = await process.change.run(again.change_id, await process.begin_job())
    assert service.texts == ["three", "four"]
    assert (done.embedded, await process.vectors()) == (2, {"vllm/mine": 4})


async def test_after_cancelling_the_old_model_stays_active(process: Process, service: Service) -> None:
    await process.remember("one")
    started = await process.change.begin(model_choice(service), OWNER)
    run = await process.begin_job()
    run.cancel_requested = True
    with pytest.raises(Cancelled):
        await process.change.run(started.change_id, run)
    assert (await process.active_model(), await process.vectors()) == ("static-v1", {"static-v1": 1})


async def test_a_repeated_choice_starts_no_second_change(process: Process, service: Service) -> None:
    await process.remember("one")
    first = await process.change.begin(model_choice(service), OWNER)
    run = await process.begin_job()
    assert first.change_id is not None
    await process.store.embeddings.claim(first.change_id, run.job_id)
    second = await process.change.begin(model_choice(service), OWNER)
    assert second == StartedSwitch(model=first.model, change_id=None, job_id=run.job_id, missing=1)


async def test_a_later_choice_replaces_the_running_change(process: Process, service: Service) -> None:
    await process.remember("one")
    first = await process.change.begin(model_choice(service), OWNER)
    run = await process.begin_job()
    assert first.change_id is not None
    await process.store.embeddings.claim(first.change_id, run.job_id)
    second = await process.change.begin(model_choice(service, "better"), OWNER)
    with pytest.raises(Conflict, match="another embedding model"):
        await process.change.run(first.change_id, run)
    await process.change.run(second.change_id, await process.begin_job())
    assert (await process.active_model(), await process.vectors()) == ("vllm/better", {"vllm/better": 1})


async def test_a_replaced_change_stops_at_the_next_batch(
    process: Process, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH_SIZE", 1)
    await process.remember("one", "two", "three")
    first = await process.change.begin(model_choice(service), OWNER)
    run = await process.begin_job()

    async def choose_another(done: float, total: float | None = None, message: str = "") -> None:
        if done == 1:
            await process.change.begin(model_choice(service, "better"), OWNER)

    monkeypatch.setattr(run, "report", choose_another)
    with pytest.raises(Conflict, match="another embedding model"):
        await process.change.run(first.change_id, run)
    assert (await process.vectors())["vllm/mine"] == 1


async def test_a_job_killed_after_the_switch_only_deletes_old_vectors(process: Process, service: Service) -> None:
    await process.remember("one")
    started = await process.change.begin(model_choice(service), OWNER)
    run = await process.begin_job()
    assert started.change_id is not None
    (lacking,) = await process.store.embeddings.missing("vllm/mine", DIMENSIONS, -1, 10)
    await process.store.embeddings.put("vllm/mine", [NewVector(lacking.memory_id, "one", expected_vector("one"))])
    assert await process.store.embeddings.complete(started.change_id)
    assert await process.vectors() == {"static-v1": 1, "vllm/mine": 1}
    done = await process.change.run(started.change_id, run)
    assert done == EmbeddingRun(model="vllm/mine", embedded=0, refused=0, dropped=1)


async def test_returning_to_the_settings_recreates_their_vectors(
    process: Process, other: Process, service: Service
) -> None:
    await process.change.begin(model_choice(service), OWNER)
    await process.remember("one")
    back = await process.change.begin(None, OWNER)
    assert (back.missing, await other.active_model()) == (1, "vllm/mine")
    await other.change.run(back.change_id, await other.begin_job())
    assert (await process.active_model(), await process.vectors()) == ("static-v1", {"static-v1": 1})
    state = await process.store.embeddings.state()
    assert state.active is not None
    assert state == ModelState(active=replace(state.active, choice=None))


async def test_a_memory_stored_while_the_provider_was_down_gets_its_vector_later(
    process: Process, service: Service
) -> None:
    await process.change.begin(model_choice(service), OWNER)
    await process.remember("one")
    service.always = Answer(status=500)
    await process.remember("two")
    assert await process.vectors() == {"vllm/mine": 1}
    assert await process.store.embeddings.count_missing("vllm/mine", DIMENSIONS) == 1
    service.always = None
    service.requests.clear()
    done = await process.change.run(None, await process.begin_job())
    assert (done.embedded, service.texts) == (1, ["two"])
    assert await process.vectors() == {"vllm/mine": 2}


async def test_a_text_that_the_provider_refuses_does_not_stop_the_others(process: Process, service: Service) -> None:
    await process.remember("one", "poison", "three")
    started = await process.change.begin(model_choice(service), OWNER)
    service.refused_text = "poison"
    done = await process.change.run(started.change_id, await process.begin_job())
    assert done == EmbeddingRun(model="vllm/mine", embedded=3, refused=1, dropped=3)
    assert (await process.active_model(), await process.vectors()) == ("vllm/mine", {"vllm/mine": 2})


@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        (EmbeddingChoice(provider="vllm", base_url="http://evil.example.com"), Forbidden, "callers may not send texts"),
        (EmbeddingChoice(provider="vllm", base_url="nowhere"), InvalidRequest, "not an HTTP URL"),
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
async def test_a_model_that_is_not_allowed_or_does_not_work_changes_nothing(
    process: Process, choice: EmbeddingChoice, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        await process.change.begin(choice, OWNER)
    assert await process.store.embeddings.state() == ModelState()


async def test_a_choice_is_tested_without_retries(tmp_path: Path, service: Service) -> None:
    process = await Process.start(tmp_path, replace(OLD, pace=Pace(retries=5)))
    service.always = Answer(status=500)
    with pytest.raises(Conflict, match="fails"):
        await process.change.begin(replace(model_choice(service), dimensions=DIMENSIONS), OWNER)
    assert len(service.requests) == 1
    await process.close()


async def test_a_process_with_other_settings_does_not_run_a_return_to_settings(
    tmp_path: Path, process: Process, service: Service
) -> None:
    await process.change.begin(model_choice(service), OWNER)
    await process.remember("one")
    back = await process.change.begin(None, OWNER)
    different = await Process.start(tmp_path, model_choice(service, "other"))
    with pytest.raises(Misconfigured, match="are for vllm/other, not for static-v1"):
        await different.change.run(back.change_id, await different.begin_job())
    await different.close()
    assert await process.vectors() == {"vllm/mine": 1}
