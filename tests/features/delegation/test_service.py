"""Tasks for a coding agent on a pseudo-terminal (feature 36)."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.lifespan import running
from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, RateLimited, ScrubjayError, Unavailable
from scrubjay.features.delegation.coding_agent import AllowedCallers, CodingAgent
from scrubjay.features.delegation.service import SCREEN_BYTES, DelegationService
from scrubjay.tooling.key_watch import KeyWatch
from tests.features.delegation.scripted_agent import call, is_alive, make_agent, read_pid, settings, wait_for_output

ADA, BOB = (Caller(name, frozenset({"terminal", "projects", "memory:read"}), f"key_{name}") for name in ("ada", "bob"))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return make_agent(tmp_path / "bin")


async def test_36_tasks_go_to_one_agent_per_project(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program))) as app:
        (tmp_path / "apollo").mkdir()
        (tmp_path / "gemini").mkdir()
        await call(app, "set_project", path=str(tmp_path / "apollo"))
        assert (await call(app, "claude_status"))["running"] is False
        first = await call(app, "claude_task", task="look\n  around")
        assert first["spawned"] is True
        instance = await wait_for_output(app, "done: look around")
        assert instance["output"].startswith(f"ready 120 40 True {tmp_path / 'apollo'} ")
        second = await call(app, "claude_task", task="go on")
        assert (second["spawned"], second["pid"]) == (False, first["pid"])
        assert (await wait_for_output(app, "done: go on"))["tasks"] == 2
        await call(app, "set_project", path=str(tmp_path / "gemini"))
        third = await call(app, "claude_task", task="and here")
        assert third["spawned"] is True
        status = await call(app, "claude_status")
        assert {one["instance_id"] for one in status["instances"]} == {first["instance_id"], third["instance_id"]}
    assert not is_alive(first["pid"])
    assert not is_alive(third["pid"])


async def test_36_an_agent_gets_only_the_environment_variables_that_the_owner_passes(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not for agents")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "for agents")
    async with running(settings(tmp_path / "home", str(program), variables=["ANTHROPIC_API_KEY"])) as app:
        await call(app, "set_project", path=str(tmp_path))
        await call(app, "claude_task", task="x")
        names = (await wait_for_output(app, "done: x"))["output"].splitlines()[0].rpartition(" ")[2].split(",")
    assert {"ANTHROPIC_API_KEY", "HOME", "PATH", "SCRUBJAY_HOME", "TERM"} <= set(names)
    assert "AWS_SECRET_ACCESS_KEY" not in names
    assert not {name for name in names if name.startswith("PYTEST")}


async def test_36_closing_an_agent_ends_its_child_processes_too(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program))) as app:
        await call(app, "set_project", path=str(tmp_path))
        task = await call(app, "claude_task", task="child")
        child = await read_pid(program.parent)
        closed = await call(app, "claude_close")
        assert (closed["closed"], closed["instance_id"]) == (True, task["instance_id"])
        assert not is_alive(task["pid"])
        assert not is_alive(child)
        with pytest.raises(NotFound):
            await call(app, "claude_close")
        again = await call(app, "claude_close", instance_id=task["instance_id"])
        assert again["closed"] is False
        assert (await call(app, "claude_status", instance_id=task["instance_id"]))["running"] is False


async def test_36_an_agent_that_exited_is_reported_and_started_again(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program))) as app:
        await call(app, "set_project", path=str(tmp_path))
        first = await call(app, "claude_task", task="exit 7")
        agents = await app.services.get(DelegationService)
        instance = agents.get(first["instance_id"], OWNER)
        await instance.closed.wait()
        ended = (await call(app, "claude_status", instance_id=first["instance_id"]))["instance"]
        assert (ended["running"], ended["exit_status"]) == (False, 7)
        assert (await call(app, "claude_task", task="again"))["spawned"] is True


async def test_36_only_the_end_of_long_output_is_kept(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program))) as app:
        await call(app, "set_project", path=str(tmp_path))
        task = await call(app, "claude_task", task="flood 2000")
        instance = (await app.services.get(DelegationService)).get(task["instance_id"], OWNER)
        await wait_for_output(app, "flood 1999")
        assert len(instance.screen) <= SCREEN_BYTES
        assert b"flood 100 " not in instance.screen


async def test_36_an_agent_ends_with_the_key_of_its_caller(tmp_path: Path, program: Path) -> None:
    class Keys:
        def __init__(self) -> None:
            self.valid = {"key_ada", "key_bob"}

        async def authenticate(self, key: str | None) -> Caller:
            raise NotImplementedError

        def is_authorized(self, caller: Caller) -> bool:
            return caller.key_id in self.valid

    keys = Keys()
    async with running(settings(tmp_path / "home", str(program), allow="keys")) as app:
        app.services.ready(KeyWatch).authenticator = keys
        started: list[Any] = []
        for caller in (ADA, BOB):
            await call(app, "set_project", caller=caller, client=caller.name, path=str(tmp_path))
            started.append(await call(app, "claude_task", caller=caller, client=caller.name, surface="rest", task="x"))
        keys.valid.remove("key_ada")
        agents = await app.services.get(DelegationService)
        with anyio.fail_after(20):
            await agents.get(started[0]["instance_id"], ADA).closed.wait()
        assert [is_alive(agent["pid"]) for agent in started] == [False, True]


async def test_36_a_caller_cannot_see_or_end_the_agent_of_another_caller(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program), allow="keys")) as app:
        for caller in (ADA, BOB):
            await call(app, "set_project", caller=caller, client=caller.name, path=str(tmp_path))
        task = await call(app, "claude_task", caller=ADA, client="ada", surface="rest", task="x")
        assert (await call(app, "claude_status", caller=BOB, client="bob"))["instances"] == []
        for tool in ("claude_status", "claude_close"):
            with pytest.raises(NotFound):
                await call(app, tool, caller=BOB, client="bob", instance_id=task["instance_id"])
        other = await call(app, "claude_task", caller=BOB, client="bob", surface="rest", task="x")
        assert other["instance_id"] != task["instance_id"]


@pytest.mark.parametrize(
    ("allow", "surface", "caller", "allowed"),
    [
        ("local", "mcp-stdio", OWNER, True),
        ("local", "rest", OWNER, False),
        ("local", "rest", ADA, False),
        ("keys", "rest", ADA, True),
        ("keys", "mira", OWNER, False),
        ("keys", "mira", Caller("reader", frozenset({"terminal:read"}), "key_r"), False),
        ("keys", "python", Caller("other", frozenset({"memory"}), "key_o"), False),
        ("all", "mira", Caller("commands only", frozenset({"terminal"}), "key_c"), False),
        ("local", "mcp-stdio", Caller("commands only", frozenset({"terminal", "agents"}), "key_c"), False),
        ("all", "mira", OWNER, True),
        ("none", "python", OWNER, False),
    ],
)
def test_36_only_callers_that_the_owner_allows_can_use_the_agent(
    allow: str, surface: str, caller: Caller, allowed: bool
) -> None:
    agent = CodingAgent(command="true", environment={"PATH": "/usr/bin:/bin"}, allow=AllowedCallers(allow))
    assert agent.may_be_used_by(caller, surface) is allowed
    if allowed:
        assert agent.program_for(caller, surface).endswith("/true")
    else:
        with pytest.raises(Forbidden) as refused:
            agent.program_for(caller, surface)
        assert refused.value.hint


async def test_36_an_invalid_task_is_refused_and_starts_no_agent(tmp_path: Path, program: Path) -> None:
    async with running(settings(tmp_path / "home", str(program), max_agents=1)) as app:
        with pytest.raises(InvalidRequest, match="no project is active"):
            await call(app, "claude_task", task="x")
        for task in ("", "   ", "stop \x03", "x" * 20_001):
            with pytest.raises(InvalidRequest):
                await call(app, "claude_task", task=task)
        with pytest.raises(InvalidRequest, match="either"):
            await call(app, "claude_status", instance_id="x", project="y")
        await call(app, "set_project", path=str(tmp_path / "gone"))
        with pytest.raises(NotFound, match="gone not found"):
            await call(app, "claude_task", task="x")
        await call(app, "set_project", path=str(tmp_path))
        await call(app, "claude_task", task="x")
        await call(app, "set_project", path=str(tmp_path / "home"))
        with pytest.raises(RateLimited, match="limit of 1 running agents"):
            await call(app, "claude_task", task="x")
        with pytest.raises(NotFound):
            await call(app, "claude_status", instance_id="agent_none")
    async with running(settings(tmp_path / "home", "no-such-agent")) as app:
        await call(app, "set_project", path=str(tmp_path))
        with pytest.raises(Unavailable, match="no-such-agent"):
            await call(app, "claude_task", task="x")


async def test_36_without_the_terminal_feature_there_are_no_agents(tmp_path: Path, program: Path) -> None:
    base = settings(tmp_path / "home", str(program))
    disabled = base.model_copy(update={"terminal": base.terminal.model_copy(update={"enabled": False})})
    async with running(disabled) as app:
        calls: list[tuple[str, dict[str, Any]]] = [("claude_task", {"task": "x"}), ("claude_status", {}), ("sonar", {})]
        for tool, arguments in calls:
            with pytest.raises(ScrubjayError, match="switched off"):
                await call(app, tool, **arguments)
