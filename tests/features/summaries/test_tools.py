"""The tools for summaries, in whole applications with and without a language model."""

import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import JobSettings, LlmSettings, Settings, SummarySettings
from scrubjay.app.store import Store
from scrubjay.core.clock import system_clock
from scrubjay.core.errors import NotFound
from scrubjay.core.progress import SilentReporter
from scrubjay.features.summaries import extractive, startup
from scrubjay.features.summaries import service as summarising
from scrubjay.features.summaries.startup import UPKEEP_JOB, Startup, StartupSummaries, StartupWord
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.jobs.service import WATCH_SECONDS, JobService
from tests.models.service import Service, running_service

PATIENCE_SECONDS = 30
ANSWER = {
    "title": "The login works again",
    "summary": "The header was split at every colon; now only once.",
    "category": "bugfix",
    "quality": 80,
    "productivity": 90,
    "impact": 70,
    "complexity": 30,
    "technologies": ["Python"],
}


def says(body: Mapping[str, Any]) -> str:
    """What a language model answers: no facts, or a summary."""
    return json.dumps({"facts": []} if "lasting facts" in body["messages"][0]["content"] else ANSWER)


@pytest.fixture
def service() -> Generator[Service]:
    with running_service() as running:
        running.says = says
        yield running


def app(home: Path, service: Service | None = None, **options: Any) -> AbstractAsyncContextManager[Application]:
    llm = LlmSettings() if service is None else LlmSettings(base_url=service.url, model="mine", retries=0)
    settings: dict[str, Any] = {"home": home, "jobs": JobSettings(lease_seconds=3), "llm": llm, **options}
    return running(Settings(**settings))


async def call(on: Application, tool: str, /, **arguments: Any) -> dict[str, Any]:
    answer = await on.dispatcher.call(tool, arguments, CallContext(surface="python"))
    return answer.model_dump(mode="json")


async def add_turns(on: Application, *sessions: str) -> None:
    for session in sessions:
        await call(
            on,
            "add_memory",
            prompt="Can you please fix the login bug?",
            thought="The header is split.",
            response=f"I fixed src/auth.py for {session}. All tests pass.",
            sessionId=session,
        )


async def status(on: Application) -> Startup:
    return await (await on.services.get(StartupSummaries)).status()


async def until_upkeep_ends(on: Application) -> None:
    """Wait for the one job of the upkeep, whichever process begins and ends it."""
    jobs = await on.services.get(JobService)
    with anyio.fail_after(PATIENCE_SECONDS):
        while not (begun := await jobs.list([], UPKEEP_JOB, 1)):  # noqa: ASYNC110 - another process begins it
            await anyio.sleep(WATCH_SECONDS)
        await jobs.wait(begun[0].id, None, SilentReporter())


async def test_098_a_session_is_summarised_as_a_job_and_shown(tmp_path: Path) -> None:
    async with app(tmp_path) as one:
        await add_turns(one, "s1")
        job = await call(one, "summarize_sessions", sessionId="s1")
        assert job["state"] == "completed"
        made_id = job["result"]["sessions"][0].pop("memoryId")
        assert job["result"] == {
            "processed": 1,
            "sessions": [
                {
                    "sessionId": "s1",
                    "summaryId": "summary_s1",
                    "title": "Fix the login bug",
                    "memoryCount": 1,
                    "method": "extractive",
                }
            ],
            "periods": [],
            "failed": [],
            "facts": 0,
        }
        shown = await call(one, "get_all_summaries")
        assert (shown["count"], shown["total"]) == (1, 1)
        (summary,) = shown["summaries"]
        assert datetime.fromisoformat(summary.pop("timestamp")) <= system_clock()
        memory_id = summary.pop("memoryId")
        assert (memory_id, memory_id[:4]) == (made_id, "mem_")
        assert summary == {
            "id": "summary_s1",
            "sessionId": "s1",
            "title": "Fix the login bug",
            "summary": "I fixed src/auth.py for s1. All tests pass.",
            "category": "bugfix",
            "memoryCount": 1,
            "quality": 100,
            "productivity": 100,
            "impact": 3,
            "complexity": 7,
            "technologies": ["Python"],
            "level": 1,
            "period": None,
            "method": "extractive",
            "model": None,
        }


