"""The tool that runs several calls as one batch."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from scrubjay.core.errors import ErrorCode, InvalidRequest
from scrubjay.core.progress import SilentReporter
from scrubjay.tooling.batch import CallBatch, Mode, Operation, Outcome
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher

MAX_OPERATIONS = 100
_NOT_IN_BATCH = ("batch_execute", "call_tool")
_FAILED, _INVALID, _INTERNAL = -32000, -32602, -32603
_CODES = {ErrorCode.INVALID_REQUEST: _INVALID, ErrorCode.INTERNAL: _INTERNAL}

Name = Annotated[str, Field(min_length=1, max_length=100)]


class BatchedCall(Request):
    """A call; an argument `{"$result": ID, "pointer": "/a/0/b"}` is replaced by that part of that result."""

    id: Name = Field(description="A unique name; other operations and the results refer to it.")
    tool: Name = Field(description="The tool's name.")
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any], description="The tool's arguments.")
    depends_on: list[Name] = Field(
        default_factory=list[str],
        max_length=MAX_OPERATIONS,
        description="Ids of operations that must succeed first; those referenced by `$result` need not be listed.",
    )


class BatchExecuteRequest(Request):
    model_config = examples(
        {
            "operations": [
                {"id": "find", "tool": "recall", "arguments": {"query": "release day"}},
                {
                    "id": "history",
                    "tool": "memory_history",
                    "arguments": {"id": {"$result": "find", "pointer": "/memories/0/id"}},
                },
            ]
        }
    )

    operations: list[BatchedCall] = Field(min_length=1, max_length=MAX_OPERATIONS, description="The calls to make.")
    mode: Mode = Field(
        default=Mode.PARALLEL,
        description="parallel: independent operations run concurrently; sequential: one at a time; "
        "failfast: like parallel, but no operation starts after the first failure.",
    )
    max_parallel: int = Field(default=10, ge=1, le=50, description="Maximum number of concurrent operations.")


class BatchFailure(Result):
    """Why an operation has no result."""

    code: int = Field(description="A JSON-RPC error code.")
    message: str
    details: dict[str, Any] = Field(description="Error code and hint; `skipped` for an operation that was not called.")


class BatchedResult(Result):
    """The result of one operation."""

    id: str
    success: bool
    result: dict[str, Any] | None
    error: BatchFailure | None
    duration_ms: float


class BatchStatistics(Result):
    """Counts and durations of the batch."""

    total_operations: int
    parallel_executed: int = Field(description="Number of operations called in a parallel mode.")
    sequential_executed: int = Field(description="Number of operations called in sequential mode.")
    avg_duration_ms: float


class BatchExecuteResult(Result):
    results: list[BatchedResult] = Field(description="In the order of the operations.")
    total_duration_ms: float
    success_count: int
    failure_count: int = Field(description="Includes skipped operations.")
    stats: BatchStatistics


@tool("tools", core=False, destructive=True, log_payload=False, relays=True)  # the calls it makes are logged themselves
async def batch_execute(
    request: BatchExecuteRequest, dispatcher: Dispatcher, context: CallContext
) -> BatchExecuteResult:
    """Call several tools in one request.

    An operation starts when its dependencies have succeeded, and is skipped when one of them failed. Other operations
    are not affected by a failure. The result lists the outcome of each operation.
    """
    started = time.perf_counter()
    operations = [Operation(own.id, own.tool, own.arguments, own.depends_on) for own in request.operations]
    batch = CallBatch(operations, request.mode, request.max_parallel)

    quiet = replace(context, reporter=SilentReporter())
    called = 0

    async def call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal called
        if name in _NOT_IN_BATCH:
            raise InvalidRequest(f"{name} cannot be called in a batch", hint="call the tools directly")
        try:
            return (await dispatcher.call(name, arguments, quiet)).model_dump(mode="json", by_alias=True)
        finally:
            called += 1
            await context.reporter.report(called, len(operations), name)

    outcomes = await batch.run(call)
    results = [_result(outcome) for outcome in outcomes]
    sequential = request.mode is Mode.SEQUENTIAL
    return BatchExecuteResult(
        results=results,
        total_duration_ms=round((time.perf_counter() - started) * 1000, 2),
        success_count=sum(own.success for own in results),
        failure_count=sum(not own.success for own in results),
        stats=BatchStatistics(
            total_operations=len(results),
            parallel_executed=0 if sequential else called,
            sequential_executed=called if sequential else 0,
            avg_duration_ms=round(sum(own.duration_ms for own in results) / len(results), 2),
        ),
    )


def _result(outcome: Outcome) -> BatchedResult:
    return BatchedResult(
        id=outcome.id,
        success=outcome.succeeded,
        result=outcome.answer,
        error=_failure(outcome),
        duration_ms=outcome.milliseconds,
    )


def _failure(outcome: Outcome) -> BatchFailure | None:
    if because := outcome.skipped_because:
        message = f"skipped, because {', '.join(because)} did not succeed"
        return BatchFailure(code=_FAILED, message=message, details={"skipped": True, "because": [*because]})
    if (error := outcome.failure) is None:
        return None
    details = {"code": error.code.value, "hint": error.hint, **error.details}
    return BatchFailure(code=_CODES.get(error.code, _FAILED), message=error.message, details=details)
