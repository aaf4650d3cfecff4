"""Chat completions with memory, through OpenAI's own Python client (feature 5)."""

import json
from typing import Any, cast

import anyio
import anyio.to_thread
import httpx2
import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletionMessageParam
from websockets.sync.client import connect

from tests.servers.openai.conftest import SERVER_KEY, remember
from tests.servers.openai.upstream import KEY, MODEL, USAGE, Upstream

WEATHER: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def user_message(text: str) -> list[ChatCompletionMessageParam]:
    return [{"role": "user", "content": text}]


def extra(answer: Any) -> dict[str, Any]:
    return cast(dict[str, Any], answer.model_extra)["scrubjay"]


def turns(http: httpx2.Client, session: str, count: int) -> list[dict[str, Any]]:
    """Return the turns of a session once there are `count`: they are recorded in the background."""
    address = str(http.base_url).replace("http", "ws", 1).rstrip("/") + "/ws"
    headers = {"Authorization": http.headers["Authorization"]}
    with connect(address, additional_headers=headers, proxy=None) as events:
        assert json.loads(events.recv(timeout=10))["type"] == "connected"  # every write from now on is announced
        while True:
            memories = http.post("/v1/tools/get_session_memories", json={"sessionId": session}).json()["memories"]
            if len(memories) >= count:
                return memories
            while _written(json.loads(events.recv(timeout=10))) != "add_memory":
                pass


def _written(event: dict[str, Any]) -> str | None:
    return event["tool_name"] if event["type"] == "tool_result" else None


def test_005_recalled_memories_are_sent_to_the_model_and_reported_in_the_response(
    client: OpenAI, url: str, upstream: Upstream
) -> None:
    memory = remember(url, "The harbour master of Trondheim is called Ingrid.", SERVER_KEY)
    raw = client.chat.completions.with_raw_response.create(
        model="scrubjay",
        messages=[{"role": "system", "content": "Be brief."}, *user_message("Who is the harbour master of Trondheim?")],
        temperature=0.25,
        response_format={"type": "json_object"},
        extra_body={"a_new_field": {"x": [1]}, "scrubjay": {"session_id": "harbour"}},
    )
    answer = raw.parse()
    sent = upstream.bodies[-1]
    assert answer.choices[0].message.content == "You said: Who is the harbour master of Trondheim?"
    assert answer.usage is not None
    assert answer.usage.model_dump(include=set(USAGE)) == USAGE
    assert (answer.model, answer.system_fingerprint) == (f"{MODEL}-0613", "fp_1")
    assert memory in [one["id"] for one in extra(answer)["memories"]]
    assert memory in raw.headers["scrubjay-memories"].split(",")
    assert (extra(answer)["session_id"], extra(answer)["remembers"]) == ("harbour", True)
    assert (sent["model"], sent["temperature"], sent["a_new_field"]) == (MODEL, 0.25, {"x": [1]})
    assert sent["response_format"] == {"type": "json_object"}
    assert "scrubjay" not in sent
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    system = sent["messages"][0]["content"]
    assert system.startswith("Be brief.\n\n")
    assert "The harbour master of Trondheim is called Ingrid." in system
    assert upstream.headers[-1]["Authorization"] == f"Bearer {KEY}"


