"""Embedding batches: upload, start, status, results and removal."""

from collections.abc import AsyncGenerator, Generator
from dataclasses import replace

import pytest
from pydantic import SecretStr

from scrubjay.core.errors import InvalidRequest, Misconfigured, Unavailable
from scrubjay.models.batches import BatchAnswers, EmbeddingBatches, ProviderBatch
from scrubjay.models.choices import EmbeddingChoice, Pace
from scrubjay.models.providers import batches_for
from tests.models.batch_service import KEY, BatchService, running_batch_service
from tests.models.service import DIMENSIONS, expected_vector

CHOICE = EmbeddingChoice(provider="vllm", model="a-model", dimensions=DIMENSIONS, api_key=SecretStr(KEY))
TEXTS = {"one": "def one(): pass", "two": "def zwei():\n    return 'ü'", "three": "a bad text"}


@pytest.fixture
def service() -> Generator[BatchService]:
    with running_batch_service() as running:
        yield running


@pytest.fixture
async def batches(service: BatchService) -> AsyncGenerator[EmbeddingBatches]:
    choice = replace(CHOICE, base_url=service.url, pace=Pace(retries=0, max_characters=40))
    batches = batches_for(choice, {})
    yield batches
    await batches.close()


async def test_a_batch_returns_the_vectors_of_its_texts(service: BatchService, batches: EmbeddingBatches):
    service.refused_text = "bad"
    file_id = await batches.upload("some-texts", {**TEXTS, "long": "x" * 50})
    assert (await batches.find_file("some-texts"), await batches.find_file("others")) == (file_id, None)
    assert await batches.find_batch(file_id) is None
    begun = await batches.start(file_id)
    assert begun == ProviderBatch("batch-0", file_id, "validating")
    assert await batches.find_batch(file_id) == begun
    service.final_status = "in_progress"
    assert not (await batches.get(begun.id)).ended
    service.final_status = "completed"
    ended = await batches.get(begun.id)
    assert ended.ended
    vectors = {
        "one": expected_vector(TEXTS["one"]),
        "two": expected_vector(TEXTS["two"]),
        "long": expected_vector("x" * 40),
    }
    assert await batches.answers(ended) == BatchAnswers(vectors, frozenset({"three"}))
    for file in (ended.input_file_id, ended.output_file_id, ended.error_file_id):
        await batches.remove(file)
    assert service.files == {}


async def test_a_failed_batch_has_a_reason_and_an_expired_one_returns_partial_results(
    service: BatchService, batches: EmbeddingBatches
):
    file_id = await batches.upload("some-texts", TEXTS)
    service.final_status = "failed"
    failed = await batches.get((await batches.start(file_id)).id)
    assert (failed.ended, failed.problem) == (True, "no such model")
    assert await batches.answers(failed) == BatchAnswers({}, frozenset())
    service.final_status, service.completed_share = "expired", 1 / 3
    expired = await batches.get((await batches.start(file_id)).id)
    assert await batches.answers(expired) == BatchAnswers({"one": expected_vector(TEXTS["one"])}, frozenset())


async def test_starting_a_batch_is_never_retried(service: BatchService):
    choice = replace(CHOICE, base_url=service.url, pace=Pace(retries=3))
    batches = batches_for(choice, {})
    service.down = True
    with pytest.raises(Unavailable):
        await batches.start("file")
    assert service.count_requests("POST", "/batches") == 1
    await batches.close()


async def test_missing_objects_and_broken_answers_are_reported(service: BatchService, batches: EmbeddingBatches):
    with pytest.raises(Unavailable) as unknown:
        await batches.get("batch-9")
    assert unknown.value.details["reason"] == "not_found"
    with pytest.raises(InvalidRequest):
        await batches.start("no-file")
    for broken in (b"no json", b'{"custom_id": []}\n{"response": 3}', b'["x"]'):
        service.files["broken"] = broken
        with pytest.raises(Unavailable) as caught:
            await batches.answers(ProviderBatch("b", "f", "completed", "broken"))
        assert caught.value.details["reason"] == "broken_answer"
    service.files["short"] = (
        b'{"custom_id": "x", "response": {"status_code": 200, "body": {"data": [{"embedding": [1]}]}}}'
    )
    with pytest.raises(Unavailable) as caught:
        await batches.answers(ProviderBatch("b", "f", "completed", "short"))
    assert caught.value.details["reason"] == "wrong_dimensions"


@pytest.mark.parametrize("provider", ["local", "azure"])
def test_providers_without_batches_are_refused(provider: str):
    with pytest.raises(Misconfigured, match=provider):
        batches_for(EmbeddingChoice(provider=provider), {})  # pyright: ignore[reportArgumentType]
