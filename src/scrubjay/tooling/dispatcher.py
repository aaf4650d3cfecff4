"""The one way to call a tool: validate, inject, time, count, log, and translate what goes wrong."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
from pydantic import BaseModel

from scrubjay.core.error_location import place_of
from scrubjay.core.errors import Cancelled, Forbidden, Internal, ScrubjayError, error_from_record
from scrubjay.core.progress import Reporter
from scrubjay.core.request_context import tracking
from scrubjay.tooling.call_excerpts import memory_ids_in
from scrubjay.tooling.call_observers import CallRecorder, CallUnderWay, Observer
from scrubjay.tooling.call_stats import CallTally
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Tool
from scrubjay.tooling.job_view import job_view
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.service import Handler, JobRun, JobService
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.remote_tools import ForeignAnswer
from scrubjay.tooling.security_events import closed
from scrubjay.tooling.services import Services
from scrubjay.tooling.subject_ids import ids_in
from scrubjay.tooling.usage.counter import UsageCounter
from scrubjay.tooling.validation import accept, printable

logger = logging.getLogger("scrubjay.calls")

_OF_THE_CALL = (CallContext, Reporter, JobRun)


Spans = Callable[[str, CallContext], AbstractContextManager[object]]
"""What a call of this tool happens inside of; it sees how the call ends."""

NO_TOOL = "unknown"
"""What stands for a name that no tool has: such names are the caller's, and there is no end of them."""


