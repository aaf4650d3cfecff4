"""Asking: once for each text, whoever needs it, in whatever process; and again when who asked first has failed."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

import anyio
import pytest

from scrubjay.code_index.reranking import embedding_requests as asking_module
from scrubjay.code_index.reranking.chunk_texts import key_of
from scrubjay.code_index.reranking.claims import Claims
from scrubjay.code_index.reranking.embedding_requests import Asking
from scrubjay.core.errors import Unavailable
from scrubjay.features.code.sqlite import SqliteCode
from tests.code_index.reranking.houses import BOUND, opened
from tests.models.batch_service import BatchService, running_batch_service
from tests.processes import FORKED

TEXTS = {key_of(text): text for text in ("one", "two", "three", "four", "five")}
KEYS = [*TEXTS]


class Model:
    """Answers when it is let."""

    model = "a-model"
    dimensions = 4

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.fails = 0
        self.is_asked = anyio.Event()
        self.answers = anyio.Event()

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.asked.append([*texts])
        self.is_asked.set()
        await self.answers.wait()
        if self.fails:
            self.fails -= 1
            raise Unavailable("it is down")
        return [text.encode() for text in texts]

    async def close(self) -> None: ...


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteCode]:
    opened = await SqliteCode.open(tmp_path)
    yield opened
    await opened.close()


def of(*names: str) -> Mapping[str, str]:
    return {key_of(name): name for name in names}


async def test_what_somebody_asks_for_is_waited_for_and_asked_for_again_when_that_fails(
    tmp_path: Path, store: SqliteCode
) -> None:
    model = Model()
    asking = Asking(store.vectors, model, tmp_path)
    failures: list[str] = []
    second_is_done = anyio.Event()

    async def first() -> None:
        try:
            await asking.ensure(of("one", "two"))
        except Unavailable as error:
            failures.append(error.message)

    async def second() -> None:
        await asking.ensure(of("two", "three"))
        second_is_done.set()

    model.fails = 1
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            await model.is_asked.wait()
            tasks.start_soon(second)
            model.answers.set()
    assert (failures, second_is_done.is_set()) == (["it is down"], True)
    assert {*await store.vectors.vectors(asking.model, KEYS)} == {*of("two", "three")}
    assert (model.asked[0], sorted(text for texts in model.asked[1:] for text in texts)) == (
        ["one", "two"],
        ["three", "two"],
    )
    await asking.close()


async def test_not_all_is_claimed_at_once_so_that_somebody_in_a_hurry_gets_in(
    tmp_path: Path, store: SqliteCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking_module, "REQUESTS_AT_ONCE", 1)
    model = Model()
    asking = Asking(store.vectors, model, tmp_path, batch_size=2)
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asking.ensure, TEXTS)
            await model.is_asked.wait()
            model.is_asked = anyio.Event()
            tasks.start_soon(asking.ensure, of("five"))
            await model.is_asked.wait()
            assert model.asked == [["one", "two"], ["five"]]
            model.answers.set()
    assert model.asked == [["one", "two"], ["five"], ["three", "four"]]
    assert {*await store.vectors.vectors(asking.model, KEYS)} == {*KEYS}
    await asking.close()


def embed(home: Path, url: str) -> None:
    async def work() -> None:
        async with opened(home, url) as house:
            await house.embedding.worker.work()

    anyio.run(work)


async def test_what_another_process_is_asking_for_a_search_waits_for(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    service.answering.clear()
    process = FORKED.Process(target=embed, args=(home, service.url), daemon=True)
    take, is_looked = Claims.take, anyio.Event()

    def noted(claims: Claims, keys: Sequence[str]) -> list[str]:
        is_looked.set()
        return take(claims, keys)

    monkeypatch.setattr(Claims, "take", noted)
    async with opened(home, service.url, seconds=BOUND) as house:
        built = await house.build(repository)
        process.start()
        await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) == 4)
        with anyio.fail_after(BOUND):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(house.search, built, "what keeps plums fresh")
                await is_looked.wait()
                await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) >= 5)
                service.answering.set()
        assert (len(service.texts), await house.counts(built)) == (5, (4, 0, 0))
    await anyio.to_thread.run_sync(process.join, BOUND)
    assert process.exitcode == 0


async def test_many_processes_at_once_ask_for_each_text_once(tmp_path: Path, repository: Path) -> None:
    home = tmp_path / "home"
    with running_batch_service() as service:
        async with opened(home, service.url) as house:
            built = await house.build(repository)
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
        async with opened(home, url, seconds=BOUND) as house:
            found = await house.search_index(index_id, "what keeps fruit fresh?")
            assert (len(found), found.degraded) == (4, None)

    anyio.run(work)
