"""What the page about the persona shows is what happens."""

import json
import re
import subprocess
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.chat.personas import MOST_CHARACTERS, MOST_LAYERS
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import server

PAGE = (Path(__file__).parents[2] / "docs" / "persona.md").read_text("utf-8")


def test_129_the_commands_of_the_page_answer_as_it_says(tmp_path: Path) -> None:
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    (shown,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)
    told: list[object] = []
    with server(tmp_path) as url:
        for line in commands.splitlines():
            command = ["bash", "-c", line.replace("http://127.0.0.1:4000", url)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
            told.append(json.loads(done.stdout)["data"])
    before, changed, after, emptied = told
    assert after == changed == json.loads(shown)
    assert emptied == before


async def test_129_the_tool_adds_for_a_project_within_the_bounds_of_the_page(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```json persona\n(.*?)^```$", PAGE, re.M | re.S)
    given = json.loads(example) | {"project": "here"}
    async with running(Settings(home=tmp_path)) as application:
        context = CallContext(surface="python", client="reader")
        await application.dispatcher.call("set_project", {"path": str(tmp_path), "name": "here"}, context)
        answer = (await application.dispatcher.call("persona", given, context)).model_dump()
    assert (answer["project"], answer["session"]) == ("We are formal here.", None)
    assert f"up to {MOST_CHARACTERS:,} characters, and a key up to {MOST_LAYERS:,} layers" in PAGE
