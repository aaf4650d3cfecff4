"""Batches: one at a time, whatever becomes of them, and a search that does not wait for them."""

from pathlib import Path

import pytest

from scrubjay.code_index.reranking import batch_jobs as batching
from scrubjay.core.errors import Unavailable
from tests.code_index.reranking.conftest import NAMES
from tests.code_index.reranking.houses import House, opened
from tests.models.batch_service import BatchService


async def in_batch(house: House) -> int:
    return (await house.embedding.state()).in_batch


async def test_a_batch_is_begun_waited_for_and_fetched_and_leaves_nothing_behind(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.ends = "in_progress"
    async with opened(tmp_path / "home", service.url, batches=True) as house:
        built = await house.build(repository)
        for _ in range(3):
            await house.embedding.worker.work()
            assert (await house.counts(built), await in_batch(house), len(service.batches)) == ((0, 4, 0), 4, 1)
        found = await house.search(built, "what keeps plums fresh")  # which comes first
        assert (found.degraded, len(service.texts), await house.counts(built)) == (None, 5, (4, 0, 0))
        service.ends = "completed"
        await house.embedding.worker.work()
        assert (await house.counts(built), await in_batch(house), service.files) == ((4, 0, 0), 0, {})
        assert [sorted(text.split(" ")[1] for text in texts) for texts in service.batched] == [sorted(NAMES)]
        asked = len(service.asked)
        await house.embedding.worker.work()
        assert len(service.asked) == asked


@pytest.mark.parametrize("ends", ["failed", "expired", "cancelled"])
async def test_what_a_batch_did_not_come_to_is_pending_again(
    tmp_path: Path, repository: Path, service: BatchService, ends: str
) -> None:
    service.ends, service.share = ends, 0.0
    async with opened(tmp_path / "home", service.url, batches=True) as house:
        built = await house.build(repository)
        await house.embedding.worker.work()
        with pytest.raises(Unavailable, match=f"batch-0 came to nothing: {ends}"):
            await house.embedding.worker.work()
        assert (await house.counts(built), await in_batch(house), service.files) == ((0, 4, 0), 0, {})
        service.share = 0.5
        await house.embedding.worker.work()
        if ends != "failed":  # what it did come to is kept, and the rest is in the next one
            await house.embedding.worker.work()
            assert (await house.counts(built), await in_batch(house)) == ((2, 2, 0), 2)
        service.ends, service.share = "completed", 1.0
        await house.embedding.worker.work()
        assert (await house.counts(built), await in_batch(house)) == ((4, 0, 0), 0)
        assert [len(texts) for texts in service.batched] == ([4, 4] if ends == "failed" else [4, 4, 2])


async def test_a_batch_is_not_too_large_and_the_next_one_follows(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "LARGEST", 3)
    service.refuses = "plums"
    async with opened(tmp_path / "home", service.url, batches=True) as house:
        built = await house.build(repository)
        for _ in range(3):
            await house.embedding.worker.work()
        assert (await house.counts(built), [len(texts) for texts in service.batched]) == ((4, 0, 0), [3, 1])


async def test_a_batch_that_the_service_has_lost_is_begun_anew(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.ends = "in_progress"
    async with opened(tmp_path / "home", service.url, batches=True) as house:
        built = await house.build(repository)
        await house.embedding.worker.work()
        lost = dict(service.batches)
        service.batches.clear()
        await house.embedding.worker.work()
        assert (len(service.batches), len(lost), await in_batch(house)) == (1, 1, 4)
        service.ends = "completed"
        await house.embedding.worker.work()
        assert await house.counts(built) == (4, 0, 0)


async def test_what_cannot_be_understood_is_not_paid_for_again(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.meaning = lambda text: [1.0, 0.0]
    async with opened(tmp_path / "home", service.url, batches=True) as house:
        built = await house.build(repository)
        await house.embedding.worker.work()
        for _ in range(2):
            with pytest.raises(Unavailable, match="2 dimensions instead of 8"):
                await house.embedding.worker.work()
        assert (len(service.batches), await house.counts(built)) == (1, (0, 4, 0))


@pytest.mark.parametrize("path", ["/batches", "/files"])
async def test_a_service_without_batches_is_told_of_and_no_file_is_left_there(
    tmp_path: Path, repository: Path, service: BatchService, path: str
) -> None:
    service.lacks = path
    async with opened(tmp_path / "home", service.url, batches=True) as house:
        built = await house.build(repository)
        for _ in range(2):
            with pytest.raises(Unavailable, match="there is no such thing"):
                await house.embedding.worker.work()
            assert (service.files, await in_batch(house), await house.counts(built)) == ({}, 0, (0, 4, 0))
        service.lacks = None
        for _ in range(2):
            await house.embedding.worker.work()
        assert (service.files, len(service.batches), await house.counts(built)) == ({}, 1, (4, 0, 0))


async def test_when_the_answers_of_a_batch_are_gone_what_was_in_it_is_pending_again(
    tmp_path: Path, repository: Path, service: BatchService, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path / "home", service.url, batches=True) as house:
        built = await house.build(repository)
        await house.embedding.worker.work()
        service.lacks = "/files/.*/content"
        await house.embedding.worker.work()
        assert (len(service.batches), await in_batch(house), await house.counts(built)) == (2, 4, (0, 4, 0))
        service.lacks = None
        await house.embedding.worker.work()
        assert await house.counts(built) == (4, 0, 0)
    assert "the answers of a batch are gone" in caplog.text
