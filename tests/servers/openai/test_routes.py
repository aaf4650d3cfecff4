"""Settings of the OpenAI routes and scopes of keys, in the process of the test."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from starlette.types import ASGIApp, Message

from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.features.chat.exchange_recorder import Exchange, ExchangeRecorder
from scrubjay.features.keys.issuer import KeyIssuer
from scrubjay.servers.openai.conversation import memories_in
from scrubjay.tooling.context import CallContext
from tests.servers.openai.upstream import KEY, MODEL, Upstream

Json = dict[str, Any]
LONG = "The lighthouse of Utsira was painted red. " * 8
# More bytes than characters; about one token per four bytes.
NON_ASCII = "The lighthouse 灯台は赤く塗られていました。" * 5


@asynccontextmanager
async def served(
    home: Path, url: str | None, scopes: str | None = None, *, llm: Json | None = None, **options: Any
) -> AsyncGenerator[httpx2.AsyncClient]:
    model = {"base_url": url, "model": MODEL, "api_key": KEY} if url else {}
    settings = {"home": home, "llm": {**model, **(llm or {})}, "summaries": {"automatic": "off"}, "openai": options}
    async with running(Settings.model_validate(settings)) as application:
        for content in ("The lighthouse keeper is Olav.", LONG):
            arguments = {"content": content}
            await application.dispatcher.call("remember", arguments, CallContext(surface="python"))
        headers: dict[str, str] = {}
        if scopes is not None:
            keys = KeyIssuer((await application.services.get(Store)).keys, application.registry.families)
            headers["Authorization"] = f"Bearer {(await keys.create('somebody', scopes, None)).text}"
        app = build_http(application)
        asgi = httpx2.ASGITransport(app)
        async with (
            lifespan(app),
            httpx2.AsyncClient(transport=asgi, base_url="http://localhost", headers=headers) as http,
        ):
            yield http


@asynccontextmanager
async def lifespan(app: ASGIApp) -> AsyncGenerator[None]:
    """Run the ASGI lifespan of the application, as a server does."""
    to_app, receive = anyio.create_memory_object_stream[Message](1)
    send, from_app = anyio.create_memory_object_stream[Message](1)
    async with to_app, receive, send, from_app, anyio.create_task_group() as tasks:
        tasks.start_soon(cast(Any, app), {"type": "lifespan", "asgi": {"version": "3.0"}}, receive.receive, send.send)
        for step in ("startup", "shutdown"):
            await to_app.send({"type": f"lifespan.{step}"})
            assert (await from_app.receive())["type"] == f"lifespan.{step}.complete"
            if step == "startup":
                yield


async def ask(http: httpx2.AsyncClient, text: str = "Who keeps the lighthouse?", **more: Any) -> httpx2.Response:
    body = {"messages": [{"role": "user", "content": text}], **more}
    return await http.post("/v1/chat/completions", json=body)


async def test_005_memories_stay_within_the_token_budget(tmp_path: Path, upstream: Upstream) -> None:
    for tokens, count in ((1_000, 2), (90, 1), (0, 0)):
        async with served(tmp_path / str(tokens), upstream.url, recall_tokens=tokens, remember=False) as http:
            answer = (await ask(http)).json()
        first = upstream.bodies[-1]["messages"][0]
        assert len(answer["scrubjay"]["memories"]) == count
        assert (first["role"] == "system") == bool(count)
        assert not count or len(first["content"]) <= 4 * tokens
        assert answer["scrubjay"]["tokens"] == (-(-len(first["content"]) // 4) if count else 0)
        assert answer["scrubjay"]["remembers"] is False


@pytest.mark.parametrize(("tokens", "count"), [(100, 0), (130, 1)])
async def test_005_non_ascii_text_counts_more_tokens(
    tmp_path: Path, upstream: Upstream, tokens: int, count: int
) -> None:
    async with served(tmp_path, upstream.url, recall_tokens=tokens, remember=False) as http:
        stored = (await http.post("/v1/tools/remember", json={"content": NON_ASCII})).json()["id"]
        scrubjay = (await ask(http, "灯台は赤く塗られていました")).json()["scrubjay"]
    assert len([one for one in scrubjay["memories"] if one["id"] == stored]) == count
    assert scrubjay["tokens"] <= tokens


async def test_005_any_model_can_be_used_when_the_operator_allows_it(tmp_path: Path, upstream: Upstream) -> None:
    async with served(tmp_path, upstream.url, any_model=True, remember=False) as http:
        assert (await ask(http, model="another-model")).status_code == 200
        assert upstream.bodies[-1]["model"] == "another-model"
        assert (await ask(http, model="scrubjay")).status_code == 200
        assert upstream.bodies[-1]["model"] == MODEL


async def test_005_a_language_model_without_its_key_is_misconfigured(tmp_path: Path) -> None:
    wrong = {"api_key": None, "api_key_env": "NO_SUCH_VARIABLE"}
    async with served(tmp_path, "http://127.0.0.1:9/v1", llm=wrong) as http:
        answer = await ask(http)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "misconfigured")


async def test_005_the_circuit_breaker_opens_after_repeated_failures(tmp_path: Path, upstream: Upstream) -> None:
    async with served(tmp_path, upstream.url, remember=False) as http:
        statuses = [(await ask(http, "fail 500")).status_code for _ in range(5)]
        before = len(upstream.bodies)
        answer = await ask(http)
    assert statuses == [502] * 5
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "paused")
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert len(upstream.bodies) == before


@pytest.mark.parametrize(
    ("scope", "chat", "plain", "embeddings"),
    [
        ("memory:read", 200, 403, 403),
        ("asking", 403, 403, 403),
        ("asking,memory:read", 200, 200, 403),
        ("embeddings:read", 403, 403, 200),
    ],
)
async def test_005_a_key_allows_what_its_scopes_say(
    tmp_path: Path, upstream: Upstream, scope: str, chat: int, plain: int, embeddings: int
) -> None:
    async with served(tmp_path / "llm", upstream.url, scope) as http:
        answer = await ask(http)
        assert answer.status_code == chat
        if chat == 200:
            assert answer.json()["scrubjay"]["remembers"] is False
        else:
            assert answer.json()["error"]["type"] == "permission_error"
    async with served(tmp_path / "plain", None, scope) as http:
        assert (await ask(http)).status_code == plain
        embedded = await http.post("/v1/embeddings", json={"model": "scrubjay", "input": "x"})
        assert embedded.status_code == embeddings


async def test_024_the_request_id_and_trace_are_sent_to_the_language_model(tmp_path: Path, upstream: Upstream) -> None:
    traceparent = f"00-{'ab' * 16}-{'cd' * 8}-01"
    async with served(tmp_path, upstream.url, remember=False) as http:
        http.headers |= {"X-Request-Id": "mine", "traceparent": traceparent}
        for path, body in (("/api/chat", {"message": "hi"}), ("/v1/responses", {"model": MODEL, "input": "hi"})):
            assert (await http.post(path, json=body)).status_code == 200
            headers = upstream.headers[-1]
            assert (headers["X-Request-Id"], headers["traceparent"]) == ("mine", traceparent)


PICTURE = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]
WITHOUT_WORDS = {"messages": [{"role": "user", "content": PICTURE}]}


@pytest.mark.parametrize(
    "body", [{"scrubjay": {"recall": False}}, {"messages": [{"role": "user", "content": PICTURE}]}]
)
@pytest.mark.parametrize("tokens", [1_000, 0])
async def test_015_a_key_without_recall_permission_cannot_use_the_model_with_recall_disabled(
    tmp_path: Path, upstream: Upstream, body: Json, tokens: int
) -> None:
    before = len(upstream.bodies)
    async with served(tmp_path, upstream.url, "projects:read", recall_tokens=tokens) as http:
        answer = await ask(http, **body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "permission_error")
        chat = await http.post("/api/chat", json={"message": "hi"})
        assert chat.status_code == 403
        answered = await http.post("/v1/responses", json={"model": "scrubjay", "input": "hi"})
        assert answered.status_code == 403
    assert len(upstream.bodies) == before


async def test_005_split_surrogate_pairs_are_stored_as_one_character(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        context = CallContext(surface="openai")
        recorder = ExchangeRecorder(application.dispatcher, "add_memory")
        recorder.start_recording(
            Exchange(prompt="x", answer="\ud83d" + "\ude00 \ud83d", session_id="s", context=context)
        )
        await recorder.drain()
        memories = await application.dispatcher.call("get_session_memories", {"sessionId": "s"}, context)
    assert memories.model_dump()["memories"][0]["response"] == "😀 \ufffd"


@pytest.mark.parametrize(
    "content",
    ['[{"content": "a"}]', '{"data": [{"content": "a"}]}', '{"data": {"results": [{"content": "a"}]}, "status": "ok"}'],
)
def test_005_memories_are_found_in_every_envelope(content: str) -> None:
    assert memories_in(content) == [{"content": "a"}]
