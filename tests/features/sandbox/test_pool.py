"""The worker pool: limit, reuse and shutdown of workers. Numbers are rows of the feature table."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import Unavailable
from scrubjay.features.sandbox import workers
from scrubjay.features.sandbox.outcomes import RunFailure, RunOutcome, RunSuccess
from scrubjay.features.sandbox.service import Sandbox, SandboxProgram
from scrubjay.features.sandbox.workers import SandboxWorker
from tests.features.sandbox.conftest import LIMITS, NoTools, sandbox_in, until


def workers_of(folder: Path) -> list[int]:
    """Return the process ids of the workers that use this folder."""
    return processes_of(folder, lambda words: b"-m" in words[:4])


def processes_of(folder: Path, matches: Callable[[list[bytes]], bool]) -> list[int]:
    found: list[int] = []
    for place in Path("/proc").iterdir():
        try:
            line = (place / "cmdline").read_bytes() if place.name.isdecimal() else b""
        except OSError:
            continue
        words = line.split(b"\0")
        if os.fsencode(folder) in words and matches(words):
            found.append(int(place.name))
    return found


def supervisors_of(folder: Path) -> list[int]:
    return processes_of(folder, lambda words: any(word.endswith(b"supervisor.py") for word in words))


@pytest.fixture
def own(compiled: Path, tmp_path: Path) -> Path:
    """A cache folder for one test, with hard links to the compiled modules of the session."""
    folder = tmp_path / "own"
    folder.mkdir()
    for place in compiled.glob("*.cwasm"):
        (folder / place.name).hardlink_to(place)
    return folder


async def test_123_a_hundred_concurrent_programs_all_end_and_the_number_of_workers_is_limited(own: Path) -> None:
    outcomes: list[RunOutcome] = []
    async with sandbox_in(own, slots=3) as sandbox:

        async def run(number: int) -> None:
            outcomes.append(
                await sandbox.run(SandboxProgram("return context.input * 2", "", number), LIMITS, NoTools())
            )

        with anyio.fail_after(120):
            async with anyio.create_task_group() as runs:
                for number in range(100):
                    runs.start_soon(run, number)
        assert len(workers_of(own)) == 3
        assert sandbox.pool.idle == 3
        statistics = sandbox.statistics
        assert (statistics.total_executions, statistics.successful_executions) == (100, 100)
        assert statistics.avg_execution_time_ms > 0
    assert sorted(int(one.output) for one in outcomes if isinstance(one, RunSuccess)) == [2 * n for n in range(100)]
    assert workers_of(own) == []


async def test_123_the_time_limit_starts_when_a_slot_is_free(own: Path) -> None:
    outcomes: list[RunOutcome] = []
    async with sandbox_in(own, slots=1) as sandbox:
        code = "await new Promise((done) => setTimeout(done, 200)); return 1"

        async def run() -> None:
            outcomes.append(await sandbox.run(SandboxProgram(code, "", None), LIMITS, NoTools()))

        async with anyio.create_task_group() as runs:
            for _ in range(3):
                runs.start_soon(run)
    assert all(isinstance(one, RunSuccess) for one in outcomes)
    assert sandbox.statistics.total_ms < 3 * LIMITS.max_execution_time_ms


async def test_123_cancelling_a_run_kills_its_worker(own: Path) -> None:
    async with sandbox_in(own, slots=1) as sandbox:
        await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools())
        (before,) = workers_of(own)
        async with anyio.create_task_group() as runs:
            runs.start_soon(sandbox.run, SandboxProgram("while (true);", "", None), LIMITS, NoTools())
            await until(lambda: sandbox.pool.busy > 0)
            runs.cancel_scope.cancel()
        assert workers_of(own) == []
        after = await sandbox.run(SandboxProgram("return 2", "", None), LIMITS, NoTools())
        assert isinstance(after, RunSuccess)
        assert workers_of(own) != [before]


async def test_123_a_worker_that_dies_is_replaced(own: Path) -> None:
    outcomes: list[RunOutcome] = []
    async with sandbox_in(own, slots=1) as sandbox:

        async def run() -> None:
            outcomes.append(
                await sandbox.run(SandboxProgram("console.log(1); while (true);", "", None), LIMITS, NoTools())
            )

        async with anyio.create_task_group() as runs:
            runs.start_soon(run)
            await until(lambda: sandbox.landlock is not None)  # then the program is running
            os.kill(workers_of(own)[0], signal.SIGKILL)
        (outcome,) = outcomes
        assert isinstance(outcome, RunFailure)
        assert (outcome.error_type, outcome.message) == (
            "Unknown",
            "the worker process failed (it has exited)",
        )
        assert isinstance(await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools()), RunSuccess)
        assert sandbox.statistics.failed_executions == 1


async def test_123_an_idle_worker_that_died_is_not_used(own: Path) -> None:
    async with sandbox_in(own, slots=1) as sandbox:
        await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools())
        supervisor = supervisors_of(own)
        os.kill(workers_of(own)[0], signal.SIGKILL)
        await until(lambda: supervisors_of(own) != supervisor)
        assert isinstance(await sandbox.run(SandboxProgram("return 2", "", None), LIMITS, NoTools()), RunSuccess)
        assert sandbox.statistics.failed_executions == 0


async def test_123_a_late_tool_result_does_not_affect_the_next_run(own: Path) -> None:
    worker = await SandboxWorker.start(own, 64 * 1024 * 1024)
    try:
        await worker.send({"answer": 1, "ok": True, "text": "1"})
        settings: dict[str, Any] = {"modules": {}, "families": [], "can_read_files": False, "context": {}}
        limits = {"seconds": 30, "cpu_share": 1, "memory_bytes": 32 * 1024 * 1024, "max_calls": 0}
        await worker.send({"code": "return 5", **limits, "settings": settings})
        with anyio.fail_after(60):
            assert (await worker.receive())["output"] == "5"
    finally:
        await worker.close()


async def test_123_a_stuck_worker_is_killed(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrubjay.features.sandbox.service.GRACE_SECONDS", 0.2)
    limits = LIMITS.__class__(max_execution_time_ms=200, max_memory_mb=32, max_cpu_percent=100)
    async with sandbox_in(own, slots=1) as sandbox:
        await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools())
        (before,) = workers_of(own)
        os.kill(before, signal.SIGSTOP)
        with anyio.fail_after(30):
            outcome = await sandbox.run(SandboxProgram("return 1", "", None), limits, NoTools())
        assert type(outcome).__name__ == "RunTimeout"
        assert before not in workers_of(own)
        assert isinstance(await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools()), RunSuccess)


async def test_idle_workers_are_ended(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrubjay.features.sandbox.pool.IDLE_SECONDS", 0.05)
    async with sandbox_in(own, slots=1) as sandbox:
        assert isinstance(await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools()), RunSuccess)
        await until(lambda: not workers_of(own))
        assert isinstance(await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools()), RunSuccess)


async def test_a_worker_that_cannot_start_is_reported_as_unavailable(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PROGRAM", ("-I", "-m", "scrubjay.features.sandbox.nothing"))
    async with sandbox_in(own) as sandbox:
        with pytest.raises(Unavailable, match=r"(?s)the sandbox does not start.*No module named"):
            await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools())
        assert sandbox.pool.busy == 0


async def test_124_workers_are_confined_on_this_machine(sandbox: Sandbox) -> None:
    await sandbox.run(SandboxProgram("return 1", "", None), LIMITS, NoTools())
    assert sandbox.seccomp is True
    assert sandbox.landlock
