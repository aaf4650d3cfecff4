"""Record the tool calls of clients: buffered in memory, written in batches to the history of their sessions."""

import logging
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
from pydantic import BaseModel

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.error_location import error_fields
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.sessions.store import SessionStore
from scrubjay.tooling.call_excerpts import excerpt_of
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import CallEnded

logger = logging.getLogger("scrubjay.calls")

FLUSH_SECONDS = 5.0
FLUSH_CALLS = 200
# Buffered calls; further ones are dropped, so that a store that cannot be written does not exhaust memory.
MAX_PENDING = 10_000


class _PendingCall(NamedTuple):
    client: str
    tool: str
    arguments: Mapping[str, Any]
    outcome: BaseModel | str
    """The result, or the error message."""
    milliseconds: float
    ended_at: datetime
    is_write: bool
    log_payload: bool
    log_result: bool


class CallRecorder:
    """Records calls without delaying them: excerpts are made and written later, the former in a worker thread.

    The calls of the last seconds are lost when the process is killed; that is accepted to avoid a write per call.
    """

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._pending: list[_PendingCall] = []
        self._dropped = 0
        self._has_calls = anyio.Event()
        self._batch_full = anyio.Event()
        self._writing = anyio.Lock()

    def subscribe(self, events: EventBus) -> None:
        """Record every published call whose client is known."""
        events.subscribe(CallEnded, self._call_ended)

    def _call_ended(self, event: CallEnded) -> None:
        tool, client = event.tool, event.context.client
        if tool is not None and client is not None:
            self.record(
                client,
                tool.name,
                event.arguments,
                event.result,
                event.milliseconds,
                ended_ago=timedelta(seconds=max(0.0, time.time() - event.time)),
                is_write=not tool.read_only,
                log_payload=tool.log_payload,
                log_result=tool.log_result,
            )

    def record(
        self,
        client: str,
        tool: str,
        arguments: Mapping[str, Any],
        outcome: BaseModel | str,
        milliseconds: float,
        *,
        ended_ago: timedelta = timedelta(0),
        is_write: bool = True,
        log_payload: bool = True,
        log_result: bool = True,
    ) -> None:
        """Record a call that ended `ended_ago` before now, with its result or its error.

        `is_write` says that the arguments may contain text that became a memory. Without `log_payload`, neither
        arguments nor result are stored; without `log_result`, the result is not stored, because it quotes memories
        without their ids.
        """
        if len(self._pending) >= MAX_PENDING:
            self._dropped += 1
            return
        self._pending.append(
            _PendingCall(
                client,
                tool,
                arguments,
                outcome,
                milliseconds,
                self._clock() - ended_ago,
                is_write,
                log_payload,
                log_result,
            )
        )
        self._has_calls.set()
        if len(self._pending) >= FLUSH_CALLS:
            self._batch_full.set()

    async def wait_until_due(self) -> None:
        """Wait until a flush is due: `FLUSH_SECONDS` after the first call, or at `FLUSH_CALLS` calls."""
        await self._has_calls.wait()
        with anyio.move_on_after(FLUSH_SECONDS):
            await self._batch_full.wait()

    async def flush(self, store: SessionStore, default_project_id: str | None) -> None:
        """Write the buffered calls; after a failed write they stay buffered.

        A write completes even when its caller is cancelled, so nothing is put back in that case.
        """
        async with self._writing:
            taken = len(self._pending)
            if not taken:
                return
            self._has_calls, self._batch_full = anyio.Event(), anyio.Event()
            calls = await anyio.to_thread.run_sync(
                lambda pending: [_client_call(one) for one in pending], self._pending[:taken]
            )
            waiting, self._pending = self._pending[:taken], self._pending[taken:]
            try:
                await store.add_calls(calls, default_project_id)
            except Exception:
                self._pending = waiting + self._pending
                self._has_calls.set()
                raise
        if self._dropped:
            logger.warning("calls were dropped from the history", extra={"calls": self._dropped})
            self._dropped = 0


def _client_call(pending: _PendingCall) -> ClientCall:
    """Return the call as it is stored, with masked and shortened contents."""
    try:
        arguments, result, memory_ids = excerpt_of(
            pending.arguments,
            pending.outcome,
            brings=pending.is_write,
            log_payload=pending.log_payload,
            log_result=pending.log_result,
        )
    except Exception as error:  # a bug: store the call without contents, and log the error
        logger.error("could not make an excerpt of a call", extra={"tool": pending.tool, **error_fields(error)})
        arguments, result, memory_ids = {}, "", frozenset[str]()
    call = ToolCall(
        tool=pending.tool,
        arguments=arguments,
        result=result,
        success=isinstance(pending.outcome, BaseModel),
        milliseconds=pending.milliseconds,
        called_at=pending.ended_at - timedelta(milliseconds=pending.milliseconds),
    )
    return ClientCall(pending.client, call, memory_ids)
