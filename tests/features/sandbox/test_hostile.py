"""No program harms the server, and each ends with a typed result. Numbers are rows of the feature table."""

import anyio
import pytest

from scrubjay.features.sandbox.outcomes import Failure, Outcome, Success, Timeout, Violation
from scrubjay.features.sandbox.profiles import Limits
from scrubjay.features.sandbox.service import MOST_CONSOLE_CHARACTERS, Program, Sandbox
from tests.features.sandbox.conftest import NoTools
from tests.features.sandbox.hostile import HOSTILE

SMALL = Limits(max_execution_time_ms=600, max_memory_mb=32, max_cpu_percent=100)


def told(outcome: Outcome) -> str:
    match outcome:
        case Success() | Timeout():
            return type(outcome).__name__
        case Failure(error_type=kind) | Violation(violation_type=kind):
            return kind


@pytest.mark.parametrize(("code", "expected"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
async def test_120_122_123_it_ends_with_a_typed_result_and_the_next_one_runs(
    sandbox: Sandbox, code: str, expected: str
) -> None:
    with anyio.fail_after(60):
        outcome = await sandbox.run(Program(code, "harm", None), SMALL, NoTools())
        assert told(outcome) in expected.split(), outcome
        if isinstance(outcome, Timeout):
            assert outcome.spent.cpu_ms > 0  # the worker ended it by itself, and lives
        if isinstance(outcome, Success | Failure):
            assert len(outcome.stdout) + len(outcome.stderr) <= 2 * MOST_CONSOLE_CHARACTERS
        after = await sandbox.run(Program("return 6 * 7", "go on", None), SMALL, NoTools())
    assert isinstance(after, Success)
    assert after.output == "42"


def test_there_are_many_of_them() -> None:
    assert len({name for name, _, _ in HOSTILE}) == len(HOSTILE) > 100
