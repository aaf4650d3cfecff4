"""Two weeks of an agent's work on a simulated clock; at the end every question gets the right answer."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
PROJECT = "/srv/shop"
CHILD = Path(__file__).parent / "two_weeks_child.py"

Json = dict[str, Any]


class Calendar:
    """The simulated clock."""

    def __init__(self) -> None:
        self.now = MONDAY

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)  # no two calls have the same time
        return self.now

    def go_to(self, day: int, hour: int = 9, minute: int = 0) -> None:
        """Set the clock to a time of a day, but never back; the first day is 1."""
        self.now = max(self.now, MONDAY.replace(hour=hour, minute=minute) + timedelta(days=day - 1))


class Agent:
    """Calls tools as one client."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, tool: str, /, **arguments: Any) -> Json:
        answer = await self._dispatcher.call(tool, arguments, CallContext(surface="python", client="agent"))
        return answer.model_dump(mode="json")


@asynccontextmanager
async def at_work(home: Path, calendar: Calendar) -> AsyncGenerator[Agent]:
    async with running(Settings(home=home), clock=calendar) as application:
        agent = Agent(application.dispatcher)
        await agent("set_project", path=PROJECT)
        yield agent


async def first_week(call: Agent, calendar: Calendar) -> Json:
    """Store turns, changing facts, a contradiction and working memory; return the expected ids by name."""
    known: Json = {}
    turn = await call(
        "add_memory",
        prompt="Why does the checkout time out?",
        thought="The query on orders scans the whole table.",
        response="Add an index on orders.customer_id; the checkout then answers in 40 ms.",
        sessionId="monday",
    )
    known["index"] = turn["id"]
    await call(
        "add_memory",
        prompt="Did the index help?",
        thought="The dashboard shows p95 at 45 ms.",
        response="Yes, the checkout is fast now; the bug is fixed.",
        sessionId="monday",
    )
    known["database"] = (await call("remember", content="The shop runs on MySQL 8.", key="database"))["id"]
    known["tabs"] = (
        await call(
            "remember", content="Ada prefers tabs over spaces.", fact_type="preference", subject="Ada's indentation"
        )
    )["id"]

    calendar.go_to(2)
    await call(
        "working_put", content="The staging certificate expires on 30 March.", session_id="tuesday", importance=0.9
    )
    await call("working_put", content="Stretch your legs.", session_id="tuesday", importance=0.1)
    calendar.go_to(2, 9, 4)
    consolidated = await call("consolidate", session_id="tuesday")
    known["certificate"] = consolidated["moved"][0]["memory_id"]

    calendar.go_to(3)
    updated = await call("remember", content="The shop runs on PostgreSQL 17 since the migration.", key="database")
    assert (updated["id"], updated["outcome"], len(updated["superseded"])) == (known["database"], "updated", 1)
    known["mysql"] = updated["superseded"][0]

    calendar.go_to(4)
    spaces = await call("remember", content="Ada prefers spaces over tabs now.", subject="ada's indentation")
    assert spaces["superseded"] == [known["tabs"]]
    known["spaces"] = spaces["id"]
    rumour = await call(
        "remember", content="Somebody thinks that Ada prefers tabs again.", subject="ada's indentation", confidence=0.3
    )
    assert rumour["conflicts"] == [spaces["id"]]
    known["rumour"] = rumour["id"]

    calendar.go_to(5)
    known["deploy"] = (await call("remember", content="We deploy on Fridays after lunch."))["id"]
    known["key"] = (await call("remember", content="The payment key is sk-live-" + "a1B2" * 8 + "."))["id"]
    return known


async def second_week(call: Agent, calendar: Calendar, known: Json) -> None:
    calendar.go_to(9)
    await call("correct", what_was_wrong="on Fridays", what_is_right="on Tuesdays")
    request = {"content": "The on-call phone number is 4711.", "idempotency_key": "phone"}
    first, again = await call("remember", **request), await call("remember", **request)
    assert (again["id"], again["repeated"]) == (first["id"], True)
    known["phone"] = first["id"]

    calendar.go_to(10)
    summarised = await call("summarize_sessions")
    assert [one["sessionId"] for one in summarised["result"]["sessions"]] == ["monday"]

    calendar.go_to(11)
    trivial = await call("remember", content="Lunch was soup.", importance=0.1)
    calendar.go_to(14, 18)
    preview = (await call("forget_faded", dry_run=True))["result"]
    assert [one["id"] for one in preview["memories"]] == [trivial["id"]]
    eviction = (await call("forget_faded", dry_run=False))["result"]
    fields = ("considered", "forgotten", "reasons", "spared", "bands")
    assert [eviction[name] for name in fields] == [preview[name] for name in fields]
    assert [one["id"] for one in eviction["memories"]] == [trivial["id"]]
    assert "soup" not in str(await call("recall", query="was it soup?", threshold=0))


