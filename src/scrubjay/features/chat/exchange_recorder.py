"""Store chat exchanges in the background, and finish pending writes before the server stops."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from scrubjay.core.errors import ScrubjayError
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

logger = logging.getLogger("scrubjay.features.chat")

# Limit of each part of a turn.
MAX_PART_CHARACTERS = 30_000
# Limit of a memory's content.
_MAX_NOTE_CHARACTERS = 100_000
# Exchanges that wait to be written; further ones are dropped so that a stuck store cannot exhaust memory.
MAX_PENDING = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A prompt and its answer."""

    prompt: str
    answer: str
    session_id: str | None
    context: CallContext


ArgumentBuilder = Callable[[Exchange], dict[str, Any]]
"""Returns the arguments of the tool that stores an exchange."""


def turn_arguments(exchange: Exchange) -> dict[str, Any]:
    """Return arguments that store an exchange as a turn of its session, which `recall` can find."""
    arguments = {"prompt": _storable(exchange.prompt), "thought": "", "response": _storable(exchange.answer)}
    return arguments if exchange.session_id is None else {**arguments, "sessionId": exchange.session_id}


CHAT_TAG: Final = "chat"


def notes_session_id(session_id: str) -> str:
    """Return the session that holds the notes of a session, so that recall in the session does not find them."""
    return f"notes:{session_id}"


def note_arguments(exchange: Exchange) -> dict[str, Any]:
    """Return arguments that store an exchange as a note that recall does not find.

    An answer composed from memories must not be recalled as another memory.
    """
    prompt, answer = _storable(exchange.prompt), _storable(exchange.answer)
    return {
        "content": f"{prompt}\n\n{answer}"[:_MAX_NOTE_CHARACTERS],
        "scope": "session",
        "session_id": notes_session_id(exchange.session_id or ""),
        "tags": [CHAT_TAG],
        "metadata": {"prompt": prompt, "response": answer},
    }


class ExchangeRecorder:
    """Stores each exchange in its own task, so that no answer waits for the write."""

    def __init__(self, dispatcher: Dispatcher, tool: str, arguments: ArgumentBuilder = turn_arguments) -> None:
        self._dispatcher = dispatcher
        self._tool = tool
        self._arguments = arguments
        self._writing: set[asyncio.Task[bool]] = set()

    def may_record(self, context: CallContext) -> bool:
        """Return True when the caller may use the storing tool."""
        tool = self._dispatcher.registry.get(self._tool)
        return tool.missing_scope(context.caller, read_only=False) is None

    def start_recording(self, exchange: Exchange) -> asyncio.Task[bool] | None:
        """Start a task that stores an exchange; its result is True when stored. None above `MAX_PENDING` writes."""
        if len(self._writing) >= MAX_PENDING:
            logger.warning("an exchange was not stored: too many writes are pending")
            return None
        task = asyncio.create_task(self._write(exchange))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return task

    async def record(self, exchange: Exchange) -> bool:
        """Store an exchange and return True when it is stored. Cancelling the caller does not stop the write."""
        task = self.start_recording(exchange)
        if task is None:
            return False
        await asyncio.wait({task})
        return task.result()

    async def drain(self) -> None:
        """Wait until all pending writes are done."""
        while self._writing:
            await asyncio.wait(self._writing)

    async def _write(self, exchange: Exchange) -> bool:
        try:
            await self._dispatcher.call(self._tool, self._arguments(exchange), exchange.context)
        except ScrubjayError as error:
            logger.warning("an exchange was not stored", extra={"problem": error.message})
            return False
        return True


def _storable(text: str) -> str:
    """Return text that a store accepts. Surrogate halves that came in separate chunks become one character."""
    return text.replace("\0", " ").encode("utf-16", "surrogatepass").decode("utf-16", "replace")[:MAX_PART_CHARACTERS]
