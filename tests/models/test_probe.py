"""A model is probed with a real request."""

from dataclasses import replace

import numpy as np
import pytest

from scrubjay.core.errors import ErrorCode, ErrorRecord, Unavailable
from scrubjay.models.choices import EmbeddingChoice, Pace
from scrubjay.models.embedding import Embedder
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.probe import ProbeResult, probe, with_dimensions
from scrubjay.models.providers import embedder_for
from scrubjay.models.static_model import StaticEmbedder
from tests.models.service import DIMENSIONS, Answer, Service, expected_vector


async def test_the_probe_of_a_working_model_returns_a_sample(service: Service) -> None:
    embedder = embedder_of(service)
    result = await probe(embedder)
    await embedder.close()
    (text,) = service.requests[0].body["input"]
    assert result == ProbeResult(
        available=True,
        model="ollama/mine",
        dimensions=DIMENSIONS,
        milliseconds=result.milliseconds,
        sample=[float(number) for number in np.frombuffer(expected_vector(text), "<f2")[:5]],
        error=None,
    )
    assert result.milliseconds > 0


async def test_the_probe_of_a_failing_model_returns_the_reason(service: Service) -> None:
    embedder = embedder_of(service)
    service.always = Answer(status=404)
    result = await probe(embedder)
    await embedder.close()
    host = service.url.split("/")[2]
    assert result == ProbeResult(
        available=False,
        model="ollama/mine",
        dimensions=DIMENSIONS,
        milliseconds=result.milliseconds,
        sample=[],
        error=ErrorRecord(
            ErrorCode.UNAVAILABLE,
            f"ollama at {host} does not have this resource (HTTP 404)",
            "fetch the model with: ollama pull mine",
            {"reason": "not_found"},
        ),
    )


async def test_the_probe_bypasses_the_cache(service: Service) -> None:
    embedder = embedder_of(service)
    assert (await probe(embedder)).available
    service.always = Answer(status=404)
    assert not (await probe(embedder)).available
    await embedder.close()


async def test_the_probe_of_the_bundled_model_succeeds() -> None:
    result = await probe(StaticEmbedder())
    assert (result.available, result.model, result.dimensions, len(result.sample)) == (True, "static-v1", 256, 5)


def embedder_of(service: Service) -> Embedder:
    choice = EmbeddingChoice(
        provider="ollama", model="mine", dimensions=DIMENSIONS, base_url=service.url, pace=Pace(retries=0)
    )
    return create_embedder(choice)


async def test_the_dimensions_of_an_unknown_model_are_determined_by_a_request(service: Service) -> None:
    unknown = EmbeddingChoice(provider="ollama", model="mine", base_url=service.url, pace=Pace(retries=0))
    assert await with_dimensions(unknown, create_embedder) == replace(unknown, dimensions=DIMENSIONS)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "choice",
    [EmbeddingChoice(), EmbeddingChoice(provider="openai"), EmbeddingChoice(provider="vllm", model="x", dimensions=3)],
)
async def test_known_dimensions_need_no_request(choice: EmbeddingChoice) -> None:
    assert await with_dimensions(choice, lambda choice: pytest.fail("a model was created")) == choice


async def test_a_failing_model_has_no_dimensions(service: Service) -> None:
    service.always = Answer(status=404)
    unknown = EmbeddingChoice(provider="ollama", model="mine", base_url=service.url, pace=Pace(retries=0))
    with pytest.raises(Unavailable, match="does not have this resource"):
        await with_dimensions(unknown, create_embedder)


def create_embedder(choice: EmbeddingChoice) -> Embedder:
    return embedder_for(choice, environment={}, cache=VectorCache(100_000))
