"""One call of a tool from the command line: how it is waited for, and how Ctrl-C ends it."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
from pydantic import BaseModel

from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.cli.errors import INTERRUPTED, Interrupted
from scrubjay.servers.cli.progress import ProgressDisplay, progress_display
from scrubjay.servers.cli.terminal import decorated
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher

Opened = Callable[[], AbstractAsyncContextManager[Dispatcher]]
"""Opens everything that a call needs, for as long as the call lasts."""


def call_tool(
    opened: Opened, tool: Tool, arguments: Mapping[str, Any], display: ProgressDisplay | None = None
) -> BaseModel:
    """The tool's answer. Ctrl-C asks the work to stop and waits until it has; a second one leaves at once."""
    display = display or progress_display(tool.name)
    interrupts = _Interrupts()
    try:
        with interrupts:
            return anyio.run(_call, opened, tool, arguments, display, interrupts)
    finally:
        display.close()


async def _call(
    opened: Opened, tool: Tool, arguments: Mapping[str, Any], display: ProgressDisplay, interrupts: "_Interrupts"
) -> BaseModel:
    answer: BaseModel | None = None
    failure: ScrubjayError | None = None
    scope = anyio.CancelScope()

    def stop() -> None:
        if tool.runs_as_job:
            display.say(f"stopping {tool.name}; press Ctrl-C again to leave at once")
        scope.cancel()

    interrupts.direct_to(stop)
    async with opened() as dispatcher:
        with scope:
            try:
                answer = await dispatcher.call(tool.name, arguments, _context(display))
            # Kept until everything is closed: a task group of the opened parts would wrap it in a group of errors.
            except ScrubjayError as error:
                failure = error
    if failure is not None:
        raise failure
    if answer is None:
        raise Interrupted(f"{tool.name} was interrupted, and has stopped")
    return answer


def _context(display: ProgressDisplay) -> CallContext:
    try:
        directory = str(Path.cwd())
    except FileNotFoundError:  # it was deleted while the shell stood in it
        return CallContext(surface="cli", reporter=display)
    return CallContext(surface="cli", client=f"cli:{directory}", working_directory=directory, reporter=display)


class _Interrupts:
    """What Ctrl-C does while a call runs: ask first, then leave."""

    def __init__(self) -> None:
        self._asked = False
        self._stop: Callable[[], object] | None = None
        self._previous: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._interrupted)

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def direct_to(self, stop: Callable[[], None]) -> None:
        """Have the first Ctrl-C run this in the event loop, also one that came before the loop did."""
        self._stop = partial(asyncio.get_running_loop().call_soon_threadsafe, stop)
        if self._asked:
            self._stop()

    def _interrupted(self, signum: int, frame: FrameType | None) -> None:
        if self._asked:
            _leave()
        self._asked = True
        if self._stop is not None:
            with suppress(RuntimeError):  # the loop has just closed: there is nothing left to stop
                self._stop()


def _leave() -> None:
    """End the process now. Nothing kept is lost by that; the job is taken up or cancelled by the next process."""
    if decorated(sys.stderr):
        os.write(2, b"\x1b[?25h\n")  # the progress bar hides the cursor
    os._exit(INTERRUPTED)
