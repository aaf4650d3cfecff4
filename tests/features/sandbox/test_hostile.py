"""No hostile program harms the server, and each ends with a typed outcome. Numbers are rows of the feature table."""

from dataclasses import replace

import anyio
import pytest

from scrubjay.features.sandbox.outcomes import RunFailure, RunOutcome, RunSuccess, RunTimeout, RunViolation
from scrubjay.features.sandbox.profiles import RunLimits
from scrubjay.features.sandbox.service import MAX_CONSOLE_CHARACTERS, Sandbox, SandboxProgram
from tests.features.sandbox.conftest import NoTools
from tests.features.sandbox.hostile_programs import HOSTILE

SMALL = RunLimits(max_execution_time_ms=300, max_memory_mb=32, max_cpu_percent=100)
# For programs that end by another limit, which takes longer on a busy machine.
UNHURRIED = replace(SMALL, max_execution_time_ms=30_000)


def kind_of(outcome: RunOutcome) -> str:
    match outcome:
        case RunSuccess() | RunTimeout():
            return type(outcome).__name__.removeprefix("Run")
        case RunFailure(error_type=kind) | RunViolation(violation_type=kind):
            return kind


@pytest.mark.parametrize(("code", "expected"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
async def test_120_122_123_a_hostile_program_ends_with_a_typed_outcome_and_the_next_program_runs(
    sandbox: Sandbox, code: str, expected: str
) -> None:
    kinds = expected.split()
    limits = SMALL if "Timeout" in kinds else UNHURRIED
    with anyio.fail_after(60):
        outcome = await sandbox.run(SandboxProgram(code, "harm", None), limits, NoTools())
        assert kind_of(outcome) in kinds, outcome
        if isinstance(outcome, RunTimeout):
            assert outcome.usage.cpu_ms > 0  # the worker itself ended the run and is still alive
        if isinstance(outcome, RunSuccess | RunFailure):
            assert len(outcome.stdout) + len(outcome.stderr) <= 2 * MAX_CONSOLE_CHARACTERS
        after = await sandbox.run(SandboxProgram("return 6 * 7", "go on", None), SMALL, NoTools())
    assert isinstance(after, RunSuccess)
    assert after.output == "42"


def test_there_are_more_than_a_hundred_hostile_programs() -> None:
    assert len({name for name, _, _ in HOSTILE}) == len(HOSTILE) > 100
