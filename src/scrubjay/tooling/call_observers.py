"""Who is told of calls while they run."""

from collections.abc import Mapping
from typing import Any, Protocol

import anyio
from pydantic import BaseModel

from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Tool


class CallUnderWay(Protocol):
    """One call that somebody observes."""

    @property
    def scope(self) -> anyio.CancelScope:
        """Cancelling it stops the call, whose caller then gets `Cancelled`."""
        ...

    def ends(self, outcome: BaseModel | str, milliseconds: float) -> None:
        """Told once, when nothing of it goes on any more: the answer, or what went wrong."""
        ...


class Observer(Protocol):
    """Hears of each call that is let in. Must neither wait nor fail."""

    def begins(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> CallUnderWay: ...


class CallRecorder(Protocol):
    """Records calls that have ended. Must neither wait nor fail."""

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
        """Record a call that has just ended, with its answer or the text of its error.

        `brings`: the arguments may hold text that became memories. `fleeting`: record only that it was called, because
        its contents expire everywhere else. `quotes`: do not record the answer, which has words of memories that it
        does not name.
        """
        ...
