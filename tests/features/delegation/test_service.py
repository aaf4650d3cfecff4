"""A coding agent on a terminal works on tasks, and ends when it is to (feature 36)."""

from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, RateLimited, ScrubjayError, Unavailable
from scrubjay.features.delegation.coding_agent import Allow, CodingAgent
from scrubjay.features.delegation.service import SCREEN_BYTES, CodingAgents
from tests.features.delegation.acting import call, is_there, make_agent, noted_pid, settings, shown

ADA, BOB = (Caller(name, frozenset({"terminal", "projects"}), f"key_{name}") for name in ("ada", "bob"))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return make_agent(tmp_path / "bin")


async def test_36_tasks_are_typed_to_one_agent_of_each_project(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program))) as app:
        (tmp_path / "apollo").mkdir()
        (tmp_path / "gemini").mkdir()
        await call(app, "set_project", path=str(tmp_path / "apollo"))
        assert (await call(app, "claude_status"))["running"] is False
        first = await call(app, "claude_task", task="look\n  around")
        assert first["spawned"] is True
        instance = await shown(app, "done: look around")
        assert instance["output"].startswith(f"ready 120 40 True {tmp_path / 'apollo'} ")
        second = await call(app, "claude_task", task="go on")
        assert (second["spawned"], second["pid"]) == (False, first["pid"])
        assert (await shown(app, "done: go on"))["tasks"] == 2
        await call(app, "set_project", path=str(tmp_path / "gemini"))
        third = await call(app, "claude_task", task="and here")
        assert third["spawned"] is True
        status = await call(app, "claude_status")
        assert {one["instance_id"] for one in status["instances"]} == {first["instance_id"], third["instance_id"]}
    assert not is_there(first["pid"])
    assert not is_there(third["pid"])


async def test_36_an_agent_sees_only_what_the_owner_passes_on(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not for agents")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "for agents")
    async with running(settings(tmp_path / "home", str(program), variables=["ANTHROPIC_API_KEY"])) as app:
        await call(app, "set_project", path=str(tmp_path))
        await call(app, "claude_task", task="x")
        seen = (await shown(app, "done: x"))["output"].splitlines()[0].rpartition(" ")[2].split(",")
    assert {"ANTHROPIC_API_KEY", "HOME", "PATH", "SCRUBJAY_HOME", "TERM"} <= set(seen)
    assert "AWS_SECRET_ACCESS_KEY" not in seen
    assert not {name for name in seen if name.startswith("PYTEST")}


async def test_36_closing_ends_an_agent_with_all_that_it_started(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program))) as app:
        await call(app, "set_project", path=str(tmp_path))
        given = await call(app, "claude_task", task="child")
        child = await noted_pid(program.parent)
        closed = await call(app, "claude_close")
        assert (closed["closed"], closed["instance_id"]) == (True, given["instance_id"])
        assert not is_there(given["pid"])
        assert not is_there(child)
        with pytest.raises(NotFound):
            await call(app, "claude_close")
        again = await call(app, "claude_close", instance_id=given["instance_id"])
        assert again["closed"] is False
        assert (await call(app, "claude_status", instance_id=given["instance_id"]))["running"] is False


async def test_36_an_agent_that_ends_by_itself_is_told_and_started_anew(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program))) as app:
        await call(app, "set_project", path=str(tmp_path))
        first = await call(app, "claude_task", task="exit 7")
        agents = await app.services.get(CodingAgents)
        instance = agents.get(first["instance_id"], OWNER)
        await instance.gone.wait()
        told = (await call(app, "claude_status", instance_id=first["instance_id"]))["instance"]
        assert (told["running"], told["exit_status"]) == (False, 7)
        assert (await call(app, "claude_task", task="again"))["spawned"] is True


