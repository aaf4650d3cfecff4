"""The example in docs/answers.md has the documented answer."""

import json
import re
from pathlib import Path

import httpx2

from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "answers.md").read_text("utf-8")


async def test_064_the_example_has_the_documented_answer_by_tool_and_on_mimos_route(tmp_path: Path) -> None:
    shown = re.search(r"```json\n(\{.*?\})\n```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL)
    request = re.search(r"(/v1/mimo/ask) .* -d '(.*?)'", PAGE, re.DOTALL)
    assert shown
    assert request
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        for content in ("User prefers dark mode themes.", "User prefers short answers.", "We deploy on Thursdays."):
            arguments = {"content": content, "category": "observation"}
            await application.dispatcher.call("store_fact", arguments, CallContext(surface="python"))
        timeout = {"timeout_ms": 60_000}
        result = await application.dispatcher.call(
            "ask_mimo", json.loads(shown[1]) | timeout, CallContext(surface="python")
        )
        transport = httpx2.ASGITransport(build_http(application))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            response = await http.post(request[1], json=json.loads(request[2]) | timeout)
    assert sorted(result.model_dump()["synthesis"].splitlines()) == sorted(shown[2].splitlines())
    expected, actual = (_without_times(answer) for answer in (result.model_dump(mode="json"), response.json()))
    assert (response.status_code, actual) == (200, expected)


def _without_times(answer: dict[str, object]) -> object:
    """Return the answer without the values that differ between calls."""
    text = json.dumps({name: value for name, value in answer.items() if name not in ("query_id", "latency_ms")})
    return re.sub(r'"milliseconds": [\d.e-]+', '"milliseconds": 0', text)
