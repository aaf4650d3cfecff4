"""Asking programs that may not be there: each for a moment, and for no more than is worth reading."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import anyio

from scrubjay.core.errors import Unavailable
from scrubjay.core.secrets import masked
from scrubjay.features.workspace.terminal.command_policy import Permitted
from scrubjay.features.workspace.terminal.runner import Running
from scrubjay.isolation.limits import Bounds

MOST_BYTES: Final = 256 * 1024
HEARD_SECONDS: Final = 0.5
LONGEST: Final = 200


class Source(StrEnum):
    """What became of asking a program."""

    USED = "used"
    MISSING = "missing"
    FAILED = "failed"
    TOO_SLOW = "too slow"


@dataclass(slots=True)
class Asking:
    """Programs of this machine, and what became of each."""

    environment: Mapping[str, str]
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    complaints: dict[str, str] = field(default_factory=dict[str, str])
    """Of those that failed, the last line that they said."""

    async def ask(self, program: str, *arguments: str, seconds: float = 3.0) -> str | None:
        """What it says; None when it is not there, fails, or takes too long."""
        found = shutil.which(program, path=self.environment["PATH"])
        if found is None:
            self.sources[program] = Source.MISSING
            return None
        said = bytearray()
        status = None
        with anyio.move_on_after(seconds):
            try:
                status = await self._run(found, arguments, said)
            except Unavailable as error:
                said += error.message.encode()
                status = -1
        text = said.decode("utf-8", "replace")
        if status == 0:
            self.sources[program] = Source.USED
            return text
        # What answered once is of use, whatever it makes of other questions.
        if self.sources.get(program) is not Source.USED:
            self.sources[program] = Source.TOO_SLOW if status is None else Source.FAILED
        self.complaints[program] = shown(text.strip().rpartition("\n")[2])
        return None

    async def _run(self, program: str, arguments: tuple[str, ...], said: bytearray) -> int:
        def take(some: bytes) -> None:
            said.extend(some[: MOST_BYTES - len(said)])

        permitted = Permitted(program, program, arguments, self.environment, Bounds())
        running = await Running.started(permitted, "/", has_input=False)
        try:
            async with anyio.create_task_group() as listening:
                listening.start_soon(running.hear, take)
                await running.ended()
                with anyio.move_on_after(HEARD_SECONDS):
                    await running.heard_out.wait()
                listening.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await running.close()
        return running.status or 0


def shown(text: str) -> str:
    """A short text of others as it may be told: on one line, without secrets."""
    line = masked(" ".join(text[: 4 * LONGEST].split()))
    return "".join(sign if sign.isprintable() else " " for sign in line)[:LONGEST]
