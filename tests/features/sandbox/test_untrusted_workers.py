"""Messages of a worker are untrusted, because a program could compromise it. Numbers are rows of the feature table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from scrubjay.features.sandbox import workers
from scrubjay.features.sandbox.outcomes import RunFailure, RunSuccess, RunTimeout
from scrubjay.features.sandbox.profiles import RunLimits
from scrubjay.features.sandbox.service import MAX_CONSOLE_CHARACTERS, SandboxProgram
from tests.features.sandbox.conftest import sandbox_in

SMALL: Final = RunLimits(max_execution_time_ms=1_000, max_memory_mb=32, max_cpu_percent=100)
# Reports that it is ready, receives a program, and then sends invalid messages.
SCRIPT: Final = """
import json, os, struct, sys, time
def send(content):
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    os.write(1, struct.pack("<I", len(content)) + content)
def receive():
    length = struct.unpack("<I", os.read(0, 4))[0]
    return json.loads(os.read(0, length))
END = {"end": "success", "output": "1", "elapsed_ms": 1, "cpu_ms": 1, "memory_bytes": 1}
END |= {"denied": [], "truncated": False}
send({"ready": True, "landlock": 7, "seccomp": True})
receive()
"""
INVALID: Final = {
    "an incomplete frame": "os.write(1, struct.pack('<I', 1000)); os.write(1, b'x'); os._exit(0)",
    "a frame that is too long": "os.write(1, b'\\xff' * 4)",
    "not JSON": "send(b'{')",
    "not UTF-8": "send(b'\\xff\\xfe')",
    "a list": "send([1, 2])",
    "a deep list": "send(b'[' * 1_000_000)",
    "an outcome of an unknown kind": "send({**END, 'end': 'victory'})",
    "an outcome without numbers": "send({**END, 'elapsed_ms': 'x'})",
    "an outcome without fields": "send({'end': 'success'})",
    "an error of an unknown type": "send({**END, 'end': 'error', 'kind': 'Victory', 'message': '', 'where': ''})",
    "a violation of an unknown type": "send({**END, 'end': 'violation', 'kind': 'Victory', 'reason': ''})",
    "invalid denials": "send({**END, 'denied': [1]})",
    "invalid output": "send({'console': 5})",
    "a call without a name": "send({'call': 1})",
    "a call with an invalid number": "send({'call': 'x', 'name': 'recall', 'arguments': '{}'})",
    "arguments that are not JSON": "send({'call': 1, 'name': 'recall', 'arguments': '{'})",
    "too many calls": "[send({'call': n, 'name': 'recall', 'arguments': '{}'}) for n in range(200)]",
    "an exit": "os._exit(0)",
}  # fmt: skip


class Tools:
    families: Mapping[str, Sequence[str]] = {"memory": ["recall"]}

    def __init__(self) -> None:
        self.called: list[str] = []

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        self.called.append(name)
        return "{}"


@pytest.fixture
def fake_worker(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the worker program by a script that sends invalid messages."""

    def fake_worker(script: str) -> None:
        monkeypatch.setattr(workers, "PROGRAM", ("-c", f"{SCRIPT}\n{script}\ntime.sleep(60)"))

    return fake_worker


@pytest.mark.parametrize("script", INVALID.values(), ids=INVALID)
async def test_123_an_invalid_message_ends_the_worker_and_the_run(
    fake_worker: Any, tmp_path: Path, script: str
) -> None:
    fake_worker(script)
    async with sandbox_in(tmp_path, slots=1) as sandbox:
        with anyio.fail_after(30):
            outcome = await sandbox.run(SandboxProgram("return 1", "", None), SMALL, Tools())
        assert isinstance(outcome, RunFailure)
        assert outcome.error_type == "Unknown"
        assert sandbox.pool.idle == 0


async def test_123_excessive_output_is_truncated(fake_worker: Any, tmp_path: Path) -> None:
    fake_worker("[send({'console': [['out', 'x' * 1_000_000]]}) for _ in range(20)]; send(END)")
    async with sandbox_in(tmp_path, slots=1) as sandbox:
        outcome = await sandbox.run(SandboxProgram("return 1", "", None), SMALL, Tools())
    assert isinstance(outcome, RunSuccess)
    assert len(outcome.stdout) == MAX_CONSOLE_CHARACTERS


async def test_15_only_tools_of_the_bridge_can_be_called(fake_worker: Any, tmp_path: Path) -> None:
    tools = Tools()
    fake_worker(
        "for n, name in enumerate(['forget', 'fs.readFile', 'recall']):\n"
        "    send({'call': n, 'name': name, 'arguments': '{\"path\": \"/etc/passwd\"}'})\n"
        "    answer = receive()\n"
        "    send({'console': [['out', f\"{name} {answer['ok']} \"]]})\n"
        "send(END)"
    )
    async with sandbox_in(tmp_path, slots=1) as sandbox:
        outcome = await sandbox.run(SandboxProgram("return 1", "", None), SMALL, tools)
    assert isinstance(outcome, RunSuccess)
    assert outcome.stdout == "forget False fs.readFile False recall True "
    assert tools.called == ["recall"]


async def test_123_a_silent_worker_is_killed(fake_worker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrubjay.features.sandbox.service.GRACE_SECONDS", 0.1)
    fake_worker("send({'console': [['out', 'last words']]})")
    async with sandbox_in(tmp_path, slots=1) as sandbox:
        with anyio.fail_after(30):
            outcome = await sandbox.run(SandboxProgram("return 1", "", None), SMALL, Tools())
    assert isinstance(outcome, RunTimeout)
    assert outcome.partial_output == "last words"
