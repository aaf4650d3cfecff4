"""The one way to call a tool: check the caller and the arguments, inject services, publish how the call ended."""

import logging
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import anyio
from pydantic import BaseModel

from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import Cancelled, Forbidden, Internal, NotFound, ScrubjayError, error_from_record
from scrubjay.core.progress import Reporter
from scrubjay.core.request_context import RequestScope
from scrubjay.db.damage_report import collect_damage
from scrubjay.tooling.call_excerpts import memory_ids_in
from scrubjay.tooling.call_stats import CallStats
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Tool
from scrubjay.tooling.degraded import with_notice
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import GIVEN_UP, OK, CallEnded, CallStarted
from scrubjay.tooling.job_view import job_view
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import Handler, JobRun, JobService
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.security_events import scope_error
from scrubjay.tooling.services import Services
from scrubjay.tooling.subject_ids import ids_in
from scrubjay.tooling.validation import printable, validate

logger = logging.getLogger("scrubjay.calls")

T = TypeVar("T")

_PER_CALL = (CallContext, Reporter, JobRun)


class Dispatcher:
    """Calls tools by name.

    Publishes one `CallEnded` per call, and one `CallStarted` before it unless the call is refused first. Raises
    `LookupError` for a loaded tool that needs a service which nothing provides.
    """

    def __init__(self, registry: Registry, services: Services, events: EventBus | None = None) -> None:
        """Without `events` only the process and the call statistics know of the calls."""
        self.registry = registry
        self.events = events or EventBus(PROCESS_EVENTS)
        self.stats = CallStats()
        self.stats.subscribe(self.events)
        self._services = services
        for tool in registry.loaded:
            self.check_services_of(tool)

    def check_services_of(self, tool: Tool) -> None:
        for parameter, kind in tool.injected.items():
            if kind not in _PER_CALL and kind not in self._services:
                raise LookupError(f"{tool.name} needs a {kind.__name__} for {parameter!r}, which is not provided")

    async def call(self, name: str, arguments: Mapping[str, Any], context: CallContext) -> BaseModel:
        """Return the tool's answer; raise nothing but `ScrubjayError`."""
        call = _ToolCall(name, arguments, context)
        with RequestScope(context.request_id, context.traceparent):
            try:
                call.answer = await self._perform(call)
                call.outcome = call.problem = OK
                return call.answer
            except ScrubjayError as error:
                call.outcome, call.problem = error.code, f"{error.code}: {error.message}"
                raise
            except Exception as error:  # a bug: the caller gets a typed error, the log gets the place
                call.outcome = call.problem = "internal"
                raise _unexpected(error, name, context) from error
            finally:
                self.events.publish(call.ended())

    async def _perform(self, call: "_ToolCall") -> BaseModel:
        tool = call.tool = self.registry.get(call.name)
        missing = tool.missing_scope(call.context.caller, read_only=tool.only_reads(call.arguments))
        if missing is not None:
            raise _forbidden(tool, missing, call.context)
        call.started = CallStarted(tool=tool, arguments=call.arguments, context=call.context, time=call.started_at)
        self.events.publish(call.started)
        request = validate(tool, call.arguments)
        call.accepted = True
        work = (self._call_as_job if tool.runs_as_job else self._run)(tool, request, call.context)
        return await (work if call.started.scope is None else _run_cancellable(work, call.started.scope))

    async def start_unless_recent(self, name: str, context: CallContext, *, minimum_interval: float) -> Job | None:
        """Start a job tool unless any process runs it or started it within `minimum_interval` seconds."""
        jobs = await self._services.get(JobService)
        payload = {"arguments": {}, "context": context.kept()}
        return await jobs.start_unless_recent(self.registry.get(name).name, payload, minimum_interval=minimum_interval)

    async def service(self, kind: type[T]) -> T:
        """Return a service that a declaration names by its type."""
        return await self._services.get(kind)

    def job_handlers(self) -> Mapping[str, Handler]:
        """Return a handler per tool, also for jobs that another process started.

        Includes tools that never run as jobs: finding out which do would load all tools.
        """
        return {name: partial(self._handle, name) for name in self.registry.names}

    async def _run(self, tool: Tool, request: Request, context: CallContext, run: JobRun | None = None) -> BaseModel:
        arguments: dict[str, Any] = {}
        for parameter, kind in tool.injected.items():
            if kind is CallContext:
                arguments[parameter] = context
            elif kind is Reporter:
                arguments[parameter] = context.reporter
            elif kind is JobRun:
                arguments[parameter] = run
            else:
                arguments[parameter] = await self._services.get(kind)
        with collect_damage() as damage:
            try:
                answer = await tool.function(request, **arguments)
            except NotFound as error:
                if damage:  # a damaged row may be what was looked for
                    raise damage.error(error.message) from error
                raise
            except ScrubjayError:
                raise
            except Exception as error:
                if damage:
                    logger.warning("a tool failed on damaged rows", extra={"tool": tool.name, **error_fields(error)})
                    raise damage.error(f"{tool.name} failed") from error
                raise
        return with_notice(answer, damage.notice())

    async def _call_as_job(self, tool: Tool, request: Request, context: CallContext) -> BaseModel:
        jobs = await self._services.get(JobService)
        payload = {"arguments": request.model_dump(mode="json", exclude_unset=True), "context": context.kept()}
        job = await jobs.start(tool.name, payload)
        try:
            job = await jobs.wait(job.id, context.patience, context.reporter)
        except BaseException:  # the caller stopped waiting: the result is not needed any more
            with anyio.CancelScope(shield=True):
                # A caller without a timeout also waits until the job has stopped.
                await jobs.cancel(job.id, patience=None if context.patience is None else 0)
            raise
        return _answer(tool, job)

    async def _handle(self, name: str, run: JobRun) -> Mapping[str, Any]:
        tool = self.registry.get(name)
        request = validate(tool, run.payload["arguments"])
        context = replace(CallContext.from_kept(run.payload["context"]), reporter=run)
        result = (await self._run(tool, request, context, run)).model_dump(mode="json")
        if not tool.destructive:  # its result names the erased memories but does not quote them
            run.memory_ids = memory_ids_in(result)
        return result