async def test_36_however_much_an_agent_shows_only_its_end_is_kept(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program))) as app:
        await call(app, "set_project", path=str(tmp_path))
        given = await call(app, "claude_task", task="flood 2000")
        instance = (await app.services.get(CodingAgents)).get(given["instance_id"], OWNER)
        await shown(app, "flood 1999")
        assert len(instance.screen) <= SCREEN_BYTES
        assert b"flood 100 " not in instance.screen


async def test_36_nobody_sees_or_ends_the_agent_of_another(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program), allow="keys")) as app:
        for caller in (ADA, BOB):
            await call(app, "set_project", caller=caller, client=caller.name, path=str(tmp_path))
        given = await call(app, "claude_task", caller=ADA, client="ada", surface="rest", task="x")
        assert (await call(app, "claude_status", caller=BOB, client="bob"))["instances"] == []
        for tool in ("claude_status", "claude_close"):
            with pytest.raises(NotFound):
                await call(app, tool, caller=BOB, client="bob", instance_id=given["instance_id"])
        other = await call(app, "claude_task", caller=BOB, client="bob", surface="rest", task="x")
        assert other["instance_id"] != given["instance_id"]


@pytest.mark.parametrize(
    ("allow", "door", "caller", "may"),
    [
        ("local", "mcp-stdio", OWNER, True),
        ("local", "rest", OWNER, False),
        ("local", "rest", ADA, False),
        ("keys", "rest", ADA, True),
        ("keys", "mira", OWNER, False),
        ("keys", "mira", Caller("reader", frozenset({"terminal:read"}), "key_r"), False),
        ("keys", "python", Caller("other", frozenset({"memory"}), "key_o"), False),
        ("everybody", "mira", OWNER, True),
        ("nobody", "python", OWNER, False),
    ],
)
def test_36_only_those_let_an_agent_work_whom_the_owner_allows(
    allow: str, door: str, caller: Caller, may: bool
) -> None:
    agent = CodingAgent(command="true", environment={"PATH": "/usr/bin:/bin"}, allow=Allow(allow))
    assert agent.may_be_let_work(caller, door) is may
    if may:
        assert agent.found_for(caller, door).endswith("/true")
    else:
        with pytest.raises(Forbidden) as refused:
            agent.found_for(caller, door)
        assert refused.value.hint


async def test_36_what_cannot_be_done_is_told_and_starts_nothing(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program), max_agents=1)) as app:
        with pytest.raises(InvalidRequest, match="none is active"):
            await call(app, "claude_task", task="x")
        for task in ("", "   ", "stop \x03", "x" * 20_001):
            with pytest.raises(InvalidRequest):
                await call(app, "claude_task", task=task)
        with pytest.raises(InvalidRequest, match="either"):
            await call(app, "claude_status", instance_id="x", project="y")
        await call(app, "set_project", path=str(tmp_path / "gone"))
        with pytest.raises(NotFound, match="no folder"):
            await call(app, "claude_task", task="x")
        await call(app, "set_project", path=str(tmp_path))
        await call(app, "claude_task", task="x")
        await call(app, "set_project", path=str(tmp_path / "home"))
        with pytest.raises(RateLimited, match="1 agents work already"):
            await call(app, "claude_task", task="x")
        with pytest.raises(NotFound):
            await call(app, "claude_status", instance_id="agent_none")
    async with running(settings(tmp_path / "home", "no-such-agent")) as app:
        await call(app, "set_project", path=str(tmp_path))
        with pytest.raises(Unavailable, match="no-such-agent"):
            await call(app, "claude_task", task="x")


async def test_36_without_commands_there_are_no_agents(tmp_path: Path, program: Path) -> None:
    chosen = settings(tmp_path / "home", str(program))
    off = chosen.model_copy(update={"terminal": chosen.terminal.model_copy(update={"enabled": False})})
    async with running(off) as app:
        calls: list[tuple[str, dict[str, Any]]] = [("claude_task", {"task": "x"}), ("claude_status", {}), ("sonar", {})]
        for tool, arguments in calls:
            with pytest.raises(ScrubjayError, match="switched off"):
                await call(app, tool, **arguments)
