"""Skills as real programs: calls, crashes, eviction and reloads."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings, SkillSettings
from scrubjay.core.callers import Caller
from scrubjay.core.errors import (
    Busy,
    Conflict,
    Forbidden,
    InvalidRequest,
    Misconfigured,
    ScrubjayError,
    Unavailable,
)
from scrubjay.features.upstream_mcp import connection, lifecycle, service
from scrubjay.features.upstream_mcp.restarts import MAX_RESTARTS, WINDOW_SECONDS
from scrubjay.tooling.context import CallContext
from tests.features.upstream_mcp.conftest import program, write_skills
from tests.liveness import is_alive

CONTEXT = CallContext(surface="python", client="tests")


class SkillCaller:
    """Calls tools of an application."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def call(self, tool: str, context: CallContext = CONTEXT, /, **arguments: Any) -> dict[str, Any]:
        return (await self.application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

    async def text(self, tool: str, /, **arguments: Any) -> str:
        return (await self.call(tool, **arguments))["content"][0]["text"]

    async def status(self, skill: str) -> dict[str, Any]:
        return (await self.call("skills_status"))["skills"][skill]


@asynccontextmanager
async def open_skills(home: Path, **settings: Any) -> AsyncGenerator[SkillCaller]:
    async with running(Settings(home=home, skills=SkillSettings(**settings))) as application:
        for name in application.skills.runners:
            await application.skills.runners[name].ready()
        yield SkillCaller(application)


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(5):
        while not condition():  # noqa: ASYNC110  # the condition can depend on other processes
            await anyio.sleep(0.01)


async def test_038_a_skill_is_listed_before_its_first_call_starts_it(home: Path) -> None:
    write_skills(home, kid=program())
    async with open_skills(home) as first:
        await first.application.skills.runners["kid"].stop()
        await first.application.skills.discover_tools()
        assert (await first.status("kid"))["status"] == "stopped"
        assert await first.text("kid_add", a=1, b=2) == "3"
        assert (await first.status("kid"))["status"] == "running"
    cached = json.loads((home / "derived" / "skills" / "kid.json").read_text())
    assert cached["tools"][0]["name"] == "add"
    assert "PATH" not in json.dumps(cached)
    async with running(Settings(home=home)) as application:  # without learning any tools
        assert "kid_add" in [tool.name for tool in await application.listing.tools()]
        assert (await SkillCaller(application).status("kid"))["pid"] is None
    write_skills(home, kid=program(A="another configuration"))
    async with running(Settings(home=home)) as application:
        assert "kid_add" not in application.registry


async def test_038_results_are_forwarded_unchanged(home: Path) -> None:
    write_skills(home, kid=program())
    async with open_skills(home) as app:
        linked = await app.call("kid_link")
        assert linked["content"] == [
            {"name": "x", "type": "resource_link", "uri": "file:///x"},
            {"text": "see x", "type": "text"},
        ]
        assert linked["structuredContent"] == {"x": [1, None, {"y": "z"}]}
        assert linked["_meta"]["a/b"] == 1
        picture = await app.call("kid_picture")
        assert picture["content"][0]["type"] == "image"
        assert "structuredContent" not in picture
        assert (await app.call("kid_fail", text="no"))["isError"] is True


async def test_024_a_call_carries_the_request_id_to_the_skill(home: Path) -> None:
    write_skills(home, kid=program())
    traceparent = f"00-{'ab' * 16}-{'cd' * 8}-01"
    context = CallContext(surface="python", client="tests", request_id="mine", traceparent=traceparent)
    async with open_skills(home) as app:
        metadata = (await app.call("kid_request_of", context))["structuredContent"]
    assert (metadata["scrubjay/request_id"], metadata["traceparent"]) == ("mine", traceparent)


async def test_017_a_skill_sees_only_the_configured_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "given")
    monkeypatch.setenv("SCRUBJAY_SECRET_THING", "hidden")
    write_skills(home, kid=program(TOKEN="<${GITHUB_TOKEN}>"))
    async with open_skills(home) as app:
        environment = (await app.call("kid_environment"))["structuredContent"]
        assert environment["TOKEN"] == "<given>"
        assert set(environment) <= {"TOKEN", "PATH", "HOME", "LANG", "LC_CTYPE"}


async def test_038_an_invalid_skill_is_reported_and_the_others_work(home: Path) -> None:
    write_skills(home, bad={"command": "rm"}, kid=program())
    async with open_skills(home) as app:
        bad = await app.status("bad")
        assert (bad["status"], bad["reason"]) == ("invalid", "command_not_allowed")
        assert await app.text("kid_add", a=1, b=2) == "3"


async def test_038_a_missing_command_is_unavailable_then_paused(home: Path) -> None:
    manifest = {"config": {"command": "nowhere"}, "tools": [{"name": "x"}]}
    write_skills(home, kid=manifest)
    async with running(Settings(home=home, skills=SkillSettings(commands=["nowhere"]))) as application:
        app = SkillCaller(application)
        for _ in range(4):
            with pytest.raises(Unavailable, match="nowhere cannot be started") as caught:
                await app.call("kid_x")
            assert caught.value.details["reason"] == "not_started"
        with pytest.raises(Unavailable, match="is paused") as caught:
            await app.call("kid_x")
        assert caught.value.details["retry_after_seconds"] <= 30
        assert (await app.status("kid"))["status"] == "paused"