@dataclass(slots=True)
class _ToolCall:
    """The state of a running call."""

    name: str
    arguments: Mapping[str, Any]
    context: CallContext
    tool: Tool | None = None
    started: CallStarted | None = None
    accepted: bool = False
    answer: BaseModel | None = None
    outcome: str = GIVEN_UP
    problem: str = GIVEN_UP
    started_at: float = field(default_factory=time.time)
    _clock: float = field(default_factory=time.perf_counter)

    def ended(self) -> CallEnded:
        tool, seconds = self.tool, time.perf_counter() - self._clock
        return CallEnded(
            name=printable(self.name),
            tool=tool,
            arguments=self.arguments,
            context=self.context,
            started=self.started,
            accepted=self.accepted,
            outcome=self.outcome,
            problem=self.problem,
            answer=self.answer,
            milliseconds=round(seconds * 1000, 2),
            ids=() if tool is None or tool.read_only else ids_in(self.arguments),
            time=self.started_at + seconds,
        )


async def _run_cancellable(work: Awaitable[BaseModel], scope: anyio.CancelScope) -> BaseModel:
    """Return the answer; raise `Cancelled` when the scope is cancelled."""
    with scope:
        return await work
    raise Cancelled("the call was stopped by its client", hint="call it again")


def _unexpected(error: Exception, name: str, context: CallContext) -> Internal:
    """Log where the bug is, and return the error for the caller."""
    logger.error(
        "a tool failed unexpectedly", extra={"tool": name, "request_id": context.request_id, **error_fields(error)}
    )
    return Internal(
        f"{printable(name)} failed unexpectedly ({type(error).__name__})",
        hint=f"this is a bug; the log has the details under request {context.request_id}",
        details={"request_id": context.request_id},
    )


def _forbidden(tool: Tool, missing: tuple[str, bool], context: CallContext) -> Forbidden:
    fields = {"tool": tool.name, "surface": context.surface, **context.who}
    family, read_only = missing
    error = scope_error(context.caller, family, read_only=read_only, what=tool.name, **fields)
    error.details = {"tool": tool.name, **error.details}
    return error


def _answer(tool: Tool, job: Job) -> BaseModel:
    if job.state is JobState.FAILED and job.error:
        error = error_from_record(job.error)
        error.details = {**error.details, "job_id": job.id}
        raise error
    return tool.answer.model_validate(job_view(job).model_dump(mode="json"))
