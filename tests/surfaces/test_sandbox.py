"""Programs in the sandbox, on every surface. Numbers are rows of the feature table."""

import json
import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import Caller as KeyCaller
from scrubjay.core.errors import Forbidden, ScrubjayError, Unavailable
from scrubjay.tooling.context import CallContext
from tests.features.sandbox.conftest import until
from tests.surfaces.callers import PROGRAM, Caller, CallFailed, Json, environment, sample_cases

NOTHING = {"task": "", "input": None}


async def test_120_122_123_each_of_the_four_results_has_its_documented_shape(call: Caller) -> None:
    async def run(code: str, **more: Any) -> Json:
        context = {"task": "Calculate sum", "input": {"a": 1, "b": 1}}
        return await call("execute_agent_code", code=code, context=context, **more)

    (success,) = (await run("console.log('Calculating sum...'); return context.input.a + context.input.b")).items()
    assert success[0] == "Success"
    assert success[1].pop("execution_time_ms") >= 0
    assert success[1] == {"output": "2", "stdout": "Calculating sum...", "stderr": ""}
    error = await run("throw new TypeError('bad')")
    stack = error["Error"].pop("stderr")
    assert stack.startswith("TypeError: bad\n    at <anonymous> (program:1:")
    assert error == {"Error": {"message": "TypeError: bad", "error_type": "Runtime", "stdout": ""}}
    timeout = await run("console.log('begun'); while (true);", config={"max_execution_time_ms": 200})
    assert timeout["Timeout"].pop("elapsed_ms") >= 200
    assert timeout == {"Timeout": {"partial_output": "begun"}}
    assert await run("require('fs')") == {
        "SecurityViolation": {
            "reason": "the module 'fs' is not available in the sandbox",
            "violation_type": "FileSystemAccess",
            "denied": [{"kind": "FileSystemAccess", "what": "require fs"}],
        }
    }


async def test_120_a_program_calls_tools_with_the_rights_of_its_caller(call: Caller, project: str) -> None:
    code = """
        const project = context.input
        await Promise.all(['red', 'green'].map((colour) => memory.remember({ content: `the ${colour} door`, project })))
        const found = await memory.recall({ query: 'door', project })
        let code
        try { await memory.forget({ id: 'mem_00000000000000000000000000' }) } catch (error) { code = error.code }
        return [found.memories.map((one) => one.content).sort(), code, typeof sandbox.execute_agent_code]
    """
    result = await call("execute_agent_code", code=code, context={"task": "", "input": project})
    assert json.loads(result["Success"]["output"]) == [["the green door", "the red door"], "not_found", "undefined"]


BAD: list[tuple[Json, str]] = [
    ({"code": "1"}, "invalid_request"),
    ({"code": "1", "context": {"task": "x"}}, "invalid_request"),
    ({"code": "1", "context": {"input": 1}}, "invalid_request"),
    ({"code": "1", "context": NOTHING, "profile": "free"}, "invalid_request"),
    ({"code": "1", "context": NOTHING, "config": {"max_execution_time_ms": 0}}, "invalid_request"),
    ({"code": "1", "context": NOTHING, "config": {"max_memory_mb": 0}}, "invalid_request"),
    ({"code": "1", "context": NOTHING, "config": {"max_cpu_percent": 101}}, "invalid_request"),
    ({"code": "1", "context": NOTHING, "config": {"allowed_network": ["example.com"]}}, "invalid_request"),
    ({"code": "1", "context": NOTHING, "config": {"seccomp": False}}, "invalid_request"),
    ({"code": "1", "context": NOTHING, "config": {"max_memory_mb": 300}}, "forbidden"),
    ({"code": "1", "context": NOTHING, "config": {"allow_network": True}}, "forbidden"),
    ({"code": "1", "context": NOTHING, "config": {"allow_subprocesses": True}}, "forbidden"),
    ({"code": "1", "context": NOTHING, "config": {"allow_filesystem": True}}, "forbidden"),
    ({"code": "1", "context": {"task": "", "input": "x" * 1_000_001}}, "too_large"),
]


async def test_18_121_refusals_have_the_same_code_on_every_surface(call: Caller) -> None:
    for arguments, code in sample_cases(call, BAD):
        with pytest.raises(CallFailed) as failed:
            await call("execute_agent_code", **arguments)
        assert (failed.value.code, arguments) == (code, arguments)


async def test_121_123_the_status_has_limits_and_counts(call: Caller) -> None:
    await call("execute_agent_code", code="return 1", context=NOTHING)
    status = await call("sandbox_status")
    assert status["profiles"]["restrictive"] == {
        "max_execution_time_ms": 3_000,
        "max_memory_mb": 64,
        "max_cpu_percent": 30,
        "allow_filesystem": False,
        "allow_tools": False,
    }
    assert status["statistics"].keys() == {
        *("total_executions", "successful_executions", "failed_executions", "timeout_count"),
        *("security_violations", "avg_execution_time_ms"),
    }


def context_with(*scopes: str) -> CallContext:
    return CallContext(surface="rest", caller=KeyCaller("key", frozenset(scopes), key_id="key_1"))


