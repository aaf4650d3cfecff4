"""The real server conforms to its OpenAPI document, checked with schemathesis."""

import os
from pathlib import Path

from tests.servers.rest.conformance import check_conformance
from tests.surfaces.callers import server

# The nightly run sets a higher number.
EXAMPLES = int(os.environ.get("CONFORMANCE_EXAMPLES", "3"))


async def test_011_the_real_server_conforms_to_its_document(tmp_path: Path) -> None:
    key = "a-key-for-schemathesis"
    with server(tmp_path, SCRUBJAY_API_KEY=key, SCRUBJAY_LOG_LEVEL="error") as url:
        await check_conformance(url, key=key, examples=EXAMPLES)
