"""Check with schemathesis that a server conforms to its OpenAPI document."""

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from starlette.types import ASGIApp

from tests.servers.rest.uvicorn_server import serving

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
    # Without negative_data_rejection: requests are parsed leniently, because the command line has only strings
    # ("3" is 3), and an invalid preference is ignored, as RFC 7240 demands.
    # Without positive_data_acceptance: a request can match its schema and still contradict itself or the store.
)

# A question with a timeout of a millisecond is not answered; the document says so.
CONFIGURATION = """
[[operations]]
include-path = "/v1/tools/ask_mimo"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]

# The internet is not reachable from the tests, and there is no key for the search service.
[[operations]]
include-path = ["/v1/tools/fetch", "/v1/tools/http_request", "/v1/tools/search"]
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]

# There is no other agent to answer.
[[operations]]
include-path = "/v1/tools/discuss"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]

[[operations]]
include-path = "/v1/mimo/ask"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 504]
"""

# Only the necessary variables. The storage directory keeps hypothesis's Unicode tables, which take seconds to compute.
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "LANG")},
    "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    "SCHEMATHESIS_HOOKS": "tests.servers.rest.schemathesis_hooks",
    "HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis"),
}


async def check_conformance(target: ASGIApp | str, *, key: str | None = None, examples: int = 10) -> None:
    """Fail with schemathesis's report unless the application, or the server at the URL, conforms to its document.

    The caller must run an application's lifespan. Every documented operation is called.
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
            # JSON Schema cannot express that text has no NUL, which no tool accepts; another test covers it.
            *("--generation-allow-x00", "false"),
            *(("--header", f"Authorization: Bearer {key}") if key else ()),
        ]
        run = await anyio.run_process(command, check=False, cwd=folder, env=ENVIRONMENT)
    assert run.returncode == 0, f"{run.stdout.decode()}\n{run.stderr.decode()}"