async def test_100_summaries_are_listed_by_page_and_category_and_found_with_a_real_distance(tmp_path: Path) -> None:
    async with app(tmp_path) as one:
        await add_turns(one, "s1", "s2")
        await call(
            one,
            "add_memory",
            prompt="Explain how the cache works.",
            thought="",
            response="It keeps answers.",
            sessionId="s3",
        )
        made = (await call(one, "summarize_sessions"))["result"]
        assert made["processed"] == 3
        page = await call(one, "get_all_summaries", limit=1, offset=1)
        assert (page["count"], page["total"], page["summaries"][0]["id"]) == (1, 3, "summary_s2")
        analysis = await call(one, "get_all_summaries", category="analysis")
        assert (analysis["total"], [found["id"] for found in analysis["summaries"]]) == (1, ["summary_s3"])
        found = await call(one, "query_summaries", query="how does the cache work?")
        assert (found["query"], found["count"]) == ("how does the cache work?", len(found["results"]))
        best = found["results"][0]
        assert best["id"] == "summary_s3"
        assert 0 < best["distance"] < 1
        assert best["relevanceScore"] == pytest.approx(1 / (1 + best["distance"]), abs=2e-6)
        assert round(best["relevanceScore"], 6) == best["relevanceScore"]
        bugs = await call(one, "query_summaries", query="cache", category="bugfix", nResults=1)
        assert all(result["category"] == "bugfix" for result in bugs["results"])
        assert await call(one, "delete_all_summaries") == {
            "deleted": 3,
            "message": "All summaries successfully deleted",
        }
        assert (await call(one, "get_all_summaries"))["total"] == 0
        assert (await call(one, "query_summaries", query="cache"))["results"] == []
        assert (await call(one, "get_session_memories", sessionId="s1"))["total"] == 1


