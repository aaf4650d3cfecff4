"""Whether a model works is found out by asking it."""

from dataclasses import replace

import numpy as np
import pytest

from scrubjay.core.errors import ErrorCode, ErrorRecord, Unavailable
from scrubjay.models.choices import EmbeddingChoice, Pace
from scrubjay.models.embedding import Embedder
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.probe import Examination, examine, measured
from scrubjay.models.providers import embedder_for
from scrubjay.models.static_model import StaticEmbedder
from tests.models.service import DIMENSIONS, Answer, Service, vector_of


async def test_a_model_that_works_shows_a_sample(service: Service) -> None:
    embedder = ours(service)
    found = await examine(embedder)
    await embedder.close()
    (text,) = service.requests[0].body["input"]
    assert found == Examination(
        available=True,
        model="ollama/mine",
        dimensions=DIMENSIONS,
        milliseconds=found.milliseconds,
        sample=[float(number) for number in np.frombuffer(vector_of(text), "<f2")[:5]],
        error=None,
    )
    assert found.milliseconds > 0


async def test_a_model_that_is_down_says_what_is_wrong(service: Service) -> None:
    embedder = ours(service)
    service.always = Answer(status=404)
    found = await examine(embedder)
    await embedder.close()
    host = service.url.split("/")[2]
    assert found == Examination(
        available=False,
        model="ollama/mine",
        dimensions=DIMENSIONS,
        milliseconds=found.milliseconds,
        sample=[],
        error=ErrorRecord(
            ErrorCode.UNAVAILABLE,
            f"ollama at {host} does not know this (HTTP 404)",
            "fetch the model with: ollama pull mine",
            {"reason": "not_found"},
        ),
    )


async def test_a_cache_does_not_answer_for_a_model_that_is_down(service: Service) -> None:
    embedder = ours(service)
    assert (await examine(embedder)).available
    service.always = Answer(status=404)
    assert not (await examine(embedder)).available
    await embedder.close()


async def test_the_bundled_model_works() -> None:
    found = await examine(StaticEmbedder())
    assert (found.available, found.model, found.dimensions, len(found.sample)) == (True, "static-v1", 256, 5)


def ours(service: Service) -> Embedder:
    choice = EmbeddingChoice(
        provider="ollama", model="mine", dimensions=DIMENSIONS, base_url=service.url, pace=Pace(retries=0)
    )
    return made(choice)


async def test_the_length_of_the_vectors_of_an_unknown_model_is_found_out(service: Service) -> None:
    unknown = EmbeddingChoice(provider="ollama", model="mine", base_url=service.url, pace=Pace(retries=0))
    assert await measured(unknown, made) == replace(unknown, dimensions=DIMENSIONS)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "choice",
    [EmbeddingChoice(), EmbeddingChoice(provider="openai"), EmbeddingChoice(provider="vllm", model="x", dimensions=3)],
)
async def test_a_length_that_is_known_is_not_asked_for(choice: EmbeddingChoice) -> None:
    assert await measured(choice, lambda choice: pytest.fail("asked")) == choice


async def test_a_model_that_is_down_has_no_length(service: Service) -> None:
    service.always = Answer(status=404)
    unknown = EmbeddingChoice(provider="ollama", model="mine", base_url=service.url, pace=Pace(retries=0))
    with pytest.raises(Unavailable, match="does not know this"):
        await measured(unknown, made)


def made(choice: EmbeddingChoice) -> Embedder:
    return embedder_for(choice, environment={}, cache=VectorCache(100_000))
