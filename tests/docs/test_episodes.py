"""The examples in docs/episodes.md get the documented answers. Numbers are rows of the feature table."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.episodes.limits import (
    MAX_DATA_BYTES,
    MAX_EPISODE_BYTES,
    MAX_RESULT_BYTES,
    MAX_STEPS,
    MAX_TEXT_BYTES,
)
from scrubjay.features.episodes.models import Complexity, OutcomeType, ResultType, TaskType
from scrubjay.features.episodes.search import MAX_CREATED_VECTORS, Sort
from scrubjay.features.episodes.tools import MAX_IDS
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "episodes.md").read_text("utf-8")


async def test_063_070_to_076_the_examples_get_the_documented_answers(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    (scores,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    answers: dict[str, dict[str, Any]] = {}
    now = datetime(2026, 3, 1, tzinfo=UTC)  # fixed, so that the reward is reproducible
    async with running(Settings(home=tmp_path), clock=lambda: now) as application:
        context = CallContext(surface="python", client="reader")
        for tool, arguments in examples:
            known = answers["create_episode"]["episode_id"] if answers else ""
            answer = await application.dispatcher.call(tool, json.loads(arguments.replace("EPISODE", known)), context)
            answers[tool] = answer.model_dump(mode="json")
        response = await application.dispatcher.call(
            "get_episode", {"episode_id": answers["create_episode"]["episode_id"]}, context
        )
    episode = response.model_dump(mode="json")["episode"]
    reward, quality = episode["reward"], episode["quality"]
    assert scores == (
        f"reward {reward['total']:.3f} (base {reward['base']:g}, complexity {reward['complexity_bonus']:g}, "
        f"quality {reward['quality_multiplier']:g}, learning {reward['learning_bonus']:g}), "
        f"quality {quality['score']:g} and so {'low' if quality['low'] else 'high'}\n"
    )
    projection = answers["get_episode"]["episode"]
    assert projection["reflection"]["improvements"] == ["1 of 3 steps failed"]
    assert projection["steps"] == [{"tool": "grep"}, {"tool": "find"}, {"tool": "edit"}]
    (episode_found,) = answers["query_memory"]["episodes"]
    assert episode_found == {"task_description": episode["task_description"]}
    assert answers["query_memory"]["insights"] == {"total_episodes": 1, "relevant_patterns": 1, "success_rate": 1.0}
    (similar,) = answers["query_semantic_memory"]["results"]
    assert 0.3 <= similar["similarity_score"] <= 0.6


def test_063_070_to_076_the_page_states_every_value_and_limit() -> None:
    for words in (TaskType, Complexity, ResultType, OutcomeType, Sort):
        assert all(f"`{word}`" in PAGE for word in words)
    text = " ".join(PAGE.split())
    assert f"at most {MAX_TEXT_BYTES:_} bytes".replace("_", " ") in text
    assert (
        f"an artifact {MAX_DATA_BYTES:_}, an episode {MAX_STEPS} steps and {MAX_EPISODE_BYTES:_}".replace("_", " ")
        in text
    )
    assert f"at most {MAX_IDS} ids and {MAX_RESULT_BYTES // 1_000_000} MB" in text
    assert f"up to {MAX_CREATED_VECTORS} with each question" in text
