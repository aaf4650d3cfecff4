"""HTTP skills that misbehave, served by a hand-written MCP server."""

import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import Unavailable
from scrubjay.features.upstream_mcp import connection
from scrubjay.tooling.context import CallContext
from tests.features.upstream_mcp.conftest import write_skills

NAMES = ("greet", "events", "wait")
CONTEXT = CallContext(surface="python", client="tests")


class Server(ThreadingHTTPServer):
    """An MCP server of the handshake revisions whose sessions can expire."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.sessions: set[str] = set()
        self.handshakes = 0
        self.authorizations: set[str | None] = set()
        self.release = threading.Event()
        self.endless: str | None = None
        """Content type of an endless response, or None."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"


class Handler(BaseHTTPRequestHandler):
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.authorizations.add(self.headers.get("authorization"))
        method, params = message["method"], message.get("params", {})
        if method == "initialize":
            self.server.handshakes += 1
            session = f"session-{self.server.handshakes}"
            self.server.sessions.add(session)
            info = {"name": "far", "version": "1"}
            self.send_result(
                message,
                {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info},
                session,
            )
        elif method == "server/discover":
            self.send(400, b"{}")
        elif self.headers.get("mcp-session-id") not in self.server.sessions:
            self.send(404, b"{}")
        elif "id" not in message:
            self.send(202, b"")
        elif method == "tools/list":
            self.send_result(message, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]})
        elif params["name"] == "wait":
            self.server.release.wait(20)
            self.send_result(message, {"content": []})
        elif self.server.endless:
            self.send_endlessly(self.server.endless)
        else:
            text = "hello" * params["arguments"].get("times", 1)
            self.send_result(
                message, {"content": [{"type": "text", "text": text}]}, in_events=params["name"] == "events"
            )

    def send_result(
        self,
        message: dict[str, Any],
        result: dict[str, Any],
        session: str | None = None,
        *,
        in_events: bool = False,
    ) -> None:
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        if in_events:
            self.send(200, f"data: {text}\n\n".encode(), kind="text/event-stream")
        else:
            self.send(200, text.encode(), session)

    def send(self, status: int, body: bytes, session: str | None = None, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(body)

    def send_endlessly(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        self.end_headers()
        try:
            while not self.server.release.is_set():
                self.wfile.write(b"data: " * 10000)
        except OSError:
            self.close_connection = True

    def do_GET(self) -> None:
        self.send(405, b"")

    do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def far() -> Generator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join(5)


def skill_entry(server: Server, **more: Any) -> dict[str, Any]:
    return {"config": {"url": server.url, **more}, "tools": [{"name": name} for name in NAMES]}


async def greet(app: Application) -> str:
    return (await app.dispatcher.call("far_greet", {}, CONTEXT)).model_dump()["content"][0]["text"]


async def test_038_the_key_of_a_server_is_read_from_a_variable(
    home: Path, far: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "open sesame")
    write_skills(home, far=skill_entry(far, headers={"Authorization": "Bearer ${GITHUB_TOKEN}"}))
    async with running(Settings(home=home)) as app:
        assert await greet(app) == "hello"
    assert far.authorizations == {"Bearer open sesame"}


async def test_038_an_expired_session_is_replaced_while_another_call_is_waiting(home: Path, far: Server) -> None:
    write_skills(home, far=skill_entry(far))
    async with running(Settings(home=home)) as app:
        assert await greet(app) == "hello"
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                with pytest.raises(Unavailable, match="died"):
                    await app.dispatcher.call("far_wait", {}, CONTEXT)

            tasks.start_soon(wait)
            with anyio.fail_after(5):
                while not app.skills.running_calls:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
            far.sessions.clear()  # as after a restart of the server
            with pytest.raises(Unavailable, match="Session terminated"):
                await greet(app)
            with anyio.fail_after(5):
                assert await greet(app) == "hello"
        assert far.handshakes == 2


@pytest.mark.parametrize(("tool", "kind"), [("greet", "application/json"), ("events", "text/event-stream")])
async def test_038_responses_over_http_are_limited_in_size(home: Path, far: Server, tool: str, kind: str) -> None:
    write_skills(home, far=skill_entry(far))
    max_bytes = 4 * 1024 * 1024
    async with running(Settings(home=home, max_body_bytes=max_bytes)) as app:

        async def length(times: int) -> int:
            result = await app.dispatcher.call(f"far_{tool}", {"times": times}, CONTEXT)
            return len(result.model_dump()["content"][0]["text"])

        assert await length(500_000) == 2_500_000
        with pytest.raises(Unavailable, match=r"4194304|maximum"):
            await length(1_000_000)
        far.endless = kind
        with anyio.fail_after(20), pytest.raises(Unavailable, match=r"4194304|maximum"):
            await length(1)
        far.endless = None
        assert await length(1) == 5


async def test_038_an_unreachable_server_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "STEP_SECONDS", 5)
    write_skills(home, far={"config": {"url": "http://127.0.0.1:9/mcp"}, "tools": [{"name": "greet"}]})
    async with running(Settings(home=home)) as app:
        with pytest.raises(Unavailable, match="far is not available") as caught:
            await greet(app)
        assert caught.value.details["reason"] == "not_started"