async def answers(call: Agent) -> dict[str, list[tuple[str, str]]]:
    """Return the ids and contents found for each question, best first."""
    questions = {
        "database": {"query": "which database does the shop run on?"},
        "database then": {"query": "which database does the shop run on?", "as_of": "2026-03-03T12:00:00Z"},
        "indentation": {"query": "does Ada prefer tabs or spaces?", "kinds": ["general", "preference"]},
        "deploy": {"query": "on which day do we deploy?", "kinds": ["general"]},
        "certificate": {"query": "when does the staging certificate expire?"},
        "phone": {"query": "what is the number of the on-call phone?"},
        "key": {"query": "what is the payment key?"},
    }
    answered: dict[str, list[tuple[str, str]]] = {}
    for name, arguments in questions.items():
        recalled = await call("recall", scope="project", **arguments)
        answered[name] = [(memory["id"], memory["content"]) for memory in recalled["memories"]]
    return answered


def check(answered: dict[str, list[tuple[str, str]]], known: Json) -> None:
    assert answered["database"][0] == (known["database"], "The shop runs on PostgreSQL 17 since the migration.")
    assert "MySQL" not in str(answered["database"])
    assert answered["database then"][0] == (known["mysql"], "The shop runs on MySQL 8.")
    assert {one for one, _ in answered["indentation"][:2]} == {known["spaces"], known["rumour"]}
    assert known["tabs"] not in [one for one, _ in answered["indentation"]]
    assert answered["deploy"][0] == (known["deploy"], "We deploy on Tuesdays after lunch.")
    assert answered["certificate"][0] == (known["certificate"], "The staging certificate expires on 30 March.")
    assert answered["phone"][0] == (known["phone"], "The on-call phone number is 4711.")
    assert "a1B2" not in str(answered["key"])


def crash_in_the_middle(home: Path, moment: datetime) -> int:
    """Kill another writing process of the agent; return the number of acknowledged writes."""
    process = subprocess.Popen(
        [sys.executable, str(CHILD), str(home), moment.isoformat()], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    acknowledged = [line for line, _ in zip(process.stdout, range(20), strict=False)]
    process.kill()
    rest = process.communicate(timeout=30)[0]
    return len(acknowledged) + rest.count("\n")


def copy_to_store(exported: Path, home: Path) -> str:
    """Copy the file into the folder of another store; return its name there."""
    (home / "backups").mkdir(parents=True)
    (home / "backups" / exported.name).write_bytes(exported.read_bytes())
    return exported.name


async def test_after_two_weeks_every_question_has_the_right_answer_with_the_right_citation(tmp_path: Path) -> None:
    home, calendar = tmp_path / "home", Calendar()
    async with at_work(home, calendar) as call:
        known = await first_week(call, calendar)
    calendar.go_to(8)
    acknowledged = crash_in_the_middle(home, calendar.now)
    assert acknowledged >= 20
    async with at_work(home, calendar) as call:
        logs = await call("recall", query="log entry shard moved to rack", tags=["log"], limit=100)
        assert len(logs["memories"]) + sum(len(one["duplicates"]) for one in logs["memories"]) >= min(acknowledged, 100)
        await second_week(call, calendar, known)
        answered = await answers(call)
        check(answered, known)
        answer = await call("ask_mimo", query="why did the checkout time out?")
        assert known["index"] in [one["id"] for one in answer["citations"]]
        summary = await call("query_summaries", query="checkout performance bug", nResults=1)
        assert summary["results"][0]["sessionId"] == "monday"
        turns = await call("get_session_memories", sessionId="monday")
        assert turns["total"] == 2
        briefing = await call("session_start", project_path=PROJECT)
        assert [one["note"] for one in briefing["recent_sessions"]] != []
        assert "sk-live" not in str(await call("export_session"))
        exported = (await call("export_database"))["result"]
    second = tmp_path / "second"
    async with at_work(second, calendar) as call:
        imported = (await call("import_database", file=copy_to_store(Path(exported["path"]), second)))["result"]
        assert imported["skipped"] == 0
        check(await answers(call), known)
