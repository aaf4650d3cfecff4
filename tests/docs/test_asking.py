"""What the page about asking shows is what happens."""

import json
import re
from pathlib import Path

import httpx2

from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "asking.md").read_text("utf-8")


async def test_064_the_example_gives_what_the_page_shows_also_at_mimos_own_address(tmp_path: Path) -> None:
    shown = re.search(r"```json\n(\{.*?\})\n```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL)
    sent = re.search(r"(/v1/mimo/ask) .* -d '(.*?)'", PAGE, re.DOTALL)
    assert shown
    assert sent
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        for content in ("User prefers dark mode themes.", "User prefers short answers.", "We deploy on Thursdays."):
            arguments = {"content": content, "category": "observation"}
            await application.dispatcher.call("store_fact", arguments, CallContext(surface="python"))
        patient = {"timeout_ms": 60_000}
        asked = await application.dispatcher.call(
            "ask_mimo", json.loads(shown[1]) | patient, CallContext(surface="python")
        )
        transport = httpx2.ASGITransport(build_http(application))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            answered = await http.post(sent[1], json=json.loads(sent[2]) | patient)
    assert sorted(asked.model_dump()["synthesis"].splitlines()) == sorted(shown[2].splitlines())
    own, theirs = (_timeless(answer) for answer in (asked.model_dump(mode="json"), answered.json()))
    assert (answered.status_code, theirs) == (200, own)


def _timeless(answer: dict[str, object]) -> object:
    """The answer without what differs from call to call."""
    text = json.dumps({name: value for name, value in answer.items() if name not in ("query_id", "latency_ms")})
    return re.sub(r'"milliseconds": [\d.e-]+', '"milliseconds": 0', text)
