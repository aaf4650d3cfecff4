"""The examples in docs/sessions.md get the documented answers."""

import json
import re
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "sessions.md").read_text("utf-8")


async def test_094_the_examples_get_the_documented_answers(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    (expected,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    answers: list[dict[str, Any]] = []
    async with running(Settings(home=tmp_path)) as application:
        for tool, arguments in examples:
            context = CallContext(surface="python", client="reader")
            answer = await application.dispatcher.call(tool, json.loads(arguments), context)
            answers.append(answer.model_dump(mode="json"))
    without_times = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-03-01 12:30", answers[-1]["text"])
    assert without_times == expected.rstrip()
    assert answers[-1]["tokens"] <= 500
