"""What a worker says is not trusted: who took it over can say anything. Numbers are rows of the feature table."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from scrubjay.features.sandbox import workers
from scrubjay.features.sandbox.outcomes import Failure, Success, Timeout
from scrubjay.features.sandbox.profiles import Limits
from scrubjay.features.sandbox.service import MOST_CONSOLE_CHARACTERS, Program
from scrubjay.isolation.limits import Bounds, supervised
from tests.features.sandbox.conftest import sandbox_in

SMALL: Final = Limits(max_execution_time_ms=1_000, max_memory_mb=32, max_cpu_percent=100)
# It says that it is ready, hears what to run, and then says something else than a worker does.
SCRIPT: Final = """
import json, os, struct, sys, time
def say(content):
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    os.write(1, struct.pack("<I", len(content)) + content)
def hear():
    length = struct.unpack("<I", os.read(0, 4))[0]
    return json.loads(os.read(0, length))
END = {"end": "success", "output": "1", "elapsed_ms": 1, "cpu_ms": 1, "memory_bytes": 1}
END |= {"denied": [], "truncated": False}
say({"ready": True, "landlock": 7, "seccomp": True})
hear()
"""
NONSENSE: Final = {
    "a frame that never comes whole": "os.write(1, struct.pack('<I', 1000)); os.write(1, b'x'); os._exit(0)",
    "a frame without an end": "os.write(1, b'\\xff' * 4)",
    "no JSON": "say(b'{')",
    "no UTF-8": "say(b'\\xff\\xfe')",
    "a list": "say([1, 2])",
    "a deep list": "say(b'[' * 1_000_000)",
    "an end of another kind": "say({**END, 'end': 'victory'})",
    "an end without numbers": "say({**END, 'elapsed_ms': 'x'})",
    "an end without anything": "say({'end': 'success'})",
    "an error of another type": "say({**END, 'end': 'error', 'kind': 'Victory', 'message': '', 'where': ''})",
    "a violation of another type": "say({**END, 'end': 'violation', 'kind': 'Victory', 'reason': ''})",
    "denials that are none": "say({**END, 'denied': [1]})",
    "words that are none": "say({'said': 5})",
    "a call without a name": "say({'call': 1})",
    "a call of a number": "say({'call': 'x', 'name': 'recall', 'arguments': '{}'})",
    "arguments that are no JSON": "say({'call': 1, 'name': 'recall', 'arguments': '{'})",
    "too many calls": "[say({'call': n, 'name': 'recall', 'arguments': '{}'}) for n in range(200)]",
    "its end": "os._exit(0)",
}  # fmt: skip


class Tools:
    families: Mapping[str, Sequence[str]] = {"memory": ["recall"]}

    def __init__(self) -> None:
        self.called: list[str] = []

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        self.called.append(name)
        return "{}"


@pytest.fixture
def strange(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have the next worker say this."""

    def strange(says: str) -> None:
        def other(lifeline: int, bounds: Bounds, command: str, args: Sequence[str]) -> list[str]:
            return supervised(lifeline, bounds, sys.executable, ["-c", f"{SCRIPT}\n{says}\ntime.sleep(60)"])

        monkeypatch.setattr(workers, "supervised", other)

    return strange


@pytest.mark.parametrize("says", NONSENSE.values(), ids=NONSENSE)
async def test_123_nonsense_ends_the_worker_and_the_run(strange: Any, tmp_path: Path, says: str) -> None:
    strange(says)
    async with sandbox_in(tmp_path, slots=1) as sandbox:
        with anyio.fail_after(30):
            outcome = await sandbox.run(Program("return 1", "", None), SMALL, Tools())
        assert isinstance(outcome, Failure)
        assert outcome.error_type == "Unknown"
        assert sandbox.pool.idle == 0


async def test_123_a_flood_of_words_is_not_kept(strange: Any, tmp_path: Path) -> None:
    strange("[say({'said': [['out', 'x' * 1_000_000]]}) for _ in range(20)]; say(END)")
    async with sandbox_in(tmp_path, slots=1) as sandbox:
        outcome = await sandbox.run(Program("return 1", "", None), SMALL, Tools())
    assert isinstance(outcome, Success)
    assert len(outcome.stdout) == MOST_CONSOLE_CHARACTERS


async def test_15_only_what_the_door_has_can_be_called(strange: Any, tmp_path: Path) -> None:
    tools = Tools()
    strange(
        "for n, name in enumerate(['forget', 'fs.readFile', 'recall']):\n"
        "    say({'call': n, 'name': name, 'arguments': '{\"path\": \"/etc/passwd\"}'})\n"
        "    answer = hear()\n"
        "    say({'said': [['out', f\"{name} {answer['kept']} \"]]})\n"
        "say(END)"
    )
    async with sandbox_in(tmp_path, slots=1) as sandbox:
        outcome = await sandbox.run(Program("return 1", "", None), SMALL, tools)
    assert isinstance(outcome, Success)
    assert outcome.stdout == "forget False fs.readFile False recall True "
    assert tools.called == ["recall"]


async def test_123_silence_is_ended(strange: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrubjay.features.sandbox.service.GRACE_SECONDS", 0.1)
    strange("say({'said': [['out', 'last words']]})")
    async with sandbox_in(tmp_path, slots=1) as sandbox:
        with anyio.fail_after(30):
            outcome = await sandbox.run(Program("return 1", "", None), SMALL, Tools())
    assert isinstance(outcome, Timeout)
    assert outcome.partial_output == "last words"
