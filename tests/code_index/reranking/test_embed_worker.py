"""The embedding worker recovers from failures, notices changes, and runs in one process at a time."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from scrubjay.code_index.reranking.embed_worker import EmbedIntervals
from scrubjay.code_index.reranking.service import EmbeddingState
from scrubjay.core.errors import InvalidRequest, Unavailable
from tests.code_index.discovery.repository import new_repository, write
from tests.code_index.reranking.conftest import NAMES, source
from tests.code_index.reranking.environment import Environment, open_environment
from tests.models.batch_service import BatchService


async def until(env: Environment, condition: Callable[[EmbeddingState], bool]) -> None:
    """Wait until the state of embedding fulfils a condition."""
    with anyio.fail_after(5):
        while True:
            if condition(await env.embedding.state()):
                return
            await anyio.sleep(0.01)


def is_complete(state: EmbeddingState) -> bool:
    return state.problem is None and not any(counts.pending or counts.unread for counts in state.counts.values())


async def test_the_worker_embeds_new_content_and_recovers_when_the_service_is_back(
    tmp_path: Path, repository: Path, service: BatchService, caplog: pytest.LogCaptureFixture
) -> None:
    service.down = True
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        assert await env.counts(built) == (0, 0, 4)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(env.embedding.worker.keep)
            await until(env, lambda state: state.problem is not None)
            assert await env.counts(built) == (0, 4, 0)
            service.down = False
            env.embedding.worker._requests.embedder._embedder._upstream._breaker._close()  # pyright: ignore
            await until(env, is_complete)
            requests = len(service.requests)
            write(repository, {"figs.py": source("dried figs")})
            built = await env.build(repository)
            await until(env, is_complete)
            assert await env.counts(built) == (4, 0, 0)
            assert (len(service.requests) - requests, service.texts[-1]) == (1, source("dried figs").strip())
            tasks.cancel_scope.cancel()
    assert "embedding code failed" in caplog.text


async def test_a_rejected_text_has_no_vector_and_the_others_are_embedded(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.refused_text = "plums"
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        await env.embedding.worker.work()
        assert await env.counts(built) == (4, 0, 0)
        hits = await env.search(built, "what keeps plums fresh")
        assert (hits[0].file.path, len(hits), "rejects" in (hits.degraded or "")) == ("plums.py", 4, True)


async def test_a_service_that_rejects_every_text_is_a_failure_and_all_stay_pending(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.refused_text = ""
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        with pytest.raises(InvalidRequest, match="I do not like this text"):
            await env.embedding.worker.work()
        assert await env.counts(built) == (0, 4, 0)


async def test_one_process_works_at_a_time_and_none_without_changes(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with (
        open_environment(tmp_path / "home", service.url) as env,
        open_environment(tmp_path / "home", service.url) as other,
    ):
        built = await env.build(repository)
        with other.embedding.worker._alone() as alone:  # pyright: ignore[reportPrivateUsage]
            assert alone
            await env.embedding.worker.work()
            assert service.requests == []
        await env.embedding.worker.work()
        assert await env.counts(built) == (4, 0, 0)
        requests = len(service.requests)
        await other.embedding.worker.work()
        assert len(service.requests) == requests
        service.down = True  # a request would fail
        await env.embedding.worker.work()


async def test_unreadable_content_does_not_prevent_the_rest_from_being_embedded(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    gone = new_repository(tmp_path / "gone", {"a.py": source("dates")})
    async with open_environment(tmp_path / "home", service.url) as env:
        lost = await env.build(gone)
        built = await env.build(repository)
        shutil.rmtree(gone)
        write(repository, {"figs.py": source("changed figs")})
        await env.embedding.worker.work()
        assert (await env.counts(built), await env.counts(lost)) == ((4, 0, 0), (0, 0, 1))
        assert sorted(text.split(" ")[1] for text in service.texts) == sorted(NAMES)  # of the committed content


async def test_a_text_needed_by_the_worker_and_a_search_is_requested_once(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        service.answering.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(env.embedding.worker.work)
            await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) == 4)
            tasks.start_soon(env.search, built, "what keeps plums fresh")
            await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) == 5)
            service.answering.set()
        assert len(service.texts) == 5


async def test_the_wait_grows_with_each_failure(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def record(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 5:
            raise Unavailable("enough")

    async def fail() -> None:
        raise Unavailable("it is down") if len(waits) < 2 else ZeroDivisionError

    async with open_environment(
        tmp_path / "home", service.url, intervals=EmbedIntervals(idle=1, failed=2, longest=10)
    ) as env:
        monkeypatch.setattr(env.embedding.worker, "work", fail)
        # Replace `anyio` only in this module: other code needs the real sleep.
        monkeypatch.setattr("scrubjay.code_index.reranking.embed_worker.anyio", SimpleNamespace(sleep=record))
        with pytest.raises(Unavailable, match="enough"):
            await env.embedding.worker.keep()
        assert (waits, env.embedding.worker.problem) == (
            [2, 4, 8, 10, 10],
            "it failed unexpectedly (ZeroDivisionError)",
        )
