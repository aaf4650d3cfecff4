"""Mira's chat, as a whole answer and as a stream, with and without a language model (feature 129)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest

from scrubjay.features.chat.service import MAX_TOOL_ROUNDS
from tests.compat.mira.conftest import SERVER_KEY, key_of
from tests.compat.mira.event_client import listening
from tests.servers.openai.upstream import KEY, MODEL, Upstream

Json = dict[str, Any]


def events_of(text: str) -> list[Json]:
    return [json.loads(block.removeprefix("data: ")) for block in text.strip().split("\n\n")]


def stream(http: httpx2.Client, message: str, **more: Any) -> list[Json]:
    answer = http.post("/api/chat/stream", json={"message": message, **more})
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    return events_of(answer.text)


def chat_history(http: httpx2.Client, session: str) -> list[tuple[str, str]]:
    history = http.get("/api/chat/history", params={"session_id": session}).json()["data"]
    return [(one["role"], one["content"]) for one in history]


def kinds(events: list[Json]) -> Iterator[str]:
    """Return the types of the events, with repetitions in a row collapsed."""
    last = None
    for event in events:
        if event["type"] != last:
            yield (last := event["type"])


# -- without a language model ------------------------------------------------------------------------


def test_129_without_a_model_the_answer_cites_memories_and_names_the_method(plain: httpx2.Client) -> None:
    memory_id = plain.post("/api/memories", json={"content": "The ferry leaves at noon."}).json()["data"]["id"]
    message = {"message": "When does the ferry leave?", "session_id": "ferry"}
    first, answer = (plain.post("/api/chat", json=message).json()["data"] for _ in range(2))
    assert first == answer  # the next answer does not use the previous one as a memory
    assert (answer["method"], answer["model"], answer["remembered"]) == ("memory", None, True)
    assert answer["content"].startswith(
        "No language model is configured; this answer consists of stored memories only."
    )
    assert "The ferry leaves at noon. [1]" in answer["content"]
    assert answer["memories"] == [memory_id]
    events = stream(plain, "When does the ferry leave?", session_id="ferry")
    assert list(kinds(events)) == ["start", "thinking", "delta", "done"]
    assert "".join(event["content"] for event in events if event["type"] == "delta") == events[-1]["content"]
    assert events[-1] == {"type": "done", "content": answer["content"]}
    assert (
        chat_history(plain, "ferry") == [("user", "When does the ferry leave?"), ("assistant", answer["content"])] * 3
    )
    assert chat_history(plain, "another") == []


def test_129_the_model_test_reports_a_missing_model(plain: httpx2.Client) -> None:
    for answer in (plain.get("/api/chat/test"), plain.post("/api/chat/test")):
        body = answer.json()["data"]
        assert (body["configured"], body["reachable"], body["model"]) == (False, False, None)
        assert "SCRUBJAY_LLM_BASE_URL" in body["error"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "message: Field required"),
        ({"message": "  "}, "message: String should match"),
        ({"message": "hi", "histry": []}, "histry: Extra inputs"),
        ({"message": "hi", "history": [{"role": "system", "content": "x"}]}, "history.0.role"),
        ({"message": "a\0b"}, "NUL"),
    ],
)
def test_129_an_invalid_body_is_refused(plain: httpx2.Client, body: Json, problem: str) -> None:
    answer = plain.post("/api/chat", json=body).json()
    assert (answer["success"], problem in answer["error"]) == (False, True), answer


# -- with a language model ----------------------------------------------------------------------------------------


def test_129_the_model_gets_recalled_memories_and_earlier_messages(http: httpx2.Client, upstream: Upstream) -> None:
    memory_id = http.post("/api/memories", json={"content": "The pilot is called Solveig."}).json()["data"]["id"]
    events = stream(http, "Who is the pilot?", session_id="pilot")
    assert list(kinds(events)) == ["start", "thinking", "delta", "done"]
    assert events[-1] == {"type": "done", "content": "You said: Who is the pilot?"}
    request = upstream.bodies[-1]
    assert (request["model"], request["stream"]) == (MODEL, True)
    assert "The pilot is called Solveig." in request["messages"][0]["content"]
    answer = http.post("/api/chat", json={"message": "And her boat?", "session_id": "pilot"}).json()["data"]
    assert (answer["method"], answer["model"], answer["remembered"]) == ("language_model", MODEL, True)
    assert memory_id in answer["memories"]
    earlier = [(message["role"], message["content"]) for message in upstream.bodies[-1]["messages"][1:]]
    first = [("user", "Who is the pilot?"), ("assistant", "You said: Who is the pilot?")]
    assert earlier == [*first, ("user", "And her boat?")]
    assert chat_history(http, "pilot") == [*earlier, ("assistant", "You said: And her boat?")]
    turns = http.post("/v1/tools/get_session_memories", json={"sessionId": "pilot"}).json()["memories"]
    assert [turn["prompt"] for turn in turns] == ["Who is the pilot?", "And her boat?"]
    # A history sent by the client replaces the stored one.
    history = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    http.post("/api/chat", json={"message": "So?", "history": history, "session_id": "pilot"})
    assert upstream.bodies[-1]["messages"][1:3] == history


def test_129_the_model_gets_the_goals_and_tasks_of_the_project(http: httpx2.Client, upstream: Upstream) -> None:
    for tool, title in (("goals", "A red lighthouse"), ("tasks", "Buy paint")):
        assert http.post(f"/api/{tool}", json={"title": title}).json()["success"]
    http.post("/api/chat", json={"message": "What now?", "session_id": "plans", "history": []})
    system = upstream.bodies[-1]["messages"][0]["content"]
    assert "goal: A red lighthouse (medium, planning, 0 %, goal_" in system
    assert "task: Buy paint (medium, pending, task_" in system
    stream(http, 'use list_tasks {"status": "pending"}')
    assert "Buy paint" in upstream.bodies[-1]["messages"][-1]["content"]


def test_129_only_the_last_twenty_messages_are_shown(http: httpx2.Client) -> None:
    for number in range(12):
        http.post("/api/chat", json={"message": f"number {number}", "session_id": "many", "history": []})
    history = chat_history(http, "many")
    assert len(history) == 20
    assert (history[0], history[-2]) == (("user", "number 2"), ("user", "number 11"))


def test_129_reasoning_of_the_model_is_sent_as_separate_events(http: httpx2.Client) -> None:
    events = stream(http, "think")
    assert list(kinds(events)) == ["start", "thinking", "reasoning", "delta", "done"]
    assert "".join(event["content"] for event in events if event["type"] == "reasoning") == "Let me see."
    assert events[-1]["content"] == "You said: think"


def test_129_the_model_uses_tools_as_the_caller(http: httpx2.Client, upstream: Upstream) -> None:
    http.post("/api/memories", json={"content": "The anchor weighs 80 kg."})
    events = stream(http, 'use recall_memories {"query": "How heavy is the anchor?"}')
    assert list(kinds(events)) == [
        *("start", "thinking", "tool_planning", "round_start", "tool_start", "tool_result", "delta", "done")
    ]
    by_type = {event["type"]: event for event in events}
    assert by_type["tool_planning"]["tools"] == ["recall_memories"]
    assert by_type["round_start"] == {"type": "round_start", "round": 1, "tool_count": 1}
    assert by_type["tool_start"] == {"type": "tool_start", "name": "recall_memories", "call_id": "call_1"}
    assert by_type["tool_result"] == {
        "type": "tool_result",
        "name": "recall_memories",
        "call_id": "call_1",
        "success": True,
    }
    assert "The anchor weighs 80 kg." in by_type["done"]["content"]
    offered = {tool["function"]["name"]: tool["function"] for tool in upstream.bodies[-1]["tools"]}
    assert {"recall_memories", "search_code", "find_callers", "list_projects"} <= set(offered)
    assert not {"forget", "bash", "task"} & set(offered)
    schema = offered["recall_memories"]["parameters"]
    assert (sorted(schema["properties"]), schema["required"]) == (["limit", "query"], ["query"])
    assert schema["properties"]["limit"]["default"] == 5
    # A call that fails, and one of a tool that is not offered: the model gets the error and continues.
    for text in ('use recall_memories {"query": ""}', 'use forget {"key": "x"}', "use recall_memories nonsense"):
        answer = http.post("/api/chat", json={"message": text}).json()["data"]
        assert [call["success"] for call in answer["tools"]] == [False]
        assert '"error"' in answer["content"]


def test_129_after_a_hundred_rounds_the_model_must_answer_without_tools(
    http: httpx2.Client, upstream: Upstream
) -> None:
    before = len(upstream.bodies)
    events = stream(http, "use list_projects {} for ever")
    assert len(upstream.bodies) - before == MAX_TOOL_ROUNDS + 1 == 101
    assert [event["round"] for event in events if event["type"] == "round_start"] == list(range(1, 101))
    last = upstream.bodies[-1]
    assert (last["tool_choice"], "Answer now" in last["messages"][-1]["content"]) == ("none", True)
    assert events[-1]["type"] == "done"


def test_129_an_error_of_the_model_service_is_reported_without_the_key(http: httpx2.Client) -> None:
    for prompt in ("fail 500", "nonsense", "hang up", "break off", "break midway"):
        http.post("/api/chat", json={"message": "all is well"})  # so that the circuit breaker stays closed
        events = stream(http, prompt)
        assert events[-1]["type"] == "error"
        assert KEY not in json.dumps(events)
        if prompt in ("fail 500", "nonsense"):
            body = http.post("/api/chat", json={"message": prompt}).json()
            assert (body["success"], KEY in body["error"]) == (False, False)
    http.post("/api/chat", json={"message": "all is well"})
    body = http.get("/api/chat/test").json()["data"]
    assert (body["configured"], body["reachable"], body["model"], body["error"]) == (True, True, MODEL, None)


async def test_129_a_client_that_disconnects_stops_the_model(url: str, upstream: Upstream) -> None:
    headers = {"Authorization": f"Bearer {SERVER_KEY}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=30, trust_env=False) as http:
        upstream.disconnected.clear()
        async with http.stream("POST", "/api/chat/stream", json={"message": "endless"}) as answer:
            lines = answer.aiter_lines()
            while "delta" not in await anext(lines):
                pass
        # Less than the timeout of the language model.
        assert await anyio.to_thread.run_sync(upstream.disconnected.wait, 2.5)
        upstream.disconnected.clear()
        upstream.request_received.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: http.post("/api/chat", json={"message": "silence"}))
            assert await anyio.to_thread.run_sync(upstream.request_received.wait, 10)
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(upstream.disconnected.wait, 2.5)


def test_15_a_key_that_may_not_read_memories_does_not_reach_the_model(url: str, home: Path, upstream: Upstream) -> None:
    before = len(upstream.bodies)
    headers = {"Authorization": f"Bearer {key_of(home, 'cy', 'projects:read')}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as http:
        response = http.post("/api/chat", json={"message": "hi"})
        assert (response.status_code, response.json()["success"]) == (403, False)
        assert http.get("/api/chat/test").status_code == 403
        (*_, last) = stream(http, "hi")
        assert (last["type"], "may not access" in last["message"]) == ("error", True)
    assert len(upstream.bodies) == before


@pytest.mark.parametrize("path", ["/api/chat", "/api/chat/stream"])
async def test_6_cancel_stops_a_chat(url: str, upstream: Upstream, path: str) -> None:
    headers = {"Authorization": f"Bearer {SERVER_KEY}", "Scrubjay-Client": "impatient"}
    async with (
        httpx2.AsyncClient(base_url=url, headers=headers, timeout=30, trust_env=False) as http,
        listening(url, SERVER_KEY, client="impatient") as listener,
    ):
        upstream.disconnected.clear()
        upstream.request_received.clear()
        answers: list[httpx2.Response] = []
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                answers.append(await http.post(path, json={"message": "silence"}))

            tasks.start_soon(ask)
            assert await anyio.to_thread.run_sync(upstream.request_received.wait, 10)
            await listener.send("cancel")
        assert await anyio.to_thread.run_sync(upstream.disconnected.wait, 2.5)
        assert "the client stopped the chat" in answers[0].text
