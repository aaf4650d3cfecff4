"""Each text is requested once across tasks and processes, and again when the first request fails."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

import anyio
import pytest

from scrubjay.code_index.reranking import embedding_requests
from scrubjay.code_index.reranking.chunk_texts import key_of
from scrubjay.code_index.reranking.claims import Claims
from scrubjay.code_index.reranking.embedding_requests import EmbeddingRequests
from scrubjay.core.errors import Unavailable
from scrubjay.features.code.sqlite import SqliteCode
from tests.code_index.reranking.environment import BOUND, open_environment
from tests.models.batch_service import BatchService, running_batch_service
from tests.processes import FORKED

TEXTS = {key_of(text): text for text in ("one", "two", "three", "four", "five")}
KEYS = [*TEXTS]


class WaitingEmbedder:
    """An embedder that waits for `release` before it answers."""

    model = "a-model"
    dimensions = 4

    def __init__(self) -> None:
        self.requests: list[list[str]] = []
        self.failures = 0
        self.requested = anyio.Event()
        self.release = anyio.Event()

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.requests.append([*texts])
        self.requested.set()
        await self.release.wait()
        if self.failures:
            self.failures -= 1
            raise Unavailable("it is down")
        return [text.encode() for text in texts]

    async def close(self) -> None: ...


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteCode]:
    store = await SqliteCode.open(tmp_path)
    yield store
    await store.close()


def of(*names: str) -> Mapping[str, str]:
    return {key_of(name): name for name in names}


async def test_a_text_requested_by_another_task_is_awaited_and_requested_again_when_that_fails(
    tmp_path: Path, store: SqliteCode
) -> None:
    model = WaitingEmbedder()
    requests = EmbeddingRequests(store.vectors, model, tmp_path)
    failures: list[str] = []
    second_is_done = anyio.Event()

    async def first() -> None:
        try:
            await requests.ensure(of("one", "two"))
        except Unavailable as error:
            failures.append(error.message)

    async def second() -> None:
        await requests.ensure(of("two", "three"))
        second_is_done.set()

    model.failures = 1
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            await model.requested.wait()
            tasks.start_soon(second)
            model.release.set()
    assert (failures, second_is_done.is_set()) == (["it is down"], True)
    assert {*await store.vectors.vectors(requests.model, KEYS)} == {*of("two", "three")}
    assert (model.requests[0], sorted(text for texts in model.requests[1:] for text in texts)) == (
        ["one", "two"],
        ["three", "two"],
    )
    await requests.close()


async def test_texts_are_claimed_in_portions_so_that_a_second_caller_need_not_wait_for_all(
    tmp_path: Path, store: SqliteCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_requests, "REQUESTS_AT_ONCE", 1)
    model = WaitingEmbedder()
    requests = EmbeddingRequests(store.vectors, model, tmp_path, batch_size=2)
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(requests.ensure, TEXTS)
            await model.requested.wait()
            model.requested = anyio.Event()
            tasks.start_soon(requests.ensure, of("five"))
            await model.requested.wait()
            assert model.requests == [["one", "two"], ["five"]]
            model.release.set()
    assert model.requests == [["one", "two"], ["five"], ["three", "four"]]
    assert {*await store.vectors.vectors(requests.model, KEYS)} == {*KEYS}
    await requests.close()


def embed(home: Path, url: str) -> None:
    async def work() -> None:
        async with open_environment(home, url) as env:
            await env.embedding.worker.work()

    anyio.run(work)


async def test_a_search_waits_for_texts_that_another_process_is_requesting(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    service.answering.clear()
    process = FORKED.Process(target=embed, args=(home, service.url), daemon=True)
    take, claim_attempted = Claims.take, anyio.Event()

    def recording_take(claims: Claims, keys: Sequence[str]) -> list[str]:
        claim_attempted.set()
        return take(claims, keys)

    monkeypatch.setattr(Claims, "take", recording_take)
    async with open_environment(home, service.url, seconds=BOUND) as env:
        built = await env.build(repository)
        process.start()
        await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) == 4)
        with anyio.fail_after(BOUND):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(env.search, built, "what keeps plums fresh")
                await claim_attempted.wait()
                await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) >= 5)
                service.answering.set()
        assert (len(service.texts), await env.counts(built)) == (5, (4, 0, 0))
    await anyio.to_thread.run_sync(process.join, BOUND)
    assert process.exitcode == 0


async def test_concurrent_processes_request_each_text_once(tmp_path: Path, repository: Path) -> None:
    home = tmp_path / "home"
    with running_batch_service() as service:
        async with open_environment(home, service.url) as env:
            built = await env.build(repository)
        processes = [
            FORKED.Process(target=search, args=(home, service.url, built.record.id), daemon=True) for _ in range(4)
        ]
        for process in processes:
            process.start()
        for process in processes:
            await anyio.to_thread.run_sync(process.join, BOUND)
        assert [process.exitcode for process in processes] == [0] * 4
        code = [text for text in service.texts if "def " in text]
        assert (len(code), len({*code})) == (4, 4)


def search(home: Path, url: str, index_id: str) -> None:
    async def work() -> None:
        async with open_environment(home, url, seconds=BOUND) as env:
            hits = await env.search_index(index_id, "what keeps fruit fresh?")
            assert (len(hits), hits.degraded) == (4, None)

    anyio.run(work)