async def test_15_120_a_program_can_use_only_what_its_key_allows(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:

        async def run(code: str, *scopes: str) -> Any:
            arguments = {"code": code, "context": NOTHING}
            return (
                await application.dispatcher.call("execute_agent_code", arguments, context_with(*scopes))
            ).model_dump()

        for scopes in (("memory",), ("*:read",), ("sandbox:read",)):
            with pytest.raises(Forbidden):
                await run("return 1", *scopes)
        result = await run("return [typeof memory, typeof files, typeof sandbox]", "sandbox", "memory:read")
        assert json.loads(result["Success"]["output"]) == ["object", "undefined", "object"]
        code = "await memory.recall({query: 'x'}); await memory.remember({content: 'x'})"
        refused = await run(code, "sandbox", "memory:read")
        assert refused["Error"]["error_type"] == "Permission"
        assert refused["Error"]["message"].startswith("ToolError (forbidden)")
        assert "Success" in await run(code, "sandbox", "memory")


async def test_121_files_can_be_read_only_in_folders_that_the_owner_allows(tmp_path: Path) -> None:
    allowed, home = tmp_path / "opened", tmp_path / "home"
    (allowed / "deep").mkdir(parents=True)
    home.mkdir()
    (allowed / "notes.txt").write_text("a note")
    (allowed / "deep" / "other.txt").write_text("another")
    (tmp_path / "secret.txt").write_text("secret")
    (allowed / "link.txt").symlink_to(tmp_path / "secret.txt")
    settings = Settings.model_validate({"home": home, "sandbox": {"allowed_paths": [allowed]}})
    async with running(settings) as application:

        async def read(path: object, profile: str = "permissive", **config: Any) -> Any:
            arguments = {
                "code": "return await fs.readFile(context.input)",
                "context": {"task": "", "input": str(path)},
                "profile": profile,
                "config": config,
            }
            context = CallContext(surface="python")
            return (await application.dispatcher.call("execute_agent_code", arguments, context)).model_dump()

        assert (await read(allowed / "notes.txt"))["Success"]["output"] == '"a note"'
        assert (await read(allowed / "notes.txt", "default", allow_filesystem=True))["Success"]["output"] == '"a note"'
        assert (await read(allowed / "notes.txt", "default"))["Error"]["error_type"] == "Runtime"
        only: dict[str, Any] = {"allowed_paths": [str(allowed / "deep")]}
        assert (await read(allowed / "deep" / "other.txt", **only))["Success"]["output"] == '"another"'
        assert (await read(allowed / "notes.txt", **only))["Error"]["error_type"] == "Permission"
        for path in (
            *(tmp_path / "secret.txt", allowed / "link.txt", allowed / ".." / "secret.txt", "/etc/passwd", "notes.txt"),
            *("/proc/self/environ", home / "scrubjay.db"),
        ):
            refused = await read(path, allowed_paths=["/"]) if path == "/etc/passwd" else await read(path)
            assert refused["Error"]["error_type"] == "Permission", path
        missing = await read(allowed / "nothing.txt")
        assert missing["Error"]["message"].startswith("ToolError (not_found)")


async def test_120_a_disabled_or_broken_sandbox_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    off = Settings.model_validate({"home": tmp_path, "sandbox": {"enabled": False}})
    arguments = {"code": "return 1", "context": NOTHING}
    async with running(off) as application:
        with pytest.raises(Unavailable, match="switched off"):
            await application.dispatcher.call("execute_agent_code", arguments, CallContext(surface="python"))
    monkeypatch.setattr("scrubjay.features.sandbox.workers.PROGRAM", ("-I", "-m", "tests.features.sandbox.nothing"))
    async with running(Settings(home=tmp_path)) as application:
        with pytest.raises(ScrubjayError) as failed:
            await application.dispatcher.call("execute_agent_code", arguments, CallContext(surface="python"))
    assert failed.value.code == "unavailable"


@contextmanager
def serving(home: Path) -> Generator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0"], env=environment(home), cwd=home, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        line = next(line for line in process.stdout if "http://127.0.0.1:" in line)
        yield process, line[line.index("http://127") :].split()[0].rstrip(".,")
    finally:
        process.kill()
        process.communicate()


def workers_in(home: Path) -> list[int]:
    """Return the ids of the sandbox workers of this home's server and of their supervisor."""
    pids: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
        except OSError:
            continue
        if b"scrubjay.features.sandbox.worker_main" in words and any(os.fsencode(home) in word for word in words):
            pids.append(int(entry.name))
    return pids


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
async def test_123_no_worker_survives_the_server(tmp_path: Path, end: signal.Signals) -> None:
    with serving(tmp_path) as (process, url):
        async with (
            httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as http,
            anyio.create_task_group() as tasks,
        ):

            async def run(code: str) -> None:
                with suppress(httpx2.HTTPError):  # the server is stopped during the request
                    await http.post("/v1/tools/execute_agent_code", json={"code": code, "context": NOTHING})

            await run("return 1")
            tasks.start_soon(run, "while (true);")
            status: Json = {}
            while status.get("running") != 1:
                status = (await http.post("/v1/tools/sandbox_status", json={})).json()
            assert len(workers_in(tmp_path)) == 2
            os.kill(process.pid, end)
            await anyio.to_thread.run_sync(process.wait, 30)
        await until(lambda: not workers_in(tmp_path))


async def test_123_a_disconnect_stops_the_program(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url):
        async with httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as http:
            await http.post("/v1/tools/execute_agent_code", json={"code": "return 1", "context": NOTHING})
            before = set(workers_in(tmp_path))
            with anyio.move_on_after(0.5):
                arguments = {"code": "while (true);", "context": NOTHING, "profile": "permissive"}
                await http.post("/v1/tools/execute_agent_code", json=arguments)
            await until(lambda: before.isdisjoint(workers_in(tmp_path)))
            status = (await http.post("/v1/tools/sandbox_status", json={})).json()
            assert status["statistics"]["timeout_count"] == 0  # it did not reach its own time limit
            response = await http.post("/v1/tools/execute_agent_code", json={"code": "return 2", "context": NOTHING})
            assert response.json()["Success"]["output"] == "2"
