"""A service that speaks OpenAI's chat completions answers, however it wants to be asked."""

import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from pydantic import SecretStr

from scrubjay.core.errors import ErrorRecord, InvalidRequest, Misconfigured, ScrubjayError
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.chat_completions import ChatCompleter, completer_for
from scrubjay.models.choices import CompletionChoice
from scrubjay.models.completion import Completion, Message, Usage
from scrubjay.models.endpoint import Endpoint
from scrubjay.models.http_client import Chance
from tests.models.service import Answer, Behaviour, HangUp, Service, Silence, completion

KEY = "sk-very-secret-0123456789"
ASKED = [Message("system", "Be brief."), Message("user", "How are you?")]
SCHEMA = {"type": "object", "properties": {"mood": {"type": "string"}}}
IN_WORDS = f"Answer with one JSON object and nothing else. It must fit this JSON Schema: {json.dumps(SCHEMA)}"
BY_SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}


@asynccontextmanager
async def completer_of(
    service: Service, *, breaker: CircuitBreaker | None = None, **chosen: Any
) -> AsyncGenerator[ChatCompleter]:
    async def no_wait(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    choice = CompletionChoice(base_url=service.url, model="a-model", **chosen)
    endpoint = Endpoint(
        provider="a-model", url=f"{service.url}/chat/completions", fields={"model": "a-model"}, key=SecretStr(KEY)
    )
    completer = ChatCompleter(endpoint, choice, breaker=breaker, chance=Chance(sleep=no_wait, random=lambda: 0.5))
    try:
        yield completer
    finally:
        await completer.close()


async def failure_of(completer: ChatCompleter, **wanted: Any) -> ErrorRecord:
    with pytest.raises(ScrubjayError) as caught:
        await completer.complete(ASKED, max_tokens=50, **wanted)
    return caught.value.record


def formats(service: Service) -> list[Any]:
    return [request.body.get("response_format") for request in service.requests]


async def test_messages_are_sent_and_the_answer_comes_back_with_what_it_took(service: Service) -> None:
    service.says = lambda body: f"Fine, said {len(body['messages'])} messages."
    choice = CompletionChoice(base_url=f"{service.url}/", model="a-model", api_key_env="LLM_KEY")
    completer = completer_for(choice, {"LLM_KEY": f" {KEY}\n"})
    answer = await completer.complete(ASKED, max_tokens=50)
    await completer.close()
    assert answer == Completion(
        text="Fine, said 2 messages.",
        model="a-model-0613",
        usage=Usage(prompt_tokens=12, completion_tokens=3),
    )
    (request,) = service.requests
    assert (request.path, request.headers["Authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert request.body == {
        "model": "a-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How are you?"}],
        "max_tokens": 50,
    }


async def test_a_service_without_keys_is_sent_none(service: Service) -> None:
    completer = completer_for(CompletionChoice(base_url=service.url, model="m"), {"OPENAI_API_KEY": KEY})
    await completer.complete(ASKED, max_tokens=50)
    await completer.close()
    assert "Authorization" not in service.requests[0].headers


async def test_a_schema_is_sent_as_such_and_in_words(service: Service) -> None:
    async with completer_of(service) as completer:
        await completer.complete(ASKED, json_schema=SCHEMA, max_tokens=50)
        await completer.complete(ASKED[1:], json_schema=SCHEMA, max_tokens=50)
    assert formats(service) == [BY_SCHEMA, BY_SCHEMA]
    assert [request.body["messages"] for request in service.requests] == [
        [{"role": "system", "content": f"Be brief.\n\n{IN_WORDS}"}, {"role": "user", "content": "How are you?"}],
        [{"role": "system", "content": IN_WORDS}, {"role": "user", "content": "How are you?"}],
    ]


async def test_a_service_that_knows_no_schemas_is_asked_for_json_and_then_in_words_and_that_is_remembered(
    service: Service,
) -> None:
    refusal = Answer(status=400, body={"error": {"message": "response_format is not supported"}})
    service.next = [refusal, refusal]
    async with completer_of(service) as completer:
        for _ in range(2):
            assert (await completer.complete(ASKED, json_schema=SCHEMA, max_tokens=50)).text == "Well."
    assert formats(service) == [BY_SCHEMA, {"type": "json_object"}, None, None]


async def test_messages_that_are_refused_teach_nothing_of_how_json_is_wanted(service: Service) -> None:
    refusal = Answer(status=400, body={"error": {"message": "the context is too long"}})
    service.next = [refusal] * 3
    async with completer_of(service) as completer:
        with pytest.raises(InvalidRequest, match="context is too long"):
            await completer.complete(ASKED, json_schema=SCHEMA, max_tokens=50)
        await completer.complete(ASKED, json_schema=SCHEMA, max_tokens=50)
    assert formats(service) == [BY_SCHEMA, {"type": "json_object"}, None, BY_SCHEMA]