class Dispatcher:
    """Calls tools by name. Refuses a tool that asks for a service which nobody provides: when it is made, if it can."""

    def __init__(
        self,
        registry: Registry,
        services: Services,
        usage: UsageCounter,
        history: CallRecorder | None = None,
        spans: Spans | None = None,
    ) -> None:
        """Without a history nothing is kept of what clients call; with spans, each call is inside of one."""
        self.registry = registry
        self._services = services
        self._usage = usage
        self._history = history
        self._spans = spans
        self.tally = CallTally()
        self.observer: Observer | None = None
        """Who is told of each call while it runs, if anybody is."""
        for tool in registry.loaded:
            self.check_services_of(tool)

    def check_services_of(self, tool: Tool) -> None:
        for parameter, kind in tool.injected.items():
            if kind not in _OF_THE_CALL and kind not in self._services:
                raise LookupError(f"{tool.name} needs a {kind.__name__} for {parameter!r}, and nobody provides one")

    async def call(self, name: str, arguments: Mapping[str, Any], context: CallContext) -> BaseModel:
        """The tool's answer, or a `ScrubjayError`; nothing else ever comes out."""
        with tracking(context.request_id, context.traceparent):
            if self._spans is None:
                return await self._call(name, arguments, context)
            with self._spans(name if name in self.registry else NO_TOOL, context):
                return await self._call(name, arguments, context)

    async def _call(self, name: str, arguments: Mapping[str, Any], context: CallContext) -> BaseModel:
        started = time.perf_counter()
        self.tally.begins()
        tool: Tool | None = None
        answer: BaseModel | None = None
        outcome = problem = "given up"  # unless something else comes of it
        observed: CallUnderWay | None = None
        try:
            tool = self.registry.get(name)
            if not context.caller.may_call(tool.family, read_only=tool.only_reads(arguments)):
                raise _closed(tool, context)
            observed = self.observer.begins(tool, arguments, context) if self.observer is not None else None
            request = accept(tool, arguments)
            self._usage.count(name)
            work = self._call_as_job if tool.runs_as_job else self._run
            call = work(tool, request, context)
            answer = await (call if observed is None else _unless_stopped(call, observed))
            outcome = "ok"
            return answer
        except ScrubjayError as error:
            outcome, problem = error.code, f"{error.code}: {error.message}"
            raise
        except Exception as error:  # a bug: the caller gets a typed answer, the log gets the truth
            outcome = problem = "internal"
            place = {"tool": name, "request_id": context.request_id, **place_of(error)}
            logger.error("a tool broke", extra=place)
            raise Internal(
                f"{printable(name)} failed unexpectedly ({type(error).__name__})",
                hint=f"this is a bug; the log has the details under request {context.request_id}",
                details={"request_id": context.request_id},
            ) from error
        finally:
            milliseconds = round((time.perf_counter() - started) * 1000, 2)
            self.tally.ends(NO_TOOL if tool is None else tool.name, milliseconds, succeeded=outcome == "ok")
            told: dict[str, Any] = {
                "tool": printable(name),
                "surface": context.surface,
                "outcome": outcome,
                "ms": milliseconds,
            }
            if tool is not None and not tool.read_only and (touched := ids_in(arguments)):
                told["ids"] = touched
            logger.info("call", extra={**told, **context.who})
            if self._history is not None and tool is not None and context.client is not None:
                ended_with = problem if answer is None else _told(answer)
                self._history.note(
                    context.client,
                    tool.name,
                    arguments,
                    ended_with,
                    milliseconds,
                    brings=not tool.read_only,
                    fleeting=tool.fleeting,
                    quotes=tool.quotes,
                )
            if observed is not None:
                observed.ends(problem if answer is None else _told(answer), milliseconds)

    async def start_alone(self, name: str, context: CallContext, *, quiet_seconds: float) -> Job | None:
        """Begin a job tool without arguments, unless any process is at it or began it so short a time ago."""
        jobs = await self._services.get(JobService)
        payload = {"arguments": {}, "context": context.kept()}
        return await jobs.start_alone(self.registry.get(name).name, payload, quiet_seconds=quiet_seconds)

    def job_handlers(self) -> Mapping[str, Handler]:
        """How each tool is run as a job, also when another process began it.

        Only those that run as jobs ever are, but to know which these are would need loading all.
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
        return await tool.function(request, **arguments)

    async def _call_as_job(self, tool: Tool, request: Request, context: CallContext) -> BaseModel:
        jobs = await self._services.get(JobService)
        payload = {"arguments": request.model_dump(mode="json", exclude_unset=True), "context": context.kept()}
        job = await jobs.start(tool.name, payload)
        try:
            job = await jobs.wait(job.id, context.patience, context.reporter)
        except BaseException:  # the caller gave up while it waited: nobody wants the result any more
            with anyio.CancelScope(shield=True):
                # Who would have waited until the end also waits until it has stopped.
                await jobs.cancel(job.id, patience=None if context.patience is None else 0)
            raise
        return _answer(tool, job)

    async def _handle(self, name: str, run: JobRun) -> Mapping[str, Any]:
        tool = self.registry.get(name)
        request = accept(tool, run.payload["arguments"])
        context = replace(CallContext(**run.payload["context"]), reporter=run)
        result = (await self._run(tool, request, context, run)).model_dump(mode="json")
        if not tool.destructive:  # which names what it erased, and has none of its words
            run.tells_of = memory_ids_in(result)
        return result


async def _unless_stopped(call: Awaitable[BaseModel], observed: CallUnderWay) -> BaseModel:
    """The answer; `Cancelled` when whoever observes the call stops it."""
    with observed.scope:
        return await call
    raise Cancelled("the call was stopped by its client", hint="call it again")


def _told(answer: BaseModel) -> BaseModel | str:
    """The answer for the history, in which one that tells of a failure is a failure."""
    return answer.model_dump_json() if isinstance(answer, ForeignAnswer) and answer.is_error else answer


def _closed(tool: Tool, context: CallContext) -> Forbidden:
    told = {"tool": tool.name, "surface": context.surface, **context.who}
    error = closed(context.caller, tool.family, read_only=tool.read_only, what=tool.name, **told)
    error.details = {"tool": tool.name, **error.details}
    return error


def _answer(tool: Tool, job: Job) -> BaseModel:
    if job.state is JobState.FAILED and job.error:
        error = error_from_record(job.error)
        error.details = {**error.details, "job_id": job.id}
        raise error
    return tool.answer.model_validate(job_view(job).model_dump(mode="json"))
