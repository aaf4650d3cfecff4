"""MCP over Streamable HTTP, in both eras, as a part of a bigger application."""

from collections.abc import Sequence

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from recollect.gateway.mcp.server import ToolServer


def serve_http(
    server: ToolServer, *, allowed_hosts: Sequence[str], allowed_origins: Sequence[str], max_body_bytes: int
) -> StreamableHTTPSessionManager:
    """The ASGI application (`.asgi_app`) for the path `/mcp`; the outer lifespan must enter `.run()`.

    Hosts and origins may end in `:*` for any port. A browser that was lured here under a foreign name is refused.
    """
    return StreamableHTTPSessionManager(
        server,
        security_settings=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=list(allowed_hosts),
            allowed_origins=list(allowed_origins),
        ),
        max_request_body_size=max_body_bytes,
    )
