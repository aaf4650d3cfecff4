"""The toy server conforms to its document, and the check detects a server that does not."""

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from scrubjay.compat.mimo.refusals import REFUSAL_FORMATS
from scrubjay.servers.http.edge_middleware import EdgeGuards, EdgeMiddleware
from scrubjay.servers.http.refusals import RefusalFormats
from tests.servers.authenticators import AcceptAnyKey, authenticator
from tests.servers.rest.conformance import check_conformance
from tests.servers.rest.toy_server import cancel_job, count, echo, make_toy_server

KEY = "a-long-and-secret-key"


async def test_the_server_conforms_to_its_document(tmp_path: Path):
    # Only tools that end by themselves and do not fail on demand.
    server = make_toy_server(tmp_path, requires_key=True, tools=[echo, count, cancel_job])
    server.controls.gate.set()
    async with server.app.router.lifespan_context(server.app):
        await check_conformance(
            EdgeMiddleware(
                server.app,
                authenticator=authenticator(KEY),
                max_body_bytes=100_000,
                allowed_hosts=(),
                guards=EdgeGuards(refusal_formats=RefusalFormats(REFUSAL_FORMATS)),
            ),
            key=KEY,
        )


async def test_undocumented_responses_and_a_missing_key_check_are_detected(tmp_path: Path):
    server = make_toy_server(tmp_path, requires_key=True, tools=[])

    async def different(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/health":
            await PlainTextResponse("short and stout", 418)(scope, receive, send)
        else:
            await server.app(scope, receive, send)

    async with server.app.router.lifespan_context(server.app):
        with pytest.raises(AssertionError) as found:
            await check_conformance(
                EdgeMiddleware(different, authenticator=AcceptAnyKey(), max_body_bytes=100_000, allowed_hosts=()),
                key=KEY,
            )
    assert "Undocumented status code: 1" in str(found.value)
    assert "auth" in str(found.value).lower()