async def test_the_history_of_calls_forgets_a_title_with_its_summary(tmp_path: Path) -> None:
    async with app(tmp_path) as one:

        async def ada(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = await one.dispatcher.call(tool, arguments, CallContext(surface="python", client="ada"))
            return answer.model_dump(mode="json")

        await add_turns(one, "s1")
        (made,) = (await ada("summarize_sessions"))["result"]["sessions"]
        assert made["title"] in str(await ada("session_history", action="get_history"))
        (turn,) = (await call(one, "get_session_memories", sessionId="s1"))["memories"]
        gone = await ada("forget", id=turn["id"])
        assert gone["also"] == [made["memoryId"]]
        assert made["title"] not in str(await ada("session_history", action="get_history"))


async def test_a_project_sees_only_its_own_summaries(tmp_path: Path) -> None:
    async with app(tmp_path / "home", project=tmp_path / "a") as one:
        await add_turns(one, "s1")
        await call(one, "summarize_sessions")
    async with app(tmp_path / "home", project=tmp_path / "b") as one:
        assert (await call(one, "summarize_sessions"))["result"]["processed"] == 0
        assert (await call(one, "get_all_summaries"))["total"] == 0
        assert (await call(one, "query_summaries", query="login"))["results"] == []
        assert (await call(one, "delete_all_summaries"))["deleted"] == 0
        with pytest.raises(NotFound):
            await call(one, "summarize_sessions", sessionId="s1")
    async with app(tmp_path / "home", project=tmp_path / "a") as one:
        assert (await call(one, "get_all_summaries"))["total"] == 1


async def test_a_language_model_over_http_writes_summaries_and_one_broken_answer_stops_nothing(
    tmp_path: Path, service: Service
) -> None:
    service.says = lambda body: (
        "I would rather not." if "for s2" in body["messages"][-1]["content"] else f"```json\n{says(body)}\n```"
    )
    async with app(tmp_path, service) as one:
        await add_turns(one, "s1", "s2", "s3")
        made = (await call(one, "summarize_sessions"))["result"]
        methods = {session["sessionId"]: session["method"] for session in made["sessions"]}
        assert methods == {"s1": "llm", "s2": "extractive", "s3": "llm"}
        first = (await call(one, "get_all_summaries"))["summaries"][-1]
        assert (first["title"], first["model"], first["quality"]) == ("The login works again", "a-model-0613", 80)
    assert {request.path for request in service.requests} == {"/v1/chat/completions"}


async def test_a_key_that_is_missing_is_told_and_summaries_are_made_without_the_model(tmp_path: Path) -> None:
    llm = LlmSettings(base_url="http://127.0.0.1:9/v1", model="mine", api_key_env="NO_SUCH_KEY")
    async with app(tmp_path, llm=llm) as one:
        await add_turns(one, "s1")
        (session,) = (await call(one, "summarize_sessions"))["result"]["sessions"]
        assert session["method"] == "extractive"
        memories = await (await one.services.get(Store)).memories.scan(None, 10)
        (summary,) = [memory for memory in memories if memory.key == "summary:s1"]
        assert "NO_SUCH_KEY is empty" in summary.details["problem"]


# -- what a server does by itself ------------------------------------------------------------------


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(summarising, "SETTLED", timedelta(0))


async def test_099_without_a_language_model_nothing_is_summarised_by_itself(tmp_path: Path) -> None:
    async with app(tmp_path) as one:
        assert await status(one) == Startup(
            StartupWord.SKIPPED,
            {"reason": "no language model is set; summarize_sessions makes extractive summaries when it is called"},
        )
    async with app(tmp_path, summaries=SummarySettings(automatic="off")) as one:
        assert await status(one) == Startup(StartupWord.SKIPPED, {"reason": "the setting summaries.automatic is off"})
    async with app(tmp_path, summaries=SummarySettings(automatic="on")) as one:
        assert await status(one) == Startup(StartupWord.NOT_ATTEMPTED, None)


@pytest.mark.usefixtures("at_once")
async def test_099_at_its_start_a_server_summarises_what_is_missing_and_tells_so(tmp_path: Path) -> None:
    async with app(tmp_path) as one:
        await add_turns(one, "s0")
        await call(one, "summarize_sessions")
        await add_turns(one, "s1", "s2")
    async with app(tmp_path, summaries=SummarySettings(automatic="on")) as one:
        await one.open()
        await until_upkeep_ends(one)
        session = {"title": "Fix the login bug", "memoryCount": 1}
        assert await status(one) == Startup(StartupWord.COMPLETED, {"processed": 2, "sessions": [session, session]})
        (job,) = (await call(one, "list_jobs", tool=UPKEEP_JOB))["jobs"]
        assert job["result"] == {"processed": 2, "periods": 0, "failed": 0, "problem": None, "facts": 0}


@pytest.mark.usefixtures("at_once")
async def test_099_of_what_others_may_not_see_only_the_number_is_told(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with app(home, project=tmp_path / "a") as one:
        await add_turns(one, "s1")
    async with app(home, summaries=SummarySettings(automatic="on")) as one:
        await one.open()
        await until_upkeep_ends(one)
        assert await status(one) == Startup(StartupWord.COMPLETED, {"processed": 1, "sessions": []})


@pytest.mark.usefixtures("at_once")
async def test_099_a_failure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with app(tmp_path) as one:
        await add_turns(one, "s1")

    def broken(material: object) -> None:
        raise NotFound("the words are gone")

    monkeypatch.setattr(extractive, "summarise_session", broken)
    async with app(tmp_path, summaries=SummarySettings(automatic="on")) as one:
        await one.open()
        await until_upkeep_ends(one)
        assert await status(one) == Startup(StartupWord.FAILED, {"error": "the words are gone"})


async def test_099_of_many_servers_that_start_together_one_summarises(tmp_path: Path, service: Service) -> None:
    sessions = [f"s{number}" for number in range(6)]
    async with app(tmp_path) as one:
        await add_turns(one, *sessions)
        await age_turns(one)
    over_before = days_and_weeks_over()
    children = [start_server(tmp_path, service) for _ in range(3)]
    try:
        async with app(tmp_path) as one:
            await until_upkeep_ends(one)
    finally:
        for child in children:
            child.communicate(timeout=PATIENCE_SECONDS)
    assert [child.returncode for child in children] == [0, 0, 0]
    async with app(tmp_path) as one:
        (job,) = (await call(one, "list_jobs", tool=UPKEEP_JOB))["jobs"]
        assert (job["state"], job["result"]["processed"]) == ("completed", 6)
        assert (await call(one, "get_all_summaries"))["total"] == 6
    # Each session is asked about once for its facts and once for its summary, and so is a day or a week that is over.
    assert len(service.requests) in {12 + ended for ended in (over_before, days_and_weeks_over())}


def days_and_weeks_over() -> int:
    """Of the day and the week of an hour ago, how many are over: in the first hour of a day there is one."""
    now = datetime.now(UTC)
    then = now - timedelta(hours=1)
    return (then.date() != now.date()) + (then.isocalendar()[:2] != now.isocalendar()[:2])


def start_server(home: Path, service: Service) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-m", "tests.features.summarising_child", str(home), service.url]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE)


async def age_turns(on: Application) -> None:
    """Make every turn an hour old, so that its session counts as over."""
    from scrubjay.app.sqlite_store import SqliteStore

    store = await on.services.get(Store)
    assert isinstance(store, SqliteStore)
    await store.jobs._writer.write(  # pyright: ignore[reportPrivateUsage]
        lambda connection: connection.execute("UPDATE memory SET recorded_at = recorded_at - 3600000000")
    )
