"""The summary tools, called in applications with and without a language model."""

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
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.app.store import Store
from scrubjay.core.clock import system_clock
from scrubjay.core.errors import NotFound
from scrubjay.core.progress import SilentReporter
from scrubjay.features.summaries import extractive, startup
from scrubjay.features.summaries import service as summarising
from scrubjay.features.summaries.startup import UPKEEP_JOB, StartupState, StartupStatus, StartupSummaries
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.jobs.service import WATCH_SECONDS, JobService
from tests.models.service import Service, running_service

TIMEOUT_SECONDS = 30
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


def default_answer(body: Mapping[str, Any]) -> str:
    """Return no facts for a request for facts, and a summary for any other request."""
    return json.dumps({"facts": []} if "lasting facts" in body["messages"][0]["content"] else ANSWER)


@pytest.fixture
def service() -> Generator[Service]:
    with running_service() as running:
        running.reply = default_answer
        yield running


def open_app(home: Path, service: Service | None = None, **options: Any) -> AbstractAsyncContextManager[Application]:
    llm = LlmSettings() if service is None else LlmSettings(base_url=service.url, model="mine", retries=0)
    settings: dict[str, Any] = {"home": home, "jobs": JobSettings(lease_seconds=3), "llm": llm, **options}
    return running(Settings(**settings))


