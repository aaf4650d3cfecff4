"""What the operator chooses and what a key opens, in the process of the test."""

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
from scrubjay.features.chat.exchange_recorder import Exchange, Keeper
from scrubjay.features.keys.issuer import KeyIssuer
from scrubjay.servers.openai.conversation import memories_in
from scrubjay.tooling.context import CallContext
from tests.servers.openai.upstream import KEY, MODEL, Upstream

Json = dict[str, Any]
LONG = "The lighthouse of Utsira was painted red. " * 8
# More bytes than letters, and about as many tokens as bytes by four.
FOREIGN = "The lighthouse 灯台は赤く塗られていました。" * 5


@asynccontextmanager
async def served(
    home: Path, url: str | None, scopes: str | None = None, *, llm: Json | None = None, **chosen: Any
) -> AsyncGenerator[httpx2.AsyncClient]:
    model = {"base_url": url, "model": MODEL, "api_key": KEY} if url else {}
    given = {"home": home, "llm": {**model, **(llm or {})}, "summaries": {"automatic": "off"}, "openai": chosen}
    async with running(Settings.model_validate(given)) as application:
        for content in ("The lighthouse keeper is Olav.", LONG):
            arguments = {"content": content}
            await application.dispatcher.call("remember", arguments, CallContext(surface="python"))
        headers: dict[str, str] = {}
        if scopes is not None:
            keys = KeyIssuer((await application.services.get(Store)).keys, application.registry.families)
            headers["Authorization"] = f"Bearer {(await keys.create('somebody', scopes, None)).text}"
        app = build_http(application)
        door = httpx2.ASGITransport(app)
        async with alive(app), httpx2.AsyncClient(transport=door, base_url="http://localhost", headers=headers) as http:
            yield http


@asynccontextmanager
async def alive(app: ASGIApp) -> AsyncGenerator[None]:
    """Begin and end the application's life, as a server does."""
    send_in, receive = anyio.create_memory_object_stream[Message](1)
    send, told = anyio.create_memory_object_stream[Message](1)
    async with send_in, receive, send, told, anyio.create_task_group() as tasks:
        tasks.start_soon(cast(Any, app), {"type": "lifespan", "asgi": {"version": "3.0"}}, receive.receive, send.send)
        for step in ("startup", "shutdown"):
            await send_in.send({"type": f"lifespan.{step}"})
            assert (await told.receive())["type"] == f"lifespan.{step}.complete"
            if step == "startup":
                yield


async def ask(http: httpx2.AsyncClient, text: str = "Who keeps the lighthouse?", **more: Any) -> httpx2.Response:
    body = {"messages": [{"role": "user", "content": text}], **more}
    return await http.post("/v1/chat/completions", json=body)


async def test_005_memories_keep_to_their_budget(tmp_path: Path, upstream: Upstream) -> None:
    for tokens, told in ((1_000, 2), (90, 1), (0, 0)):
        async with served(tmp_path / str(tokens), upstream.url, recall_tokens=tokens, remember=False) as http:
            answer = (await ask(http)).json()
        first = upstream.bodies[-1]["messages"][0]
        assert len(answer["scrubjay"]["memories"]) == told
        assert (first["role"] == "system") == bool(told)
        assert not told or len(first["content"]) <= 4 * tokens
        assert answer["scrubjay"]["tokens"] == (-(-len(first["content"]) // 4) if told else 0)
        assert answer["scrubjay"]["remembers"] is False


@pytest.mark.parametrize(("tokens", "told"), [(100, 0), (130, 1)])
async def test_005_writing_with_more_bytes_has_more_tokens(
    tmp_path: Path, upstream: Upstream, tokens: int, told: int
) -> None:
    async with served(tmp_path, upstream.url, recall_tokens=tokens, remember=False) as http:
        kept = (await http.post("/v1/tools/remember", json={"content": FOREIGN})).json()["id"]
        found = (await ask(http, "灯台は赤く塗られていました")).json()["scrubjay"]
    assert len([one for one in found["memories"] if one["id"] == kept]) == told
    assert found["tokens"] <= tokens


async def test_005_any_model_can_be_named_where_the_operator_says_so(tmp_path: Path, upstream: Upstream) -> None:
    async with served(tmp_path, upstream.url, any_model=True, remember=False) as http:
        assert (await ask(http, model="another-model")).status_code == 200
        assert upstream.bodies[-1]["model"] == "another-model"
        assert (await ask(http, model="scrubjay")).status_code == 200
        assert upstream.bodies[-1]["model"] == MODEL


async def test_005_a_language_model_without_its_key_is_told_as_such(tmp_path: Path) -> None:
    wrong = {"api_key": None, "api_key_env": "NO_SUCH_VARIABLE"}
    async with served(tmp_path, "http://127.0.0.1:9/v1", llm=wrong) as http:
        answer = await ask(http)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "misconfigured")


async def test_005_a_service_that_keeps_failing_is_left_alone(tmp_path: Path, upstream: Upstream) -> None:
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
    [("memory:read", 200, 403, 403), ("asking", 403, 200, 403), ("embeddings:read", 403, 403, 200)],
)
async def test_005_a_key_opens_what_its_scopes_say(
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


async def test_024_the_language_model_is_told_which_request_it_answers(tmp_path: Path, upstream: Upstream) -> None:
    traceparent = f"00-{'ab' * 16}-{'cd' * 8}-01"
    async with served(tmp_path, upstream.url, remember=False) as http:
        http.headers |= {"X-Request-Id": "mine", "traceparent": traceparent}
        for path, body in (("/api/chat", {"message": "hi"}), ("/v1/responses", {"model": MODEL, "input": "hi"})):
            assert (await http.post(path, json=body)).status_code == 200
            told = upstream.headers[-1]
            assert (told["X-Request-Id"], told["traceparent"]) == ("mine", traceparent)


PICTURE = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]
WITHOUT_WORDS = {"messages": [{"role": "user", "content": PICTURE}]}


@pytest.mark.parametrize(
    "body", [{"scrubjay": {"recall": False}}, {"messages": [{"role": "user", "content": PICTURE}]}]
)
@pytest.mark.parametrize("tokens", [1_000, 0])
async def test_015_a_key_that_may_not_recall_does_not_reach_the_model_by_asking_for_nothing_to_be_recalled(
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


async def test_005_halves_of_a_sign_are_kept_as_one(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        context = CallContext(surface="openai")
        keeper = Keeper(application.dispatcher, "add_memory")
        keeper.keep(Exchange(prompt="x", answer="\ud83d" + "\ude00 \ud83d", session_id="s", context=context))
        await keeper.finish()
        found = await application.dispatcher.call("get_session_memories", {"sessionId": "s"}, context)
    assert found.model_dump()["memories"][0]["response"] == "😀 \ufffd"


@pytest.mark.parametrize(
    "content",
    ['[{"content": "a"}]', '{"data": [{"content": "a"}]}', '{"data": {"results": [{"content": "a"}]}, "status": "ok"}'],
)
def test_005_memories_are_found_in_every_envelope(content: str) -> None:
    assert memories_in(content) == [{"content": "a"}]
