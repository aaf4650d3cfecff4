"""The examples of docs/learning.md and docs/statistics.md do what the pages say."""

import json
import re
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.analysis.service import MOST_POINTS
from scrubjay.features.analysis.tools import MOST_SERIES
from scrubjay.features.episodes.patterns.extraction import LEAST_SUCCESS, LEAST_SUCCESS_OF_RECOVERY
from scrubjay.features.episodes.patterns.models import LEAST_CONFIDENCE, PatternType
from scrubjay.features.episodes.patterns.search import LEAST_OF_RECOMMENDATION, LEAST_OF_SEARCH, RECOMMENDING, SEARCHING
from scrubjay.features.episodes.patterns.similarity import SAME
from scrubjay.tooling.context import CallContext

DOCS = Path(__file__).parents[2] / "docs"
LEARNING, STATISTICS = ((DOCS / f"{name}.md").read_text("utf-8") for name in ("learning", "statistics"))


def examples(page: str) -> list[tuple[str, str]]:
    return re.findall(r"^```json (\w+)\n(.*?)^```$", page, re.M | re.S)


def told(page: str) -> list[list[str]]:
    return [block.splitlines() for block in re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)]


async def answers(home: Path, page: str) -> list[dict[str, Any]]:
    given: list[dict[str, Any]] = []
    episode = ""
    async with running(Settings(home=home)) as app:
        for tool, arguments in examples(page):
            asked = json.loads(arguments.replace("EPISODE", episode))
            answer = await app.dispatcher.call(tool, asked, CallContext(surface="python", client="reader"))
            given.append(answer.model_dump(mode="json"))
            if tool == "create_episode":
                episode = given[-1]["episode_id"]
    return given


async def test_077_079_the_page_about_learning_tells_what_is_answered(tmp_path: Path) -> None:
    *_, recommended, analysed = await answers(tmp_path, LEARNING)
    hits, rules = told(LEARNING)
    assert [hit["description"] for hit in recommended["results"]] == hits
    found = [pattern["heuristic"] for pattern in analysed["patterns"] if pattern["type"] == "decision_point"]
    assert [f"{rule['condition']} -> {rule['action']} ({rule['confidence']:g})" for rule in found] == rules


async def test_080_the_page_about_statistics_tells_what_is_answered(tmp_path: Path) -> None:
    (answer,) = await answers(tmp_path, STATISTICS)
    (findings,) = told(STATISTICS)
    assert answer["summary"]["key_findings"] == findings


def test_077_079_080_the_pages_have_the_numbers_of_the_code() -> None:
    for kind in PatternType:
        assert f"| `{kind}` |" in LEARNING
    shares = (("70 %", LEAST_SUCCESS), ("30 %", LEAST_SUCCESS_OF_RECOVERY))
    assert all(f"{100 * share:g} %" == text and text in LEARNING for text, share in shares)
    for text, value in ((".8 alike", SAME), ("at least .7", LEAST_CONFIDENCE)):
        assert text in LEARNING
        assert f"{value:g}".lstrip("0") in text
    for name in ("semantic", "context", "effectiveness", "recency", "success"):
        search, recommend = (f"{getattr(weights, name):.2f}".lstrip("0") for weights in (SEARCHING, RECOMMENDING))
        assert re.search(rf"^\| `{name}\w*` \| {re.escape(search)} \| {re.escape(recommend)} \|", LEARNING, re.M), name
    assert f"reaches {LEAST_OF_SEARCH:g}".replace("0.", ".") in LEARNING
    assert f"reaches {LEAST_OF_RECOMMENDATION:g}".replace("0.", ".") in LEARNING
    assert f"Up to {MOST_SERIES} series" in STATISTICS
    assert f"{MOST_POINTS:,}".replace(",", " ") in STATISTICS
