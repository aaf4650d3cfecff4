"""Refuse paths that the operator switched off, with 503 and the setting to change instead of 404."""

import json
from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.core.errors import Unavailable
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.request_metadata import request_id_of

# The WebSocket close code "try again later".
TRY_AGAIN_LATER = 1013


class FeatureToggleMiddleware:
    """Refuses requests to paths that are switched off."""

    def __init__(self, app: ASGIApp, switched_off: Mapping[str, str]) -> None:
        """`switched_off` maps a path, and implicitly all paths below it, to the setting that switches it on."""
        self._app = app
        self._switched_off = switched_off

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        setting = self._setting(scope["path"]) if scope["type"] in ("http", "websocket") else None
        if setting is None:
            await self._app(scope, receive, send)
            return
        refusal = Unavailable(
            "this path is switched off on this server", hint=f"the operator can enable it with {setting}"
        )
        response = error_response(refusal, request_id_of(scope))
        if scope["type"] == "http" or "websocket.http.response" in scope.get("extensions", {}):
            await response(scope, receive, send)
        else:
            reason = json.dumps({"code": refusal.code})
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER, "reason": reason})

    def _setting(self, path: str) -> str | None:
        for prefix, setting in self._switched_off.items():
            if path == prefix or path.startswith(f"{prefix}/"):
                return setting
        return None
