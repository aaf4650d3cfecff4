"""docs/summaries.md and docs/llm.md have valid examples and state the tools, settings and limits."""

import json
import re
import tomllib
from datetime import timedelta
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import LlmSettings, Settings, SummarySettings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.features.summaries.models import SummaryCategory
from scrubjay.features.summaries.service import SETTLE_TIME
from scrubjay.features.summaries.startup import EVERY_SECONDS, FIRST_SECONDS, QUIET_SECONDS
from scrubjay.tooling.context import CallContext

DOCS = Path(__file__).parents[2] / "docs"
SUMMARIES, LLM = ((DOCS / name).read_text("utf-8") for name in ("summaries.md", "llm.md"))


async def test_the_example_on_the_summaries_page_works(tmp_path: Path) -> None:
    (arguments,) = re.findall(r"```json\n(\{.*?\})\n```", SUMMARIES, re.DOTALL)
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        await application.dispatcher.call("query_summaries", json.loads(arguments), CallContext(surface="python"))


def test_the_page_has_every_tool_category_and_setting() -> None:
    shown = re.findall(r"^\| `(\w+)` \|", SUMMARIES, re.MULTILINE)
    tools = [tool.name for tool in TOOL_CATALOG if tool.family == "summaries"]
    settings = [f"SCRUBJAY_SUMMARIES_{name.upper()}" for name in SummarySettings.model_fields]
    assert shown == [*tools, *settings]
    assert all(f"`{category}`" in SUMMARIES for category in SummaryCategory)


def test_the_page_states_the_intervals_in_use() -> None:
    assert f"for {SETTLE_TIME // timedelta(minutes=1)} minutes, {FIRST_SECONDS:g} seconds after its start" in SUMMARIES
    assert EVERY_SECONDS == 3600
    assert f"within {QUIET_SECONDS / 60:g} minutes" in SUMMARIES


def test_the_points_of_each_score_add_up_to_a_hundred() -> None:
    table = re.findall(r"^\| (\w*)[^|]*\| (\d+) \|", SUMMARIES, re.MULTILINE)
    points: dict[str, int] = {}
    score = ""
    for name, share in table:
        score = name or score
        points[score] = points.get(score, 0) + int(share)
    assert points == {"quality": 100, "productivity": 100, "impact": 100, "complexity": 100}


def test_the_examples_on_the_llm_page_are_valid_settings() -> None:
    examples = re.findall(r"```toml\n(.*?)```", LLM, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        assert Settings.model_validate(tomllib.loads(example)).llm.choice() is not None
    shown = re.findall(r"^\| `(\w+)` \| (\w+) \|", LLM, re.MULTILINE)
    assert shown == [
        (f"SCRUBJAY_LLM_{name.upper()}", "none" if field.default is None else f"{field.default:g}")
        for name, field in LlmSettings.model_fields.items()
    ]
