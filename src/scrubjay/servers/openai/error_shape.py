"""Refusals of the edge and of the router, told in OpenAI's shape where OpenAI's clients ask."""

import json
from typing import Any, cast

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrubjay.servers.openai.errors import shaped

_ROOTS = ("/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/responses")


class OpenAIShape:
    """Stands before the edge, so that whatever refuses a request there speaks so that these clients understand."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_ours = scope["type"] == "http" and any(
            scope["path"] == root or scope["path"].startswith(f"{root}/") for root in _ROOTS
        )
        await self._app(scope, receive, _Shaping(send) if is_ours else send)


class _Shaping:
    """Keeps the beginning of a failure back until its body is there, which comes in one piece."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 400:
            self._start = message
            return
        if self._start is not None and message["type"] == "http.response.body":
            start, self._start = self._start, None
            body = _shaped(start["status"], message.get("body", b""))
            headers = MutableHeaders(raw=list(start.get("headers", ())))
            headers["content-length"] = str(len(body))
            headers["content-type"] = "application/json"
            await self._send({**start, "headers": headers.raw})
            message = {**message, "body": body}
        await self._send(message)


def _shaped(status: int, body: bytes) -> bytes:
    """The same failure in the shape; what has it already stays as it is."""
    try:
        told: Any = json.loads(body)
        error: Any = told["error"]
    except (ValueError, TypeError, LookupError):
        return json.dumps(shaped(status, body.decode("utf-8", "replace")[:1_000] or "the request failed")).encode()
    if not isinstance(error, dict):
        reason = cast(dict[str, Any], told).get("reason")
        code = "invalid_api_key" if status == 401 else None
        return json.dumps(shaped(status, f"{error}: {reason}" if reason else str(error), code=code)).encode()
    fields = cast(dict[str, Any], error)
    if "type" in fields and "param" in fields:
        return body
    message, hint = str(fields.get("message", "")), fields.get("hint")
    code = "invalid_api_key" if status == 401 else fields.get("code")
    return json.dumps(shaped(status, f"{message}. Hint: {hint}" if hint else message, code=code)).encode()