async def test_a_newer_model_is_given_its_limit_under_the_newer_name(service: Service) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    service.next = [Answer(status=400, body={"error": {"message": message}})]
    async with completer_of(service) as completer:
        await completer.complete(ASKED, json_schema=SCHEMA, max_tokens=50)
        await completer.complete(ASKED, max_tokens=60)
    names = ("max_tokens", "max_completion_tokens")
    assert [tuple(map(request.body.get, names)) for request in service.requests] == [(50, None), (None, 50), (None, 60)]
    assert formats(service) == [BY_SCHEMA, BY_SCHEMA, None]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            completion([{"type": "text", "text": "In "}, {"type": "image"}, {"type": "text", "text": "parts."}]),
            "In parts.",
        ),
        (completion("Plain.", usage=None, model=None), "Plain."),
        (completion("Plain.", usage={"prompt_tokens": "many"}), "Plain."),
    ],
)
async def test_answers_come_in_several_forms(service: Service, body: Mapping[str, Any], expected: str) -> None:
    service.always = Answer(body=body)
    async with completer_of(service) as completer:
        answer = await completer.complete(ASKED, max_tokens=50)
    assert answer.text == expected
    assert answer.model in ("a-model", "a-model-0613")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        {},
        {"choices": []},
        {"choices": ["x"]},
        {"choices": [{"message": None}]},
        completion(None),
        completion(""),
        completion(" \n"),
        completion(7),
        completion(["text"]),
        completion([]),
        {**completion("x"), "usage": [1]},
        b"[" * 100_000,
    ],
    ids=lambda body: repr(body)[:60],
)
async def test_an_answer_without_a_text_is_broken(service: Service, body: object) -> None:
    service.always = Answer(body=body)
    async with completer_of(service, retries=0) as completer:
        assert (await failure_of(completer)).details == {"reason": "broken_answer"}


@pytest.mark.parametrize("fault", [Answer(status=500), Answer(status=429), HangUp(), Answer(body=b"<html>")], ids=repr)
async def test_what_may_work_the_next_time_is_tried_again(service: Service, fault: Behaviour) -> None:
    service.next = [fault] * 2
    async with completer_of(service) as completer:
        assert (await completer.complete(ASKED, max_tokens=50)).text == "Well."
    assert len(service.requests) == 3


async def test_the_whole_call_has_an_end_however_many_tries_are_left(service: Service) -> None:
    service.always = Silence()
    async with completer_of(service, retries=50, timeout_seconds=60) as completer:
        assert (await failure_of(completer, timeout=0.2)).details == {"reason": "timeout"}
        assert (await failure_of(completer, timeout=0)).details == {"reason": "timeout"}


async def test_a_pause_that_would_outlast_the_call_is_told_instead_of_waited(service: Service) -> None:
    service.next = [Answer(status=429, headers={"Retry-After": "7"})]
    async with completer_of(service) as completer:
        failure = await failure_of(completer, timeout=5)
        assert failure.details == {"reason": "rate_limited", "retry_after_seconds": 7.0}
        assert len(service.requests) == 1
        service.next = [Answer(status=429, headers={"Retry-After": "7"})]
        assert (await completer.complete(ASKED, max_tokens=50, timeout=60)).text == "Well."


async def test_a_call_that_waits_for_its_turn_ends_in_time_too(service: Service) -> None:
    service.always = Silence()
    async with (
        completer_of(service, concurrency=1, timeout_seconds=60) as completer,
        anyio.create_task_group() as group,
    ):

        async def first() -> None:
            await completer.complete(ASKED, max_tokens=50)

        group.start_soon(first)
        await anyio.to_thread.run_sync(service.wait_for_requests, 1)
        failure = await failure_of(completer, timeout=0.2)
        assert failure.details == {"reason": "timeout"}
        assert "too much to do" in failure.message
        service.release()
    assert len(service.requests) == 1


async def test_a_silent_service_is_left_alone_also_when_callers_are_impatient(service: Service) -> None:
    service.always = Silence()
    breaker = CircuitBreaker("it", failures=1)
    async with completer_of(service, breaker=breaker) as completer:
        assert (await failure_of(completer, timeout=0.1)).details == {"reason": "timeout"}
        assert (await failure_of(completer)).details["reason"] == "paused"


@pytest.mark.parametrize("status", [400, 401, 404, 500])
async def test_the_key_is_in_no_error_and_in_no_log(
    service: Service, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.always = Answer(status=status, body={"error": {"message": f"bad key {KEY}"}})
    async with completer_of(service, retries=0) as completer:
        failure = await failure_of(completer)
    assert KEY not in f"{failure} {caplog.text}"


@pytest.mark.parametrize(
    ("changed", "environment"),
    [
        ({"base_url": "nowhere"}, {}),
        ({"base_url": "http://user:secret@box/v1"}, {}),
        ({"api_key_env": "LLM_KEY"}, {}),
        ({"api_key_env": "LLM_KEY"}, {"LLM_KEY": "with a space"}),
    ],
)
def test_a_choice_that_cannot_work_is_refused_before_anything_is_asked(
    changed: dict[str, Any], environment: dict[str, str]
) -> None:
    choice = replace(CompletionChoice(base_url="http://127.0.0.1:1/v1", model="m"), **changed)
    with pytest.raises(Misconfigured) as caught:
        completer_for(choice, environment)
    assert "secret" not in caught.value.message
