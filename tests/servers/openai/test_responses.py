"""The Responses API through OpenAI's own client: text, tools, streams, and unsupported fields."""

import json
from typing import Any, cast

import openai
import pytest
from openai import OpenAI

from tests.servers.openai.upstream import KEY, MODEL, Upstream

WEATHER: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}


def test_005_a_text_is_answered(client: OpenAI, upstream: Upstream) -> None:
    answer = client.responses.create(
        model="scrubjay",
        instructions="Be brief.",
        input=[{"role": "user", "content": [{"type": "input_text", "text": "hello there"}]}],
        max_output_tokens=50,
        text={"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
        reasoning={"effort": "low"},
        temperature=0.5,
    )
    sent = upstream.bodies[-1]
    assert (answer.output_text, answer.status) == ("You said: hello there", "completed")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.total_tokens) == (11, 7, 18)
    assert sent["messages"][0]["content"].startswith("Be brief.")
    assert sent["messages"][-1] == {"role": "user", "content": "hello there"}
    assert (sent["max_completion_tokens"], sent["temperature"], sent["reasoning_effort"]) == (50, 0.5, "low")
    assert sent["response_format"]["json_schema"] == {"name": "n", "schema": {"type": "object"}}


def test_005_a_stream_has_the_events_that_the_client_knows(client: OpenAI) -> None:
    with client.responses.stream(model=MODEL, input="good morning to you") as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert final.output_text == "You said: good morning to you"
    assert [event.sequence_number for event in events] == sorted({event.sequence_number for event in events})
    kinds = list(dict.fromkeys(event.type for event in events))
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert final.usage is not None
    assert final.usage.total_tokens == 18


@pytest.mark.parametrize("streams", [False, True])
def test_005_tool_calls_and_tool_results_are_passed_through(client: OpenAI, upstream: Upstream, streams: bool) -> None:
    message: Any = {"role": "user", "content": "How is the weather?"}
    if streams:
        with client.responses.stream(model=MODEL, input=[message], tools=[WEATHER]) as stream:
            answer: Any = stream.get_final_response()
    else:
        answer = client.responses.create(model=MODEL, input=[message], tools=[WEATHER], tool_choice="auto")
    (call,) = answer.output
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "weather", {"city": "Bern"})
    assert upstream.bodies[-1]["tools"][0]["function"]["name"] == "weather"
    follow_up: Any = [
        message,
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
        {"type": "function_call_output", "call_id": call.call_id, "output": "raining"},
    ]
    assert client.responses.create(model=MODEL, input=follow_up, tools=[WEATHER]).output_text == "It is raining."


@pytest.mark.parametrize("streams", [False, True])
def test_005_parallel_tool_calls_are_passed_through(client: OpenAI, streams: bool) -> None:
    request: Any = {"model": MODEL, "input": "The weather and the time?", "tools": [WEATHER]}
    if streams:
        with client.responses.stream(**request) as stream:
            answer: Any = stream.get_final_response()
    else:
        answer = cast(Any, client.responses.create(**request))
    called = [(call.call_id, call.name, json.loads(call.arguments)) for call in answer.output]
    assert called == [("call_1", "weather", {"city": "Bern"}), ("call_2", "time", {"zone": "CET"})]


@pytest.mark.parametrize("streams", [False, True])
def test_005_a_refusal_of_the_model_is_returned_as_a_refusal(client: OpenAI, streams: bool) -> None:
    if streams:
        events = list(client.responses.create(model=MODEL, input="refuse", stream=True))
        deltas = [event.delta for event in events if event.type == "response.refusal.delta"]
        assert ("".join(deltas), len(deltas)) == ("I would rather not.", 7)
        assert [event.refusal for event in events if event.type == "response.refusal.done"] == ["I would rather not."]
        assert events[-1].type == "response.completed"
        answer = events[-1].response
    else:
        answer = client.responses.create(model=MODEL, input="refuse")
    (message,) = cast(Any, answer.output)
    assert [part.model_dump() for part in message.content] == [{"type": "refusal", "refusal": "I would rather not."}]
    assert answer.output_text == ""


def test_005_without_a_language_model_the_answer_is_made_from_memories(plain: OpenAI) -> None:
    answer = plain.responses.create(model="scrubjay", input="What colour is the moon base?")
    assert answer.output_text == "Nothing is remembered about this."
    with plain.responses.stream(model="scrubjay", input="What colour is the moon base?") as stream:
        assert stream.get_final_response().output_text == "Nothing is remembered about this."


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0.type"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "input.0.content"),
        ({"input": []}, "input"),
    ],
)
def test_005_unsupported_fields_are_refused_by_name(client: OpenAI, fields: dict[str, Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        cast(Any, client.responses.create)(**{"model": MODEL, "input": "hi", **fields})
    assert caught.value.param == param


@pytest.mark.parametrize("prompt", ["break off", "break midway"])
def test_005_an_interrupted_stream_ends_with_an_error(client: OpenAI, prompt: str) -> None:
    events = list(client.responses.create(model=MODEL, input=prompt, stream=True))
    assert events[-1].type == "error"
    assert events[-1].message
    assert KEY not in events[-1].message