def test_005_exchanges_are_recorded_in_their_session(client: OpenAI, http: httpx2.Client) -> None:
    client.chat.completions.create(model=MODEL, messages=user_message("I like olives"), user="ada")
    client.chat.completions.create(
        model=MODEL, messages=user_message("I like figs"), metadata={"session_id": "bo"}, user="x"
    )
    client.chat.completions.create(
        model=MODEL, messages=user_message("I like pears"), user="x", extra_headers={"Scrubjay-Session": "cy"}
    )
    stream = client.chat.completions.create(model=MODEL, messages=user_message("I like plums"), user="dee", stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "You said: I like plums"
    for session, fruit in (("ada", "olives"), ("bo", "figs"), ("cy", "pears"), ("dee", "plums")):
        (turn,) = turns(http, session, 1)
        assert (turn["prompt"], turn["response"]) == (f"I like {fruit}", f"You said: I like {fruit}")


def test_005_a_client_can_disable_recording(client: OpenAI, http: httpx2.Client) -> None:
    answer = client.chat.completions.create(
        model=MODEL, messages=user_message("forget this"), user="eve", extra_body={"scrubjay": {"remember": False}}
    )
    assert extra(answer)["remembers"] is False
    client.chat.completions.create(model=MODEL, messages=user_message("keep this"), user="eve")
    assert [turn["prompt"] for turn in turns(http, "eve", 1)] == ["keep this"]


def test_005_memories_that_are_already_in_the_conversation_are_not_added(
    client: OpenAI, http: httpx2.Client, upstream: Upstream
) -> None:
    prompt = "My boat is called Skarv"
    first = client.chat.completions.create(model=MODEL, messages=user_message(prompt), user="sailor")
    turns(http, "sailor", 1)
    messages: list[ChatCompletionMessageParam] = [
        *user_message(prompt),
        {"role": "assistant", "content": first.choices[0].message.content},
        *user_message("What is my boat called?"),
    ]
    client.chat.completions.create(model=MODEL, messages=messages, user="sailor")
    assert prompt not in json.dumps([one for one in upstream.bodies[-1]["messages"] if one["role"] == "system"])
    client.chat.completions.create(model=MODEL, messages=user_message("What is my boat called?"), user="sailor")
    assert prompt in upstream.bodies[-1]["messages"][0]["content"]


def test_005_chunks_are_streamed_as_they_arrive(client: OpenAI, upstream: Upstream) -> None:
    upstream.resume.clear()
    stream = client.chat.completions.create(
        model="mimo-polymorphic-1",
        messages=user_message("wait"),
        stream=True,
        stream_options={"include_usage": True},
        n=2,
    )
    chunks = [next(stream), next(stream), next(stream)]
    upstream.resume.set()  # the first chunks arrived before the answer was complete
    chunks += list(stream)
    assert extra(chunks[0])["memories"] is not None
    texts = ["".join(_deltas(chunks, index)) for index in (0, 1)]
    assert texts == ["You said: wait"] * 2
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.model_dump(include=set(USAGE)) == USAGE
    assert upstream.bodies[-1]["n"] == 2


def _deltas(chunks: list[Any], index: int) -> list[str]:
    return [choice.delta.content or "" for chunk in chunks for choice in chunk.choices if choice.index == index]


@pytest.mark.parametrize("streams", [False, True])
def test_005_tool_calls_and_tool_results_are_passed_through(client: OpenAI, upstream: Upstream, streams: bool) -> None:
    messages: Any = user_message("How is the weather in Bern?")
    if streams:
        with client.chat.completions.stream(model=MODEL, messages=messages, tools=[WEATHER]) as stream:
            message = stream.get_final_completion().choices[0].message
    else:
        answer = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER], tool_choice="auto")
        assert answer.choices[0].finish_reason == "tool_calls"
        message = answer.choices[0].message
    assert message.tool_calls
    call = message.tool_calls[0]
    assert call.type == "function"
    assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"city": "Bern"})
    assert upstream.bodies[-1]["tools"] == [WEATHER]
    messages += [
        {"role": "assistant", "tool_calls": [cast(Any, call.model_dump(exclude={"parsed_arguments", "index"}))]},
        {"role": "tool", "tool_call_id": call.id, "content": "raining"},
    ]
    final = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER])
    assert final.choices[0].message.content == "It is raining."


@pytest.mark.parametrize("streams", [False, True])
def test_005_parallel_tool_calls_are_passed_through(client: OpenAI, upstream: Upstream, streams: bool) -> None:
    request: Any = {"model": MODEL, "messages": user_message("The weather and the time?"), "tools": [WEATHER]}
    if streams:
        with client.chat.completions.stream(**request, parallel_tool_calls=True) as stream:
            choice: Any = stream.get_final_completion().choices[0]
    else:
        choice = cast(Any, client.chat.completions.create(**request, parallel_tool_calls=True)).choices[0]
    called = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls]
    assert called == [("call_1", "weather", {"city": "Bern"}), ("call_2", "time", {"zone": "CET"})]
    assert choice.finish_reason == "tool_calls"
    assert upstream.bodies[-1]["parallel_tool_calls"] is True


def test_005_a_null_error_field_is_not_a_failure(client: OpenAI, http: httpx2.Client) -> None:
    chunks = list(
        client.chat.completions.create(model=MODEL, messages=user_message("null errors"), user="nil", stream=True)
    )
    assert extra(chunks[0])["session_id"] == "nil"
    assert "".join(_deltas(chunks, 0)) == "You said: null errors"
    assert [turn["response"] for turn in turns(http, "nil", 1)] == ["You said: null errors"]
    events = list(client.responses.create(model=MODEL, input="null errors", stream=True))
    assert events[-1].type == "response.completed"


def test_005_images_are_passed_through(client: OpenAI, upstream: Upstream) -> None:
    picture: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content: Any = [{"type": "text", "text": "What is this?"}, picture]
    client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": content}])
    assert upstream.bodies[-1]["messages"][-1]["content"] == content


