"""Embeddings by batches: what is uploaded, begun, looked at, fetched and removed."""

from collections.abc import AsyncGenerator, Generator
from dataclasses import replace

import pytest
from pydantic import SecretStr

from scrubjay.core.errors import InvalidRequest, Misconfigured, Unavailable
from scrubjay.models.batches import Batch, BatchAnswers, EmbeddingBatches
from scrubjay.models.choices import EmbeddingChoice, Pace
from scrubjay.models.providers import batches_for
from tests.models.batch_service import KEY, BatchService, running_batch_service
from tests.models.service import DIMENSIONS, vector_of

CHOICE = EmbeddingChoice(provider="vllm", model="a-model", dimensions=DIMENSIONS, api_key=SecretStr(KEY))
TEXTS = {"one": "def one(): pass", "two": "def zwei():\n    return 'ü'", "three": "a bad text"}


@pytest.fixture
def service() -> Generator[BatchService]:
    with running_batch_service() as running:
        yield running


@pytest.fixture
async def batches(service: BatchService) -> AsyncGenerator[EmbeddingBatches]:
    choice = replace(CHOICE, base_url=service.url, pace=Pace(retries=0, max_characters=40))
    made = batches_for(choice, {})
    yield made
    await made.close()


async def test_a_batch_comes_to_the_vectors_of_its_texts(service: BatchService, batches: EmbeddingBatches):
    service.refuses = "bad"
    file_id = await batches.upload("some-texts", {**TEXTS, "long": "x" * 50})
    assert (await batches.uploaded("some-texts"), await batches.uploaded("others")) == (file_id, None)
    assert await batches.begun(file_id) is None
    begun = await batches.begin(file_id)
    assert begun == Batch("batch-0", file_id, "validating")
    assert await batches.begun(file_id) == begun
    service.ends = "in_progress"
    assert not (await batches.look(begun.id)).ended
    service.ends = "completed"
    ended = await batches.look(begun.id)
    assert ended.ended
    vectors = {"one": vector_of(TEXTS["one"]), "two": vector_of(TEXTS["two"]), "long": vector_of("x" * 40)}
    assert await batches.answers(ended) == BatchAnswers(vectors, frozenset({"three"}))
    for file in (ended.input_file_id, ended.output_file_id, ended.error_file_id):
        await batches.remove(file)
    assert service.files == {}


async def test_a_batch_that_fails_says_why_and_one_that_expires_brings_what_it_has(
    service: BatchService, batches: EmbeddingBatches
):
    file_id = await batches.upload("some-texts", TEXTS)
    service.ends = "failed"
    failed = await batches.look((await batches.begin(file_id)).id)
    assert (failed.ended, failed.problem) == (True, "no such model")
    assert await batches.answers(failed) == BatchAnswers({}, frozenset())
    service.ends, service.share = "expired", 1 / 3
    expired = await batches.look((await batches.begin(file_id)).id)
    assert await batches.answers(expired) == BatchAnswers({"one": vector_of(TEXTS["one"])}, frozenset())


async def test_beginning_is_never_tried_twice(service: BatchService):
    choice = replace(CHOICE, base_url=service.url, pace=Pace(retries=3))
    batches = batches_for(choice, {})
    service.down = True
    with pytest.raises(Unavailable):
        await batches.begin("file")
    assert service.asked_for("POST", "/batches") == 1
    await batches.close()


async def test_what_is_not_there_or_is_no_answer_is_told(service: BatchService, batches: EmbeddingBatches):
    with pytest.raises(Unavailable) as unknown:
        await batches.look("batch-9")
    assert unknown.value.details["reason"] == "not_found"
    with pytest.raises(InvalidRequest):
        await batches.begin("no-file")
    for broken in (b"no json", b'{"custom_id": []}\n{"response": 3}', b'["x"]'):
        service.files["broken"] = broken
        with pytest.raises(Unavailable) as told:
            await batches.answers(Batch("b", "f", "completed", "broken"))
        assert told.value.details["reason"] == "broken_answer"
    service.files["short"] = (
        b'{"custom_id": "x", "response": {"status_code": 200, "body": {"data": [{"embedding": [1]}]}}}'
    )
    with pytest.raises(Unavailable) as told:
        await batches.answers(Batch("b", "f", "completed", "short"))
    assert told.value.details["reason"] == "wrong_dimensions"


@pytest.mark.parametrize("provider", ["local", "azure"])
def test_not_every_provider_has_batches(provider: str):
    with pytest.raises(Misconfigured, match=provider):
        batches_for(EmbeddingChoice(provider=provider), {})  # pyright: ignore[reportArgumentType]
