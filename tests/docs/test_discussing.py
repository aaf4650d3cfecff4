"""What the page about agents that talk to each other shows is what happens."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import anyio

from scrubjay.app.lifespan import running
from scrubjay.app.settings import DelegatingSettings, Settings
from scrubjay.core.errors import Unavailable
from scrubjay.features.delegation.coding_agent import Allow
from scrubjay.features.delegation.service import SCREEN_BYTES
from scrubjay.features.discussions.service import MOST_ANSWER, MOST_OPEN
from scrubjay.features.discussions.tools import MAX_MESSAGE, DiscussRequest, DiscussResult
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "discussing.md").read_text("utf-8")
DIRECT = CallContext(surface="python", client="reader")


async def test_37_the_conversation_of_the_page_goes_as_it_says(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    (question,) = re.findall(r'discuss --message "(.*?)"', PAGE)
    answers: list[dict[str, Any]] = []
    settings = Settings.model_validate({"home": tmp_path, "delegating": {"command": "no-such-agent"}})
    async with running(settings) as application, anyio.create_task_group() as tasks:

        async def ask() -> None:
            while not answers:
                try:
                    answer = await application.dispatcher.call("discuss", {"message": question}, DIRECT)
                except Unavailable:  # nobody listens yet
                    await anyio.sleep(0.01)
                else:
                    answers.append(answer.model_dump())

        tasks.start_soon(ask)
        message_id = ""
        with anyio.fail_after(30):
            for tool, arguments in examples:
                given = json.loads(arguments.replace("MESSAGE", message_id))
                told = (await application.dispatcher.call(tool, given, DIRECT)).model_dump()
                if tool == "agent_messages":
                    message_id = told["messages"][0]["message_id"]
    assert f"{answers[0]['status']}: {answers[0]['content']}\n" == shown


def test_36_37_the_page_has_every_word_and_number() -> None:
    words = re.findall(r"^\| `(\w+)`", PAGE, re.M)
    assert words == [*get_args(DiscussResult.model_fields["status"].annotation), *Allow]
    assert f"{DiscussRequest.model_fields['timeout_seconds'].default:g} seconds unless `timeout_seconds`" in PAGE
    default = DelegatingSettings()
    assert f"| `{default.allow}` (default) |" in PAGE
    assert f"`SCRUBJAY_DELEGATING_MAX_AGENTS` ({default.max_agents})" in PAGE
    assert f"the last {SCREEN_BYTES // 1024} kB" in PAGE
    assert f"A message has up to {MAX_MESSAGE:,} characters,\n  a reply {MOST_ANSWER:,}" in PAGE
    assert f"{MOST_OPEN:,} messages of one key may wait" in PAGE
