"""The examples in docs/recall.md return what the page shows."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.memory.ranking.presets import WEIGHTS
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "recall.md").read_text("utf-8")


async def test_every_example_on_the_recall_page_returns_the_documented_memories(tmp_path: Path) -> None:
    memories, *_ = re.findall(r"```json\n(\[.*?\])\n```", PAGE, re.DOTALL)
    examples = re.findall(r"```json\n(\{.*?\})\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 5
    context = CallContext(surface="python")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        await application.dispatcher.call("remember_many", {"memories": json.loads(memories)}, context)
        for arguments, shown in examples:
            result: Any = await application.dispatcher.call("recall", json.loads(arguments), context)
            assert (arguments, [memory.content for memory in result.memories]) == (arguments, shown.splitlines())


def test_the_page_states_the_weights_in_use() -> None:
    columns = ("relevance", "recency", "use", "importance", "confidence")
    for preset, weights in WEIGHTS.items():
        row = re.search(rf"^\| `{preset}` \|(.*)\|$", PAGE, re.MULTILINE)
        assert row
        shown = [float(cell) if cell.strip() else 0.0 for cell in row[1].split("|")]
        assert shown == pytest.approx([weights.get(column, 0.0) for column in columns])
