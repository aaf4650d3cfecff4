"""Embeddings from OpenAI-compatible services, including their failures."""

import json
import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import anyio
import anyio.to_thread
import pytest
from pydantic import SecretStr

from scrubjay.core.errors import ErrorCode, ErrorRecord, InvalidRequest, ScrubjayError, Unavailable
from scrubjay.core.request_context import RequestScope
from scrubjay.models.breaker import BreakerState, CircuitBreaker
from scrubjay.models.choices import Pace
from scrubjay.models.endpoint import ServiceEndpoint
from scrubjay.models.http_client import RetryTiming
from scrubjay.models.openai_compatible import OpenAICompatibleEmbedder
from tests.models.service import (
    DIMENSIONS,
    Answer,
    Behaviour,
    HangUp,
    Service,
    Silence,
    embeddings,
    expected_vector,
)

KEY = "sk-very-secret-0123456789"
NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


class RecordedWaits:
    """Records waits instead of sleeping."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def waits() -> RecordedWaits:
    return RecordedWaits()


@asynccontextmanager
async def embedder_of(
    service: Service,
    waits: RecordedWaits | None = None,
    *,
    pace: Pace = Pace(),  # noqa: B008
    breaker: CircuitBreaker | None = None,
    encoding: str = "float",
    url: str | None = None,
) -> AsyncGenerator[OpenAICompatibleEmbedder]:
    embedder = OpenAICompatibleEmbedder(
        ServiceEndpoint(
            provider="openai",
            url=url or f"{service.url}/embeddings",
            fields={"model": "some-model", "encoding_format": encoding},
            key=SecretStr(KEY),
            key_hint="put the right key into OPENAI_API_KEY",
        ),
        model="openai/some-model",
        dimensions=DIMENSIONS,
        pace=pace,
        breaker=breaker,
        chance=RetryTiming(clock=lambda: NOW, sleep=(waits or RecordedWaits()).sleep, random=lambda: 0.5),
    )
    try:
        yield embedder
    finally:
        await embedder.close()


async def failure_of(embedder: OpenAICompatibleEmbedder, texts: list[str] | None = None) -> ErrorRecord:
    with pytest.raises(ScrubjayError) as caught:
        await embedder.embed(texts or ["one"])
    return caught.value.record


@pytest.mark.parametrize("encoding", ["float", "base64"])
async def test_texts_are_sent_in_batches_and_their_vectors_have_length_one(service: Service, encoding: str) -> None:
    texts = [f"text {number}" for number in range(10)]
    async with embedder_of(service, pace=Pace(batch_size=4), encoding=encoding) as embedder:
        assert await embedder.embed(texts) == [expected_vector(text) for text in texts]
    sent = sorted((request.body["input"] for request in service.requests), key=lambda batch: texts.index(batch[0]))
    assert sent == [texts[:4], texts[4:8], texts[8:]]
    first = service.requests[0]
    assert (first.path, first.headers["Authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")
    assert {**first.body, "input": []} == {"model": "some-model", "encoding_format": encoding, "input": []}


async def test_vectors_are_ordered_by_index(service: Service) -> None:
    texts = ["one", "two", "three"]
    service.next = [Answer(body={"data": embeddings(texts)[::-1]})]
    async with embedder_of(service) as embedder:
        assert await embedder.embed(texts) == [expected_vector(text) for text in texts]


async def test_without_indexes_vectors_are_in_the_order_of_the_answer(service: Service) -> None:
    texts = ["one", "two"]
    service.next = [Answer(body={"data": [{"embedding": entry["embedding"]} for entry in embeddings(texts)]})]
    async with embedder_of(service) as embedder:
        assert await embedder.embed(texts) == [expected_vector(text) for text in texts]


async def test_an_empty_text_has_an_empty_vector_and_is_not_sent(service: Service) -> None:
    async with embedder_of(service) as embedder:
        assert await embedder.embed(["", " \n"]) == [b"", b""]
        assert await embedder.embed([]) == []
        assert service.requests == []
        assert await embedder.embed(["", "one"]) == [b"", expected_vector("one")]
    assert [request.body["input"] for request in service.requests] == [["one"]]


async def test_a_zero_vector_becomes_an_empty_vector(service: Service) -> None:
    service.next = [Answer(body={"data": [{"index": 0, "embedding": [0] * DIMENSIONS}]})]
    async with embedder_of(service) as embedder:
        assert await embedder.embed(["one"]) == [b""]


async def test_a_long_text_is_truncated(service: Service) -> None:
    async with embedder_of(service, pace=Pace(max_characters=5)) as embedder:
        assert await embedder.embed(["0123456789"]) == [expected_vector("01234")]


async def test_concurrent_requests_are_limited(service: Service) -> None:
    service.always = Silence()
    texts = [f"text {number}" for number in range(9)]
    async with embedder_of(service, pace=Pace(batch_size=1, concurrency=3)) as embedder, anyio.create_task_group() as g:

        async def let_go() -> None:
            await anyio.to_thread.run_sync(service.wait_for_requests, 3)
            service.release()

        g.start_soon(let_go)
        assert await embedder.embed(texts) == [expected_vector(text) for text in texts]
    assert service.max_concurrent == 3


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "7"}, 7.25),
        ({"Retry-After": "0.5"}, 0.75),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.75),
        ({"Retry-After": "Fri, 01 May 2026 12:00:20 GMT"}, 20.25),
        ({"Retry-After": "Fri, 01 May 2026 11:00:00 GMT"}, 0.25),
        ({"Retry-After": "soon"}, 0.25),
        ({}, 0.25),
    ],
)
async def test_retry_after_is_respected(
    service: Service, waits: RecordedWaits, headers: dict[str, str], waited: float
) -> None:
    service.next = [Answer(status=429, headers=headers)]
    async with embedder_of(service, waits) as embedder:
        assert await embedder.embed(["one"]) == [expected_vector("one")]
    assert waits.seconds == [waited]


async def test_a_retry_after_that_is_too_long_fails_at_once(service: Service, waits: RecordedWaits) -> None:
    service.next = [Answer(status=429, headers={"Retry-After": "3600"})]
    async with embedder_of(service, waits) as embedder:
        failure = await failure_of(embedder)
    assert (failure.code, failure.details) == (
        ErrorCode.UNAVAILABLE,
        {"reason": "rate_limited", "retry_after_seconds": 3600.0},
    )
    assert (waits.seconds, len(service.requests)) == ([], 1)


@pytest.mark.parametrize(
    "fault",
    [
        Answer(status=500),
        Answer(status=503, body={"error": "overloaded"}),
        Answer(status=408),
        HangUp(),
        Answer(body=b"<html>"),
        Answer(body=b'{"data": [{"index": 0, "embed'),
    ],
    ids=repr,
)
async def test_transient_failures_are_retried(service: Service, waits: RecordedWaits, fault: Behaviour) -> None:
    service.next = [fault] * 3
    async with embedder_of(service, waits) as embedder:
        assert await embedder.embed(["one"]) == [expected_vector("one")]
    assert waits.seconds == [0.25, 0.5, 1.0]


async def test_the_wait_between_retries_is_bounded(service: Service, waits: RecordedWaits) -> None:
    service.always = Answer(status=500)
    breaker = CircuitBreaker("it", failures=100)
    async with embedder_of(service, waits, pace=Pace(retries=7), breaker=breaker) as embedder:
        await failure_of(embedder)
    assert waits.seconds == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0]


async def test_retries_end_after_the_configured_number(service: Service, waits: RecordedWaits) -> None:
    service.always = Answer(status=502, body={"error": {"message": "bad gateway"}})
    async with embedder_of(service, waits, pace=Pace(retries=2)) as embedder:
        failure = await failure_of(embedder)
    host = service.url.split("/")[2]
    assert failure == ErrorRecord(
        ErrorCode.UNAVAILABLE,
        f"openai at {host} fails (HTTP 502): bad gateway",
        "try again later",
        {"reason": "failing"},
    )
    assert len(service.requests) == 3


async def test_a_silent_service_causes_a_timeout(service: Service) -> None:
    service.always = Silence()
    async with embedder_of(service, pace=Pace(timeout_seconds=0.3, retries=1)) as embedder:
        failure = await failure_of(embedder)
    assert failure.details == {"reason": "timeout"}
    service.wait_for_requests(2)


async def test_a_refused_connection_is_unreachable(service: Service) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1/embeddings"
        async with embedder_of(service, url=url) as embedder:
            failure = await failure_of(embedder)
    assert failure.details == {"reason": "unreachable"}
    assert "ConnectError" in failure.message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        {"data": "x"},
        {"data": []},
        {"data": embeddings(["one", "two"])},
        {"data": [{"index": 1, "embedding": [1.0] * DIMENSIONS}]},
        {"data": [{"index": "first", "embedding": [1.0] * DIMENSIONS}]},
        {"data": [{"index": 0, "embedding": None}]},
        {"data": [{"index": 0, "embedding": ["x"] * DIMENSIONS}]},
        {"data": [{"index": 0, "embedding": [[1.0] * DIMENSIONS]}]},
        {"data": [{"index": 0, "embedding": "not base64!"}]},
        {"data": [{"index": 0, "embedding": "AAAA"}]},
        b'{"data": [{"index": 0, "embedding": [NaN, 1, 1, 1, 1, 1, 1, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999, 1, 1, 1, 1, 1, 1, 1]}]}',
        b'{"data":' + b"[" * 100_000,
    ],
    ids=lambda body: repr(body)[:60],
)
async def test_an_answer_without_a_vector_for_the_text_is_a_broken_answer(service: Service, body: object) -> None:
    service.always = Answer(body=body)
    async with embedder_of(service, pace=Pace(retries=0)) as embedder:
        assert (await failure_of(embedder)).details == {"reason": "broken_answer"}


async def test_two_vectors_for_one_text_are_a_broken_answer(service: Service) -> None:
    (entry,) = embeddings(["one"])
    service.always = Answer(body={"data": [entry, entry]})
    async with embedder_of(service, pace=Pace(retries=0)) as embedder:
        assert (await failure_of(embedder, ["one", "two"])).details == {"reason": "broken_answer"}


async def test_unexpected_dimensions_are_refused_with_the_setting_to_change(
    service: Service, waits: RecordedWaits
) -> None:
    service.always = Answer(body={"data": [{"index": 0, "embedding": [1.0] * 5}]})
    async with embedder_of(service, waits) as embedder:
        failure = await failure_of(embedder)
    assert failure.hint == "set dimensions to 5 if this is the right model"
    assert failure.details == {"reason": "wrong_dimensions", "found": 5, "expected": DIMENSIONS}
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_the_error_about_a_wrong_key_names_its_setting(service: Service, status: int) -> None:
    service.always = Answer(status=status, body={"error": {"message": f"wrong key {KEY[:8]}***"}})
    async with embedder_of(service) as embedder:
        failure = await failure_of(embedder)
    host = service.url.split("/")[2]
    assert failure == ErrorRecord(
        ErrorCode.UNAVAILABLE,
        f"openai at {host} does not accept the key (HTTP {status})",
        "put the right key into OPENAI_API_KEY",
        {"reason": "unauthorized"},
    )
    assert len(service.requests) == 1


async def test_an_unknown_model_is_not_retried(service: Service) -> None:
    service.always = Answer(status=404, body={"error": {"message": "model 'some-model' not found"}})
    async with embedder_of(service) as embedder:
        failure = await failure_of(embedder)
    assert failure.details == {"reason": "not_found"}
    assert failure.message.endswith("(HTTP 404): model 'some-model' not found")
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refused_request_is_an_invalid_request(service: Service, status: int) -> None:
    service.always = Answer(status=status, body={"error": {"message": "too many tokens"}})
    breaker = CircuitBreaker("it", failures=1)
    async with embedder_of(service, breaker=breaker) as embedder:
        for _ in range(3):
            with pytest.raises(InvalidRequest, match=r"too many tokens"):
                await embedder.embed(["one"])
    assert len(service.requests) == 3


async def test_redirects_are_not_followed(service: Service) -> None:
    service.always = Answer(status=307, headers={"Location": f"{service.url}/elsewhere"})
    async with embedder_of(service, pace=Pace(retries=0)) as embedder:
        assert (await failure_of(embedder)).details == {"reason": "broken_answer"}
    assert [request.path for request in service.requests] == ["/v1/embeddings"]


@pytest.mark.parametrize(
    "fault",
    [
        Answer(status=400, body={"error": {"message": f"bad key {KEY}"}}),
        Answer(status=400, body={"error": f"bad key {KEY}"}),
        Answer(status=401, body={"error": {"message": f"bad key {KEY}"}}),
        Answer(status=404, body={"error": {"message": f"bad key {KEY}"}}),
        Answer(status=429, body={"error": {"message": f"bad key {KEY}"}}),
        Answer(status=500, body={"error": {"message": f"bad key {KEY}"}}),
        Answer(status=500, body={"error": {"message": "x" * 280 + KEY}}),
        Answer(body=f"Bearer {KEY}".encode()),
        HangUp(),
        Silence(),
    ],
    ids=repr,
)
async def test_the_key_appears_in_no_error_and_no_log(
    service: Service, fault: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.always = fault
    pace = Pace(retries=1, timeout_seconds=0.3 if fault == Silence() else 10)
    async with embedder_of(service, pace=pace) as embedder:
        failure = await failure_of(embedder)
        shown = f"{failure} {embedder!r} {vars(embedder)} {caplog.text} {json.dumps(dict(failure.details))}"
    assert KEY[:10] not in shown
    service.wait_for_requests(1)
    assert KEY in service.requests[0].headers["Authorization"]


async def test_a_failing_batch_cancels_the_others_and_raises_one_error(service: Service) -> None:
    service.next = [Answer(status=401)]
    service.always = Silence()
    async with embedder_of(service, pace=Pace(batch_size=1, concurrency=2)) as embedder:
        failure = await failure_of(embedder, ["one", "two", "three", "four"])
    assert failure.details == {"reason": "unauthorized"}
    assert len(service.requests) <= 4


async def test_repeated_failures_open_the_breaker_and_a_probe_closes_it(service: Service) -> None:
    now = 0.0
    breaker = CircuitBreaker("openai", failures=2, pause_seconds=30, clock=lambda: now)
    service.always = Answer(status=500)
    async with embedder_of(service, breaker=breaker) as embedder:
        assert (await failure_of(embedder)).details == {"reason": "paused", "retry_after_seconds": 30}
        assert (await failure_of(embedder)).details == {"reason": "paused", "retry_after_seconds": 30}
        assert len(service.requests) == 2
        service.always = None
        now = 30.0
        assert await embedder.embed(["one"]) == [expected_vector("one")]


async def test_023_concurrent_batches_do_not_prevent_the_breaker_from_closing(service: Service) -> None:
    now = 0.0
    breaker = CircuitBreaker("openai", failures=1, pause_seconds=30, clock=lambda: now)
    service.always = Answer(status=500)
    async with embedder_of(service, breaker=breaker, pace=Pace(batch_size=1, concurrency=4)) as embedder:
        await failure_of(embedder)
        service.always = None
        now = 30.0
        texts = ["one", "two", "three", "four", "five"]
        assert await embedder.embed(texts) == [expected_vector(text) for text in texts]
    assert breaker.state is BreakerState.CLOSED


async def test_cancelling_does_not_wait_for_the_service(service: Service) -> None:
    service.always = Silence()
    async with embedder_of(service, pace=Pace(timeout_seconds=60)) as embedder, anyio.create_task_group() as group:
        group.start_soon(embedder.embed, ["one"])
        await anyio.to_thread.run_sync(service.wait_for_requests, 1)
        group.cancel_scope.cancel()
    assert len(service.requests) == 1


async def test_a_closed_embedder_reconnects_on_use(service: Service) -> None:
    async with embedder_of(service) as embedder:
        await embedder.embed(["one"])
        await embedder.close()
        assert await embedder.embed(["two"]) == [expected_vector("two")]


def test_the_description_of_an_endpoint_has_neither_key_nor_path() -> None:
    endpoint = ServiceEndpoint(
        provider="azure", url="https://a.example:8443/x?token=hidden", fields={}, key=SecretStr(KEY)
    )
    assert (endpoint.label, endpoint.is_local) == ("azure at a.example:8443", False)
    assert replace(endpoint, url="http://localhost:1/v1").is_local
    assert KEY not in repr(endpoint)


async def test_every_provider_failure_is_an_unavailable_error(service: Service) -> None:
    service.always = HangUp()
    async with embedder_of(service, pace=Pace(retries=0)) as embedder:
        with pytest.raises(Unavailable):
            await embedder.embed(["one"])


async def test_024_the_request_id_is_sent_to_the_service(service: Service) -> None:
    async with embedder_of(service) as embedder:
        with RequestScope("mine"):
            await embedder.embed(["one"])
        await embedder.embed(["two"])
    assert [request.headers.get("X-Request-Id") for request in service.requests] == ["mine", None]
