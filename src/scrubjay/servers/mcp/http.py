"""MCP over Streamable HTTP, as an ASGI application to be mounted."""

from collections.abc import Sequence

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.mcp.server import ToolServer


def serve_http(
    server: ToolServer, *, allowed_hosts: Sequence[str], allowed_origins: Sequence[str], max_body_bytes: int
) -> StreamableHTTPSessionManager:
    """Return the manager whose `.asgi_app` serves the path `/mcp`; the outer lifespan must enter its `.run()`.

    Responses are plain JSON, or a stream of events once there is progress to report. Hosts and origins may end in `:*`
    for any port; others are refused, which prevents DNS rebinding.
    """
    manager = StreamableHTTPSessionManager(
        server,
        security_settings=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=list(allowed_hosts),
            allowed_origins=list(allowed_origins),
        ),
        max_request_body_size=max_body_bytes,
    )
    manager.asgi_app = _BodyLimitMiddleware(manager.asgi_app.app, max_body_bytes)
    return manager


class _BodyLimitMiddleware(RequestBodyLimitMiddleware):
    """The SDK's body limit, with header values stripped as RFC 9110 demands, which httptools does not do.

    It also passes the id of the key to the SDK, which binds each session to the key that started it.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
            if (key_id := caller_of(scope).key_id) is not None:
                scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=key_id, scopes=[]))
        await super().__call__(scope, receive, send)
