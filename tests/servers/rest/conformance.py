"""Whether a server does what its OpenAPI document says, found out by schemathesis."""

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from starlette.types import ASGIApp

from tests.servers.rest.serving import serving

ROOT = Path(__file__).parents[3]
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
    # Not negative_data_rejection: requests are read leniently, because the command line has only strings ("3" is 3),
    # and a preference that is not understood is ignored, as RFC 7240 demands.
    # Not positive_data_acceptance: a request can fit its schema and still contradict itself or the store.
)

# A question that may take only a millisecond is not answered, as the document says: that is no fault of the server.
CONFIGURATION = """
[[operations]]
include-path = "/v1/tools/ask_mimo"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]

# Nor is it that the world cannot be reached from here, and that nobody has a key for the search service.
[[operations]]
include-path = ["/v1/tools/fetch", "/v1/tools/http_request", "/v1/tools/search"]
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]

# Nor that there is no other agent to answer.
[[operations]]
include-path = "/v1/tools/discuss"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]

[[operations]]
include-path = "/v1/mimo/ask"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 504]
"""

# All of it is read for each request. What hypothesis knows of Unicode takes seconds to find out, so it is kept.
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "LANG")},
    "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    "SCHEMATHESIS_HOOKS": "tests.servers.rest.thinning",
    "HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis"),
}


async def check_conformance(target: ASGIApp | str, *, key: str | None = None, examples: int = 10) -> None:
    """Fail with schemathesis's report unless the application, or the server at the URL, keeps to its document.

    An application's lifespan is the caller's to run. Every operation that is documented gets called.
    """
    async with AsyncExitStack() as stack:
        if not isinstance(target, str):
            target = f"http://127.0.0.1:{await stack.enter_async_context(serving(target))}"
        folder = stack.enter_context(TemporaryDirectory())
        (Path(folder) / "schemathesis.toml").write_text(CONFIGURATION, "utf-8")
        command = [
            *(sys.executable, "-m", "schemathesis.cli"),
            *("run", f"{target}/openapi.json", "--no-color", "--checks", ",".join(CHECKS)),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", str(examples)),
            *("--generation-database", "none", "--seed", "1", "--request-timeout", "60"),
            # JSON Schema cannot say that text holds no NUL, but no tool accepts one; a test of its own proves that.
            *("--generation-allow-x00", "false"),
            *(("--header", f"Authorization: Bearer {key}") if key else ()),
        ]
        run = await anyio.run_process(command, check=False, cwd=folder, env=ENVIRONMENT)
    assert run.returncode == 0, f"{run.stdout.decode()}\n{run.stderr.decode()}"
