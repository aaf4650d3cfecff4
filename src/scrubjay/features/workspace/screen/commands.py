"""Run helper programs that may not be installed, with limits of time and output."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import anyio

from scrubjay.core.errors import Unavailable
from scrubjay.core.secrets import masked
from scrubjay.features.workspace.terminal.permitted_command import PermittedCommand
from scrubjay.features.workspace.terminal.runner import RunningCommand
from scrubjay.isolation.limits import Bounds

MAX_BYTES: Final = 256 * 1024
DRAIN_SECONDS: Final = 0.5
MAX_CHARACTERS: Final = 200


class HelperStatus(StrEnum):
    """Whether a helper program was useful."""

    USED = "used"
    MISSING = "missing"
    FAILED = "failed"
    TOO_SLOW = "too slow"


@dataclass(slots=True)
class HelperPrograms:
    """Runs helper programs and records the status of each."""

    environment: Mapping[str, str]
    statuses: dict[str, HelperStatus] = field(default_factory=dict[str, HelperStatus])
    errors: dict[str, str] = field(default_factory=dict[str, str])
    """The last line of output of each program that failed."""

    async def run(self, program: str, *arguments: str, seconds: float = 3.0) -> str | None:
        """Return the output of a program, or None if it is missing, fails or times out."""
        found = shutil.which(program, path=self.environment["PATH"])
        if found is None:
            self.statuses[program] = HelperStatus.MISSING
            return None
        output = bytearray()
        status = None
        with anyio.move_on_after(seconds):
            try:
                status = await self._run(found, arguments, output)
            except Unavailable as error:
                output += error.message.encode()
                status = -1
        text = output.decode("utf-8", "replace")
        if status == 0:
            self.statuses[program] = HelperStatus.USED
            return text
        # A program that succeeded once stays "used", even if a later call fails.
        if self.statuses.get(program) is not HelperStatus.USED:
            self.statuses[program] = HelperStatus.TOO_SLOW if status is None else HelperStatus.FAILED
        self.errors[program] = one_line(text.strip().rpartition("\n")[2])
        return None

    async def _run(self, program: str, arguments: tuple[str, ...], output: bytearray) -> int:
        def add(chunk: bytes) -> None:
            output.extend(chunk[: MAX_BYTES - len(output)])

        permitted = PermittedCommand(program, program, arguments, self.environment, Bounds(), folder="/")
        running = await RunningCommand.start(permitted, has_input=False)
        try:
            async with anyio.create_task_group() as readers:
                readers.start_soon(running.read_output, add)
                await running.ended()
                with anyio.move_on_after(DRAIN_SECONDS):
                    await running.output_ended.wait()
                readers.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await running.close()
        return running.status or 0


def one_line(text: str) -> str:
    """Return untrusted text as one short line with secrets masked."""
    line = masked(" ".join(text[: 4 * MAX_CHARACTERS].split()))
    return "".join(character if character.isprintable() else " " for character in line)[:MAX_CHARACTERS]
