"""The examples in docs/mira.md run as written."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from scrubjay.app.settings import Settings, variable_names
from scrubjay.compat.mira.chat_wire import EVENT_TYPES
from scrubjay.compat.mira.endpoints import ENDPOINTS
from scrubjay.compat.mira.event_wire import BROADCAST_TYPES
from tests.surfaces.callers import environment, server

PAGE = (Path(__file__).parents[2] / "docs" / "mira.md").read_text("utf-8")
KEY = "correct-horse-battery-staple"


def block(language: str) -> str:
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    return code


def test_4_the_commands_on_the_page_get_the_documented_answers(tmp_path: Path) -> None:
    answers: list[str] = []
    with server(tmp_path) as url:
        for line in block("sh").splitlines():
            command = ["bash", "-c", line.replace("http://127.0.0.1:4000", url)]
            process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
            answers.append(process.stdout)
    results: list[Any] = [json.loads(answer)["data"] for answer in answers if not answer.startswith("data: ")]
    health, stored, recalled, listed, chat, history, test = results
    assert health["status"] == "healthy"
    assert [one["id"] for one in recalled] == [one["id"] for one in listed] == [stored["id"]]
    assert "We deploy on Thursdays. [1]" in chat["content"]
    assert len(history) == 4
    assert test["configured"] is False
    (stream,) = (answer for answer in answers if answer.startswith("data: "))
    assert json.loads(stream.strip().split("\n\n")[-1].removeprefix("data: "))["content"] == chat["content"]


def test_6_the_listener_on_the_page_receives_events(tmp_path: Path) -> None:
    with server(tmp_path, SCRUBJAY_API_KEY=KEY) as url:
        request = ["-d", '{"content": "hello"}', "-H", f"Authorization: Bearer {KEY}", f"{url}/api/memories"]
        subprocess.run(["curl", "-s", *request], capture_output=True, timeout=60, check=True)
        listener = subprocess.run(
            [sys.executable, "-c", block("python")],
            env={**environment(tmp_path), "SCRUBJAY_WS": url.replace("http", "ws"), "SCRUBJAY_API_KEY": KEY},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert listener.stdout.splitlines() == [
        "session mira:environment",
        "begins remember {'content': 'hello'}",
        "ended remember True",
        "replayed: 2 events",
    ]


def test_4_the_page_has_every_endpoint_event_type_and_setting() -> None:
    for endpoint in ENDPOINTS:
        assert f"`{endpoint.method} {endpoint.path.removeprefix('/api/')}`" in PAGE, endpoint.path
        assert f"`{endpoint.tool}`" in PAGE
    for kind in (*EVENT_TYPES, *BROADCAST_TYPES):
        assert f"`{kind}`" in PAGE
    for name in re.findall(r"SCRUBJAY_(?:MIRA|OPENAI)_\w+", PAGE):
        assert name in variable_names(Settings)
