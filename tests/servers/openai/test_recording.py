"""Exchanges are recorded in the background and not lost when the server stops."""

import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import anyio
import anyio.lowlevel
import httpx2
from pydantic import ConfigDict
from starlette.applications import Starlette

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import Caller
from scrubjay.features.chat.exchange_recorder import Exchange, ExchangeRecorder
from scrubjay.models.chat_proxy import chat_proxy_for
from scrubjay.models.choices import CompletionChoice
from scrubjay.models.static_model import StaticEmbedder
from scrubjay.servers.openai.routes import OpenAIOptions, OpenAIRoutes, ToolNames
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services
from tests.servers.openai.upstream import KEY, MODEL, Upstream, running_upstream
from tests.surfaces.callers import PROGRAM, environment, server

COUNT = 5


def test_005_a_graceful_shutdown_loses_no_exchange(tmp_path: Path) -> None:
    with running_upstream() as upstream:
        settings = {
            "SCRUBJAY_LLM_BASE_URL": upstream.url,
            "SCRUBJAY_LLM_MODEL": MODEL,
            "SCRUBJAY_LLM_API_KEY": KEY,
            "SCRUBJAY_SUMMARIES_AUTOMATIC": "off",
        }
        process = subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0"],
            env={**environment(tmp_path), **settings},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout
            url = next(word for line in process.stdout for word in line.split() if word.startswith("http://127"))
            _ask(url, "number 0")
            # This transaction blocks all writers, so the exchanges are still pending when the server gets SIGTERM.
            with closing(sqlite3.connect(tmp_path / "scrubjay.db", isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for number in range(1, COUNT):
                    _ask(url, f"number {number}")
                process.send_signal(signal.SIGTERM)
                _wait_until_closed(url)
                connection.execute("ROLLBACK")
            process.communicate(timeout=30)
            assert process.returncode == 0
        finally:
            process.kill()
            process.wait()
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        session = http.post("/v1/tools/get_session_memories", json={"sessionId": "last-words"}).json()
    assert {turn["prompt"] for turn in session["memories"]} == {f"number {number}" for number in range(COUNT)}


def _ask(url: str, text: str) -> None:
    body = {"messages": [{"role": "user", "content": text}], "user": "last-words"}
    answer = httpx2.post(f"{url}/v1/chat/completions", json=body, timeout=30, trust_env=False)
    assert answer.status_code == 200


def _wait_until_closed(url: str) -> None:
    """Wait until the server accepts no more connections."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            httpx2.get(f"{url}/health", timeout=5, trust_env=False)
        except httpx2.TransportError:
            return
    raise AssertionError("the server still accepts connections")


async def test_005_nothing_is_recorded_with_a_read_only_key(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        recorder = ExchangeRecorder(application.dispatcher, "add_memory")
        reader = CallContext(surface="openai", caller=Caller("reader", frozenset({"*:read"})))
        assert (recorder.may_record(reader), recorder.may_record(CallContext(surface="openai"))) == (False, True)
        for context in (reader, CallContext(surface="openai")):
            recorder.start_recording(
                Exchange(prompt="a\0b", answer=context.caller.name, session_id="s", context=context)
            )
        await recorder.drain()
        memories = await application.dispatcher.call(
            "get_session_memories", {"sessionId": "s"}, CallContext(surface="python")
        )
    assert [(turn["prompt"], turn["response"]) for turn in memories.model_dump()["memories"]] == [("a b", "owner")]


class AnyRequest(Request):
    model_config = ConfigDict(extra="allow")


class EmptyResult(Result):
    memories: tuple[str, ...] = ()
    degraded: str | None = None


async def test_005_shutdown_waits_for_pending_recordings(upstream: Upstream) -> None:
    started, gate = anyio.Event(), anyio.Event()
    stored: list[AnyRequest] = []

    @tool("toys", read_only=True)
    async def find(request: AnyRequest) -> EmptyResult:
        """Find nothing."""
        return EmptyResult()

    @tool("toys")
    async def store(request: AnyRequest) -> EmptyResult:
        """Store it once the gate is open."""
        started.set()
        await gate.wait()
        stored.append(request)
        return EmptyResult()

    choice = CompletionChoice(base_url=upstream.url, model=MODEL)
    names = ToolNames(recall="find", record="store", ask="find", route="find", search="find")
    options = OpenAIOptions(recall_tokens=100, recall_limit=1, remember=True, any_model=False)
    dispatcher = Dispatcher(Registry([find, store]), Services())
    forwarder = chat_proxy_for(choice, {}, concurrency=1)

    async def embedder() -> StaticEmbedder:
        return StaticEmbedder()

    routes = OpenAIRoutes(dispatcher, names, embedder, options, forwarder)
    transport = httpx2.ASGITransport(Starlette(routes=routes.routes))

    async def open_gate() -> None:
        for _ in range(1_000):  # much longer than a shutdown that does not wait
            await anyio.lowlevel.checkpoint()
        gate.set()

    async with anyio.create_task_group() as tasks:
        async with routes.run():
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                body = {"messages": [{"role": "user", "content": "hi"}]}
                assert (await http.post("/v1/chat/completions", json=body)).status_code == 200
            await started.wait()
            assert not stored  # although the response has been sent
            tasks.start_soon(open_gate)
        assert len(stored) == 1