async def test_040_a_skill_that_dies_in_a_call_reports_its_stderr_and_restarts(home: Path) -> None:
    write_skills(home, kid=program())
    async with open_skills(home) as app:
        with pytest.raises(Unavailable, match="died") as caught:
            await app.call("kid_die", words="it burns, password=hunter2hunter2")
        assert caught.value.details["stderr"] == ["it burns, password=[secret: password]"]
        assert await app.text("kid_add", a=1, b=2) == "3"
        assert (await app.status("kid"))["restarts"] == 1


async def test_040_a_killed_skill_is_detected_without_a_call(home: Path) -> None:
    write_skills(home, kid=program())
    async with open_skills(home) as app:
        await app.call("kid_add", a=1, b=2)
        pid = (await app.status("kid"))["pid"]
        os.kill(pid, signal.SIGKILL)
        await until(lambda: app.application.skills.runners["kid"].restarts == 1)
        assert await app.text("kid_add", a=1, b=2) == "3"
        assert (await app.status("kid"))["pid"] != pid


async def test_017_a_skill_that_hangs_times_out_and_is_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scrubjay.features.upstream_mcp.configuration import COMMANDS, CommandLimits

    monkeypatch.setitem(COMMANDS, "python3", CommandLimits(10, 0.5))  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr("scrubjay.features.upstream_mcp.process.EXIT_SECONDS", 0.1)
    write_skills(home, kid=program())
    async with open_skills(home) as app:
        with pytest.raises(Unavailable, match="did not answer hang") as caught:
            await app.call("kid_hang")
        assert (caught.value.details["reason"], caught.value.details["timeout_ms"]) == ("timeout", 500)
        assert await app.text("kid_add", a=1, b=2) == "3"


async def test_038_invalid_output_does_not_break_the_session(home: Path) -> None:
    write_skills(home, kid=program())
    async with open_skills(home) as app:
        assert await app.text("kid_flood", megabytes=5) == "complained"
        assert await app.text("kid_garbage") == "printed"
        assert await app.text("kid_add", a=1, b=2) == "3"


async def test_038_progress_and_cancellation_reach_the_skill(home: Path) -> None:
    write_skills(home, kid=program())
    reports: list[tuple[float, float | None, str]] = []

    class Reporter:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            reports.append((done, total, message))

    context = CallContext(surface="python", reporter=Reporter())
    note = home / "note"
    async with open_skills(home) as app:
        await app.call("kid_slow", context, steps=2)
        assert reports == [(1, 2, "step 1"), (2, 2, "step 2")]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: app.call("kid_slow", context, steps=1000, note=str(note)))
            await until(lambda: len(reports) > 2)
            tasks.cancel_scope.cancel()
        await until(note.exists)
        assert (await app.status("kid"))["restarts"] == 0


async def test_038_a_tool_added_by_a_skill_is_available_immediately(home: Path) -> None:
    write_skills(home, kid=program())
    async with open_skills(home) as app:
        assert len(await app.application.listing.tools()) > 0
        await app.call("kid_learn", name="dance")
        await until(lambda: "kid_dance" in app.application.registry)
        assert "kid_dance" in [tool.name for tool in await app.application.listing.tools()]
        assert await app.text("kid_dance") == "dance"


async def test_026_the_least_recently_used_skill_is_stopped_to_make_room(home: Path) -> None:
    write_skills(home, a=program(), b=program(), c=program())
    release = home / "release"
    async with open_skills(home, max_processes=2) as app:
        for name in "abc":
            await app.call(f"{name}_add", a=1, b=2)
        assert [(await app.status(name))["status"] for name in "abc"] == ["stopped", "running", "running"]
        async with anyio.create_task_group() as tasks:
            for name in "bc":
                tasks.start_soon(lambda name=name: app.call(f"{name}_wait_for", path=str(release)))
            await until(lambda: len(app.application.skills.running_calls) == 2)
            with pytest.raises(Busy):
                await app.call("a_add", a=1, b=2)
            release.touch()


async def test_039_a_reload_waits_for_running_calls_and_delays_new_ones(home: Path) -> None:
    write_skills(home, kid=program())
    release, done = home / "release", list[str]()
    async with open_skills(home) as app:

        async def call_and_record(label: str, tool: str, /, **arguments: Any) -> None:
            await app.call(tool, **arguments)
            done.append(label)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: call_and_record("call", "kid_wait_for", path=str(release)))
            await until(lambda: bool(app.application.skills.running_calls))
            write_skills(home, other=program(), kid=program(A="1"))
            tasks.start_soon(lambda: call_and_record("reload", "mimo_reload_skills"))
            await until(lambda: app.application.skills.reloads.reloading)
            status = await app.call("skills_status")
            assert (status["reloading"], status["lock_held"], status["draining"]) == (True, True, True)
            with pytest.raises(Conflict) as caught:
                await app.call("mimo_reload_skills")
            assert caught.value.details["reason"] == "reload_in_progress"
            tasks.start_soon(lambda: call_and_record("late", "kid_add", a=1, b=2))
            await anyio.wait_all_tasks_blocked()
            assert done == []
            release.touch()
        assert done[:2] == ["call", "reload"]
        assert done[2:] == ["late"]
        status = await app.call("skills_status")
        assert (status["reload_count"], status["lock_held"]) == (1, False)
        await until(lambda: "other_add" in app.application.registry)


