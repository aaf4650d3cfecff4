"""Joining a topic of a real server: keys, remote clients, blocked addresses (features 6 and 13)."""

import base64
import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from scrubjay.servers.phoenix.endpoint import PATH
from tests.surfaces.callers import server

REMOTE = {"X-Forwarded-For": "203.0.113.9"}
AUTH_TOKEN = "base64url.bearer.phx." + base64.urlsafe_b64encode(b"some-key").decode().rstrip("=")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Run a server without keys, behind a proxy on this machine, and yield its WebSocket URL."""
    with server(tmp_path_factory.mktemp("home"), SCRUBJAY_TRUSTED_PROXIES='["127.0.0.1"]') as url:
        yield url.replace("http", "ws", 1)


@contextmanager
def join_topic(
    url: str,
    payload: Mapping[str, str],
    *,
    query: str = "",
    headers: Mapping[str, str] | None = None,
    protocols: Sequence[str] = (),
) -> Generator[tuple[ClientConnection, Any]]:
    """Connect and join; yield the connection and the reply to the join."""
    offered = [Subprotocol(name) for name in protocols] or None
    address = f"{url}{PATH}?vsn=2.0.0{query}"
    with connect(address, proxy=None, additional_headers=headers, subprotocols=offered) as socket:
        socket.send(json.dumps(["1", "1", "cortex:agent", "phx_join", payload]))
        yield socket, json.loads(socket.recv(timeout=10))[4]


@pytest.mark.parametrize(
    ("payload", "given"),
    [
        ({}, {}),
        ({"api_key": "..."}, {}),  # from the example in Mimo's document
        ({}, {"query": "&token=..."}),
        ({}, {"protocols": ["phoenix", AUTH_TOKEN]}),
        ({}, {"headers": {"Authorization": "Bearer some-key"}}),
    ],
)
def test_6_a_server_without_keys_ignores_a_key_that_is_sent(
    url: str, payload: Mapping[str, str], given: Mapping[str, Any]
) -> None:
    with join_topic(url, payload, **given) as (_, answer):
        assert answer == {"status": "ok", "response": {"agent_id": "agent"}}


@pytest.mark.parametrize(("payload", "reason"), [({}, "api_key required"), ({"api_key": "..."}, "unauthorized")])
def test_13_a_remote_client_needs_a_key(url: str, payload: Mapping[str, str], reason: str) -> None:
    with join_topic(url, payload, headers=REMOTE) as (_, answer):
        assert answer == {"status": "error", "response": {"reason": reason}}


def test_22_a_connection_with_the_sandbox_header_is_read_only(url: str) -> None:
    with join_topic(url, {}, headers={"X-Mimo-Sandbox": "1"}) as (socket, answer):
        assert answer["status"] == "ok"
        for tool, status in (("remember", "error"), ("recall", "success")):
            arguments = {"content": "x"} if tool == "remember" else {"query": "x"}
            socket.send(
                json.dumps(["1", "2", "cortex:agent", "call", {"tool": tool, "arguments": arguments, "ref": tool}])
            )
            while (frame := json.loads(socket.recv(timeout=10)))[3] != "result":
                pass
            assert frame[4]["status"] == status
            if status == "error":
                assert frame[4]["data"]["error"]["code"] == "forbidden"


def test_14_an_address_with_repeated_wrong_keys_is_blocked(tmp_path: Path) -> None:
    settings = {
        "SCRUBJAY_API_KEY": "correct-horse-battery-staple",
        "SCRUBJAY_TRUSTED_PROXIES": '["127.0.0.1"]',
        "SCRUBJAY_LIMITS_WRONG_KEYS": "3",
    }
    with server(tmp_path, **settings) as url:
        address = url.replace("http", "ws", 1)
        for _ in range(3):
            with join_topic(address, {"api_key": "guess"}, headers=REMOTE) as (_, answer):
                assert answer["response"] == {"reason": "unauthorized"}
        with pytest.raises(InvalidStatus, match="HTTP 429"), join_topic(address, {"api_key": "guess"}, headers=REMOTE):
            pass
        with join_topic(address, {"api_key": settings["SCRUBJAY_API_KEY"]}) as (_, answer):
            assert answer["status"] == "ok"
    audit = (tmp_path / "audit.jsonl").read_text()
    assert audit.count(PATH) >= 3
