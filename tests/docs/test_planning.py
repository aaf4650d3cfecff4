"""The examples of docs/planning.md do what the page says."""

import json
import re
from pathlib import Path
from typing import Any, get_args

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.tasks.goals import MOST_MILESTONES
from scrubjay.features.tasks.models import GoalPriority, GoalStatus, TaskPriority, TaskStatus
from scrubjay.features.tasks.tools import MOST_LISTED, GoalAction, GoalRequest, TaskAction, TaskRequest
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "planning.md").read_text("utf-8")


async def test_095_096_the_page_about_tasks_and_goals_tells_what_is_answered(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    (progress,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    known: dict[str, str] = {}
    answers: list[dict[str, Any]] = []
    async with running(Settings(home=tmp_path)) as application:
        for tool, arguments in examples:
            given = json.loads(re.sub(r"\b(?:TASK|GOAL|MILESTONE)\b", lambda name: known[name[0]], arguments))
            context = CallContext(surface="python", client="reader")
            answer = await application.dispatcher.call(tool, given, context)
            answers.append(answer.model_dump(mode="json"))
            for name, made in (("TASK", answers[-1].get("task")), ("GOAL", answers[-1].get("goal"))):
                if made is not None:
                    known.setdefault(name, made["id"])
                    if made.get("milestones"):
                        known.setdefault("MILESTONE", made["milestones"][0]["id"])
    assert [one["title"] for one in answers[2]["tasks"]] == ["Ask for a new one", "Renew the certificate"]
    assert (answers[3]["task"]["status"], answers[3]["task"]["open_subtasks"]) == ("completed", 1)
    reached = answers[-1]["goal"]
    assert f"{reached['progress_percent']:g} % from {reached['progress_from']}\n" == progress


def test_095_096_the_page_has_every_action_word_and_number() -> None:
    actions = re.findall(r"^\| `(\w+)` \|", PAGE, re.M)
    assert actions == [*get_args(TaskAction), *get_args(GoalAction)]
    for words in (TaskStatus, TaskPriority, GoalStatus, GoalPriority):
        assert all(f"`{word}`" in PAGE for word in words)
    limits = [model.model_fields["limit"].default for model in (TaskRequest, GoalRequest)]
    assert f"`limit` is {limits[0]} tasks or {limits[1]} goals, {MOST_LISTED} at most" in PAGE
    assert f"up to {MOST_MILESTONES} for a goal" in PAGE
