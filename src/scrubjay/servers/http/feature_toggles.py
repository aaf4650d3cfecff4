"""Paths that the operator switched off: they answer 503 with the setting to change, instead of 404."""

import json
from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.core.errors import Unavailable
from scrubjay.servers.http.edge import request_id_of
from scrubjay.servers.http.errors import error_response

# The WebSocket close code "try again later".
TRY_AGAIN_LATER = 1013


class FeatureToggles:
    """Middleware that refuses requests to paths that are switched off."""

    def __init__(self, app: ASGIApp, switched_off: Mapping[str, str]) -> None:
        """`switched_off` maps a path, which stands also for the paths below it, to the setting that switches it on."""
        self._app = app
        self._off = switched_off

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        setting = self._setting(scope["path"]) if scope["type"] in ("http", "websocket") else None
        if setting is None:
            await self._app(scope, receive, send)
            return
        refusal = Unavailable("this path is switched off on this server", hint=f"the operator can set {setting}")
        response = error_response(refusal, request_id_of(scope))
        if scope["type"] == "http" or "websocket.http.response" in scope.get("extensions", {}):
            await response(scope, receive, send)
        else:
            reason = json.dumps({"code": refusal.code})
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER, "reason": reason})

    def _setting(self, path: str) -> str | None:
        for closed, setting in self._off.items():
            if path == closed or path.startswith(f"{closed}/"):
                return setting
        return None
