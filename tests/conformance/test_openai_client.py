"""OpenAI's own JavaScript client against a real server (feature 5)."""

import json
from pathlib import Path

from tests.conformance.conftest import Node
from tests.servers.openai.conftest import SERVER_KEY
from tests.servers.openai.upstream import KEY, MODEL, running_upstream
from tests.surfaces.callers import server


def test_005_the_javascript_client_works_unchanged(node: Node, tmp_path: Path) -> None:
    with running_upstream() as upstream:
        settings = {
            "SCRUBJAY_API_KEY": SERVER_KEY,
            "SCRUBJAY_LLM_BASE_URL": upstream.url,
            "SCRUBJAY_LLM_MODEL": MODEL,
            "SCRUBJAY_LLM_API_KEY": KEY,
            "SCRUBJAY_LLM_TIMEOUT_SECONDS": "2",
            "SCRUBJAY_SUMMARIES_AUTOMATIC": "off",
        }
        with server(tmp_path, **settings) as url:
            ran = node(["openai_client.mjs", url, SERVER_KEY, MODEL], tmp_path)
            assert ran.returncode == 0, ran.stderr
            # Less than the timeout of the language model.
            assert upstream.disconnected.wait(1.5)
    observed = json.loads(ran.stdout)
    assert observed["chat"]["text"] == "You said: hello"
    assert (observed["chat"]["usage"], observed["chat"]["scrubjay"]["remembers"]) == (18, True)
    assert observed["stream"] == {"text": "You said: good day", "usage": 18}
    assert observed["tools"] == {"called": "weather", "text": "It is raining."}
    assert [length for length, _ in observed["embeddings"]] == [256, 256]
    assert max(difference for _, difference in observed["embeddings"]) < 1e-6
    assert observed["response"] == "You said: hi there"
    assert observed["events"][0] == "response.created"
    assert observed["events"][-1] == "response.completed"
    assert observed["models"] == ["mimo-polymorphic-1", "scrubjay", MODEL, "static-v1"]
    invalid = "invalid_request_error"
    assert observed["unknown"] == {"name": "NotFoundError", "status": 404, "code": "model_not_found", "type": invalid}
    assert observed["refused"] == {"name": "BadRequestError", "status": 400, "code": "some_code", "type": "some_type"}
    assert observed["slow"] == {"name": "InternalServerError", "status": 504, "code": "timeout", "type": "server_error"}
    assert (observed["wrongKey"]["name"], observed["wrongKey"]["status"]) == ("AuthenticationError", 401)
    assert observed["cancelled"] == "chatcmpl-1"