@pytest.mark.parametrize(
    ("prompt", "kind", "status", "code"),
    [
        ("fail 400", openai.BadRequestError, 400, "some_code"),
        ("fail 422", openai.UnprocessableEntityError, 422, "some_code"),
        ("fail 401", openai.InternalServerError, 502, "unauthorized"),
        ("fail 429", openai.RateLimitError, 429, "rate_limited"),
        ("fail 500", openai.InternalServerError, 502, "failing"),
        ("nonsense", openai.InternalServerError, 502, "broken_answer"),
        ("hang up", openai.InternalServerError, 502, "unreachable"),
        ("silence", openai.InternalServerError, 504, "timeout"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_005_failures_of_the_language_model_are_reported_without_its_key(
    client: OpenAI, prompt: str, kind: type[openai.APIStatusError], status: int, code: str, streams: bool
) -> None:
    client.chat.completions.create(
        model=MODEL, messages=user_message("all is well")
    )  # so that the circuit breaker stays closed
    if prompt == "nonsense" and streams:
        with pytest.raises(openai.APIError) as caught:
            list(client.chat.completions.create(model=MODEL, messages=user_message(prompt), stream=True))
        assert caught.value.code == code
        return
    with pytest.raises(kind) as caught:
        client.chat.completions.create(model=MODEL, messages=user_message(prompt), stream=streams)
    error = caught.value
    assert (error.status_code, error.code) == (status, code)
    assert error.type
    assert KEY not in error.response.text
    if status == 429:
        assert error.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("prompt", ["break off", "break midway"])
def test_005_an_interrupted_stream_ends_with_an_error(client: OpenAI, prompt: str) -> None:
    stream = client.chat.completions.create(model=MODEL, messages=user_message(prompt), stream=True)
    with pytest.raises(openai.APIError) as caught:
        list(stream)
    assert KEY not in str(caught.value)


async def test_005_a_disconnect_stops_the_model(url: str, upstream: Upstream) -> None:
    for streams in (True, False):
        upstream.disconnected.clear()
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key=SERVER_KEY, max_retries=0) as client:
            if streams:
                stream = await client.chat.completions.create(
                    model=MODEL, messages=user_message("endless"), stream=True
                )
                await anext(stream)
                await stream.close()
            else:
                upstream.request_received.clear()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_ask, client, "silence")
                    assert await anyio.to_thread.run_sync(upstream.request_received.wait, 10)
                    tasks.cancel_scope.cancel()
        # Less than the timeout of the language model.
        assert await anyio.to_thread.run_sync(upstream.disconnected.wait, 1.5)


async def _ask(client: AsyncOpenAI, text: str) -> None:
    await client.chat.completions.create(model=MODEL, messages=user_message(text))


def test_005_a_slow_reader_slows_the_model_down(url: str, upstream: Upstream, http: httpx2.Client) -> None:
    upstream.disconnected.clear()
    body = {"model": MODEL, "messages": user_message("flood"), "stream": True}
    with http.stream("POST", "/v1/chat/completions", json=body) as answer:
        assert answer.status_code == 200
        assert upstream.disconnected.wait(10)  # the model was blocked while writing
        assert upstream.written < 50_000_000


def test_005_an_unknown_model_is_not_found(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="gpt-99", messages=user_message("hi"))
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-99")


def test_005_models_are_listed(client: OpenAI, plain: OpenAI) -> None:
    assert [one.id for one in client.models.list()] == ["mimo-polymorphic-1", "scrubjay", MODEL, "static-v1"]
    assert [one.id for one in plain.models.list()] == ["mimo-polymorphic-1", "scrubjay", "static-v1"]
    mimo = plain.models.retrieve("mimo-polymorphic-1")
    assert (mimo.object, mimo.created, mimo.owned_by) == ("model", 1700000000, "mimo")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b"[]", None),
        (b"{}", "messages"),
        (b'{"messages": []}', "messages"),
        (b'{"messages": [{"content": "x"}]}', "messages.0.role"),
        (b'{"messages": [{"role": "user", "content": "x"}], "stream": "yes"}', "stream"),
        (b'{"messages": [{"role": "user", "content": "x"}], "n": 0}', "n"),
        (b'{"messages": [{"role": "user", "content": "x"}], "scrubjay": {"remembr": 1}}', "scrubjay.remembr"),
    ],
)
def test_005_an_invalid_body_is_refused_in_openais_format(http: httpx2.Client, body: bytes, param: str | None) -> None:
    answer = http.post("/v1/chat/completions", content=body)
    error = answer.json()["error"]
    assert (answer.status_code, sorted(error)) == (400, ["code", "message", "param", "type"])
    assert (error["type"], error["param"]) == ("invalid_request_error", param)


def test_005_requests_refused_by_the_edge_get_openais_format_too(url: str) -> None:
    wrong = OpenAI(base_url=f"{url}/v1", api_key="a-wrong-key-a-wrong-key", max_retries=0)
    with wrong, pytest.raises(openai.AuthenticationError) as caught:
        wrong.models.list()
    assert (caught.value.type, caught.value.code) == ("authentication_error", "invalid_api_key")
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        for path, headers, content, status in (
            ("/v1/chat/completions", {"Host": "evil.example"}, b"", 403),
            ("/v1/embeddings", {}, b" " * (16 * 1024 * 1024 + 1), 413),
        ):
            answer = http.post(path, headers={"Authorization": f"Bearer {SERVER_KEY}", **headers}, content=content)
            assert answer.status_code == status
            assert sorted(answer.json()["error"]) == ["code", "message", "param", "type"]
        odd = http.get("/v1/chat/completions", headers={"Authorization": f"Bearer {SERVER_KEY}"})
        assert (odd.status_code, odd.headers["allow"]) == (405, "POST")
        assert odd.json()["error"]["type"] == "invalid_request_error"
