"""The memory tools: use counts, required wording and refused arguments."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import InvalidRequest
from scrubjay.features.memory.tools import RecallResult
from scrubjay.tooling.context import CallContext

Recall = Callable[..., Awaitable[RecallResult]]

DEPLOY = "We deploy on Thursdays."
BLUE_GREEN = "The deployment is blue and green."


@pytest.fixture
async def recall(tmp_path: Path) -> AsyncGenerator[Recall]:
    context = CallContext(surface="python")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        memories = [{"content": DEPLOY}, {"content": BLUE_GREEN}]
        await application.dispatcher.call("remember_many", {"memories": memories}, context)

        async def call(**arguments: Any) -> RecallResult:
            request = {"query": "How do we deploy?", "threshold": 0, **arguments}
            found: Any = await application.dispatcher.call("recall", request, context)
            return found

        yield call


async def test_065_use_counts_survive_a_restart(tmp_path: Path) -> None:
    context = CallContext(surface="python")
    settings = Settings.model_validate({"home": tmp_path})
    async with running(settings) as application:
        await application.dispatcher.call("remember", {"content": DEPLOY}, context)
        for _ in range(3):
            await application.dispatcher.call("recall", {"query": "How do we deploy?"}, context)
    async with running(settings) as application:
        request = {"query": "How do we deploy?", "preset": "popular", "explain": True}
        found: Any = await application.dispatcher.call("recall", request, context)
    (signal,) = [entry for entry in found.memories[0].explanation.signals if entry.signal == "use"]
    assert signal.value == pytest.approx(math.log(4) / math.log(11))


@pytest.mark.parametrize(
    ("containing", "expected"),
    [
        ('"deploy', {DEPLOY, BLUE_GREEN}),
        ('""" " deploy', {DEPLOY, BLUE_GREEN}),
        ('deploy" OR "green', {BLUE_GREEN}),
        ("deploy) OR (green", {BLUE_GREEN}),
        ("deploy AND (blue", {BLUE_GREEN}),
        ("^deploy -deploy +deploy", {DEPLOY, BLUE_GREEN}),
        ("* ** deploy*", {DEPLOY, BLUE_GREEN}),
        ("{deploy} [deploy] deploy%", {DEPLOY, BLUE_GREEN}),
        ("déploys\tthursday\n", {DEPLOY}),
        ("deploy NOT thursday", {DEPLOY}),
        ("NEAR(deploy blue, 5)", set[str]()),
        ("content:deploy", set[str]()),
        ("' OR 1=1 --", set[str]()),
        ("שלום 東京", set[str]()),
        ("w " * 500, set[str]()),
        (" ".join(f"w{number}" for number in range(180)), set[str]()),
    ],
)
async def test_065_required_wording_has_no_query_syntax(recall: Recall, containing: str, expected: set[str]) -> None:
    found = await recall(containing=containing)
    assert {memory.content for memory in found.memories} == expected


@pytest.mark.parametrize(
    "containing", ["", "*", '""', "?!", "the", "🎉", "deploy \x00 nul", "deploy \ud800", "w " * 5_000]
)
async def test_065_unsearchable_wording_is_refused(recall: Recall, containing: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await recall(containing=containing)
    assert caught.value.hint
    assert len((await recall()).memories) == 2


@pytest.mark.parametrize(
    "invalid", [{"preset": "best"}, {"diversity": 1.1}, {"token_budget": 0}, {"order": "size"}, {"limit": 0}]
)
async def test_019_invalid_options_are_refused(recall: Recall, invalid: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        await recall(**invalid)
