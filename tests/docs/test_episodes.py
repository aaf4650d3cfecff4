"""The examples of docs/episodes.md do what the page says. Numbers are rows of the feature table."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.episodes.limits import DATA_BYTES, EPISODE_BYTES, MOST_STEPS, TEXT_BYTES, TOLD_BYTES
from scrubjay.features.episodes.models import Complexity, OutcomeType, ResultType, TaskType
from scrubjay.features.episodes.search import MADE_UP_FOR, Sort
from scrubjay.features.episodes.tools import MOST_IDS
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "episodes.md").read_text("utf-8")


async def test_063_070_to_076_the_page_about_episodes_tells_what_is_answered(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    (worth,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    answers: dict[str, dict[str, Any]] = {}
    now = datetime(2026, 3, 1, tzinfo=UTC)  # which stands still, so that the reward is the same each time
    async with running(Settings(home=tmp_path), clock=lambda: now) as application:
        context = CallContext(surface="python", client="reader")
        for tool, arguments in examples:
            known = answers["create_episode"]["episode_id"] if answers else ""
            answer = await application.dispatcher.call(tool, json.loads(arguments.replace("EPISODE", known)), context)
            answers[tool] = answer.model_dump(mode="json")
        whole = await application.dispatcher.call(
            "get_episode", {"episode_id": answers["create_episode"]["episode_id"]}, context
        )
    episode = whole.model_dump(mode="json")["episode"]
    reward, quality = episode["reward"], episode["quality"]
    assert worth == (
        f"reward {reward['total']:.3f} (base {reward['base']:g}, complexity {reward['complexity_bonus']:g}, "
        f"quality {reward['quality_multiplier']:g}, learning {reward['learning_bonus']:g}), "
        f"quality {quality['score']:g} and so {'low' if quality['low'] else 'high'}\n"
    )
    part = answers["get_episode"]["episode"]
    assert part["reflection"]["improvements"] == ["1 of 3 steps failed"]
    assert part["steps"] == [{"tool": "grep"}, {"tool": "find"}, {"tool": "edit"}]
    (found,) = answers["query_memory"]["episodes"]
    assert found == {"task_description": episode["task_description"]}
    assert answers["query_memory"]["insights"] == {"total_episodes": 1, "relevant_patterns": 1, "success_rate": 1.0}
    (near,) = answers["query_semantic_memory"]["results"]
    assert 0.3 <= near["similarity_score"] <= 0.6


def test_063_070_to_076_the_page_has_every_word_and_number() -> None:
    for words in (TaskType, Complexity, ResultType, OutcomeType, Sort):
        assert all(f"`{word}`" in PAGE for word in words)
    text = " ".join(PAGE.split())
    assert f"at most {TEXT_BYTES:_} bytes".replace("_", " ") in text
    assert f"an artifact {DATA_BYTES:_}, an episode {MOST_STEPS} steps and {EPISODE_BYTES:_}".replace("_", " ") in text
    assert f"at most {MOST_IDS} ids and {TOLD_BYTES // 1_000_000} MB" in text
    assert f"up to {MADE_UP_FOR} with each question" in text
