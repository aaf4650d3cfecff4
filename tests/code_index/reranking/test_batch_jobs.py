"""Embedding by batch jobs: one batch at a time, failed batches, and searches that do not wait for a batch."""

from pathlib import Path

import pytest

from scrubjay.code_index.reranking import batch_jobs
from scrubjay.core.errors import Unavailable
from tests.code_index.reranking.conftest import NAMES
from tests.code_index.reranking.environment import Environment, open_environment
from tests.models.batch_service import BatchService


async def in_batch(env: Environment) -> int:
    return (await env.embedding.state()).in_batch


async def test_a_batch_is_started_polled_fetched_and_cleaned_up(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.final_status = "in_progress"
    async with open_environment(tmp_path / "home", service.url, batches=True) as env:
        built = await env.build(repository)
        for _ in range(3):
            await env.embedding.worker.work()
            assert (await env.counts(built), await in_batch(env), len(service.batches)) == ((0, 4, 0), 4, 1)
        hits = await env.search(built, "what keeps plums fresh")  # does not wait for the batch
        assert (hits.degraded, len(service.texts), await env.counts(built)) == (None, 5, (4, 0, 0))
        service.final_status = "completed"
        await env.embedding.worker.work()
        assert (await env.counts(built), await in_batch(env), service.files) == ((4, 0, 0), 0, {})
        assert [sorted(text.split(" ")[1] for text in texts) for texts in service.batched] == [sorted(NAMES)]
        requests = len(service.requests)
        await env.embedding.worker.work()
        assert len(service.requests) == requests


@pytest.mark.parametrize("status", ["failed", "expired", "cancelled"])
async def test_texts_that_a_batch_did_not_complete_are_pending_again(
    tmp_path: Path, repository: Path, service: BatchService, status: str
) -> None:
    service.final_status, service.completed_share = status, 0.0
    async with open_environment(tmp_path / "home", service.url, batches=True) as env:
        built = await env.build(repository)
        await env.embedding.worker.work()
        with pytest.raises(Unavailable, match=f"batch-0 produced no vectors: {status}"):
            await env.embedding.worker.work()
        assert (await env.counts(built), await in_batch(env), service.files) == ((0, 4, 0), 0, {})
        service.completed_share = 0.5
        await env.embedding.worker.work()
        if status != "failed":  # completed vectors are stored; the rest is in the next batch
            await env.embedding.worker.work()
            assert (await env.counts(built), await in_batch(env)) == ((2, 2, 0), 2)
        service.final_status, service.completed_share = "completed", 1.0
        await env.embedding.worker.work()
        assert (await env.counts(built), await in_batch(env)) == ((4, 0, 0), 0)
        assert [len(texts) for texts in service.batched] == ([4, 4] if status == "failed" else [4, 4, 2])


async def test_the_size_of_a_batch_is_limited_and_the_rest_is_in_the_next_one(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_jobs, "MAX_TEXTS", 3)
    service.refused_text = "plums"
    async with open_environment(tmp_path / "home", service.url, batches=True) as env:
        built = await env.build(repository)
        for _ in range(3):
            await env.embedding.worker.work()
        assert (await env.counts(built), [len(texts) for texts in service.batched]) == ((4, 0, 0), [3, 1])


async def test_a_batch_that_the_service_has_lost_is_started_again(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.final_status = "in_progress"
    async with open_environment(tmp_path / "home", service.url, batches=True) as env:
        built = await env.build(repository)
        await env.embedding.worker.work()
        before = len(service.batches)
        service.batches.clear()
        await env.embedding.worker.work()
        assert (len(service.batches), before, await in_batch(env)) == (1, 1, 4)
        service.final_status = "completed"
        await env.embedding.worker.work()
        assert await env.counts(built) == (4, 0, 0)


async def test_a_batch_with_invalid_vectors_is_not_started_again(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.embed = lambda text: [1.0, 0.0]
    async with open_environment(tmp_path / "home", service.url, batches=True) as env:
        built = await env.build(repository)
        await env.embedding.worker.work()
        for _ in range(2):
            with pytest.raises(Unavailable, match="2 dimensions instead of 8"):
                await env.embedding.worker.work()
        assert (len(service.batches), await env.counts(built)) == (1, (0, 4, 0))


@pytest.mark.parametrize("path", ["/batches", "/files"])
async def test_a_service_without_batches_is_reported_and_no_uploaded_file_remains(
    tmp_path: Path, repository: Path, service: BatchService, path: str
) -> None:
    service.missing_paths = path
    async with open_environment(tmp_path / "home", service.url, batches=True) as env:
        built = await env.build(repository)
        for _ in range(2):
            with pytest.raises(Unavailable, match="there is no such thing"):
                await env.embedding.worker.work()
            assert (service.files, await in_batch(env), await env.counts(built)) == ({}, 0, (0, 4, 0))
        service.missing_paths = None
        for _ in range(2):
            await env.embedding.worker.work()
        assert (service.files, len(service.batches), await env.counts(built)) == ({}, 1, (4, 0, 0))


async def test_texts_are_pending_again_when_the_output_of_their_batch_is_gone(
    tmp_path: Path, repository: Path, service: BatchService, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_environment(tmp_path / "home", service.url, batches=True) as env:
        built = await env.build(repository)
        await env.embedding.worker.work()
        service.missing_paths = "/files/.*/content"
        await env.embedding.worker.work()
        assert (len(service.batches), await in_batch(env), await env.counts(built)) == (2, 4, (0, 4, 0))
        service.missing_paths = None
        await env.embedding.worker.work()
        assert await env.counts(built) == (4, 0, 0)
    assert "the answers of a batch no longer exist" in caplog.text
