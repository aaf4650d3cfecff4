"""What clients call, gathered in memory and kept from time to time in the history of their sessions."""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
from pydantic import BaseModel

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.error_location import place_of
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.sessions.store import SessionStore
from scrubjay.tooling.call_excerpts import excerpt_of
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import CallEnded

logger = logging.getLogger("scrubjay.calls")

KEEP_SECONDS = 5.0
KEEP_AT_ONCE = 200
# When nothing can be written, older calls are kept and newer ones given up: memory is not for what nobody reads.
MOST_WAITING = 10_000


class _Noted(NamedTuple):
    client: str
    tool: str
    arguments: Mapping[str, Any]
    outcome: BaseModel | str
    """The answer, or what went wrong."""
    milliseconds: float
    ended_at: datetime
    brings: bool
    fleeting: bool
    quotes: bool


class CallHistory:
    """Notes calls without making any of them wait: what is written of them is made ready later, on another thread.

    What was noted last is lost when the process is killed: it is worth less than a write for each call.
    """

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._noted: list[_Noted] = []
        self._given_up = 0
        self._some = anyio.Event()
        self._many = anyio.Event()
        self._writing = anyio.Lock()

    def subscribe(self, events: EventBus) -> None:
        """Record every published call whose client is known."""
        events.subscribe(CallEnded, self._call_ended)

    def _call_ended(self, event: CallEnded) -> None:
        tool, client = event.tool, event.context.client
        if tool is not None and client is not None:
            self.note(
                client,
                tool.name,
                event.arguments,
                event.result,
                event.milliseconds,
                brings=not tool.read_only,
                fleeting=tool.fleeting,
                quotes=tool.quotes,
            )

    def note(
        self,
        client: str,
        tool: str,
        arguments: Mapping[str, Any],
        outcome: BaseModel | str,
        milliseconds: float,
        *,
        brings: bool = True,
        fleeting: bool = False,
        quotes: bool = False,
    ) -> None:
        """Remember a call that has just ended, with its answer or with what went wrong.

        `brings` is whether its arguments may hold what became memories; those of a question hold none. Of what is
        `fleeting` only that it was called is kept: its contents will be gone when they are gone everywhere else. An
        answer that `quotes` is not kept: it has words of memories that it does not name.
        """
        if len(self._noted) >= MOST_WAITING:
            self._given_up += 1
            return
        self._noted.append(
            _Noted(client, tool, arguments, outcome, milliseconds, self._clock(), brings, fleeting, quotes)
        )
        self._some.set()
        if len(self._noted) >= KEEP_AT_ONCE:
            self._many.set()

    async def due(self) -> None:
        """Wait until there is something to write: a while after the first call, or when there are many."""
        await self._some.wait()
        with anyio.move_on_after(KEEP_SECONDS):
            await self._many.wait()

    async def flush(self, store: SessionStore, default_project_id: str | None) -> None:
        """Keep what was noted since the last time; what cannot be kept now is kept next time.

        A write whose caller is cancelled is done all the same, so nothing is put back then.
        """
        async with self._writing:
            taken = len(self._noted)
            if not taken:
                return
            self._some, self._many = anyio.Event(), anyio.Event()
            calls = await anyio.to_thread.run_sync(lambda noted: [_written(one) for one in noted], self._noted[:taken])
            waiting, self._noted = self._noted[:taken], self._noted[taken:]
            try:
                await store.keep(calls, default_project_id)
            except Exception:
                self._noted = waiting + self._noted
                self._some.set()
                raise
        if self._given_up:
            logger.warning("calls are missing in the history", extra={"calls": self._given_up})
            self._given_up = 0


def _written(noted: _Noted) -> ClientCall:
    """The call as it is kept."""
    try:
        arguments, result, memory_ids = excerpt_of(
            noted.arguments, noted.outcome, brings=noted.brings, fleeting=noted.fleeting, quotes=noted.quotes
        )
    except Exception as error:  # a bug: the call is in the history all the same, and the log has the truth
        logger.error("a call could not be told", extra={"tool": noted.tool, **place_of(error)})
        arguments, result, memory_ids = {}, "", frozenset[str]()
    call = ToolCall(
        tool=noted.tool,
        arguments=arguments,
        result=result,
        success=isinstance(noted.outcome, BaseModel),
        milliseconds=noted.milliseconds,
        called_at=noted.ended_at - timedelta(milliseconds=noted.milliseconds),
    )
    return ClientCall(noted.client, call, memory_ids)
