"""Chat completions with OpenAI-compatible services, including their differences and failures."""

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
from scrubjay.models.completion import Completion, Prompt, PromptMessage, Usage
from scrubjay.models.endpoint import ServiceEndpoint
from scrubjay.models.http_client import RetryTiming
from tests.models.service import Answer, Behaviour, HangUp, Service, Silence, completion

KEY = "sk-very-secret-0123456789"
MESSAGES = [PromptMessage("system", "Be brief."), PromptMessage("user", "How are you?")]
SCHEMA = {"type": "object", "properties": {"mood": {"type": "string"}}}
IN_WORDS = f"Answer with one JSON object and nothing else. It must fit this JSON Schema: {json.dumps(SCHEMA)}"
BY_SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}


@asynccontextmanager
async def completer_of(
    service: Service, *, breaker: CircuitBreaker | None = None, **settings: Any
) -> AsyncGenerator[ChatCompleter]:
    async def no_wait(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    choice = CompletionChoice(base_url=service.url, model="a-model", **settings)
    endpoint = ServiceEndpoint(
        provider="a-model", url=f"{service.url}/chat/completions", fields={"model": "a-model"}, key=SecretStr(KEY)
    )
    completer = ChatCompleter(endpoint, choice, breaker=breaker, chance=RetryTiming(sleep=no_wait, random=lambda: 0.5))
    try:
        yield completer
    finally:
        await completer.close()


async def failure_of(completer: ChatCompleter, **options: Any) -> ErrorRecord:
    with pytest.raises(ScrubjayError) as caught:
        await completer.complete(Prompt(MESSAGES, 50, **options))
    return caught.value.record


def formats(service: Service) -> list[Any]:
    return [request.body.get("response_format") for request in service.requests]


async def test_a_completion_returns_the_answer_and_its_token_usage(service: Service) -> None:
    service.reply = lambda body: f"Fine, said {len(body['messages'])} messages."
    choice = CompletionChoice(base_url=f"{service.url}/", model="a-model", api_key_env="LLM_KEY")
    completer = completer_for(choice, {"LLM_KEY": f" {KEY}\n"})
    answer = await completer.complete(Prompt(MESSAGES, 50))
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


async def test_no_authorization_is_sent_without_a_key(service: Service) -> None:
    completer = completer_for(CompletionChoice(base_url=service.url, model="m"), {"OPENAI_API_KEY": KEY})
    await completer.complete(Prompt(MESSAGES, 50))
    await completer.close()
    assert "Authorization" not in service.requests[0].headers


async def test_a_schema_is_sent_as_response_format_and_in_the_prompt(service: Service) -> None:
    async with completer_of(service) as completer:
        await completer.complete(Prompt(MESSAGES, 50, SCHEMA))
        await completer.complete(Prompt(MESSAGES[1:], 50, SCHEMA))
    assert formats(service) == [BY_SCHEMA, BY_SCHEMA]
    assert [request.body["messages"] for request in service.requests] == [
        [{"role": "system", "content": f"Be brief.\n\n{IN_WORDS}"}, {"role": "user", "content": "How are you?"}],
        [{"role": "system", "content": IN_WORDS}, {"role": "user", "content": "How are you?"}],
    ]


async def test_json_mode_falls_back_from_schema_to_json_to_prompt_and_the_result_is_remembered(
    service: Service,
) -> None:
    refusal = Answer(status=400, body={"error": {"message": "response_format is not supported"}})
    service.next = [refusal, refusal]
    async with completer_of(service) as completer:
        for _ in range(2):
            assert (await completer.complete(Prompt(MESSAGES, 50, SCHEMA))).text == "Well."
    assert formats(service) == [BY_SCHEMA, {"type": "json_object"}, None, None]


async def test_refused_messages_do_not_change_the_json_mode(service: Service) -> None:
    refusal = Answer(status=400, body={"error": {"message": "the context is too long"}})
    service.next = [refusal] * 3
    async with completer_of(service) as completer:
        with pytest.raises(InvalidRequest, match="context is too long"):
            await completer.complete(Prompt(MESSAGES, 50, SCHEMA))
        await completer.complete(Prompt(MESSAGES, 50, SCHEMA))
    assert formats(service) == [BY_SCHEMA, {"type": "json_object"}, None, BY_SCHEMA]


async def test_the_token_limit_falls_back_to_the_newer_parameter_name(service: Service) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    service.next = [Answer(status=400, body={"error": {"message": message}})]
    async with completer_of(service) as completer:
        await completer.complete(Prompt(MESSAGES, 50, SCHEMA))
        await completer.complete(Prompt(MESSAGES, 60))
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
async def test_several_answer_formats_are_accepted(service: Service, body: Mapping[str, Any], expected: str) -> None:
    service.always = Answer(body=body)
    async with completer_of(service) as completer:
        answer = await completer.complete(Prompt(MESSAGES, 50))
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
async def test_an_answer_without_text_is_a_broken_answer(service: Service, body: object) -> None:
    service.always = Answer(body=body)
    async with completer_of(service, retries=0) as completer:
        assert (await failure_of(completer)).details == {"reason": "broken_answer"}


@pytest.mark.parametrize("fault", [Answer(status=500), Answer(status=429), HangUp(), Answer(body=b"<html>")], ids=repr)
async def test_transient_failures_are_retried(service: Service, fault: Behaviour) -> None:
    service.next = [fault] * 2
    async with completer_of(service) as completer:
        assert (await completer.complete(Prompt(MESSAGES, 50))).text == "Well."
    assert len(service.requests) == 3


async def test_the_total_timeout_ends_a_call_with_retries_left(service: Service) -> None:
    service.always = Silence()
    async with completer_of(service, retries=50, timeout_seconds=60) as completer:
        assert (await failure_of(completer, timeout=0.2)).details == {"reason": "timeout"}
        assert (await failure_of(completer, timeout=0)).details == {"reason": "timeout"}


async def test_a_retry_after_beyond_the_timeout_fails_at_once(service: Service) -> None:
    service.next = [Answer(status=429, headers={"Retry-After": "7"})]
    async with completer_of(service) as completer:
        failure = await failure_of(completer, timeout=5)
        assert failure.details == {"reason": "rate_limited", "retry_after_seconds": 7.0}
        assert len(service.requests) == 1
        service.next = [Answer(status=429, headers={"Retry-After": "7"})]
        assert (await completer.complete(Prompt(MESSAGES, 50, timeout=60))).text == "Well."


async def test_the_timeout_includes_waiting_for_a_concurrency_slot(service: Service) -> None:
    service.always = Silence()
    async with (
        completer_of(service, concurrency=1, timeout_seconds=60) as completer,
        anyio.create_task_group() as group,
    ):

        async def first() -> None:
            await completer.complete(Prompt(MESSAGES, 50))

        group.start_soon(first)
        await anyio.to_thread.run_sync(service.wait_for_requests, 1)
        failure = await failure_of(completer, timeout=0.2)
        assert failure.details == {"reason": "timeout"}
        assert "is busy" in failure.message
        service.release()
    assert len(service.requests) == 1


async def test_timeouts_of_callers_open_the_breaker(service: Service) -> None:
    service.always = Silence()
    breaker = CircuitBreaker("it", failures=1)
    async with completer_of(service, breaker=breaker) as completer:
        assert (await failure_of(completer, timeout=0.1)).details == {"reason": "timeout"}
        assert (await failure_of(completer)).details["reason"] == "paused"


@pytest.mark.parametrize("status", [400, 401, 404, 500])
async def test_the_key_appears_in_no_error_and_no_log(
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
def test_an_invalid_choice_is_refused_before_any_request(changed: dict[str, Any], environment: dict[str, str]) -> None:
    choice = replace(CompletionChoice(base_url="http://127.0.0.1:1/v1", model="m"), **changed)
    with pytest.raises(Misconfigured) as caught:
        completer_for(choice, environment)
    assert "secret" not in caught.value.message
