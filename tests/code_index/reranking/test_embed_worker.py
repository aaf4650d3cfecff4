"""The worker: it goes on when the service is back, sees what is new, and is one of all processes."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from scrubjay.code_index.reranking.embed_worker import Rhythm
from scrubjay.code_index.reranking.service import EmbeddingState
from scrubjay.core.errors import InvalidRequest, Unavailable
from tests.code_index.discovery.repository import new_repository, write
from tests.code_index.reranking.conftest import NAMES, source
from tests.code_index.reranking.houses import House, opened
from tests.models.batch_service import BatchService


async def until(house: House, condition: Callable[[EmbeddingState], bool]) -> None:
    """Wait for what the worker says of itself."""
    with anyio.fail_after(5):
        while True:
            if condition(await house.embedding.state()):
                return
            await anyio.sleep(0.01)


def is_all_done(state: EmbeddingState) -> bool:
    return state.problem is None and not any(counts.pending or counts.unread for counts in state.counts.values())


async def test_it_embeds_whatever_comes_also_after_the_service_was_down(
    tmp_path: Path, repository: Path, service: BatchService, caplog: pytest.LogCaptureFixture
) -> None:
    service.down = True
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        assert await house.counts(built) == (0, 0, 4)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(house.embedding.worker.keep)
            await until(house, lambda state: state.problem is not None)
            assert await house.counts(built) == (0, 4, 0)
            service.down = False
            house.embedding.worker._asking.embedder._embedder._upstream._breaker._close()  # pyright: ignore
            await until(house, is_all_done)
            asked = len(service.asked)
            write(repository, {"figs.py": source("dried figs")})
            built = await house.build(repository)
            await until(house, is_all_done)
            assert await house.counts(built) == (4, 0, 0)
            assert (len(service.asked) - asked, service.texts[-1]) == (1, source("dried figs").strip())
            tasks.cancel_scope.cancel()
    assert "code was not embedded" in caplog.text


async def test_a_text_that_is_refused_for_itself_has_no_meaning_and_the_others_have_theirs(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.refuses = "plums"
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        await house.embedding.worker.work()
        assert await house.counts(built) == (4, 0, 0)
        found = await house.search(built, "what keeps plums fresh")
        assert (found[0].file.path, len(found), "refuses" in (found.degraded or "")) == ("plums.py", 4, True)


async def test_where_every_text_is_refused_it_is_not_the_texts_that_are_wrong(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.refuses = ""
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        with pytest.raises(InvalidRequest, match="I do not like this text"):
            await house.embedding.worker.work()
        assert await house.counts(built) == (0, 4, 0)


async def test_one_process_works_at_a_time_and_none_when_nothing_is_new(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with opened(tmp_path / "home", service.url) as house, opened(tmp_path / "home", service.url) as other:
        built = await house.build(repository)
        with other.embedding.worker._alone() as alone:  # pyright: ignore[reportPrivateUsage]
            assert alone
            await house.embedding.worker.work()
            assert service.asked == []
        await house.embedding.worker.work()
        assert await house.counts(built) == (4, 0, 0)
        asked = len(service.asked)
        await other.embedding.worker.work()
        assert len(service.asked) == asked
        service.down = True  # would be noticed if it were asked
        await house.embedding.worker.work()


async def test_what_cannot_be_read_any_more_keeps_nothing_else_from_being_embedded(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    gone = new_repository(tmp_path / "gone", {"a.py": source("dates")})
    async with opened(tmp_path / "home", service.url) as house:
        lost = await house.build(gone)
        built = await house.build(repository)
        shutil.rmtree(gone)
        write(repository, {"figs.py": source("changed figs")})
        await house.embedding.worker.work()
        assert (await house.counts(built), await house.counts(lost)) == ((4, 0, 0), (0, 0, 1))
        assert sorted(text.split(" ")[1] for text in service.texts) == sorted(NAMES)  # as it was committed


async def test_two_who_need_the_same_ask_for_it_once(tmp_path: Path, repository: Path, service: BatchService) -> None:
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        service.answering.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(house.embedding.worker.work)
            await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) == 4)
            tasks.start_soon(house.search, built, "what keeps plums fresh")
            await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) == 5)
            service.answering.set()
        assert len(service.texts) == 5


async def test_it_waits_longer_after_each_failure(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 5:
            raise Unavailable("enough")

    async def fail() -> None:
        raise Unavailable("it is down") if len(waits) < 2 else ZeroDivisionError

    async with opened(tmp_path / "home", service.url, rhythm=Rhythm(idle=1, failed=2, longest=10)) as house:
        monkeypatch.setattr(house.embedding.worker, "work", fail)
        # Its own way to sleep, and not that of everybody: others would then never rest.
        monkeypatch.setattr("scrubjay.code_index.reranking.embed_worker.anyio", SimpleNamespace(sleep=note))
        with pytest.raises(Unavailable, match="enough"):
            await house.embedding.worker.keep()
        assert (waits, house.embedding.worker.problem) == (
            [2, 4, 8, 10, 10],
            "it failed unexpectedly (ZeroDivisionError)",
        )
