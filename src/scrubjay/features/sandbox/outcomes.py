"""Outcomes of runs, and their statistics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ErrorType = Literal["Syntax", "Runtime", "Permission", "Resource", "Unknown"]
ViolationType = Literal[
    "FileSystemAccess", "NetworkAccess", "ProcessExecution", "MemoryLimit", "InfiniteLoop", "MaliciousCode"
]


@dataclass(frozen=True, slots=True)
class Denial:
    """An access that a program attempted and the sandbox denied."""

    kind: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUsage:
    """Time and memory that a run used, and the accesses that it was denied."""

    elapsed_ms: int = 0
    cpu_ms: float = 0.0
    memory_bytes: int = 0
    denied: Sequence[Denial] = ()
    truncated: bool = False
    """True if the program printed more than the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSuccess:
    output: str
    """The returned value as JSON; empty if nothing was returned."""
    stdout: str
    stderr: str
    usage: ResourceUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailure:
    message: str
    error_type: ErrorType
    stdout: str
    stderr: str
    usage: ResourceUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimeout:
    partial_output: str | None
    """The output up to the timeout."""
    usage: ResourceUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunViolation:
    reason: str
    violation_type: ViolationType
    usage: ResourceUsage


RunOutcome = RunSuccess | RunFailure | RunTimeout | RunViolation


@dataclass(slots=True)
class RunStatistics:
    """Counts since the server started."""

    total_executions: int = 0
    successful_executions: int = 0
    failed_executions: int = 0
    """All runs without success, including timeouts and violations."""
    timeout_count: int = 0
    security_violations: int = 0
    total_ms: int = 0

    @property
    def avg_execution_time_ms(self) -> float:
        return round(self.total_ms / self.total_executions, 2) if self.total_executions else 0.0

    def count(self, outcome: RunOutcome) -> None:
        self.total_executions += 1
        self.total_ms += outcome.usage.elapsed_ms
        self.successful_executions += isinstance(outcome, RunSuccess)
        self.failed_executions += not isinstance(outcome, RunSuccess)
        self.timeout_count += isinstance(outcome, RunTimeout)
        self.security_violations += isinstance(outcome, RunViolation)
