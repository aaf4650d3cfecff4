"""Answers without a language model, and the tool call for the client (feature 5)."""

import json
from typing import Any, cast

import httpx2
import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam

from tests.servers.openai.conftest import remember

SEARCH: Any = {"type": "function", "function": {"name": "mimo_search_memory", "parameters": {"type": "object"}}}
QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "When does the night train to Kyiv leave?"}]


@pytest.fixture(scope="module")
def memory(plain_url: str) -> str:
    return remember(plain_url, "The night train to Kyiv leaves at 21:40.")


def test_005_the_answer_is_the_memory_with_its_source(plain: OpenAI, memory: str) -> None:
    answers = [plain.chat.completions.create(model="scrubjay", messages=QUESTION) for _ in range(2)]
    first, second = (answer.choices[0].message.content or "" for answer in answers)
    assert first == second
    assert first.startswith("The night train to Kyiv leaves at 21:40. [1]\n\nSources:\n[1] " + memory)
    answer = answers[0]
    assert (answer.model, answer.choices[0].finish_reason) == ("scrubjay", "stop")
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert 8 <= answer.usage.prompt_tokens <= 14
    assert answer.model_extra is not None
    assert [one["id"] for one in answer.model_extra["scrubjay"]["memories"]] == [memory]
    assert answer.model_extra["scrubjay"]["remembers"] is False


def test_005_a_stream_has_the_same_content(plain: OpenAI, memory: str) -> None:
    complete = plain.chat.completions.create(model="scrubjay", messages=QUESTION)
    chunks = list(
        plain.chat.completions.create(
            model="scrubjay", messages=QUESTION, stream=True, stream_options={"include_usage": True}
        )
    )
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert streamed == complete.choices[0].message.content
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage == complete.usage


def test_005_an_unknown_question_gets_no_invented_answer(plain: OpenAI, memory: str) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Which wine goes with quail?"}]
    answer = plain.chat.completions.create(model="scrubjay", messages=messages, tool_choice="none")
    assert answer.choices[0].message.content == "Nothing is remembered about this."


def test_005_a_user_message_is_required(plain: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="No user message found in messages array"):
        plain.chat.completions.create(model="scrubjay", messages=[{"role": "system", "content": "x"}])


@pytest.mark.parametrize("options", [{"tools": [SEARCH]}, {"tool_choice": "auto"}, {"tools": [SEARCH], "stream": True}])
def test_005_the_returned_tool_call_can_be_executed(
    plain: OpenAI, plain_url: str, memory: str, options: dict[str, Any]
) -> None:
    if options.pop("stream", False):
        with plain.chat.completions.stream(model="scrubjay", messages=QUESTION, **options) as stream:
            choice: Any = stream.get_final_completion().choices[0]
    else:
        choice = cast(Any, plain.chat.completions.create)(model="scrubjay", messages=QUESTION, **options).choices[0]
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    assert choice.message.tool_calls
    call: Any = choice.message.tool_calls[0]
    assert call.type == "function"
    arguments = json.loads(call.function.arguments)
    assert (call.function.name, arguments["query"]) == ("mimo_search_memory", QUESTION[0].get("content"))
    with httpx2.Client(base_url=plain_url, timeout=30, trust_env=False) as http:
        response = http.post(f"/v1/tools/{call.function.name}", json=arguments)
    assert response.status_code == 200
    assert response.json()["results"][0]["id"] == memory
    messages: list[ChatCompletionMessageParam] = [
        *QUESTION,
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
            ],
        },
        {"role": "tool", "tool_call_id": call.id, "content": response.text},
    ]
    final = cast(Any, plain.chat.completions.create)(model="scrubjay", messages=messages, **options).choices[0]
    assert final.finish_reason == "stop"
    assert (final.message.content or "").startswith("• [memory] The night train to Kyiv leaves at 21:40. [1]")


@pytest.mark.parametrize("content", ["[]", "no JSON", '{"data": []}', '{"data": 7}', "7", '{"results": [1, {}]}'])
def test_005_empty_tool_results_give_a_fixed_answer(plain: OpenAI, content: str) -> None:
    messages: Any = [*QUESTION, {"role": "tool", "tool_call_id": "x", "content": content}]
    answer = plain.chat.completions.create(model="scrubjay", messages=messages)
    assert answer.choices[0].message.content == "No relevant memories found."


def test_005_another_function_cannot_be_forced(plain: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        plain.chat.completions.create(
            model="scrubjay",
            messages=QUESTION,
            tools=[SEARCH],
            tool_choice={"type": "function", "function": {"name": "x"}},
        )
    assert caught.value.param == "tool_choice"
