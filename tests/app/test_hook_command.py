"""Hooks as agents start them: real processes, on a real store, with and without a server."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from scrubjay.app import hook_command as hook_command
from scrubjay.app.lifespan import running
from scrubjay.app.server_file import announce_server, server_url
from scrubjay.app.settings import Settings
from scrubjay.core.errors import Unavailable
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.hooks import hook_reader
from scrubjay.features.hooks.models import HookAnswer, HookEvent
from scrubjay.features.hooks.service import HookService
from scrubjay.features.hooks.spool import FOLDER
from scrubjay.features.permissions.models import Effect
from scrubjay.features.permissions.service import PermissionService
from scrubjay.features.summaries.models import KEY_PREFIXES, Level
from scrubjay.features.tasks.models import GoalPriority, TaskPriority
from scrubjay.servers.hooks.formats import parse_call
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import server

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


def hook(home: Path, event: str, hook_input: Any, **variables: str) -> tuple[dict[str, Any], str]:
    """Return the answer and standard error; the process must exit with 0."""
    text = hook_input if isinstance(hook_input, bytes) else json.dumps(hook_input).encode()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SCRUBJAY_", "CLAUDE_"))}
    done = subprocess.run(
        [sys.executable, "-m", "scrubjay.app", "hook", event],
        input=text,
        env=environment | {"SCRUBJAY_HOME": str(home), **variables},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.decode()


def hook_input(folder: Path, event: str, **more: Any) -> dict[str, Any]:
    return {"session_id": "s1", "transcript_path": "/t", "cwd": str(folder), "hook_event_name": event, **more}


async def prepare(home: Path, folder: Path) -> None:
    async with running(Settings(home=home)) as app:
        context = CallContext(surface="cli")
        for tool, arguments in (
            ("remember", {"content": "Apollo is deployed on Thursdays by the blue pipeline", "project": str(folder)}),
            ("remember", {"content": "The cat of the office is called Ada"}),
            ("add_permission_rule", {"effect": "deny", "tool_name": "Bash", "field": "command", "pattern": "rm "}),
            ("add_permission_rule", {"effect": "allow", "tool_name": "Bash", "field": "command", "pattern": "git "}),
            ("add_permission_rule", {"effect": "ask", "tool_name": "Write", "pattern": ""}),
        ):
            if tool == "remember" and "project" in arguments:
                await app.dispatcher.call("set_project", {"path": str(folder)}, context)
            await app.dispatcher.call(tool, arguments, context)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "apollo").mkdir()
    anyio.run(prepare, tmp_path / "home", tmp_path / "apollo")
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "apollo"


def context_of(answer: dict[str, Any]) -> str:
    return answer["hookSpecificOutput"]["additionalContext"]


def test_16_the_permission_hook_allows_denies_asks_or_abstains(home: Path, folder: Path) -> None:
    def decided(tool: str, **given: str) -> str | None:
        call = hook_input(folder, "PreToolUse", tool_name=tool, tool_input=given, tool_use_id="t")
        answer, _ = hook(home, "permission", call)
        return answer["hookSpecificOutput"]["permissionDecision"] if answer else None

    assert decided("Bash", command="git log") == "allow"
    assert decided("Bash", command="rm x") == "deny"
    assert decided("Write", file_path="/x") == "ask"
    assert decided("Bash", command="ls") is None


def test_21_a_verdict_is_audited_without_the_tool_input(home: Path, folder: Path) -> None:
    for command in ("git log", "rm x", "ls"):
        call = hook_input(folder, "PreToolUse", tool_name="Bash", tool_input={"command": command})
        hook(home, "permission", call)
    hook(home, "permission", hook_input(folder, "PreToolUse", tool_name="Write", tool_input={"file_path": "/x"}))
    hook(home, "permission", call | {"tool_input": {"command": "git x"}}, SCRUBJAY_AUDIT_ENABLED="false")
    text = (home / "audit.jsonl").read_text()
    verdicts = [entry for entry in map(json.loads, text.splitlines()) if entry["kind"] == "verdict"]
    assert [(one["decision"], one["tool"], one["client"]) for one in verdicts] == [
        ("allowed", "Bash", "agent:s1"),
        ("refused", "Bash", "agent:s1"),
        ("asked", "Write", "agent:s1"),
    ]
    assert all(one["surface"] == "hook" and len(one["ids"]) == 1 for one in verdicts)
    assert "rm x" not in text


def test_16_a_permission_request_is_answered_in_its_own_format(home: Path, folder: Path) -> None:
    def answered(**given: str) -> dict[str, Any]:
        call = hook_input(folder, "PermissionRequest", tool_name="Bash", tool_input=given)
        return hook(home, "permission", call)[0]

    assert answered(command="git log") == {
        "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    }
    assert answered(command="rm x")["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    assert answered(command="ls") == {}
    assert hook(home, "permission", {"tool_name": "Bash", "tool_input": {"command": "git log"}})[0] == {
        "decision": "allow"
    }


def test_125_session_start_returns_memories_of_the_project(home: Path, folder: Path) -> None:
    answer, problems = hook(home, "session-start", hook_input(folder, "SessionStart", source="startup"))
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "blue pipeline" in context_of(answer)
    assert problems == ""


async def _work(home: Path, folder: Path, *, summarise: bool) -> None:
    async with running(Settings(home=home)) as app:
        context = CallContext(surface="cli", client="monday")
        turns = (
            ("Please add a rate limit to the gateway.", "I would use a token bucket in Redis."),
            ("No, keep it in memory.", "I added src/limiter.py with a bucket per key. All 12 tests pass."),
            ("Good.", "I opened PR #318.\n\nStill open:\n- the dashboard has no panel for rejected requests yet"),
        )
        calls: list[tuple[str, dict[str, Any]]] = [
            ("session_start", {"project_path": str(folder), "session_id": "monday"})
        ]
        calls += [("add_memory", {"prompt": asked, "thought": "", "response": said}) for asked, said in turns]
        calls += [
            ("task", {"action": "create", "title": "Write the runbook", "priority": "urgent"}),
            ("goal", {"action": "create", "title": "Release 2.0", "priority": "critical"}),
        ]
        calls += [("summarize_sessions", {"sessionId": "monday"})] if summarise else []
        for tool, arguments in calls:
            await app.dispatcher.call(tool, arguments, context)


@pytest.mark.parametrize("summarise", [False, True])
def test_125_session_start_carries_the_last_session_tasks_and_goals(home: Path, folder: Path, summarise: bool) -> None:
    anyio.run(partial(_work, home, folder, summarise=summarise))
    call = hook_input(folder, "SessionStart", source="startup")
    answer, problems = hook(home, "session-start", call)
    lines = context_of(answer).splitlines()[1:]
    assert lines[:5] == [
        "Last work: Add a rate limit to the gateway",
        "- Open: the dashboard has no panel for rejected requests yet.",
        "- Outcome: I added src/limiter.py with a bucket per key. All 12 tests pass. I opened PR #318.",
        "- Decided: No, keep it in memory.",
        "- Files: src/limiter.py, PR #318",
    ]
    assert [line.partition(", ")[0] for line in lines[5:7]] == [
        "- [task] Write the runbook (urgent",
        "- [goal] Release 2.0 (critical",
    ]
    assert any("blue pipeline" in line for line in lines)
    assert problems == ""
    short, _ = hook(home, "session-start", call, SCRUBJAY_HOOKS_BRIEF_TOKENS="80")
    assert len(context_of(short)) <= 4 * 80
    assert "Last work: Add a rate limit to the gateway" in context_of(short)
    own, _ = hook(home, "session-start", {**call, "session_id": "monday"})
    assert "Last work" not in context_of(own)


def test_125_a_hook_names_priorities_as_tasks_and_goals_do() -> None:
    assert tuple(TaskPriority) == hook_reader.TASK_PRIORITIES
    assert tuple(GoalPriority) == hook_reader.GOAL_PRIORITIES
    assert KEY_PREFIXES[Level.SESSION] == hook_reader.SUMMARY_PREFIX


def test_125_a_prompt_gets_only_matching_memories(home: Path, folder: Path) -> None:
    prompt_input = hook_input(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
    answer, _ = hook(home, "user-prompt-submit", prompt_input)
    assert "Thursdays" in context_of(answer)
    assert "Ada" not in context_of(answer)
    assert (
        hook(home, "user-prompt-submit", hook_input(folder, "UserPromptSubmit", prompt="rename the variable"))[0] == {}
    )
    assert hook(home, "user-prompt-submit", prompt_input, SCRUBJAY_HOOKS_PROMPT_TOKENS="0")[0] == {}


def test_125_spooled_calls_and_turns_are_stored_by_the_next_process_that_opens_the_store(
    home: Path, folder: Path
) -> None:
    given = {"command": f"curl -H 'Authorization: Bearer {SECRET}' x"}
    hook(home, "user-prompt-submit", hook_input(folder, "UserPromptSubmit", prompt=f"use {SECRET} please"))
    hook(
        home, "post-tool-use", hook_input(folder, "PostToolUse", tool_name="Bash", tool_input=given, tool_response="ok")
    )
    hook(home, "stop", hook_input(folder, "Stop", stop_hook_active=False, last_assistant_message="It is done."))
    left = [*(home / FOLDER).iterdir()]
    assert len(left) == 3
    assert not any(SECRET in file.read_text("utf-8") for file in left)
    assert {file.stat().st_mode & 0o777 for file in left} == {0o600}
    anyio.run(_expect_kept, home, folder)
    assert [*(home / FOLDER).iterdir()] == []


async def _expect_kept(home: Path, folder: Path) -> None:
    async with running(Settings(home=home)) as app:
        context = CallContext(surface="cli")
        request = {"action": "get_history", "session_id": "s1", "project": str(folder)}
        history = (await app.dispatcher.call("session_history", request, context)).model_dump()
        assert [(call["tool"], call["result"]) for call in history["history"]] == [("Bash", "ok")]
        assert SECRET not in json.dumps(history, default=str)
        await app.dispatcher.call("set_project", {"path": str(folder)}, CallContext(surface="cli", client="me"))
        turns = await app.dispatcher.call(
            "get_session_memories", {"sessionId": "s1"}, CallContext(surface="cli", client="me")
        )
        (turn,) = turns.model_dump()["memories"]
        assert (turn["response"], SECRET in turn["prompt"]) == ("It is done.", False)
        assert turn["prompt"].startswith("use ")


@pytest.mark.parametrize("text", [b"", b"garbage", b"[1]", b'{"cwd": 7}', b"\xff\xfe", b"[" * 100_000])
@pytest.mark.parametrize("event", ["permission", "stop"])
def test_125_invalid_input_gets_an_empty_answer_and_a_reason_on_stderr(tmp_path: Path, event: str, text: bytes) -> None:
    answer, problems = hook(tmp_path, event, text)
    assert answer == {}
    assert problems.startswith("scrubjay hook: ")


@pytest.mark.parametrize(
    ("event", "loads"),
    [
        ("permission", "scrubjay.features.permissions.models"),
        ("session-start", "apsw"),
        ("user-prompt-submit", "apsw"),
        ("post-tool-use", "scrubjay.core.secrets"),
        ("stop", "scrubjay.core.secrets"),
    ],
)
def test_125_a_hook_imports_only_what_its_event_needs(home: Path, folder: Path, event: str, loads: str) -> None:
    call = hook_input(folder, "", prompt="apollo", tool_name="Bash", tool_input={})
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "scrubjay.app", "hook", event, "--home", str(home)],
        input=json.dumps(call).encode(),
        capture_output=True,
        timeout=30,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert loads in loaded
    slow = {"asyncio", "hashlib", "importlib.resources", "logging", "numpy", "pydantic", "tempfile", "unicodedata"}
    ours = {"scrubjay.app.application", "scrubjay.app.settings"}
    if event != "permission":
        ours |= {"scrubjay.features.permissions.models", "datetime"}
    assert loaded & (slow | ours) == set()


# Modules that a permission hook imports until its decision is audited. Add one only if every decision needs it:
# an agent waits for these imports, ten times as long on a busy machine.
PERMISSION_MODULES = {
    "core.callers core.errors core.ids core.lazy core.lazy_regex core.secret_phrases core.secrets",
    "db.damage_report db.sqlite.checksums db.sqlite.connections db.sqlite.named_queries",
    "db.sqlite.schema db.sqlite.schema_snapshot db.sqlite.schema_version",
    "features.hooks.hook_reader features.hooks.models",
    "features.monitoring.audit.file features.monitoring.audit.lines features.monitoring.audit.verdicts",
    "features.permissions.command_rules features.permissions.decision features.permissions.models",
    "features.permissions.paths features.permissions.patterns features.permissions.risky_words",
    "features.permissions.rows features.permissions.shell_commands features.permissions.shell_lexer",
    "app.hook_command servers.hooks.formats",
}


def test_16_a_decision_is_audited_without_importing_the_server(home: Path, folder: Path) -> None:
    call = hook_input(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "cd x && rm y"})
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "scrubjay.app", "hook", "permission", "--home", str(home)],
        input=json.dumps(call).encode(),
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert json.loads((home / "audit.jsonl").read_text().splitlines()[-1])["decision"] == "refused"
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    modules = {f"scrubjay.{name}" for names in PERMISSION_MODULES for name in names.split()}
    packages = {name.rpartition(".")[0] for name in modules}
    packages |= {package.rpartition(".")[0] for package in packages}
    assert {name for name in loaded if name.startswith("scrubjay.")} - packages == modules
    slow = {"anyio", "asyncio", "hashlib", "logging", "numpy", "pydantic", "pydantic_core", "starlette"}
    assert loaded & slow == set()


@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit", "PostToolUse"])
def test_125_a_hook_without_a_server_takes_less_than_150_ms_of_processor_time(
    home: Path, folder: Path, event: str
) -> None:
    names = {"PreToolUse": "permission", "UserPromptSubmit": "user-prompt-submit", "PostToolUse": "post-tool-use"}
    call = hook_input(
        folder, event, prompt="when is apollo deployed?", tool_name="Bash", tool_input={"command": "rm x"}
    )
    seconds: list[float] = []
    for _ in range(3):  # the first one compiles, and others run beside it
        before = os.times()
        hook(home, names[event], call)
        after = os.times()
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert min(seconds) < 0.15


def test_125_a_missing_or_broken_store_or_an_unknown_hook_does_not_block_the_agent(tmp_path: Path) -> None:
    call: dict[str, Any] = {"tool_name": "Bash", "tool_input": {}, "session_id": "s", "prompt": "x", "cwd": "/"}
    for event in ("permission", "session-start", "user-prompt-submit", "post-tool-use", "stop", "no-such-hook"):
        assert hook(tmp_path / "nowhere", event, call)[0] == {}
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "scrubjay.db").write_bytes(b"dear diary, " * 1000)
    assert hook(tmp_path, "permission", call)[0] == {}


def test_125_a_locked_store_does_not_block_the_agent(home: Path, folder: Path) -> None:
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.execute("BEGIN EXCLUSIVE")
    call = hook_input(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "rm x"})
    assert hook(home, "permission", call)[0]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert hook(home, "stop", hook_input(folder, "Stop"))[0] == {}
    connection.execute("ROLLBACK")
    connection.close()


def _damage(home: Path) -> None:
    (home / "scrubjay.db").write_bytes(b"dear diary, " * 1000)


def _empty(home: Path) -> None:
    for file in home.glob("scrubjay.db*"):
        file.unlink()
    (home / "scrubjay.db").touch()


def _lock(home: Path) -> None:
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.pragma("locking_mode", "EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("CREATE TABLE extra (x)")
    connection.execute("COMMIT")
    LOCKED.append(connection)


def _set_newer_version(home: Path) -> None:
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.pragma("user_version", 99)
    connection.close()


LOCKED: list[Connection] = []


@pytest.mark.parametrize("break_store", [_damage, _empty, _lock, _set_newer_version])
def test_16_a_store_whose_rules_cannot_be_read_asks_the_user(
    home: Path, folder: Path, break_store: Callable[[Path], None]
) -> None:
    break_store(home)
    call = hook_input(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "rm x"})
    answer, problems = hook(home, "permission", call)
    decided = answer["hookSpecificOutput"]
    assert (decided["hookEventName"], decided["permissionDecision"]) == ("PreToolUse", "ask")
    assert "rules cannot be evaluated" in decided["permissionDecisionReason"]
    assert problems.startswith("scrubjay hook: ")
    # The agent is already asking, so an answer could only hide its question.
    assert hook(home, "permission", call | {"hook_event_name": "PermissionRequest"})[0] == {}
    # Other hooks never stop the agent.
    assert hook(home, "stop", hook_input(folder, "Stop"))[0] == {}
    while LOCKED:
        LOCKED.pop().close()


@pytest.mark.parametrize("extra", ["[" * 100_000 + "]" * 100_000, f'"{"x" * 17_000_000}"'], ids=["deep", "long"])
def test_16_input_that_cannot_be_read_asks_the_user_if_there_is_a_store(tmp_path: Path, home: Path, extra: str) -> None:
    text = (
        f'{{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {{"command": "rm x", "x": {extra}}}}}'
    )
    answer, _ = hook(home, "permission", text.encode())
    assert answer["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert hook(tmp_path / "nowhere", "permission", text.encode())[0] == {}


@pytest.mark.parametrize(("event", "expected"), [("PreToolUse", "ask"), ("PermissionRequest", None)])
def test_16_rules_that_take_too_long_ask_the_user(home: Path, folder: Path, event: str, expected: str | None) -> None:
    program = (
        "import time; from scrubjay.app import hook_command as h; h.TIMEOUT_SECONDS = 0.2; "
        "h._from_store = lambda *_: time.sleep(30); h.main(['permission'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(hook_input(folder, event, tool_name="Bash", tool_input={"command": "rm x"})).encode(),
        env={**os.environ, "SCRUBJAY_HOME": str(home)},
        capture_output=True,
        timeout=20,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert (answer["hookSpecificOutput"]["permissionDecision"] if answer else None) == expected


def test_16_a_server_that_cannot_read_the_rules_asks_the_user(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise Unavailable("the store is locked")

    async def answered() -> HookAnswer:
        async with running(Settings(home=home)) as app:
            hooks = await app.services.get(HookService)
            call = hook_input(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "rm x"})
            monkeypatch.setattr(PermissionService, "judge", fail)
            return await hooks.answer(parse_call(HookEvent.PERMISSION, call))

    verdict = anyio.run(answered).verdict
    assert verdict is not None
    assert verdict.effect is Effect.ASK
    assert "the store is locked" in verdict.reason


def test_16_settings_files_of_a_repository_are_ignored(home: Path, folder: Path) -> None:
    (folder / ".env").write_text(f"SCRUBJAY_HOME={folder}/theirs\n")
    (folder / "scrubjay.toml").write_text(f'home = "{folder}/theirs"\n')
    done = subprocess.run(
        [sys.executable, "-m", "scrubjay.app", "hook", "permission"],
        input=json.dumps(hook_input(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "rm x"})).encode(),
        env={**os.environ, "SCRUBJAY_HOME": str(home)},
        cwd=folder,
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.fixture
def served(home: Path) -> Generator[str]:
    with server(home) as url:
        yield url


def test_125_a_server_answers_by_meaning_and_the_store_is_read_after_it_is_killed(
    home: Path, folder: Path, served: str
) -> None:
    assert server_url(home) == served
    prompt_input = hook_input(folder, "UserPromptSubmit", prompt="on which day is apollo deployed?")
    answer, problems = hook(home, "user-prompt-submit", prompt_input, SCRUBJAY_HOOKS_SERVER_MS="1500")
    assert "Thursdays" in context_of(answer)
    assert problems == ""
    assert not (home / FOLDER).exists()  # the server stored the prompt itself
    os.kill(json.loads((home / "server.json").read_text())["pid"], signal.SIGKILL)
    deadline = time.monotonic() + 5
    while server_url(home) is not None and time.monotonic() < deadline:
        pass
    answer, problems = hook(home, "user-prompt-submit", prompt_input)
    assert "Thursdays" in context_of(answer)
    assert problems == ""


def test_125_a_server_that_hangs_does_not_block_the_agent(home: Path, folder: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        announce_server(home, f"http://127.0.0.1:{silent.getsockname()[1]}"),
    ):
        prompt_input = hook_input(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
        answer, problems = hook(home, "user-prompt-submit", prompt_input)
    assert "Thursdays" in context_of(answer)
    assert "did not answer" in problems


@pytest.mark.parametrize("age", [-1e9, 0.0, 0.05, 0.07, 0.09, 0.5, 1e9])
def test_125_the_time_for_a_server_shrinks_with_the_age_of_the_process(age: float) -> None:
    seconds = hook_command.server_seconds(age)
    assert 0.02 <= seconds <= 0.06
    assert not 0 <= age <= 0.08 or age + seconds <= 0.1


def test_125_a_setting_extends_the_time_for_a_server_up_to_the_total_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCRUBJAY_HOOKS_SERVER_MS", "500")
    assert hook_command.server_seconds(0.09) == 0.5
    monkeypatch.setenv("SCRUBJAY_HOOKS_SERVER_MS", "500000")
    assert hook_command.server_seconds(0.0) == hook_command.TIMEOUT_SECONDS
    monkeypatch.setenv("SCRUBJAY_HOOKS_SERVER_MS", "soon")
    assert hook_command.server_seconds(0.09) == 0.02


class _Clock:
    """A clock that only advances during waits."""

    now = 100.0


class _Connection:
    """A connection whose peer never acts, or acts only just before the timeout."""

    def __init__(self, clock: _Clock, *, reads: bool, answers: bytes) -> None:
        self._clock, self._reads, self._answers = clock, reads, answers
        self._timeout = 0.0

    def __enter__(self) -> "_Connection":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0
        self._timeout = seconds

    def sendall(self, _: bytes) -> None:
        self._wait(in_vain=not self._reads)

    def recv(self, _: int) -> bytes:
        self._wait(in_vain=not self._answers)
        return self._answers

    def _wait(self, *, in_vain: bool) -> None:
        self._clock.now += self._timeout if in_vain else self._timeout * 0.9
        if in_vain:
            raise TimeoutError("timed out")


@pytest.mark.parametrize(
    ("reads", "answers"), [(False, b""), (True, b""), (True, b"x")], ids=["reads nothing", "silent", "dribbling"]
)
def test_125_connecting_sending_and_receiving_share_one_timeout(
    monkeypatch: pytest.MonkeyPatch, reads: bool, answers: bytes
) -> None:
    clock = _Clock()

    def connect(_: object, timeout: float) -> _Connection:
        clock.now += timeout * 0.9
        return _Connection(clock, reads=reads, answers=answers)

    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(socket, "create_connection", connect)
    post: Any = hook_command._post  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(OSError, match="timed out"):
        post("http://127.0.0.1:9", "/v1/hooks/stop", b"{}", 0.06)
    assert clock.now <= 100.06 + 1e-9


def _answering(answer: bytes, *, forever: bool = False) -> Callable[[socket.socket], None]:
    def behavior(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65536)
            client.sendall(answer)
            while forever:
                client.sendall(b"x")
                time.sleep(0.05)

    return behavior


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


@pytest.mark.parametrize(
    "behavior",
    [
        _answering(b""),
        _answering(b"nonsense"),
        _answering(_OK + b"<html>"),
        _answering(_OK + b"[1]"),
        _answering(_OK + b"[" * 100_000),
        _answering(_OK + b'{"decision": "block", "reason": "no"}'),
        _answering(_OK + b'{"hookSpecificOutput": {"additionalContext": 5}}'),
        _answering(_OK + b'{"hookSpecificOutput": 5}'),
        _answering(_OK + b"x" * 2_000_000),
        _answering(b"HTTP/1.1 500 No\r\n\r\n{}"),
        _answering(b"HTTP", forever=True),
    ],
)
def test_125_an_invalid_answer_of_the_server_falls_back_to_the_store(
    home: Path, folder: Path, behavior: Callable[[socket.socket], None]
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        announce_server(home, f"http://127.0.0.1:{server.getsockname()[1]}"),
    ):
        thread = threading.Thread(target=lambda: behavior(server.accept()[0]))
        thread.start()
        prompt_input = hook_input(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
        answer, problems = hook(home, "user-prompt-submit", prompt_input)
        thread.join(5)
    assert set(answer) == {"hookSpecificOutput"}
    assert "Thursdays" in context_of(answer)
    assert "did not answer" in problems


def test_125_a_damaged_server_file_falls_back_to_the_store(home: Path, folder: Path) -> None:
    with announce_server(home, "http://127.0.0.1:9"):
        (home / "server.json").write_text("{")
        prompt_input = hook_input(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
        assert "Thursdays" in context_of(hook(home, "user-prompt-submit", prompt_input)[0])


@pytest.mark.parametrize("redirection", ["<&-", ">&-", ">/dev/full", "2>&-", "2>/dev/full"])
@pytest.mark.parametrize("text", ["garbage", '{"tool_name": "Bash", "tool_input": {"command": "rm x"}}'])
def test_125_a_hook_exits_with_zero_even_if_its_streams_are_closed_or_full(
    home: Path, text: str, redirection: str
) -> None:
    command = f"printf %s '{text}' | {sys.executable} -m scrubjay.app hook permission {redirection}"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "SCRUBJAY_HOME": str(home)},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if redirection.startswith("2>"):
        assert ("deny" in done.stdout.decode()) is (text != "garbage")


def test_125_input_that_never_ends_is_answered_in_time(home: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"tool_name": ')
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "scrubjay.app", "hook", "permission", "--home", str(home)],
        stdin=reading,
        capture_output=True,
        timeout=30,
        check=True,
    )
    os.close(reading)
    os.close(writing)
    assert (done.stdout, time.monotonic() - started < 5) == (b"{}\n", True)


@pytest.mark.parametrize(("event", "expected"), [("PreToolUse", "ask"), ("PermissionRequest", None)])
def test_16_a_call_whose_input_never_ends_is_asked(home: Path, event: str, expected: str | None) -> None:
    program = "from scrubjay.app import hook_command as h; h.TIMEOUT_SECONDS = 0.2; h.main(['permission'])"
    reading, writing = os.pipe()
    os.write(writing, f'{{"hook_event_name": "{event}", "tool_input": '.encode())
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdin=reading,
        env={**os.environ, "SCRUBJAY_HOME": str(home)},
        capture_output=True,
        timeout=20,
        check=True,
    )
    os.close(reading)
    os.close(writing)
    answer = json.loads(done.stdout)
    assert (answer["hookSpecificOutput"]["permissionDecision"] if answer else None) == expected


def test_125_a_failure_to_spool_does_not_prevent_the_answer(home: Path, folder: Path) -> None:
    (home / FOLDER).write_text("not a folder")
    prompt_input = hook_input(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
    answer, problems = hook(home, "user-prompt-submit", prompt_input)
    assert "Thursdays" in context_of(answer)
    assert "cannot be stored" in problems


def test_125_calls_and_turns_are_not_spooled_if_their_recording_is_off(home: Path, folder: Path) -> None:
    prompt_input = hook_input(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
    used = hook_input(folder, "PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="x")
    assert "Thursdays" in context_of(
        hook(home, "user-prompt-submit", prompt_input, SCRUBJAY_HOOKS_KEEP_TURNS="False")[0]
    )
    hook(home, "stop", hook_input(folder, "Stop", last_assistant_message="Done."), SCRUBJAY_HOOKS_KEEP_TURNS="0")
    hook(home, "post-tool-use", used, SCRUBJAY_SESSIONS_HISTORY="off")
    assert not (home / FOLDER).exists()


def test_125_neither_prompt_nor_key_goes_to_another_machine(home: Path, folder: Path) -> None:
    with announce_server(home, "http://192.0.2.1:80"):
        prompt_input = hook_input(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
        answer, problems = hook(home, "user-prompt-submit", prompt_input)
    assert "Thursdays" in context_of(answer)
    assert "another machine" in problems


def test_125_hooks_over_http_give_the_same_answers(home: Path, folder: Path, served: str) -> None:
    def post(event: str, body: Any) -> httpx2.Response:
        return httpx2.post(f"{served}/v1/hooks/{event}", json=body)

    call = hook_input(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "rm x"})
    assert post("permission", call).json() == hook(home, "permission", call)[0]
    assert "blue pipeline" in context_of(post("session-start", hook_input(folder, "SessionStart")).json())
    assert post("user-prompt-submit", hook_input(folder, "UserPromptSubmit", prompt="hello there")).json() == {}
    used = hook_input(
        folder, "PostToolUse", tool_name="Edit", tool_input={"file_path": "/x"}, tool_response={"ok": True}
    )
    assert post("post-tool-use", used).json() == {}
    assert post("stop", hook_input(folder, "Stop", last_assistant_message="Hi.")).json() == {}
    history = httpx2.post(
        f"{served}/v1/tools/session_history",
        json={"action": "get_history", "session_id": "s1", "project": str(folder)},
    ).json()
    assert [one["tool"] for one in history["history"]] == ["Edit"]
    assert post("no-such-hook", {}).status_code == 422
    undecided = post("permission", [1]).json()["hookSpecificOutput"]
    assert undecided["permissionDecision"] == "ask"  # the agent would make the call after a failure
    assert httpx2.post(f"{served}/v1/hooks/stop", content=b"{").status_code == 400
    assert post("post-tool-use", used | {"duration_ms": 1e300}).json() == {}
    log = httpx2.post(f"{served}/v1/tools/audit_log", json={"kind": "verdict"}).json()
    assert {(one["decision"], one["surface"], one["caller"]) for one in log["entries"]} == {
        ("refused", "hook", None),
        ("refused", "hook-http", "owner"),
    }
