"""Wrong methods, unknown paths and bugs below OpenAI's paths are answered in its format, and only there."""

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from scrubjay.core.errors import InvalidRequest, Unauthenticated
from scrubjay.servers.http.refusals import RefusalFormats
from scrubjay.servers.openai.error_middleware import (
    REFUSAL_FORMATS,
    OpenAIErrorMiddleware,
    OpenAINotFoundEndpoint,
    refusal_body,
)


async def failing_app(scope: Scope, receive: Receive, send: Send) -> None:
    raise ZeroDivisionError("my-password")


def client_of(app: object) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)  # pyright: ignore[reportArgumentType]
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost")


async def test_a_wrong_method_is_refused_with_the_allowed_methods() -> None:
    async with client_of(OpenAIErrorMiddleware(failing_app, ["POST"])) as client:
        answer = await client.get("/v1/embeddings")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"] == {
        "message": "/v1/embeddings does not support GET. Hint: use POST",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_request",
    }


async def test_an_unexpected_exception_is_answered_without_its_message_and_raised() -> None:
    async with client_of(OpenAIErrorMiddleware(failing_app, ["POST"])) as client:
        answer = await client.post("/v1/embeddings")
    assert (answer.status_code, answer.json()["error"]["type"]) == (500, "server_error")
    assert "my-password" not in answer.text
    with pytest.raises(ZeroDivisionError):
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(OpenAIErrorMiddleware(failing_app, ["POST"])), base_url="http://localhost"
        ) as strict:
            await strict.post("/v1/embeddings")


async def test_paths_below_a_route_are_not_found() -> None:
    async with client_of(OpenAINotFoundEndpoint()) as client:
        answer = await client.get("/v1/embeddings/more")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("path", "is_openai"),
    [
        ("/v1/models", True),
        ("/v1/models/some", True),
        ("/v1/modelsome", False),
        ("/v1/tools/recall", False),
        ("/mcp", False),
        ("/api/memories", False),
    ],
)
def test_only_openais_paths_are_refused_in_its_format(path: str, is_openai: bool) -> None:
    assert (RefusalFormats(REFUSAL_FORMATS).find(path) is refusal_body) is is_openai


def test_a_refused_key_has_openais_code() -> None:
    refused = refusal_body(Unauthenticated("this key is not valid here", hint="send one"), 401, "e1")["error"]
    assert (refused["code"], refused["message"]) == ("invalid_api_key", "this key is not valid here. Hint: send one")
    assert refusal_body(InvalidRequest("no"), 422, "e1")["error"]["code"] == "invalid_request"
