"""The examples in docs/personas.md run as shown."""

import json
import re
import subprocess
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.chat.persona_service import MAX_LAYER_CHARACTERS, MAX_LAYERS
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import server

PAGE = (Path(__file__).parents[2] / "docs" / "personas.md").read_text("utf-8")


def test_129_the_commands_on_the_page_get_the_documented_answers(tmp_path: Path) -> None:
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    (shown,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)
    results: list[object] = []
    with server(tmp_path) as url:
        for line in commands.splitlines():
            command = ["bash", "-c", line.replace("http://127.0.0.1:4000", url)]
            process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
            results.append(json.loads(process.stdout)["data"])
    before, changed, after, emptied = results
    assert after == changed == json.loads(shown)
    assert emptied == before


async def test_129_the_tool_adds_a_project_layer_and_the_page_states_its_limits(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```json persona\n(.*?)^```$", PAGE, re.M | re.S)
    request = json.loads(example) | {"project": "here"}
    async with running(Settings(home=tmp_path)) as application:
        context = CallContext(surface="python", client="reader")
        await application.dispatcher.call("set_project", {"path": str(tmp_path), "name": "here"}, context)
        answer = (await application.dispatcher.call("persona", request, context)).model_dump()
    assert (answer["project"], answer["session"]) == ("We are formal here.", None)
    assert f"up to {MAX_LAYER_CHARACTERS:,} characters, a key up to {MAX_LAYERS:,} layers" in PAGE
