"""Skills as they are used: real programs, called, killed, crowded out and read anew."""

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
from scrubjay.features.upstream_mcp import connection, service
from scrubjay.features.upstream_mcp import lifecycle as life
from scrubjay.tooling.context import CallContext
from tests.features.upstream_mcp.conftest import is_alive, program, write_skills

CONTEXT = CallContext(surface="python", client="tests")


class Home:
    """An application whose skills are called by one."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def call(self, tool: str, context: CallContext = CONTEXT, /, **arguments: Any) -> dict[str, Any]:
        return (await self.application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

    async def text(self, tool: str, /, **arguments: Any) -> str:
        return (await self.call(tool, **arguments))["content"][0]["text"]

    async def status(self, skill: str) -> dict[str, Any]:
        return (await self.call("skills_status"))["skills"][skill]


@asynccontextmanager
async def opened(home: Path, **settings: Any) -> AsyncGenerator[Home]:
    async with running(Settings(home=home, skills=SkillSettings(**settings))) as application:
        for name in application.skills.lives:
            await application.skills.lives[name].ready()
        yield Home(application)


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(5):
        while not true():  # noqa: ASYNC110  # of many kinds of things, also in other processes
            await anyio.sleep(0.01)


async def test_038_a_skill_is_started_by_its_first_call_and_listed_before(home: Path) -> None:
    write_skills(home, kid=program())
    async with opened(home) as first:
        await first.application.skills.lives["kid"].stop()
        await first.application.skills.learn()
        assert (await first.status("kid"))["status"] == "stopped"
        assert await first.text("kid_add", a=1, b=2) == "3"
        assert (await first.status("kid"))["status"] == "running"
    cached = json.loads((home / "derived" / "skills" / "kid.json").read_text())
    assert cached["tools"][0]["name"] == "add"
    assert "PATH" not in json.dumps(cached)
    async with running(Settings(home=home)) as application:  # of which nobody asked to learn anything
        assert "kid_add" in [tool.name for tool in await application.listing.tools()]
        assert (await Home(application).status("kid"))["pid"] is None
    write_skills(home, kid=program(A="another configuration"))
    async with running(Settings(home=home)) as application:
        assert "kid_add" not in application.registry


async def test_038_the_answer_comes_as_it_was_given(home: Path) -> None:
    write_skills(home, kid=program())
    async with opened(home) as app:
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


async def test_024_a_skill_is_told_which_request_it_is_called_for(home: Path) -> None:
    write_skills(home, kid=program())
    traceparent = f"00-{'ab' * 16}-{'cd' * 8}-01"
    context = CallContext(surface="python", client="tests", request_id="mine", traceparent=traceparent)
    async with opened(home) as ours:
        told = (await ours.call("kid_request_of", context))["structuredContent"]
    assert (told["scrubjay/request_id"], told["traceparent"]) == ("mine", traceparent)


async def test_017_a_skill_sees_only_what_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "given")
    monkeypatch.setenv("SCRUBJAY_SECRET_THING", "hidden")
    write_skills(home, kid=program(TOKEN="<${GITHUB_TOKEN}>"))
    async with opened(home) as app:
        seen = (await app.call("kid_environment"))["structuredContent"]
        assert seen["TOKEN"] == "<given>"
        assert set(seen) <= {"TOKEN", "PATH", "HOME", "LANG", "LC_CTYPE"}


async def test_038_an_invalid_skill_is_told_and_the_others_work(home: Path) -> None:
    write_skills(home, bad={"command": "rm"}, kid=program())
    async with opened(home) as app:
        bad = await app.status("bad")
        assert (bad["status"], bad["reason"]) == ("invalid", "command_not_allowed")
        assert await app.text("kid_add", a=1, b=2) == "3"


async def test_038_a_command_that_is_not_there_is_unavailable_then_left_alone(home: Path) -> None:
    manifest = {"config": {"command": "nowhere"}, "tools": [{"name": "x"}]}
    write_skills(home, kid=manifest)
    async with running(Settings(home=home, skills=SkillSettings(commands=["nowhere"]))) as application:
        app = Home(application)
        for _ in range(4):
            with pytest.raises(Unavailable, match="nowhere cannot be started") as caught:
                await app.call("kid_x")
            assert caught.value.details["reason"] == "not_started"
        with pytest.raises(Unavailable, match="left alone") as caught:
            await app.call("kid_x")
        assert caught.value.details["retry_after_seconds"] <= 30
        assert (await app.status("kid"))["status"] == "paused"


async def test_040_a_skill_that_dies_in_a_call_says_why_and_is_started_again(home: Path) -> None:
    write_skills(home, kid=program())
    async with opened(home) as app:
        with pytest.raises(Unavailable, match="died") as caught:
            await app.call("kid_die", words="it burns, password=hunter2hunter2")
        assert caught.value.details["stderr"] == ["it burns, password=[secret: password]"]
        assert await app.text("kid_add", a=1, b=2) == "3"
        assert (await app.status("kid"))["restarts"] == 1


async def test_040_a_skill_that_is_killed_is_noticed_without_a_call(home: Path) -> None:
    write_skills(home, kid=program())
    async with opened(home) as app:
        await app.call("kid_add", a=1, b=2)
        pid = (await app.status("kid"))["pid"]
        os.kill(pid, signal.SIGKILL)
        await until(lambda: app.application.skills.lives["kid"].restarts == 1)
        assert await app.text("kid_add", a=1, b=2) == "3"
        assert (await app.status("kid"))["pid"] != pid


async def test_017_a_skill_that_hangs_is_given_up_and_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scrubjay.features.upstream_mcp.configuration import COMMANDS, CommandLimits

    monkeypatch.setitem(COMMANDS, "python3", CommandLimits(10, 0.5))  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr("scrubjay.features.upstream_mcp.process.LEAVE_SECONDS", 0.1)
    write_skills(home, kid=program())
    async with opened(home) as app:
        with pytest.raises(Unavailable, match="did not answer hang") as caught:
            await app.call("kid_hang")
        assert (caught.value.details["reason"], caught.value.details["timeout_ms"]) == ("timeout", 500)
        assert await app.text("kid_add", a=1, b=2) == "3"


async def test_038_noise_hurts_nobody(home: Path) -> None:
    write_skills(home, kid=program())
    async with opened(home) as app:
        assert await app.text("kid_flood", megabytes=5) == "complained"
        assert await app.text("kid_garbage") == "printed"
        assert await app.text("kid_add", a=1, b=2) == "3"


async def test_038_progress_and_giving_up_reach_the_skill(home: Path) -> None:
    write_skills(home, kid=program())
    told: list[tuple[float, float | None, str]] = []

    class Reporter:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            told.append((done, total, message))

    context = CallContext(surface="python", reporter=Reporter())
    note = home / "note"
    async with opened(home) as app:
        await app.call("kid_slow", context, steps=2)
        assert told == [(1, 2, "step 1"), (2, 2, "step 2")]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: app.call("kid_slow", context, steps=1000, note=str(note)))
            await until(lambda: len(told) > 2)
            tasks.cancel_scope.cancel()
        await until(note.exists)
        assert (await app.status("kid"))["restarts"] == 0


async def test_038_a_tool_that_a_skill_learns_is_ours_at_once(home: Path) -> None:
    write_skills(home, kid=program())
    async with opened(home) as app:
        assert len(await app.application.listing.tools()) > 0
        await app.call("kid_learn", name="dance")
        await until(lambda: "kid_dance" in app.application.registry)
        assert "kid_dance" in [tool.name for tool in await app.application.listing.tools()]
        assert await app.text("kid_dance") == "dance"


async def test_026_the_longest_unused_skill_makes_room(home: Path) -> None:
    write_skills(home, a=program(), b=program(), c=program())
    seen = home / "seen"
    async with opened(home, max_processes=2) as app:
        for name in "abc":
            await app.call(f"{name}_add", a=1, b=2)
        assert [(await app.status(name))["status"] for name in "abc"] == ["stopped", "running", "running"]
        async with anyio.create_task_group() as tasks:
            for name in "bc":
                tasks.start_soon(lambda name=name: app.call(f"{name}_wait_for", path=str(seen)))
            await until(lambda: len(app.application.skills.running_calls) == 2)
            with pytest.raises(Busy):
                await app.call("a_add", a=1, b=2)
            seen.touch()


async def test_039_a_reload_waits_for_running_calls_and_keeps_others_out(home: Path) -> None:
    write_skills(home, kid=program())
    seen, done = home / "seen", list[str]()
    async with opened(home) as app:

        async def noted(what: str, tool: str, /, **arguments: Any) -> None:
            await app.call(tool, **arguments)
            done.append(what)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: noted("call", "kid_wait_for", path=str(seen)))
            await until(lambda: bool(app.application.skills.running_calls))
            write_skills(home, other=program(), kid=program(A="1"))
            tasks.start_soon(lambda: noted("reload", "mimo_reload_skills"))
            await until(lambda: app.application.skills.reloads.reloading)
            status = await app.call("skills_status")
            assert (status["reloading"], status["lock_held"], status["draining"]) == (True, True, True)
            with pytest.raises(Conflict) as caught:
                await app.call("mimo_reload_skills")
            assert caught.value.details["reason"] == "reload_in_progress"
            tasks.start_soon(lambda: noted("late", "kid_add", a=1, b=2))
            await anyio.wait_all_tasks_blocked()
            assert done == []
            seen.touch()
        assert done[:2] == ["call", "reload"]
        assert done[2:] == ["late"]
        status = await app.call("skills_status")
        assert (status["reload_count"], status["lock_held"]) == (1, False)
        await until(lambda: "other_add" in app.application.registry)


async def test_039_what_cannot_be_drained_or_read_changes_nothing_but_force_does(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "DRAIN_SECONDS", 0.2)
    file = write_skills(home, kid=program())
    cut: list[ScrubjayError] = []
    async with opened(home) as app:

        async def wait() -> None:
            try:
                await app.call("kid_wait_for", path=str(home / "never"))
            except Unavailable as error:
                cut.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await until(lambda: app.application.skills.lives["kid"].state == "running")
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
        assert [error.details["reason"] for error in cut] == ["died"]


async def test_039_removed_skills_are_gone(home: Path) -> None:
    write_skills(home, kid=program())
    async with opened(home) as app:
        await app.call("kid_add", a=1, b=2)
        pid = (await app.status("kid"))["pid"]
        write_skills(home)
        assert (await app.call("mimo_reload_skills"))["removed"] == ["kid"]
        assert "kid_add" not in app.application.registry
        assert not is_alive(pid)


async def test_038_a_file_that_is_none_does_not_keep_the_server_from_starting(home: Path) -> None:
    (home / "skills.json").write_text("nonsense")
    async with running(Settings(home=home)) as application:
        assert "cannot be read" in (await Home(application).call("skills_status"))["file_problem"]


async def test_038_scopes_open_one_skill_and_only_what_reads(home: Path) -> None:
    write_skills(home, kid=program(), other=program())
    reader = CallContext(surface="python", caller=Caller("r", frozenset({"skill:kid:read"})))
    async with opened(home) as app:
        assert (await app.call("kid_add", reader, a=1, b=2))["isError"] is False
        for name in ("kid_die", "other_add"):
            with pytest.raises(Forbidden):
                await app.call(name, reader)


async def test_042_calls_of_skills_are_in_the_history(home: Path) -> None:
    write_skills(home, kid=program())
    async with opened(home) as app:
        await app.call("session_start", project_path=str(home))
        await app.call("kid_add", a=1, b=2)
        await app.call("kid_fail", text="no")
        await app.application._write_history()  # pyright: ignore[reportPrivateUsage]
        told = json.dumps(await app.call("session_history", action="get_history", limit=10))
        assert "kid_add" in told
        assert "kid_fail" in told


async def test_017_a_trial_of_a_configuration_starts_nothing(home: Path) -> None:
    async with running(Settings(home=home)) as application:
        app = Home(application)
        assert (await app.call("validate_skill", name="x", config={"command": "rm"}))["reason"] == "command_not_allowed"
        assert (await app.call("validate_skill", name="x", config={"command": "npx"}))["call_timeout_seconds"] == 120
        with pytest.raises(InvalidRequest):
            await app.call("validate_skill", name="x", config="npx")


KILLED = """
import os, signal, sys, anyio
from pathlib import Path
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext
async def main():
    async with running(Settings(home=Path(sys.argv[1]))) as app:
        await app.skills.learn()
        context = CallContext(surface="python")
        pids = [app.skills.lives["kid"].pid]
        for apart in (True, False):
            answer = await app.dispatcher.call("kid_offspring", {"apart": apart}, context)
            pids.append(answer.structured_content["result"])
        print(app.skills.lives["kid"].pid, *pids[1:], flush=True)
        os.kill(app.skills.lives["kid"].pid, signal.SIGSTOP)  # so that it cannot end by itself
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_017_nothing_of_a_skill_outlives_a_killed_server(home: Path) -> None:
    write_skills(home, kid=program())
    done = subprocess.run([sys.executable, "-c", KILLED, str(home)], capture_output=True, text=True, timeout=30)
    assert done.returncode == -signal.SIGKILL, done.stderr
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 3
    anyio.run(until, lambda: not any(map(is_alive, pids)))


def test_the_limits_are_those_of_the_contract() -> None:
    from scrubjay.features.upstream_mcp.restarts import MOST_RESTARTS, WINDOW_SECONDS

    assert (MOST_RESTARTS, WINDOW_SECONDS, service.DRAIN_SECONDS, connection.STEP_SECONDS) == (3, 5.0, 30.0, 30.0)
    assert life.SkillState("paused")
