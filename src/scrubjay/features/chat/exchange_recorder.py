"""Remembering exchanges beside the answers, and losing none when the server is told to stop."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from scrubjay.core.errors import ScrubjayError
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

logger = logging.getLogger("scrubjay.features.chat")

# As much as a turn can hold.
MAX_PART = 30_000
# As much as a memory can hold.
_MAX_NOTE = 100_000
# Exchanges that wait to be written; more are given up, as memory is not for what cannot be written.
MOST_WAITING = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What somebody asked and was answered."""

    prompt: str
    answer: str
    session_id: str | None
    context: CallContext


Form = Callable[[Exchange], dict[str, Any]]
"""The arguments of the tool that keeps it."""


def as_turn(exchange: Exchange) -> dict[str, Any]:
    """As a turn of its session, which is found again wherever it helps."""
    arguments = {"prompt": _kept(exchange.prompt), "thought": "", "response": _kept(exchange.answer)}
    return arguments if exchange.session_id is None else {**arguments, "sessionId": exchange.session_id}


CHAT_TAG: Final = "chat"


def note_session(session_id: str) -> str:
    """The session that has the notes of a session, so that nobody who asks in that one finds them."""
    return f"notes:{session_id}"


def as_note(exchange: Exchange) -> dict[str, Any]:
    """Out of sight of every question: what is made of memories is not to be found as one more of them."""
    prompt, answer = _kept(exchange.prompt), _kept(exchange.answer)
    return {
        "content": f"{prompt}\n\n{answer}"[:_MAX_NOTE],
        "scope": "session",
        "session_id": note_session(exchange.session_id or ""),
        "tags": [CHAT_TAG],
        "metadata": {"prompt": prompt, "response": answer},
    }


class Keeper:
    """Writes each exchange in a task of its own, so that no answer waits for it."""

    def __init__(self, dispatcher: Dispatcher, tool: str, form: Form = as_turn) -> None:
        self._dispatcher = dispatcher
        self._tool = tool
        self._form = form
        self._writing: set[asyncio.Task[bool]] = set()

    def may_keep(self, context: CallContext) -> bool:
        """Whether this caller's key opens what it takes to remember."""
        return context.caller.may_call(self._dispatcher.registry.get(self._tool).family, read_only=False)

    def keep(self, exchange: Exchange) -> asyncio.Task[bool] | None:
        """Begin to write it; who waits for the task learns whether it is kept. None when too many wait already."""
        if len(self._writing) >= MOST_WAITING:
            logger.warning("an exchange was not remembered: too many wait")
            return None
        task = asyncio.create_task(self._write(exchange))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return task

    async def kept(self, exchange: Exchange) -> bool:
        """Whether it is kept, once that is known. Who gives up waiting for it does not stop it."""
        task = self.keep(exchange)
        if task is None:
            return False
        await asyncio.wait({task})
        return task.result()

    async def finish(self) -> None:
        """Wait until all that was to be kept is written."""
        while self._writing:
            await asyncio.wait(self._writing)

    async def _write(self, exchange: Exchange) -> bool:
        try:
            await self._dispatcher.call(self._tool, self._form(exchange), exchange.context)
        except ScrubjayError as error:
            logger.warning("an exchange was not remembered", extra={"problem": error.message})
            return False
        return True


def _kept(text: str) -> str:
    """What a store can keep of it. Halves of a sign, each of which came in a piece of its own, are one again."""
    return text.replace("\0", " ").encode("utf-16", "surrogatepass").decode("utf-16", "replace")[:MAX_PART]