async def call(app: Application, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await app.dispatcher.call(tool, arguments, CallContext(surface="python"))
    return result.model_dump(mode="json")


async def add_turns(app: Application, *sessions: str) -> None:
    for session in sessions:
        await call(
            app,
            "add_memory",
            prompt="Can you please fix the login bug?",
            thought="The header is split.",
            response=f"I fixed src/auth.py for {session}. All tests pass.",
            sessionId=session,
        )


async def status(app: Application) -> StartupStatus:
    return await (await app.services.get(StartupSummaries)).status()


async def until_upkeep_ends(app: Application) -> None:
    """Wait until the upkeep job has ended, in whichever process it runs."""
    jobs = await app.services.get(JobService)
    with anyio.fail_after(TIMEOUT_SECONDS):
        while not (started := await jobs.list([], UPKEEP_JOB, 1)):  # noqa: ASYNC110 - another process starts it
            await anyio.sleep(WATCH_SECONDS)
        await jobs.wait(started[0].id, None, SilentReporter())


async def test_098_a_session_is_summarised_by_a_job_and_its_summary_is_listed(tmp_path: Path) -> None:
    async with open_app(tmp_path) as app:
        await add_turns(app, "s1")
        job = await call(app, "summarize_sessions", sessionId="s1")
        assert job["state"] == "completed"
        result_id = job["result"]["sessions"][0].pop("memoryId")
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
        page = await call(app, "get_all_summaries")
        assert (page["count"], page["total"]) == (1, 1)
        (summary,) = page["summaries"]
        assert datetime.fromisoformat(summary.pop("timestamp")) <= system_clock()
        memory_id = summary.pop("memoryId")
        assert (memory_id, memory_id[:4]) == (result_id, "mem_")
        assert summary == {
            "id": "summary_s1",
            "sessionId": "s1",
            "title": "Fix the login bug",
            "summary": "Request: Can you please fix the login bug?\n"
            "Outcome: I fixed src/auth.py for s1. All tests pass.\nFiles: src/auth.py",
            "category": "bugfix",
            "memoryCount": 1,
            "quality": 75,
            "productivity": 75,
            "impact": 3,
            "complexity": 7,
            "technologies": ["Python"],
            "level": 1,
            "period": None,
            "method": "extractive",
            "model": None,
        }


async def test_100_summaries_are_listed_by_page_and_category_and_searched_by_distance(tmp_path: Path) -> None:
    async with open_app(tmp_path) as app:
        await add_turns(app, "s1", "s2")
        await call(
            app,
            "add_memory",
            prompt="Explain how the cache works.",
            thought="",
            response="It keeps answers.",
            sessionId="s3",
        )
        result = (await call(app, "summarize_sessions"))["result"]
        assert result["processed"] == 3
        page = await call(app, "get_all_summaries", limit=1, offset=1)
        assert (page["count"], page["total"], page["summaries"][0]["id"]) == (1, 3, "summary_s2")
        analysis = await call(app, "get_all_summaries", category="analysis")
        assert (analysis["total"], [found["id"] for found in analysis["summaries"]]) == (1, ["summary_s3"])
        found = await call(app, "query_summaries", query="how does the cache work?")
        assert (found["query"], found["count"]) == ("how does the cache work?", len(found["results"]))
        best = found["results"][0]
        assert best["id"] == "summary_s3"
        assert 0 < best["distance"] < 1
        assert best["relevanceScore"] == pytest.approx(1 / (1 + best["distance"]), abs=2e-6)
        assert round(best["relevanceScore"], 6) == best["relevanceScore"]
        bugs = await call(app, "query_summaries", query="cache", category="bugfix", nResults=1)
        assert all(result["category"] == "bugfix" for result in bugs["results"])
        assert await call(app, "delete_all_summaries") == {
            "deleted": 3,
            "message": "All summaries successfully deleted",
        }
        assert (await call(app, "get_all_summaries"))["total"] == 0
        assert (await call(app, "query_summaries", query="cache"))["results"] == []
        assert (await call(app, "get_session_memories", sessionId="s1"))["total"] == 1


async def test_an_erased_summary_disappears_from_the_call_history(tmp_path: Path) -> None:
    async with open_app(tmp_path) as app:

        async def ada(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await app.dispatcher.call(tool, arguments, CallContext(surface="python", client="ada"))
            return result.model_dump(mode="json")

        await add_turns(app, "s1")
        (summary,) = (await ada("summarize_sessions"))["result"]["sessions"]
        assert summary["title"] in str(await ada("session_history", action="get_history"))
        (turn,) = (await call(app, "get_session_memories", sessionId="s1"))["memories"]
        forgotten = await ada("forget", id=turn["id"])
        assert forgotten["also"] == [summary["memoryId"]]
        assert summary["title"] not in str(await ada("session_history", action="get_history"))


async def test_a_project_sees_only_its_own_summaries(tmp_path: Path) -> None:
    async with open_app(tmp_path / "home", project=tmp_path / "a") as app:
        await add_turns(app, "s1")
        await call(app, "summarize_sessions")
    async with open_app(tmp_path / "home", project=tmp_path / "b") as app:
        assert (await call(app, "summarize_sessions"))["result"]["processed"] == 0
        assert (await call(app, "get_all_summaries"))["total"] == 0
        assert (await call(app, "query_summaries", query="login"))["results"] == []
        assert (await call(app, "delete_all_summaries"))["deleted"] == 0
        with pytest.raises(NotFound):
            await call(app, "summarize_sessions", sessionId="s1")
    async with open_app(tmp_path / "home", project=tmp_path / "a") as app:
        assert (await call(app, "get_all_summaries"))["total"] == 1


async def test_an_unusable_response_of_a_model_over_http_does_not_stop_other_sessions(
    tmp_path: Path, service: Service
) -> None:
    service.reply = lambda body: (
        "I would rather not."
        if "for s2" in body["messages"][-1]["content"]
        else f"```json\n{default_answer(body)}\n```"
    )
    async with open_app(tmp_path, service) as app:
        await add_turns(app, "s1", "s2", "s3")
        result = (await call(app, "summarize_sessions"))["result"]
        methods = {session["sessionId"]: session["method"] for session in result["sessions"]}
        assert methods == {"s1": "llm", "s2": "extractive", "s3": "llm"}
        first = (await call(app, "get_all_summaries"))["summaries"][-1]
        assert (first["title"], first["model"], first["quality"]) == ("The login works again", "a-model-0613", 80)
    assert {request.path for request in service.requests} == {"/v1/chat/completions"}


async def test_without_its_api_key_summaries_are_written_without_the_model_and_report_it(tmp_path: Path) -> None:
    llm = LlmSettings(base_url="http://127.0.0.1:9/v1", model="mine", api_key_env="NO_SUCH_KEY")
    async with open_app(tmp_path, llm=llm) as app:
        await add_turns(app, "s1")
        (session,) = (await call(app, "summarize_sessions"))["result"]["sessions"]
        assert session["method"] == "extractive"
        memories = await (await app.services.get(Store)).memories.scan(None, 10)
        (summary,) = [memory for memory in memories if memory.key == "summary:s1"]
        assert "NO_SUCH_KEY is empty" in summary.details["problem"]


# -- automatic summaries ---------------------------------------------------------------------------


@pytest.fixture
def start_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(summarising, "SETTLE_TIME", timedelta(0))


async def test_099_without_a_language_model_nothing_is_summarised_automatically(tmp_path: Path) -> None:
    async with open_app(tmp_path) as app:
        assert await status(app) == StartupStatus(
            StartupState.SKIPPED,
            {"reason": "no language model is set; summarize_sessions makes extractive summaries when it is called"},
        )
    async with open_app(tmp_path, summaries=SummarySettings(automatic="off")) as app:
        assert await status(app) == StartupStatus(
            StartupState.SKIPPED, {"reason": "the setting summaries.automatic is off"}
        )
    async with open_app(tmp_path, summaries=SummarySettings(automatic="on")) as app:
        assert await status(app) == StartupStatus(StartupState.NOT_ATTEMPTED, None)


@pytest.mark.usefixtures("start_immediately")
async def test_099_a_server_summarises_unsummarised_sessions_at_startup_and_reports_it(tmp_path: Path) -> None:
    async with open_app(tmp_path) as app:
        await add_turns(app, "s0")
        await call(app, "summarize_sessions")
        await add_turns(app, "s1", "s2")
    async with open_app(tmp_path, summaries=SummarySettings(automatic="on")) as app:
        await app.open()
        await until_upkeep_ends(app)
        session = {"title": "Fix the login bug", "memoryCount": 1}
        assert await status(app) == StartupStatus(
            StartupState.COMPLETED, {"processed": 2, "sessions": [session, session]}
        )
        (job,) = (await call(app, "list_jobs", tool=UPKEEP_JOB))["jobs"]
        assert job["result"] == {"processed": 2, "periods": 0, "failed": 0, "problem": None, "facts": 0}


@pytest.mark.usefixtures("start_immediately")
async def test_099_only_the_number_of_invisible_sessions_is_reported(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with open_app(home, project=tmp_path / "a") as app:
        await add_turns(app, "s1")
    async with open_app(home, summaries=SummarySettings(automatic="on")) as app:
        await app.open()
        await until_upkeep_ends(app)
        assert await status(app) == StartupStatus(StartupState.COMPLETED, {"processed": 1, "sessions": []})


@pytest.mark.usefixtures("start_immediately")
async def test_099_a_failure_is_reported_in_the_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_app(tmp_path) as app:
        await add_turns(app, "s1")

    def broken(material: object) -> None:
        raise NotFound("the words are gone")

    monkeypatch.setattr(extractive, "summarise_session", broken)
    async with open_app(tmp_path, summaries=SummarySettings(automatic="on")) as app:
        await app.open()
        await until_upkeep_ends(app)
        assert await status(app) == StartupStatus(StartupState.FAILED, {"error": "the words are gone"})


async def test_099_only_one_of_several_servers_started_together_summarises(tmp_path: Path, service: Service) -> None:
    sessions = [f"s{number}" for number in range(6)]
    async with open_app(tmp_path) as app:
        await add_turns(app, *sessions)
        await age_turns(app)
    finished_before = count_finished_periods()
    children = [start_server(tmp_path, service) for _ in range(3)]
    try:
        async with open_app(tmp_path) as app:
            await until_upkeep_ends(app)
    finally:
        for child in children:
            child.communicate(timeout=TIMEOUT_SECONDS)
    assert [child.returncode for child in children] == [0, 0, 0]
    async with open_app(tmp_path) as app:
        (job,) = (await call(app, "list_jobs", tool=UPKEEP_JOB))["jobs"]
        assert (job["state"], job["result"]["processed"]) == ("completed", 6)
        assert (await call(app, "get_all_summaries"))["total"] == 6
    # One request for the facts and one for the summary of each session, and one for each finished day and week.
    assert len(service.requests) in {12 + ended for ended in (finished_before, count_finished_periods())}


def count_finished_periods() -> int:
    """Count the periods (day, week) that ended within the last hour: 1 or 2 in the first hour of a day, else 0."""
    now = datetime.now(UTC)
    then = now - timedelta(hours=1)
    return (then.date() != now.date()) + (then.isocalendar()[:2] != now.isocalendar()[:2])


def start_server(home: Path, service: Service) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-m", "tests.features.summaries.startup_child", str(home), service.url]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE)


async def age_turns(app: Application) -> None:
    """Make every turn an hour old, so that its session counts as finished."""
    store = await app.services.get(Store)
    assert isinstance(store, SqliteStore)
    await store.jobs._writer.write(  # pyright: ignore[reportPrivateUsage]
        lambda connection: connection.execute("UPDATE memory SET recorded_at = recorded_at - 3600000000")
    )
