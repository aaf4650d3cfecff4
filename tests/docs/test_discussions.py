"""The conversation in docs/discussions.md runs as shown, and the page states the limits of the code."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import anyio

from scrubjay.app.lifespan import running
from scrubjay.app.settings import DelegationSettings, Settings
from scrubjay.core.errors import Unavailable
from scrubjay.features.delegation.coding_agent import AllowedCallers
from scrubjay.features.delegation.service import SCREEN_BYTES
from scrubjay.features.discussions.service import MAX_ANSWER_CHARACTERS, MAX_OPEN_MESSAGES
from scrubjay.features.discussions.tools import MAX_MESSAGE, DiscussRequest, DiscussResult
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "discussions.md").read_text("utf-8")
DIRECT = CallContext(surface="python", client="reader")


async def test_37_the_conversation_on_the_page_runs_as_shown(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    (question,) = re.findall(r'discuss --message "(.*?)"', PAGE)
    answers: list[dict[str, Any]] = []
    settings = Settings.model_validate({"home": tmp_path, "delegation": {"command": "no-such-agent"}})
    async with running(settings) as application, anyio.create_task_group() as tasks:

        async def ask() -> None:
            while not answers:
                try:
                    answer = await application.dispatcher.call("discuss", {"message": question}, DIRECT)
                except Unavailable:  # no listener yet
                    await anyio.sleep(0.01)
                else:
                    answers.append(answer.model_dump())

        tasks.start_soon(ask)
        message_id = ""
        with anyio.fail_after(30):
            for tool, arguments in examples:
                request = json.loads(arguments.replace("MESSAGE", message_id))
                result = (await application.dispatcher.call(tool, request, DIRECT)).model_dump()
                if tool == "agent_messages":
                    message_id = result["messages"][0]["message_id"]
    assert f"{answers[0]['status']}: {answers[0]['content']}\n" == shown


def test_36_37_the_page_states_every_value_and_limit() -> None:
    words = re.findall(r"^\| `(\w+)`", PAGE, re.M)
    assert words == [*get_args(DiscussResult.model_fields["status"].annotation), *AllowedCallers]
    assert f"{DiscussRequest.model_fields['timeout_seconds'].default:g} seconds, or\n`timeout_seconds`" in PAGE
    default = DelegationSettings()
    assert f"| `{default.allow}` (default) |" in PAGE
    assert f"`SCRUBJAY_DELEGATION_MAX_AGENTS` ({default.max_agents})" in PAGE
    assert f"its last {SCREEN_BYTES // 1024} kB" in PAGE
    assert f"A message has up to {MAX_MESSAGE:,} characters, a reply\n  {MAX_ANSWER_CHARACTERS:,}" in PAGE
    assert f"{MAX_OPEN_MESSAGES:,} messages per key may wait" in PAGE
