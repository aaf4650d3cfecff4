"""What the page about working memory shows is what there is."""

import json
import re
from pathlib import Path
from typing import Any

from recollect.app.lifespan import running
from recollect.app.settings import Settings, WorkingSettings
from recollect.app.upkeep import TEND_SECONDS
from recollect.memory.consolidation import LEAST_AGE, MOST_AT_ONCE, MOVE_SECONDS, Reason
from recollect.toolkit.context import CallContext
from recollect.tools import ALL

PAGE = (Path(__file__).parents[2] / "docs" / "working-memory.md").read_text("utf-8")


async def test_the_example_of_the_page_about_working_memory_works(tmp_path: Path) -> None:
    (arguments,) = re.findall(r"```json\n(\{.*?\})\n```", PAGE, re.DOTALL)
    context = CallContext(surface="python", client="ada")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        put: Any = await application.dispatcher.call("working_put", json.loads(arguments), context)
    assert put.item.consolidation_candidate


def test_the_page_has_every_tool_reason_and_setting() -> None:
    shown = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    tools = [tool.name for tool in ALL if tool.family == "working"]
    settings = {f"RECOLLECT_WORKING_{name.upper()}": field for name, field in WorkingSettings.model_fields.items()}
    assert shown == [*tools, *settings]
    for name, field in settings.items():
        assert f"| `{name}` | {field.default:g} |" in PAGE
    assert all(f"`{reason}`" in PAGE for reason in Reason)


def test_the_page_tells_the_times_and_bounds_in_use() -> None:
    assert f"Every {TEND_SECONDS:g} seconds" in PAGE
    assert f"at least {LEAST_AGE.seconds} seconds old" in PAGE
    assert f"The {MOST_AT_ONCE} best" in PAGE
    assert f"for {MOVE_SECONDS:g} seconds" in PAGE
