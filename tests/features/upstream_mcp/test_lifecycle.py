"""Skills that hang, stall and die at the wrong moment: nobody waits for them longer than they must."""

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
from scrubjay.features.upstream_mcp import connection
from scrubjay.features.upstream_mcp import lifecycle as life
from scrubjay.tooling.context import CallContext
from tests.features.upstream_mcp.conftest import RUDE, is_alive, program, write_skills

CONTEXT = CallContext(surface="python", client="tests")
ADD = {"a": 1, "b": 2}


def rude(*how: str) -> dict[str, Any]:
    """A skill that misbehaves, whose tools are known beforehand."""
    return {"config": program(RUDE, *how), "tools": [{"name": "add"}, {"name": "wait"}]}


@asynccontextmanager
async def opened(home: Path, **skills: Any) -> AsyncGenerator[Application]:
    write_skills(home, **skills)
    async with running(Settings(home=home, skills=SkillSettings(pause_seconds=0.2))) as application:
        yield application


async def text(app: Application, tool: str, **arguments: Any) -> str:
    return (await app.dispatcher.call(tool, arguments, CONTEXT)).model_dump()["content"][0]["text"]


async def test_038_a_skill_that_never_says_that_it_heard_us_is_used_all_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "ACKNOWLEDGE_SECONDS", 0.1)
    async with opened(home, kid=rude("deaf_listener")) as app:
        with anyio.fail_after(5):
            assert await text(app, "kid_add", **ADD) == "3"


async def test_038_a_list_of_tools_without_end_is_given_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "STEP_SECONDS", 0.5)
    async with opened(home, kid=rude("endless_pages", "0.1")) as app:
        with anyio.fail_after(5), pytest.raises(Unavailable, match=r"all of its tools within 0\.5 s") as caught:
            await text(app, "kid_add", **ADD)
        assert caught.value.details["reason"] == "not_started"


async def test_038_a_start_that_fails_has_failed_for_all_who_waited(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "STEP_SECONDS", 0.5)
    starts = Mock(side_effect=connection.connected)
    monkeypatch.setattr(life, "connected", starts)
    told: list[Unavailable] = []
    async with opened(home, kid=rude("silent")) as app:

        async def ask() -> None:
            with pytest.raises(Unavailable, match=r"did not greet within 0\.5 s") as caught:
                await text(app, "kid_add", **ADD)
            told.append(caught.value)

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)
        assert len(told) == 5
        assert starts.call_count == 1


async def test_039_a_reload_by_force_ends_a_start_and_what_was_removed_is_never_started_again(home: Path) -> None:
    told: list[str] = []
    async with opened(home, kid=rude("silent")) as app:
        kid = app.skills.lives["kid"]

        async def ask() -> None:
            with pytest.raises(Unavailable) as caught:
                await text(app, "kid_add", **ADD)
            told.append(caught.value.details["reason"])

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(ask)
            with anyio.fail_after(5):
                while (pid := kid.pid) is None:  # noqa: ASYNC110  # of another process
                    await anyio.sleep(0.01)
            write_skills(home)
            with anyio.fail_after(5):
                assert (await app.skills.reload(force=True)).removed == ["kid"]
            assert not is_alive(pid)
        assert told == ["stopped"] * 3
        assert (kid.state, kid.pid) == ("stopped", None)


async def test_038_a_skill_that_hangs_is_replaced_also_when_others_keep_calling_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scrubjay.features.upstream_mcp.configuration import COMMANDS, CommandLimits

    monkeypatch.setitem(COMMANDS, "python3", CommandLimits(10, 1.0))  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr("scrubjay.features.upstream_mcp.process.LEAVE_SECONDS", 0.1)
    async with opened(home, kid=rude()) as app:
        assert await text(app, "kid_add", **ADD) == "3"
        kid = app.skills.lives["kid"]
        os.kill(kid.pid or 0, signal.SIGSTOP)
        answers: list[str] = []

        async def ask() -> None:
            for _ in range(100):
                try:
                    answers.append(await text(app, "kid_add", **ADD))
                    return
                except Unavailable:
                    await anyio.sleep(0.01)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                for _ in range(6):  # so that there is never only one
                    tasks.start_soon(ask)
                    await anyio.sleep(0.3)
        assert answers == ["3"] * 6


async def test_040_a_skill_that_dies_at_once_is_left_alone_and_later_found_well(home: Path) -> None:
    mended = home / "mended"
    async with opened(home, kid=rude("dies_until", str(mended))) as app:
        told: list[Unavailable] = []
        for _ in range(5):
            with pytest.raises(Unavailable) as caught:
                await text(app, "kid_add", **ADD)
            told.append(caught.value)
        assert [problem.details["reason"] for problem in told] == ["not_started"] * 4 + ["paused"]
        assert told[-1].details["stderr"] == ["not yet"]
        mended.touch()
        with anyio.fail_after(5):
            while app.skills.lives["kid"].limit.paused_seconds:  # noqa: ASYNC110  # a real clock
                await anyio.sleep(0.01)
        assert await text(app, "kid_add", **ADD) == "3"


@pytest.mark.parametrize("how", ["endless_noise", "one_endless_line"])
async def test_038_endless_output_keeps_nobody_else_waiting(home: Path, how: str) -> None:
    async with opened(home, kid=rude(how), other=rude()) as app:
        assert await text(app, "other_add", **ADD) == "3"
        worst = 0.0

        async def ask() -> None:
            with anyio.move_on_after(1), pytest.raises(Unavailable, match="a line of more than"):
                await text(app, "kid_add", **ADD)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            for _ in range(20):
                started = time.monotonic()
                assert await text(app, "other_add", **ADD) == "3"
                worst = max(worst, time.monotonic() - started)
                await anyio.sleep(0.02)
        assert worst < 1.0


async def test_038_a_skill_that_hangs_does_not_keep_others_from_being_learned(home: Path) -> None:
    async with (
        opened(home, hangs=program(RUDE, "silent"), kid=program(RUDE)) as app,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(app.skills.learn)
        with anyio.fail_after(10):
            while "kid_add" not in app.registry:  # noqa: ASYNC110  # of another process
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


async def test_039_no_call_is_lost_when_skills_are_read_anew_under_load(home: Path) -> None:
    async with opened(home, kid=rude(), other=rude()) as app:
        answers: list[str] = []
        ends = anyio.Event()

        async def ask(name: str) -> None:
            while not ends.is_set():
                answers.append(await text(app, f"{name}_add", **ADD))
                await anyio.sleep(0.005)

        async with anyio.create_task_group() as tasks:
            for name in ("kid", "other") * 4:
                tasks.start_soon(ask, name)
            for number in range(3):
                write_skills(home, kid=rude(), other={**rude(), "config": program(RUDE, A=str(number))})
                assert (await app.skills.reload()).changed == ["other"]
                (home / "skills.json").write_text("{ half")
                with pytest.raises(Misconfigured):
                    await app.skills.reload(force=True)
                heard = len(answers)
                with anyio.fail_after(10):
                    while len(answers) < heard + 20:  # noqa: ASYNC110
                        await anyio.sleep(0.01)
            ends.set()
        assert set(answers) == {"3"}
        assert app.skills.reloads.count == 3


async def test_038_a_skill_that_changes_its_tools_all_the_time_is_heard_now_and_then(home: Path) -> None:
    async with opened(home, kid=rude("fickle")) as app:
        assert await text(app, "kid_add", **ADD) == "3"
        before = app.registry.revision
        await anyio.sleep(1)
        assert 1 <= app.registry.revision - before <= 10
