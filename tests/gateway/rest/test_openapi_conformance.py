"""The toy server keeps to its document, and the check would notice if it did not."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from recollect.gateway.edge import Edge
from tests.gateway.rest.conformance import check_conformance
from tests.gateway.rest.toys import Toys, cancel_job, count, echo, make_toys

KEY = "a-long-and-secret-key"


@pytest.fixture
async def honest(tmp_path: Path) -> AsyncGenerator[Toys]:
    """Only tools that end by themselves and fail for a reason."""
    toys = make_toys(tmp_path, requires_key=True, tools=[echo, count, cancel_job])
    toys.stage.gate.set()
    async with toys.app.router.lifespan_context(toys.app):
        yield toys


def _guarded(toys: Toys, key: str | None = KEY) -> Edge:
    return Edge(toys.app, api_key=key, max_body_bytes=100_000, allowed_hosts=())


async def test_the_server_keeps_to_its_document(honest: Toys):
    await check_conformance(_guarded(honest), key=KEY)


async def test_a_key_that_is_documented_but_not_demanded_is_noticed(honest: Toys):
    with pytest.raises(AssertionError, match="(?i)auth"):
        await check_conformance(_guarded(honest, key=None), key=KEY, examples=1)


async def test_an_undocumented_answer_is_noticed(honest: Toys):
    async def teapot(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/v1/tools/echo" and scope["method"] == "POST":
            await Request(scope, receive).body()
            response: Response = PlainTextResponse("short and stout", 418)
            await response(scope, receive, send)
        else:
            await honest.app(scope, receive, send)

    with pytest.raises(AssertionError, match="Undocumented HTTP status code"):
        await check_conformance(Edge(teapot, api_key=KEY, max_body_bytes=100_000, allowed_hosts=()), key=KEY, examples=1)
