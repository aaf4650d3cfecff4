"""The toy server keeps to its document, and the check would notice if it did not."""

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from scrubjay.compat.mimo.refusals import REFUSAL_FORMATS
from scrubjay.servers.http.edge import Edge, Guards
from scrubjay.servers.http.refusals import RefusalFormats
from tests.servers.doors import OpenDoor, doorkeeper
from tests.servers.rest.conformance import check_conformance
from tests.servers.rest.toys import cancel_job, count, echo, make_toys

KEY = "a-long-and-secret-key"


async def test_the_server_keeps_to_its_document(tmp_path: Path):
    # Only tools that end by themselves and do not fail on demand.
    toys = make_toys(tmp_path, requires_key=True, tools=[echo, count, cancel_job])
    toys.stage.gate.set()
    async with toys.app.router.lifespan_context(toys.app):
        await check_conformance(
            Edge(
                toys.app,
                doorkeeper=doorkeeper(KEY),
                max_body_bytes=100_000,
                allowed_hosts=(),
                guards=Guards(refusal_formats=RefusalFormats(REFUSAL_FORMATS)),
            ),
            key=KEY,
        )


async def test_undocumented_answers_and_a_key_that_is_not_demanded_are_noticed(tmp_path: Path):
    toys = make_toys(tmp_path, requires_key=True, tools=[])

    async def different(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/health":
            await PlainTextResponse("short and stout", 418)(scope, receive, send)
        else:
            await toys.app(scope, receive, send)

    async with toys.app.router.lifespan_context(toys.app):
        with pytest.raises(AssertionError) as found:
            await check_conformance(
                Edge(different, doorkeeper=OpenDoor(), max_body_bytes=100_000, allowed_hosts=()), key=KEY
            )
    assert "Undocumented status code: 1" in str(found.value)
    assert "auth" in str(found.value).lower()
