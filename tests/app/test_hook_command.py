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
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from scrubjay.app import hook_command as hooking
from scrubjay.app.lifespan import running
from scrubjay.app.server_file import announced, listening
from scrubjay.app.settings import Settings
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.hooks.spool import FOLDER
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import server

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


def hook(home: Path, event: str, told: Any, **variables: str) -> tuple[dict[str, Any], str]:
    """The answer and what was written to standard error; the process must end with 0."""
    text = told if isinstance(told, bytes) else json.dumps(told).encode()
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


def told(folder: Path, event: str, **more: Any) -> dict[str, Any]:
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


def test_16_the_permission_hook_allows_denies_asks_or_says_nothing(home: Path, folder: Path) -> None:
    def decided(tool: str, **given: str) -> str | None:
        call = told(folder, "PreToolUse", tool_name=tool, tool_input=given, tool_use_id="t")
        answer, _ = hook(home, "permission", call)
        return answer["hookSpecificOutput"]["permissionDecision"] if answer else None

    assert decided("Bash", command="git log") == "allow"
    assert decided("Bash", command="rm x") == "deny"
    assert decided("Write", file_path="/x") == "ask"
    assert decided("Bash", command="ls") is None


def test_21_a_verdict_is_in_the_audit_log_without_what_was_to_be_done(home: Path, folder: Path) -> None:
    for command in ("git log", "rm x", "ls"):
        call = told(folder, "PreToolUse", tool_name="Bash", tool_input={"command": command})
        hook(home, "permission", call)
    hook(home, "permission", told(folder, "PreToolUse", tool_name="Write", tool_input={"file_path": "/x"}))
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
        call = told(folder, "PermissionRequest", tool_name="Bash", tool_input=given)
        return hook(home, "permission", call)[0]

    assert answered(command="git log") == {
        "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    }
    assert answered(command="rm x")["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    assert answered(command="ls") == {}
    assert hook(home, "permission", {"tool_name": "Bash", "tool_input": {"command": "git log"}})[0] == {
        "decision": "allow"
    }


def test_125_a_session_begins_with_what_is_remembered_of_the_project(home: Path, folder: Path) -> None:
    answer, problems = hook(home, "session-start", told(folder, "SessionStart", source="startup"))
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "blue pipeline" in context_of(answer)
    assert problems == ""


def test_125_a_prompt_gets_what_fits_it_and_else_nothing(home: Path, folder: Path) -> None:
    asked = told(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
    answer, _ = hook(home, "user-prompt-submit", asked)
    assert "Thursdays" in context_of(answer)
    assert "Ada" not in context_of(answer)
    assert hook(home, "user-prompt-submit", told(folder, "UserPromptSubmit", prompt="rename the variable"))[0] == {}
    assert hook(home, "user-prompt-submit", asked, SCRUBJAY_HOOKS_PROMPT_TOKENS="0")[0] == {}


def test_125_calls_and_turns_are_kept_by_whoever_opens_the_store_next(home: Path, folder: Path) -> None:
    given = {"command": f"curl -H 'Authorization: Bearer {SECRET}' x"}
    hook(home, "user-prompt-submit", told(folder, "UserPromptSubmit", prompt=f"use {SECRET} please"))
    hook(home, "post-tool-use", told(folder, "PostToolUse", tool_name="Bash", tool_input=given, tool_response="ok"))
    hook(home, "stop", told(folder, "Stop", stop_hook_active=False, last_assistant_message="It is done."))
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
def test_125_garbage_is_answered_with_nothing_and_a_reason(tmp_path: Path, event: str, text: bytes) -> None:
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
def test_125_a_hook_loads_only_what_its_moment_needs(home: Path, folder: Path, event: str, loads: str) -> None:
    call = told(folder, "", prompt="apollo", tool_name="Bash", tool_input={})
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


def test_125_a_missing_or_broken_store_and_an_unknown_hook_stop_nobody(tmp_path: Path) -> None:
    call: dict[str, Any] = {"tool_name": "Bash", "tool_input": {}, "session_id": "s", "prompt": "x", "cwd": "/"}
    for event in ("permission", "session-start", "user-prompt-submit", "post-tool-use", "stop", "unheard-of"):
        assert hook(tmp_path / "nowhere", event, call)[0] == {}
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "scrubjay.db").write_bytes(b"dear diary, " * 1000)
    assert hook(tmp_path, "permission", call)[0] == {}


def test_125_a_locked_store_stops_nobody(home: Path, folder: Path) -> None:
    connection = Connection(home / "scrubjay.db", 1.0)
    connection.execute("BEGIN EXCLUSIVE")
    call = told(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "rm x"})
    assert hook(home, "permission", call)[0]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert hook(home, "stop", told(folder, "Stop"))[0] == {}
    connection.execute("ROLLBACK")
    connection.close()


def test_16_a_repository_cannot_bring_rules_of_its_own(home: Path, folder: Path) -> None:
    (folder / ".env").write_text(f"SCRUBJAY_HOME={folder}/theirs\n")
    (folder / "scrubjay.toml").write_text(f'home = "{folder}/theirs"\n')
    done = subprocess.run(
        [sys.executable, "-m", "scrubjay.app", "hook", "permission"],
        input=json.dumps(told(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "rm x"})).encode(),
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


def test_125_a_server_answers_by_meaning_and_when_it_is_killed_the_store_does(
    home: Path, folder: Path, served: str
) -> None:
    assert listening(home) == served
    asked = told(folder, "UserPromptSubmit", prompt="on which day is apollo deployed?")
    answer, problems = hook(home, "user-prompt-submit", asked, SCRUBJAY_HOOKS_SERVER_MS="1500")
    assert "Thursdays" in context_of(answer)
    assert problems == ""
    assert not (home / FOLDER).exists()  # the server has kept the prompt itself
    os.kill(json.loads((home / "server.json").read_text())["pid"], signal.SIGKILL)
    deadline = time.monotonic() + 5
    while listening(home) is not None and time.monotonic() < deadline:
        pass
    answer, problems = hook(home, "user-prompt-submit", asked)
    assert "Thursdays" in context_of(answer)
    assert problems == ""


def test_125_a_server_that_hangs_stops_nobody(home: Path, folder: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        announced(home, f"http://127.0.0.1:{silent.getsockname()[1]}"),
    ):
        asked = told(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
        answer, problems = hook(home, "user-prompt-submit", asked)
    assert "Thursdays" in context_of(answer)
    assert "did not answer" in problems


@pytest.mark.parametrize("age", [-1e9, 0.0, 0.05, 0.07, 0.09, 0.5, 1e9])
def test_125_a_server_gets_no_more_time_than_an_agent_has(age: float) -> None:
    seconds = hooking.server_seconds(age)
    assert 0.02 <= seconds <= 0.06
    assert not 0 <= age <= 0.08 or age + seconds <= 0.1


def test_125_who_says_so_lets_a_server_take_longer_but_never_as_long_as_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCRUBJAY_HOOKS_SERVER_MS", "500")
    assert hooking.server_seconds(0.09) == 0.5
    monkeypatch.setenv("SCRUBJAY_HOOKS_SERVER_MS", "500000")
    assert hooking.server_seconds(0.0) == hooking.PATIENCE_SECONDS
    monkeypatch.setenv("SCRUBJAY_HOOKS_SERVER_MS", "soon")
    assert hooking.server_seconds(0.09) == 0.02


class _Clock:
    """Goes on only while somebody waits."""

    now = 100.0


class _Connection:
    """A connection at whose other end nobody does anything in time, or something only one moment before that."""

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
def test_125_all_that_a_server_is_waited_for_together_is_within_its_time(
    monkeypatch: pytest.MonkeyPatch, reads: bool, answers: bytes
) -> None:
    clock = _Clock()

    def connect(_: object, timeout: float) -> _Connection:
        clock.now += timeout * 0.9
        return _Connection(clock, reads=reads, answers=answers)

    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(socket, "create_connection", connect)
    post: Any = hooking._post  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(OSError, match=r"timed out|too long"):
        post("http://127.0.0.1:9", "/v1/hooks/stop", b"{}", 0.06)
    assert clock.now <= 100.06 + 1e-9


def _answering(answer: bytes, *, forever: bool = False) -> Callable[[socket.socket], None]:
    def behave(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65536)
            client.sendall(answer)
            while forever:
                client.sendall(b"x")
                time.sleep(0.05)

    return behave


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


@pytest.mark.parametrize(
    "behave",
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
def test_125_whatever_listens_there_the_store_is_read_and_the_agent_never_blocked(
    home: Path, folder: Path, behave: Callable[[socket.socket], None]
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        announced(home, f"http://127.0.0.1:{server.getsockname()[1]}"),
    ):
        thread = threading.Thread(target=lambda: behave(server.accept()[0]))
        thread.start()
        asked = told(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
        answer, problems = hook(home, "user-prompt-submit", asked)
        thread.join(5)
    assert set(answer) == {"hookSpecificOutput"}
    assert "Thursdays" in context_of(answer)
    assert "did not answer" in problems


def test_125_a_file_that_says_nothing_about_a_server_stops_nobody(home: Path, folder: Path) -> None:
    with announced(home, "http://127.0.0.1:9"):
        (home / "server.json").write_text("{")
        asked = told(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
        assert "Thursdays" in context_of(hook(home, "user-prompt-submit", asked)[0])


@pytest.mark.parametrize("told_to", ["<&-", ">&-", ">/dev/full", "2>&-", "2>/dev/full"])
@pytest.mark.parametrize("text", ["garbage", '{"tool_name": "Bash", "tool_input": {"command": "rm x"}}'])
def test_125_a_hook_ends_with_zero_also_when_nobody_hears_it(home: Path, text: str, told_to: str) -> None:
    command = f"printf %s '{text}' | {sys.executable} -m scrubjay.app hook permission {told_to}"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "SCRUBJAY_HOME": str(home)},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if told_to.startswith("2>"):
        assert ("deny" in done.stdout.decode()) is (text != "garbage")


def test_125_an_agent_that_never_stops_talking_is_answered_in_time(home: Path) -> None:
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


def test_125_what_cannot_be_kept_does_not_keep_an_agent_from_being_told(home: Path, folder: Path) -> None:
    (home / FOLDER).write_text("not a folder")
    asked = told(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
    answer, problems = hook(home, "user-prompt-submit", asked)
    assert "Thursdays" in context_of(answer)
    assert "cannot be kept" in problems


def test_125_what_is_not_to_be_kept_is_not_left_either(home: Path, folder: Path) -> None:
    asked = told(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
    used = told(folder, "PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="x")
    assert "Thursdays" in context_of(hook(home, "user-prompt-submit", asked, SCRUBJAY_HOOKS_KEEP_TURNS="False")[0])
    hook(home, "stop", told(folder, "Stop", last_assistant_message="Done."), SCRUBJAY_HOOKS_KEEP_TURNS="0")
    hook(home, "post-tool-use", used, SCRUBJAY_SESSIONS_HISTORY="off")
    assert not (home / FOLDER).exists()


def test_125_neither_prompt_nor_key_goes_to_another_machine(home: Path, folder: Path) -> None:
    with announced(home, "http://192.0.2.1:80"):
        asked = told(folder, "UserPromptSubmit", prompt="when is apollo deployed by the pipeline?")
        answer, problems = hook(home, "user-prompt-submit", asked)
    assert "Thursdays" in context_of(answer)
    assert "another machine" in problems


def test_125_hooks_over_http_answer_the_same(home: Path, folder: Path, served: str) -> None:
    def post(event: str, body: Any) -> httpx2.Response:
        return httpx2.post(f"{served}/v1/hooks/{event}", json=body)

    call = told(folder, "PreToolUse", tool_name="Bash", tool_input={"command": "rm x"})
    assert post("permission", call).json() == hook(home, "permission", call)[0]
    assert "blue pipeline" in context_of(post("session-start", told(folder, "SessionStart")).json())
    assert post("user-prompt-submit", told(folder, "UserPromptSubmit", prompt="hello there")).json() == {}
    used = told(folder, "PostToolUse", tool_name="Edit", tool_input={"file_path": "/x"}, tool_response={"ok": True})
    assert post("post-tool-use", used).json() == {}
    assert post("stop", told(folder, "Stop", last_assistant_message="Hi.")).json() == {}
    history = httpx2.post(
        f"{served}/v1/tools/session_history",
        json={"action": "get_history", "session_id": "s1", "project": str(folder)},
    ).json()
    assert [one["tool"] for one in history["history"]] == ["Edit"]
    assert post("unheard-of", {}).status_code == 422
    assert post("permission", [1]).status_code == 400
    assert httpx2.post(f"{served}/v1/hooks/stop", content=b"{").status_code == 400
    assert post("post-tool-use", used | {"duration_ms": 1e300}).json() == {}
    log = httpx2.post(f"{served}/v1/tools/audit_log", json={"kind": "verdict"}).json()
    assert {(one["decision"], one["surface"], one["caller"]) for one in log["entries"]} == {
        ("refused", "hook", None),
        ("refused", "hook-http", "owner"),
    }
