"""Scan the screen of this machine with the helper programs that are installed."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.to_thread

from scrubjay.core.errors import Busy, Unavailable
from scrubjay.features.workspace.screen.accessibility import ScreenElement, read_elements
from scrubjay.features.workspace.screen.commands import HelperPrograms, HelperStatus, one_line
from scrubjay.features.workspace.screen.display import ScreenKind, detect_screen, kernel_release
from scrubjay.features.workspace.screen.windows import Window, list_windows
from scrubjay.features.workspace.terminal.process_list import RunningProcess, running_processes

SECONDS: Final = 15.0
ELEMENT_SECONDS: Final = 6.0
MAX_SESSIONS: Final = 20
TOP_PROCESSES: Final = 15
MAX_CHARACTERS: Final = 20_000
# Scans that run at once.
MAX_CONCURRENT: Final = 2
# Variables that helper programs need to reach a screen; no others are passed on.
VARIABLES: Final = (
    *("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"),
    *("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"),
)
_DEFAULT_PATH: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
# Prints the front application and window, then role and name of each element.
_APPLE_SCRIPT: Final = """
tell application "System Events"
    set front to first application process whose frontmost is true
    set found to "application: " & (name of front) & linefeed
    if (count of windows of front) is 0 then return found
    set target to front window of front
    set found to found & "window: " & (name of target) & linefeed
    repeat with part in (UI elements of target)
        set found to found & (role of part as text) & ": " & (name of part as text) & linefeed
    end repeat
    return found
end tell
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenScan:
    """The result of a scan."""

    kind: ScreenKind
    text: str
    windows: list[Window] = field(default_factory=list[Window])
    elements: list[ScreenElement] = field(default_factory=list[ScreenElement])
    sessions: list[str] = field(default_factory=list[str])
    processes: list[RunningProcess] = field(default_factory=list[RunningProcess])
    sources: Mapping[str, HelperStatus] = field(default_factory=dict[str, HelperStatus])
    truncated: bool = False


class ScreenScanner:
    """Scans the screen without changing anything."""

    def __init__(
        self, environment: Mapping[str, str], platform: str = sys.platform, release: str | None = None
    ) -> None:
        """Use the server's environment; `release` is the kernel release."""
        self._platform = platform
        self._release = kernel_release() if release is None else release
        self._environment = {name: environment[name] for name in VARIABLES if name in environment} | {
            "PATH": environment.get("PATH") or _DEFAULT_PATH
        }
        self._server = environment
        self._slots = anyio.CapacityLimiter(MAX_CONCURRENT)

    async def scan(self) -> ScreenScan:
        """Scan the screen. Raise `Unavailable` if it cannot be accessed, and `Busy` if the scan takes too long."""
        kind = detect_screen(self._platform, self._server, self._release)
        if kind is ScreenKind.WSL:
            raise Unavailable(
                "the screen cannot be accessed from WSL",
                hint="run the server on Windows itself, or on Linux",
                details={"reason": "wsl_not_supported"},
            )
        with anyio.move_on_after(SECONDS):
            async with self._slots:
                helpers = HelperPrograms(self._environment)
                match kind:
                    case ScreenKind.MACOS:
                        return await _front_window(helpers)
                    case ScreenKind.DISPLAY:
                        return await _display(helpers)
                    case _:
                        return await _headless(helpers, ScreenKind.HEADLESS, "This machine has no screen.")
        raise Busy(f"the scan took longer than {SECONDS:g} seconds", hint="try again")


async def _display(helpers: HelperPrograms) -> ScreenScan:
    windows, more_windows = await list_windows(helpers)
    elements, more_elements = await read_elements(helpers, ELEMENT_SECONDS)
    if not windows and not elements:
        return await _headless(helpers, ScreenKind.DISPLAY, "No windows found.")
    lines = ["Windows:", *(_window_line(one) for one in windows)]
    if elements:
        lines += ["", "Elements:", *(_element_line(one) for one in elements)]
    text, truncated = _join_lines([*lines, *_helper_lines(helpers)])
    return ScreenScan(
        kind=ScreenKind.DISPLAY,
        text=text,
        windows=windows,
        elements=elements,
        sources=helpers.statuses,
        truncated=truncated or more_windows or more_elements,
    )


async def _headless(helpers: HelperPrograms, kind: ScreenKind, reason: str) -> ScreenScan:
    """Return the logged-in users and the busiest processes."""
    output = await helpers.run("who") or ""
    sessions = [one_line(line) for line in output.splitlines() if line.strip()]
    running, more = await anyio.to_thread.run_sync(running_processes)
    top = sorted(running, key=lambda one: (-one.cpu, -one.mem, one.pid))[:TOP_PROCESSES]
    lines = [reason, "", "Sessions:" if sessions else "No user is logged in on a terminal.", *sessions[:MAX_SESSIONS]]
    lines += ["", f"Top processes of {len(running)}:", "USER PID CPU% MEM% COMMAND"]
    lines += (f"{one.user} {one.pid} {one.cpu} {one.mem} {one.command}" for one in top)
    text, truncated = _join_lines([*lines, *_helper_lines(helpers)])
    return ScreenScan(
        kind=kind,
        text=text,
        sessions=sessions[:MAX_SESSIONS],
        processes=top,
        sources=helpers.statuses,
        truncated=truncated or more or len(sessions) > MAX_SESSIONS,
    )


async def _front_window(helpers: HelperPrograms) -> ScreenScan:
    output = await helpers.run("osascript", "-e", _APPLE_SCRIPT, seconds=SECONDS)
    if output is None:
        raise Unavailable(
            f"the front window cannot be accessed: {helpers.errors.get('osascript') or helpers.statuses['osascript']}",
            hint="allow this program to control the computer: System Settings, Privacy & Security, Accessibility",
            details={"reason": "osascript"},
        )
    parts = [line.partition(": ") for line in output.splitlines() if line.strip()]
    named = {kind: one_line(name) for kind, _, name in parts[:2] if kind in ("application", "window")}
    elements = [ScreenElement(one_line(role), one_line(name), 1) for role, _, name in parts if role not in named]
    window = Window(id="front", title=named.get("window", ""), app=named.get("application"), active=True)
    text, truncated = _join_lines([one_line(line) for line in output.splitlines()])
    return ScreenScan(
        kind=ScreenKind.MACOS,
        text=text,
        windows=[window] if named else [],
        elements=elements,
        sources=helpers.statuses,
        truncated=truncated,
    )


def _window_line(window: Window) -> str:
    place = f" {window.width}x{window.height} at {window.x},{window.y}" if window.width is not None else ""
    owner = f" ({window.app}{f', pid {window.pid}' if window.pid else ''})" if window.app else ""
    return f"{'* ' if window.active else '  '}{window.title or '(no title)'}{owner}{place}"


def _element_line(element: ScreenElement) -> str:
    return f"{'  ' * element.depth}{element.role}{f': {element.name}' if element.name else ''}"


def _helper_lines(helpers: HelperPrograms) -> list[str]:
    missing = [name for name, source in helpers.statuses.items() if source is HelperStatus.MISSING]
    failed = [
        f"{name} ({output})"
        for name, output in helpers.errors.items()
        if helpers.statuses[name] is not HelperStatus.USED
    ]
    lines = [f"Not installed: {', '.join(missing)}."] if missing else []
    return [
        *([""] if missing or failed else []),
        *lines,
        *([f"Failed: {', '.join(failed)}."] if failed else []),
    ]


def _join_lines(lines: list[str]) -> tuple[str, bool]:
    text = "\n".join(lines)
    return text[:MAX_CHARACTERS], len(text) > MAX_CHARACTERS
