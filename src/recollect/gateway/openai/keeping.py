"""Remembering exchanges beside the answers, and losing none when the server is told to stop."""

import asyncio
import logging
from dataclasses import dataclass

from recollect.domain.errors import RecollectError
from recollect.toolkit.context import CallContext
from recollect.toolkit.dispatcher import Dispatcher

logger = logging.getLogger("recollect.openai")

# As much as a turn can hold.
MAX_PART = 30_000
# Exchanges that wait to be written; more are given up, as memory is not for what cannot be written.
MOST_WAITING = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What somebody asked and was answered."""

    prompt: str
    answer: str
    session_id: str | None
    context: CallContext


class Keeper:
    """Writes each exchange in a task of its own, so that no answer waits for it."""

    def __init__(self, dispatcher: Dispatcher, tool: str) -> None:
        self._dispatcher = dispatcher
        self._tool = tool
        self._writing: set[asyncio.Task[None]] = set()

    def may_keep(self, context: CallContext) -> bool:
        """Whether this caller's key opens what it takes to remember."""
        return context.caller.may_call(self._dispatcher.registry.get(self._tool).family, read_only=False)

    def keep(self, exchange: Exchange) -> None:
        if len(self._writing) >= MOST_WAITING:
            logger.warning("an exchange was not remembered: too many wait")
            return
        task = asyncio.create_task(self._write(exchange))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def finish(self) -> None:
        """Wait until all that was to be kept is written."""
        while self._writing:
            await asyncio.wait(self._writing)

    async def _write(self, exchange: Exchange) -> None:
        arguments = {"prompt": _kept(exchange.prompt), "thought": "", "response": _kept(exchange.answer)}
        if exchange.session_id is not None:
            arguments["sessionId"] = exchange.session_id
        try:
            await self._dispatcher.call(self._tool, arguments, exchange.context)
        except RecollectError as error:
            logger.warning("an exchange was not remembered", extra={"problem": error.message})


def _kept(text: str) -> str:
    """What a store can keep of it. Halves of a sign, each of which came in a piece of its own, are one again."""
    return text.replace("\0", " ").encode("utf-16", "surrogatepass").decode("utf-16", "replace")[:MAX_PART]
