"""OpenAI's own client for JavaScript against a real server (feature 5)."""

import json
from pathlib import Path

from tests.conformance.conftest import Node
from tests.servers.openai.conftest import SERVER_KEY
from tests.servers.openai.upstream import KEY, MODEL, running_upstream
from tests.surfaces.callers import server


def test_005_it_is_answered_as_by_openai(node: Node, tmp_path: Path) -> None:
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
            # Sooner than the server would give up by itself.
            assert upstream.left.wait(1.5)
    told = json.loads(ran.stdout)
    assert told["chat"]["text"] == "You said: hello"
    assert (told["chat"]["usage"], told["chat"]["scrubjay"]["remembers"]) == (18, True)
    assert told["stream"] == {"text": "You said: good day", "usage": 18}
    assert told["tools"] == {"called": "weather", "text": "It is raining."}
    assert [length for length, _ in told["embeddings"]] == [256, 256]
    assert max(difference for _, difference in told["embeddings"]) < 1e-6
    assert told["response"] == "You said: hi there"
    assert told["events"][0] == "response.created"
    assert told["events"][-1] == "response.completed"
    assert told["models"] == ["mimo-polymorphic-1", "scrubjay", MODEL, "static-v1"]
    invalid = "invalid_request_error"
    assert told["unknown"] == {"name": "NotFoundError", "status": 404, "code": "model_not_found", "type": invalid}
    assert told["refused"] == {"name": "BadRequestError", "status": 400, "code": "some_code", "type": "some_type"}
    assert told["slow"] == {"name": "InternalServerError", "status": 504, "code": "timeout", "type": "server_error"}
    assert (told["stranger"]["name"], told["stranger"]["status"]) == ("AuthenticationError", 401)
    assert told["cancelled"] == "chatcmpl-1"
