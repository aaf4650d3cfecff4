"""`think` and `plan`, called in this process: what is kept of thoughts, and how far a train of them has come."""

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
            answer = await application.dispatcher.call(tool, arguments, CallContext(surface="python", client=client))
            return answer.model_dump(mode="json")

        yield call


def step(number: int, total: int, *, more: bool = True, thought: str = "hm") -> dict[str, Any]:
    told = {"thoughtNumber": number, "totalThoughts": total, "nextThoughtNeeded": more}
    return {"operation": "sequential", "thought": thought, **told}


async def test_034_a_thought_that_is_said_to_be_recorded_is_kept(call: Call) -> None:
    told = await call("think", thought="The token expires too early.")
    assert told == {
        "operation": "thought",
        "status": "recorded",
        "thought": "The token expires too early.",
        "timestamp": told["timestamp"],
        "session_id": "ada/thinking",
        "expires_at": told["expires_at"],
    }
    assert datetime.fromisoformat(told["expires_at"]) - datetime.fromisoformat(told["timestamp"]) == timedelta(hours=1)
    [kept] = (await call("working_recent", session_id="ada/thinking"))["items"]
    assert (kept["content"], kept["source"]) == ("The token expires too early.", "think")
    assert kept["consolidation_candidate"] is False


async def test_034_a_plan_is_numbered_and_kept(call: Call) -> None:
    told = await call("think", operation="plan", steps=["Reproduce it", "Mend it"])
    assert (told["status"], told["steps"]) == ("recorded", ["Reproduce it", "Mend it"])
    assert told["formatted"] == "1. Reproduce it\n2. Mend it"
    by_its_older_name = await call("plan", steps=["Reproduce it", "Mend it"])
    for answer in (told, by_its_older_name):
        answer.pop("timestamp")
        answer.pop("expires_at")
    assert by_its_older_name == told
    kept = (await call("working_recent", session_id="ada/thinking"))["items"]
    assert [item["content"] for item in kept] == ["1. Reproduce it\n2. Mend it"] * 2


async def test_034_a_train_of_thought_tells_how_far_it_has_come(call: Call) -> None:
    told = [await call("think", **step(*numbers)) for numbers in ((1, 4), (2, 4), (3, 4), (4, 5))]
    told.append(await call("think", **step(5, 4, more=False)))
    assert [(one["thought_number"], one["total_thoughts"], one["progress_percent"]) for one in told] == [
        (1, 4, 25.0),
        (2, 4, 50.0),
        (3, 4, 75.0),
        (4, 5, 80.0),
        (5, 5, 100.0),
    ]
    assert [one["thoughts_recorded"] for one in told] == [1, 2, 3, 4, 5]  # also those that had to give way
    assert [one["status"] for one in told] == ["continue"] * 4 + ["complete"]
    assert [one["next_thought_needed"] for one in told] == [True] * 4 + [False]


async def test_034_another_train_of_thought_begins_with_the_first_step_or_after_the_last(call: Call) -> None:
    await call("think", **step(1, 3))
    assert (await call("think", **step(1, 2)))["thoughts_recorded"] == 1
    assert (await call("think", **step(2, 2, more=False)))["thoughts_recorded"] == 2
    assert (await call("think", **step(3, 3)))["thoughts_recorded"] == 1  # nothing is known of a first and a second
    await call("think", thought="something else")
    assert (await call("think", **step(4, 4)))["thoughts_recorded"] == 2


async def test_034_thoughts_of_two_clients_are_apart(call: Call) -> None:
    await call("think", client="ada", **step(1, 2))
    assert (await call("think", client="bob", **step(2, 2)))["thoughts_recorded"] == 1
    first = await call("think", client=None, **step(1, 2))
    assert (await call("think", client=None, **step(2, 2)))["thoughts_recorded"] == 1
    told = await call("think", client=None, session_id=first["session_id"], **step(2, 2))
    assert (told["session_id"], told["thoughts_recorded"]) == (first["session_id"], 2)


async def test_034_thoughts_push_nothing_out_of_what_a_client_has_in_mind(call: Call) -> None:
    await call("working_put", content="the current step")
    for number in range(1, 6):
        await call("think", **step(number, 5))
    assert [item["content"] for item in (await call("working_recent"))["items"]] == ["the current step"]


async def test_034_secrets_in_thoughts_are_masked(call: Call) -> None:
    told = await call("think", thought="the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
    assert "abcdefghij" not in str(told)
    assert told["masked"]
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
async def test_034_what_is_missing_is_named(call: Call, arguments: dict[str, Any], missing: str) -> None:
    with pytest.raises(InvalidRequest, match=missing):
        await call("think", **arguments)
    assert (await call("working_recent", session_id="ada/thinking"))["items"] == []
