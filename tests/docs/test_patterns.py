"""The examples in docs/patterns.md and docs/analysis.md get the documented answers."""

import json
import re
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.analysis.service import MAX_TOTAL_POINTS
from scrubjay.features.analysis.tools import MAX_SERIES
from scrubjay.features.episodes.patterns.extraction import MIN_RECOVERY_SUCCESS_RATE, MIN_SUCCESS_RATE
from scrubjay.features.episodes.patterns.models import MIN_HEURISTIC_CONFIDENCE, PatternType
from scrubjay.features.episodes.patterns.search import (
    MIN_RECOMMENDATION_SCORE,
    MIN_SEARCH_SCORE,
    RECOMMENDATION_WEIGHTS,
    SEARCH_WEIGHTS,
)
from scrubjay.features.episodes.patterns.similarity import SAME_PATTERN_SIMILARITY
from scrubjay.tooling.context import CallContext

DOCS = Path(__file__).parents[2] / "docs"
PATTERNS, ANALYSIS = ((DOCS / f"{name}.md").read_text("utf-8") for name in ("patterns", "analysis"))


def examples(page: str) -> list[tuple[str, str]]:
    return re.findall(r"^```json (\w+)\n(.*?)^```$", page, re.M | re.S)


def expected_lines(page: str) -> list[list[str]]:
    return [block.splitlines() for block in re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)]


async def run_examples(home: Path, page: str) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    episode = ""
    async with running(Settings(home=home)) as app:
        for tool, arguments in examples(page):
            request = json.loads(arguments.replace("EPISODE", episode))
            answer = await app.dispatcher.call(tool, request, CallContext(surface="python", client="reader"))
            results.append(answer.model_dump(mode="json"))
            if tool == "create_episode":
                episode = results[-1]["episode_id"]
    return results


async def test_077_079_the_examples_of_patterns_get_the_documented_answers(tmp_path: Path) -> None:
    *_, recommended, analysed = await run_examples(tmp_path, PATTERNS)
    hits, rules = expected_lines(PATTERNS)
    assert [hit["description"] for hit in recommended["results"]] == hits
    heuristics = [pattern["heuristic"] for pattern in analysed["patterns"] if pattern["type"] == "decision_point"]
    assert [f"{rule['condition']} -> {rule['action']} ({rule['confidence']:g})" for rule in heuristics] == rules


async def test_080_the_example_of_analysis_gets_the_documented_findings(tmp_path: Path) -> None:
    (answer,) = await run_examples(tmp_path, ANALYSIS)
    (findings,) = expected_lines(ANALYSIS)
    assert answer["summary"]["key_findings"] == findings


def test_077_079_080_the_pages_state_the_constants_in_use() -> None:
    for kind in PatternType:
        assert f"| `{kind}` |" in PATTERNS
    shares = (("70 %", MIN_SUCCESS_RATE), ("30 %", MIN_RECOVERY_SUCCESS_RATE))
    assert all(f"{100 * share:g} %" == text and text in PATTERNS for text, share in shares)
    for text, value in (("at least .8", SAME_PATTERN_SIMILARITY), ("at least .7", MIN_HEURISTIC_CONFIDENCE)):
        assert text in PATTERNS
        assert f"{value:g}".lstrip("0") in text
    for name in ("semantic", "context", "effectiveness", "recency", "success"):
        search, recommend = (
            f"{getattr(weights, name):.2f}".lstrip("0") for weights in (SEARCH_WEIGHTS, RECOMMENDATION_WEIGHTS)
        )
        assert re.search(rf"^\| `{name}\w*` \| {re.escape(search)} \| {re.escape(recommend)} \|", PATTERNS, re.M), name
    assert f"any domain that score at least {MIN_SEARCH_SCORE:g}".replace("0.", ".") in PATTERNS
    assert f"task's domain that score at least {MIN_RECOMMENDATION_SCORE:g}".replace("0.", ".") in PATTERNS
    assert f"Up to {MAX_SERIES} series" in ANALYSIS
    assert f"{MAX_TOTAL_POINTS:,}".replace(",", " ") in ANALYSIS