async def test_039_a_reload_that_cannot_drain_or_read_changes_nothing_unless_forced(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "DRAIN_SECONDS", 0.2)
    file = write_skills(home, kid=program())
    failures: list[ScrubjayError] = []
    async with open_skills(home) as app:

        async def wait() -> None:
            try:
                await app.call("kid_wait_for", path=str(home / "never"))
            except Unavailable as error:
                failures.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await until(lambda: app.application.skills.runners["kid"].state == "running")
            with pytest.raises(Conflict) as caught:
                await app.call("mimo_reload_skills")
            assert caught.value.details == {"reason": "drain_timeout", "running_calls": ["kid_wait_for"]}
            text = file.read_text()
            file.write_text("{")
            with pytest.raises(Misconfigured):
                await app.call("mimo_reload_skills", force=True)
            assert await app.text("kid_add", a=1, b=2) == "3"
            file.write_text(text)
            await app.call("mimo_reload_skills", force=True)
        assert [error.details["reason"] for error in failures] == ["died"]


async def test_039_a_removed_skill_is_stopped_and_its_tools_unregistered(home: Path) -> None:
    write_skills(home, kid=program())
    async with open_skills(home) as app:
        await app.call("kid_add", a=1, b=2)
        pid = (await app.status("kid"))["pid"]
        write_skills(home)
        assert (await app.call("mimo_reload_skills"))["removed"] == ["kid"]
        assert "kid_add" not in app.application.registry
        assert not is_alive(pid)


async def test_038_an_invalid_file_does_not_prevent_the_server_from_starting(home: Path) -> None:
    (home / "skills.json").write_text("nonsense")
    async with running(Settings(home=home)) as application:
        assert "cannot be read" in (await SkillCaller(application).call("skills_status"))["file_problem"]


async def test_038_scopes_limit_a_key_to_one_skill_and_to_reading(home: Path) -> None:
    write_skills(home, kid=program(), other=program())
    reader = CallContext(surface="python", caller=Caller("r", frozenset({"skill:kid:read"})))
    async with open_skills(home) as app:
        assert (await app.call("kid_add", reader, a=1, b=2))["isError"] is False
        for name in ("kid_die", "other_add"):
            with pytest.raises(Forbidden):
                await app.call(name, reader)


async def test_042_skill_calls_are_in_the_history(home: Path) -> None:
    write_skills(home, kid=program())
    async with open_skills(home) as app:
        await app.call("session_start", project_path=str(home))
        await app.call("kid_add", a=1, b=2)
        await app.call("kid_fail", text="no")
        await app.application._records.write_history()  # pyright: ignore[reportPrivateUsage]
        history = json.dumps(await app.call("session_history", action="get_history", limit=10))
        assert "kid_add" in history
        assert "kid_fail" in history


async def test_017_validating_a_configuration_starts_no_process(home: Path) -> None:
    async with running(Settings(home=home)) as application:
        app = SkillCaller(application)
        assert (await app.call("validate_skill", name="x", config={"command": "rm"}))["reason"] == "command_not_allowed"
        assert (await app.call("validate_skill", name="x", config={"command": "npx"}))["call_timeout_seconds"] == 120
        with pytest.raises(InvalidRequest):
            await app.call("validate_skill", name="x", config="npx")


KILLED_SERVER = """
import os, signal, sys, anyio
from pathlib import Path
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext
async def main():
    async with running(Settings(home=Path(sys.argv[1]))) as app:
        await app.skills.discover_tools()
        context = CallContext(surface="python")
        pids = [app.skills.runners["kid"].pid]
        for detached in (True, False):
            result = await app.dispatcher.call("kid_offspring", {"detached": detached}, context)
            pids.append(result.structured_content["result"])
        print(app.skills.runners["kid"].pid, *pids[1:], flush=True)
        os.kill(app.skills.runners["kid"].pid, signal.SIGSTOP)  # so that it cannot exit by itself
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_017_no_process_of_a_skill_outlives_a_killed_server(home: Path) -> None:
    write_skills(home, kid=program())
    done = subprocess.run([sys.executable, "-c", KILLED_SERVER, str(home)], capture_output=True, text=True, timeout=30)
    assert done.returncode == -signal.SIGKILL, done.stderr
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 3
    anyio.run(until, lambda: not any(map(is_alive, pids)))


def test_the_limits_match_the_contract() -> None:
    assert (MAX_RESTARTS, WINDOW_SECONDS, service.DRAIN_SECONDS, connection.STEP_SECONDS) == (3, 5.0, 30.0, 30.0)
    assert lifecycle.SkillState("paused")
