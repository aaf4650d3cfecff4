"""The examples in docs/tasks.md get the documented answers."""

import json
import re
from pathlib import Path
from typing import Any, get_args

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.tasks.goals import MAX_MILESTONES
from scrubjay.features.tasks.models import GoalPriority, GoalStatus, TaskPriority, TaskStatus
from scrubjay.features.tasks.tools import MAX_LISTED, GoalAction, GoalRequest, TaskAction, TaskRequest
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")


async def test_095_096_the_examples_get_the_documented_answers(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    (progress,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    known: dict[str, str] = {}
    answers: list[dict[str, Any]] = []
    async with running(Settings(home=tmp_path)) as application:
        for tool, arguments in examples:
            request = json.loads(re.sub(r"\b(?:TASK|GOAL|MILESTONE)\b", lambda name: known[name[0]], arguments))
            context = CallContext(surface="python", client="reader")
            answer = await application.dispatcher.call(tool, request, context)
            answers.append(answer.model_dump(mode="json"))
            for name, created in (("TASK", answers[-1].get("task")), ("GOAL", answers[-1].get("goal"))):
                if created is not None:
                    known.setdefault(name, created["id"])
                    if created.get("milestones"):
                        known.setdefault("MILESTONE", created["milestones"][0]["id"])
    assert [one["title"] for one in answers[2]["tasks"]] == ["Ask for a new one", "Renew the certificate"]
    assert (answers[3]["task"]["status"], answers[3]["task"]["open_subtasks"]) == ("completed", 1)
    reached = answers[-1]["goal"]
    assert f"{reached['progress_percent']:g} % from {reached['progress_from']}\n" == progress


def test_095_096_the_page_states_every_action_value_and_limit() -> None:
    actions = re.findall(r"^\| `(\w+)` \|", PAGE, re.M)
    assert actions == [*get_args(TaskAction), *get_args(GoalAction)]
    for words in (TaskStatus, TaskPriority, GoalStatus, GoalPriority):
        assert all(f"`{word}`" in PAGE for word in words)
    limits = [model.model_fields["limit"].default for model in (TaskRequest, GoalRequest)]
    assert f"`limit` is {limits[0]} tasks or {limits[1]} goals, at most {MAX_LISTED}" in PAGE
    assert f"up to {MAX_MILESTONES} per goal" in PAGE
