"""The tools `think` and `plan`: stored thoughts and the progress of a sequence."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.context import CallContext

Call = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def call(tmp_path: Path) -> AsyncGenerator[Call]:
    settings = Settings.model_validate({"home": tmp_path, "working": {"capacity": 3}})
    async with running(settings) as application:

        async def call(tool: str, /, client: str | None = "ada", **arguments: Any) -> dict[str, Any]:
            result = await application.dispatcher.call(tool, arguments, CallContext(surface="python", client=client))
            return result.model_dump(mode="json")

        yield call


def step(number: int, total: int, *, more: bool = True, thought: str = "hm") -> dict[str, Any]:
    numbers = {"thoughtNumber": number, "totalThoughts": total, "nextThoughtNeeded": more}
    return {"operation": "sequential", "thought": thought, **numbers}


async def test_034_a_recorded_thought_is_stored(call: Call) -> None:
    result = await call("think", thought="The token expires too early.")
    assert result == {
        "operation": "thought",
        "status": "recorded",
        "thought": "The token expires too early.",
        "timestamp": result["timestamp"],
        "session_id": "ada/thinking",
        "expires_at": result["expires_at"],
    }
    assert datetime.fromisoformat(result["expires_at"]) - datetime.fromisoformat(result["timestamp"]) == timedelta(
        hours=1
    )
    [stored] = (await call("working_recent", session_id="ada/thinking"))["items"]
    assert (stored["content"], stored["source"]) == ("The token expires too early.", "think")
    assert stored["consolidation_candidate"] is False


async def test_034_a_plan_is_numbered_and_stored(call: Call) -> None:
    result = await call("think", operation="plan", steps=["Reproduce it", "Fix it"])
    assert (result["status"], result["steps"]) == ("recorded", ["Reproduce it", "Fix it"])
    assert result["formatted"] == "1. Reproduce it\n2. Fix it"
    by_alias = await call("plan", steps=["Reproduce it", "Fix it"])
    for response in (result, by_alias):
        response.pop("timestamp")
        response.pop("expires_at")
    assert by_alias == result
    stored = (await call("working_recent", session_id="ada/thinking"))["items"]
    assert [item["content"] for item in stored] == ["1. Reproduce it\n2. Fix it"] * 2


async def test_034_sequential_thoughts_report_their_progress(call: Call) -> None:
    results = [await call("think", **step(*numbers)) for numbers in ((1, 4), (2, 4), (3, 4), (4, 5))]
    results.append(await call("think", **step(5, 4, more=False)))
    assert [(one["thought_number"], one["total_thoughts"], one["progress_percent"]) for one in results] == [
        (1, 4, 25.0),
        (2, 4, 50.0),
        (3, 4, 75.0),
        (4, 5, 80.0),
        (5, 5, 100.0),
    ]
    assert [one["thoughts_recorded"] for one in results] == [1, 2, 3, 4, 5]  # evicted thoughts count too
    assert [one["status"] for one in results] == ["continue"] * 4 + ["complete"]
    assert [one["next_thought_needed"] for one in results] == [True] * 4 + [False]


async def test_034_a_new_sequence_starts_with_step_one_or_after_a_completed_one(call: Call) -> None:
    await call("think", **step(1, 3))
    assert (await call("think", **step(1, 2)))["thoughts_recorded"] == 1
    assert (await call("think", **step(2, 2, more=False)))["thoughts_recorded"] == 2
    assert (await call("think", **step(3, 3)))[
        "thoughts_recorded"
    ] == 1  # steps 1 and 2 of this sequence were never recorded
    await call("think", thought="something else")
    assert (await call("think", **step(4, 4)))["thoughts_recorded"] == 2


async def test_034_each_client_has_its_own_sequence_of_thoughts(call: Call) -> None:
    await call("think", client="ada", **step(1, 2))
    assert (await call("think", client="bob", **step(2, 2)))["thoughts_recorded"] == 1
    first = await call("think", client=None, **step(1, 2))
    assert (await call("think", client=None, **step(2, 2)))["thoughts_recorded"] == 1
    result = await call("think", client=None, session_id=first["session_id"], **step(2, 2))
    assert (result["session_id"], result["thoughts_recorded"]) == (first["session_id"], 2)


async def test_034_thoughts_do_not_evict_items_of_the_client_session(call: Call) -> None:
    await call("working_put", content="the current step")
    for number in range(1, 6):
        await call("think", **step(number, 5))
    assert [item["content"] for item in (await call("working_recent"))["items"]] == ["the current step"]


async def test_034_secrets_in_thoughts_are_masked(call: Call) -> None:
    result = await call("think", thought="the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
    assert "abcdefghij" not in str(result)
    assert result["masked"]
    planned = await call("plan", steps=["use sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"])
    assert "abcdefghij" not in str(planned)


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ({}, "thought"),
        ({"operation": "plan"}, "steps"),
        ({"operation": "plan", "steps": []}, "steps"),
        ({"operation": "sequential", "thought": "x"}, "thoughtNumber"),
        ({**step(1, 1), "thoughtNumber": 0}, "thoughtNumber"),
        ({"thought": ""}, "thought"),
        ({"thought": "x", "steps": [""]}, "steps"),
    ],
)
async def test_034_an_error_names_the_missing_argument(call: Call, arguments: dict[str, Any], missing: str) -> None:
    with pytest.raises(InvalidRequest, match=missing):
        await call("think", **arguments)
    assert (await call("working_recent", session_id="ada/thinking"))["items"] == []
