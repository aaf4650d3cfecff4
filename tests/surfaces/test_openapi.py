"""The OpenAPI document of the real server keeps its word: schemathesis finds no gap in it."""

from pathlib import Path

from tests.servers.rest.conformance import check_conformance
from tests.surfaces.callers import server


async def test_011_the_document_of_the_real_server_is_the_truth(tmp_path: Path) -> None:
    key = "a-key-for-schemathesis"
    with server(tmp_path, SCRUBJAY_API_KEY=key, SCRUBJAY_LOG_LEVEL="error") as url:
        await check_conformance(url, key=key, examples=3)
