"""How a run ended, and how runs have ended so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ErrorType = Literal["Syntax", "Runtime", "Permission", "Resource", "Unknown"]
ViolationType = Literal[
    "FileSystemAccess", "NetworkAccess", "ProcessExecution", "MemoryLimit", "InfiniteLoop", "MaliciousCode"
]


@dataclass(frozen=True, slots=True)
class Denial:
    """Something that a program tried and did not get."""

    kind: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run took."""

    elapsed_ms: int = 0
    cpu_ms: float = 0.0
    memory_bytes: int = 0
    denied: Sequence[Denial] = ()
    truncated: bool = False
    """Whether the program said more than is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    output: str
    """What the program returned, as JSON; empty when that was nothing."""
    stdout: str
    stderr: str
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    message: str
    error_type: ErrorType
    stdout: str
    stderr: str
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout:
    partial_output: str | None
    """What the program had said when it was ended."""
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    reason: str
    violation_type: ViolationType
    spent: Spent


Outcome = Success | Failure | Timeout | Violation


@dataclass(slots=True)
class Statistics:
    """All runs since the server began."""

    total_executions: int = 0
    successful_executions: int = 0
    failed_executions: int = 0
    """All that did not succeed, also those of the next two."""
    timeout_count: int = 0
    security_violations: int = 0
    total_ms: int = 0

    @property
    def avg_execution_time_ms(self) -> float:
        return round(self.total_ms / self.total_executions, 2) if self.total_executions else 0.0

    def count(self, outcome: Outcome) -> None:
        self.total_executions += 1
        self.total_ms += outcome.spent.elapsed_ms
        self.successful_executions += isinstance(outcome, Success)
        self.failed_executions += not isinstance(outcome, Success)
        self.timeout_count += isinstance(outcome, Timeout)
        self.security_violations += isinstance(outcome, Violation)
