"""What is asked is remembered beside the answer, and not lost when the server stops."""

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
from scrubjay.features.chat.exchange_recorder import Exchange, Keeper
from scrubjay.models.chat_proxy import forwarder_for
from scrubjay.models.choices import CompletionChoice
from scrubjay.models.static_model import StaticEmbedder
from scrubjay.servers.openai.routes import OpenAIRoutes, ToolNames, Wishes
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services
from tests.servers.openai.upstream import KEY, MODEL, Upstream, running_upstream
from tests.surfaces.callers import PROGRAM, environment, server

COUNT = 5


def test_005_an_orderly_stop_loses_no_exchange(tmp_path: Path) -> None:
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
            # Nobody else can write while this is held, so the exchanges still wait when the server is told to stop.
            with closing(sqlite3.connect(tmp_path / "scrubjay.db", isolation_level=None)) as others:
                others.execute("BEGIN IMMEDIATE")
                for place in range(1, COUNT):
                    _ask(url, f"number {place}")
                process.send_signal(signal.SIGTERM)
                _wait_until_closed(url)
                others.execute("ROLLBACK")
            process.communicate(timeout=30)
            assert process.returncode == 0
        finally:
            process.kill()
            process.wait()
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        kept = http.post("/v1/tools/get_session_memories", json={"sessionId": "last-words"}).json()
    assert {turn["prompt"] for turn in kept["memories"]} == {f"number {place}" for place in range(COUNT)}


def _ask(url: str, text: str) -> None:
    body = {"messages": [{"role": "user", "content": text}], "user": "last-words"}
    answer = httpx2.post(f"{url}/v1/chat/completions", json=body, timeout=30, trust_env=False)
    assert answer.status_code == 200


def _wait_until_closed(url: str) -> None:
    """Wait until the server takes no connections any more."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            httpx2.get(f"{url}/health", timeout=5, trust_env=False)
        except httpx2.TransportError:
            return
    raise AssertionError("the server goes on")


async def test_005_what_a_key_does_not_open_is_not_remembered(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        keeper = Keeper(application.dispatcher, "add_memory")
        reader = CallContext(surface="openai", caller=Caller("reader", frozenset({"*:read"})))
        assert (keeper.may_keep(reader), keeper.may_keep(CallContext(surface="openai"))) == (False, True)
        for context in (reader, CallContext(surface="openai")):
            keeper.keep(Exchange(prompt="a\0b", answer=context.caller.name, session_id="s", context=context))
        await keeper.finish()
        found = await application.dispatcher.call(
            "get_session_memories", {"sessionId": "s"}, CallContext(surface="python")
        )
    assert [(turn["prompt"], turn["response"]) for turn in found.model_dump()["memories"]] == [("a b", "owner")]


class Anything(Request):
    model_config = ConfigDict(extra="allow")


class Found(Result):
    memories: tuple[str, ...] = ()
    degraded: str | None = None


async def test_005_the_end_waits_for_what_is_being_remembered(upstream: Upstream) -> None:
    begun, gate = anyio.Event(), anyio.Event()
    kept: list[Anything] = []

    @tool("toys", read_only=True)
    async def look(request: Anything) -> Found:
        """Find nothing."""
        return Found()

    @tool("toys")
    async def keep(request: Anything) -> Found:
        """Keep it once the gate is open."""
        begun.set()
        await gate.wait()
        kept.append(request)
        return Found()

    choice = CompletionChoice(base_url=upstream.url, model=MODEL)
    names = ToolNames(recall="look", keep="keep", ask="look", route="look", search="look")
    wishes = Wishes(recall_tokens=100, recall_limit=1, remember=True, any_model=False)
    dispatcher = Dispatcher(Registry([look, keep]), Services())
    forwarder = forwarder_for(choice, {}, concurrency=1)

    async def embedder() -> StaticEmbedder:
        return StaticEmbedder()

    routes = OpenAIRoutes(dispatcher, names, embedder, wishes, forwarder)
    transport = httpx2.ASGITransport(Starlette(routes=routes.routes))

    async def open_gate() -> None:
        for _ in range(1_000):  # long after an end that does not wait
            await anyio.lowlevel.checkpoint()
        gate.set()

    async with anyio.create_task_group() as tasks:
        async with routes.run():
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                body = {"messages": [{"role": "user", "content": "hi"}]}
                assert (await http.post("/v1/chat/completions", json=body)).status_code == 200
            await begun.wait()
            assert not kept  # and yet the answer is there
            tasks.start_soon(open_gate)
        assert len(kept) == 1
