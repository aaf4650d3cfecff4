"""Call a tool from the command line: wait with progress, and handle Ctrl-C."""

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
from scrubjay.servers.cli.terminal import is_terminal
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher

OpenDispatcher = Callable[[], AbstractAsyncContextManager[Dispatcher]]
"""Opens a dispatcher with everything that a call needs, and closes it after the call."""


def call_tool(
    open_dispatcher: OpenDispatcher, tool: Tool, arguments: Mapping[str, Any], display: ProgressDisplay | None = None
) -> BaseModel:
    """Call the tool and return its result. Ctrl-C cancels the call and waits; a second Ctrl-C exits immediately."""
    display = display or progress_display(tool.name)
    interrupts = _InterruptHandler()
    try:
        with interrupts:
            return anyio.run(_call, open_dispatcher, tool, arguments, display, interrupts)
    finally:
        display.close()


async def _call(
    open_dispatcher: OpenDispatcher,
    tool: Tool,
    arguments: Mapping[str, Any],
    display: ProgressDisplay,
    interrupts: "_InterruptHandler",
) -> BaseModel:
    answer: BaseModel | None = None
    failure: ScrubjayError | None = None
    scope = anyio.CancelScope()

    def stop() -> None:
        if tool.runs_as_job:
            display.write_line(f"stopping {tool.name}; press Ctrl-C again to exit immediately")
        scope.cancel()

    interrupts.set_stop(stop)
    async with open_dispatcher() as dispatcher:
        with scope:
            try:
                answer = await dispatcher.call(tool.name, arguments, _context(display))
            # Raised only after everything is closed: an open task group would wrap it in an ExceptionGroup.
            except ScrubjayError as error:
                failure = error
    if failure is not None:
        raise failure
    if answer is None:
        raise Interrupted(f"{tool.name} was interrupted and has stopped")
    return answer


def _context(display: ProgressDisplay) -> CallContext:
    try:
        directory = str(Path.cwd())
    except FileNotFoundError:  # the shell's working folder was deleted
        return CallContext(surface="cli", reporter=display)
    return CallContext(surface="cli", client=f"cli:{directory}", working_directory=directory, reporter=display)


class _InterruptHandler:
    """Handles Ctrl-C during a call: the first one stops the call, the second one exits."""

    def __init__(self) -> None:
        self._requested = False
        self._stop: Callable[[], object] | None = None
        self._previous: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._interrupted)

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def set_stop(self, stop: Callable[[], None]) -> None:
        """Run `stop` in the event loop at the first Ctrl-C, also when that came before the loop started."""
        self._stop = partial(asyncio.get_running_loop().call_soon_threadsafe, stop)
        if self._requested:
            self._stop()

    def _interrupted(self, signum: int, frame: FrameType | None) -> None:
        if self._requested:
            _exit_now()
        self._requested = True
        if self._stop is not None:
            with suppress(RuntimeError):  # the loop has just closed, so there is nothing to stop
                self._stop()


def _exit_now() -> None:
    """Exit immediately. No stored data is lost; the next process resumes or cancels the job."""
    if is_terminal(sys.stderr):
        os.write(2, b"\x1b[?25h\n")  # the progress bar hides the cursor
    os._exit(INTERRUPTED)
