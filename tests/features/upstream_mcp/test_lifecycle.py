"""Skills that hang, stall or die do not block their callers."""

import os
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings, SkillSettings
from scrubjay.core.errors import Misconfigured, Unavailable
from scrubjay.features.upstream_mcp import connection, lifecycle
from scrubjay.tooling.context import CallContext
from tests.features.upstream_mcp.conftest import RUDE, program, write_skills
from tests.liveness import is_alive

CONTEXT = CallContext(surface="python", client="tests")
ADD = {"a": 1, "b": 2}


def rude(*how: str) -> dict[str, Any]:
    """Return the entry of a misbehaving skill with declared tools."""
    return {"config": program(RUDE, *how), "tools": [{"name": "add"}, {"name": "wait"}]}


@asynccontextmanager
async def open_application(home: Path, **skills: Any) -> AsyncGenerator[Application]:
    write_skills(home, **skills)
    async with running(Settings(home=home, skills=SkillSettings(pause_seconds=0.2))) as application:
        yield application


async def text(app: Application, tool: str, **arguments: Any) -> str:
    return (await app.dispatcher.call(tool, arguments, CONTEXT)).model_dump()["content"][0]["text"]


async def test_038_a_skill_that_never_acknowledges_the_subscription_is_still_used(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "ACKNOWLEDGE_SECONDS", 0.1)
    async with open_application(home, kid=rude("deaf_listener")) as app:
        with anyio.fail_after(5):
            assert await text(app, "kid_add", **ADD) == "3"


async def test_038_an_endless_tool_list_times_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "STEP_SECONDS", 0.5)
    async with open_application(home, kid=rude("endless_pages", "0.1")) as app:
        with (
            anyio.fail_after(5),
            pytest.raises(Unavailable, match=r"its tool list was not complete within 0\.5 s") as caught,
        ):
            await text(app, "kid_add", **ADD)
        assert caught.value.details["reason"] == "not_started"


async def test_038_a_failed_start_fails_for_all_waiting_calls(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "STEP_SECONDS", 0.5)
    starts = Mock(side_effect=connection.connect)
    monkeypatch.setattr(lifecycle, "connect", starts)
    failures: list[Unavailable] = []
    async with open_application(home, kid=rude("silent")) as app:

        async def call_add() -> None:
            with pytest.raises(Unavailable, match=r"no handshake within 0\.5 s") as caught:
                await text(app, "kid_add", **ADD)
            failures.append(caught.value)

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call_add)
        assert len(failures) == 5
        assert starts.call_count == 1


async def test_039_a_forced_reload_ends_a_start_and_never_restarts_removed_skills(home: Path) -> None:
    failures: list[str] = []
    async with open_application(home, kid=rude("silent")) as app:
        kid = app.skills.runners["kid"]

        async def call_add() -> None:
            with pytest.raises(Unavailable) as caught:
                await text(app, "kid_add", **ADD)
            failures.append(caught.value.details["reason"])

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(call_add)
            with anyio.fail_after(5):
                while (pid := kid.pid) is None:  # noqa: ASYNC110  # polls another process
                    await anyio.sleep(0.01)
            write_skills(home)
            with anyio.fail_after(5):
                assert (await app.skills.reload(force=True)).removed == ["kid"]
            assert not is_alive(pid)
        assert failures == ["stopped"] * 3
        assert (kid.state, kid.pid) == ("stopped", None)


async def test_038_a_hanging_skill_is_replaced_while_other_calls_arrive(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scrubjay.features.upstream_mcp.configuration import COMMANDS, CommandLimits

    monkeypatch.setitem(COMMANDS, "python3", CommandLimits(10, 1.0))  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr("scrubjay.features.upstream_mcp.process.EXIT_SECONDS", 0.1)
    async with open_application(home, kid=rude()) as app:
        assert await text(app, "kid_add", **ADD) == "3"
        kid = app.skills.runners["kid"]
        os.kill(kid.pid or 0, signal.SIGSTOP)
        results: list[str] = []

        async def call_add() -> None:
            for _ in range(100):
                try:
                    results.append(await text(app, "kid_add", **ADD))
                    return
                except Unavailable:
                    await anyio.sleep(0.01)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                for _ in range(6):  # overlapping, so that a call is always running
                    tasks.start_soon(call_add)
                    await anyio.sleep(0.3)
        assert results == ["3"] * 6


async def test_040_a_skill_that_dies_at_start_is_paused_and_later_recovers(home: Path) -> None:
    fixed = home / "fixed"
    async with open_application(home, kid=rude("dies_until", str(fixed))) as app:
        failures: list[Unavailable] = []
        for _ in range(5):
            with pytest.raises(Unavailable) as caught:
                await text(app, "kid_add", **ADD)
            failures.append(caught.value)
        assert [problem.details["reason"] for problem in failures] == ["not_started"] * 4 + ["paused"]
        assert failures[-1].details["stderr"] == ["not yet"]
        fixed.touch()
        with anyio.fail_after(5):
            while app.skills.runners["kid"].limit.paused_seconds:  # noqa: ASYNC110  # a real clock
                await anyio.sleep(0.01)
        assert await text(app, "kid_add", **ADD) == "3"


@pytest.mark.parametrize("how", ["endless_noise", "one_endless_line"])
async def test_038_endless_output_does_not_delay_other_calls(home: Path, how: str) -> None:
    async with open_application(home, kid=rude(how), other=rude()) as app:
        assert await text(app, "other_add", **ADD) == "3"
        worst = 0.0

        async def call_add() -> None:
            with anyio.move_on_after(1), pytest.raises(Unavailable, match="a line of more than"):
                await text(app, "kid_add", **ADD)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call_add)
            for _ in range(20):
                started = time.monotonic()
                assert await text(app, "other_add", **ADD) == "3"
                worst = max(worst, time.monotonic() - started)
                await anyio.sleep(0.02)
        assert worst < 1.0


async def test_038_a_skill_that_hangs_does_not_delay_listing_the_others(home: Path) -> None:
    async with (
        open_application(home, hangs=program(RUDE, "silent"), kid=program(RUDE)) as app,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(app.skills.discover_tools)
        with anyio.fail_after(10):
            while "kid_add" not in app.registry:  # noqa: ASYNC110  # polls another process
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


async def test_039_no_call_is_lost_when_skills_are_reloaded_under_load(home: Path) -> None:
    async with open_application(home, kid=rude(), other=rude()) as app:
        results: list[str] = []
        stopped = anyio.Event()

        async def call_add(name: str) -> None:
            while not stopped.is_set():
                results.append(await text(app, f"{name}_add", **ADD))
                await anyio.sleep(0.005)

        async with anyio.create_task_group() as tasks:
            for name in ("kid", "other") * 4:
                tasks.start_soon(call_add, name)
            for number in range(3):
                write_skills(home, kid=rude(), other={**rude(), "config": program(RUDE, A=str(number))})
                assert (await app.skills.reload()).changed == ["other"]
                (home / "skills.json").write_text("{ half")
                with pytest.raises(Misconfigured):
                    await app.skills.reload(force=True)
                received = len(results)
                with anyio.fail_after(10):
                    while len(results) < received + 20:  # noqa: ASYNC110
                        await anyio.sleep(0.01)
            stopped.set()
        assert set(results) == {"3"}
        assert app.skills.reloads.count == 3


async def test_038_constant_tool_changes_are_published_at_intervals(home: Path) -> None:
    async with open_application(home, kid=rude("fickle")) as app:
        assert await text(app, "kid_add", **ADD) == "3"
        before = app.registry.revision
        await anyio.sleep(1)
        assert 1 <= app.registry.revision - before <= 10
