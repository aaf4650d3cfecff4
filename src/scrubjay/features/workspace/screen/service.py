"""One look at this machine, by whatever it has to look with."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.to_thread

from scrubjay.core.errors import Busy, Unavailable
from scrubjay.features.workspace.screen.accessibility import Element, elements_of
from scrubjay.features.workspace.screen.commands import Asking, Source, shown
from scrubjay.features.workspace.screen.display import Surroundings, kernel_release, surroundings
from scrubjay.features.workspace.screen.windows import Window, windows_of
from scrubjay.features.workspace.terminal.process_list import RunningProcess, running_processes

SECONDS: Final = 15.0
ELEMENT_SECONDS: Final = 6.0
MOST_SESSIONS: Final = 20
TOP_PROCESSES: Final = 15
MOST_CHARACTERS: Final = 20_000
# How many look at once.
MOST_AT_ONCE: Final = 2
# What a program needs to reach a screen; nothing else that the server was started with is passed on.
VARIABLES: Final = (
    *("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"),
    *("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"),
)
_USUAL_PATH: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
# The front window, and each thing in it as its role and its name.
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
class Scan:
    """What there was to be seen."""

    surroundings: Surroundings
    text: str
    windows: list[Window] = field(default_factory=list[Window])
    elements: list[Element] = field(default_factory=list[Element])
    sessions: list[str] = field(default_factory=list[str])
    processes: list[RunningProcess] = field(default_factory=list[RunningProcess])
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    truncated: bool = False


class Sonar:
    """Looks, and touches nothing."""

    def __init__(
        self, environment: Mapping[str, str], platform: str = sys.platform, release: str | None = None
    ) -> None:
        """The environment is the server's; `release` is what the kernel calls itself."""
        self._platform = platform
        self._release = kernel_release() if release is None else release
        self._environment = {name: environment[name] for name in VARIABLES if name in environment} | {
            "PATH": environment.get("PATH") or _USUAL_PATH
        }
        self._server = environment
        self._slots = anyio.CapacityLimiter(MOST_AT_ONCE)

    async def scan(self) -> Scan:
        """`Unavailable` where nothing can be seen from here; `Busy` when looking takes too long."""
        around = surroundings(self._platform, self._server, self._release)
        if around is Surroundings.WSL:
            raise Unavailable(
                "the screen cannot be seen from inside of WSL",
                hint="run the server on Windows itself, or on Linux",
                details={"reason": "wsl_not_supported"},
            )
        with anyio.move_on_after(SECONDS):
            async with self._slots:
                asking = Asking(self._environment)
                match around:
                    case Surroundings.MACOS:
                        return await _front_window(asking)
                    case Surroundings.DISPLAY:
                        return await _display(asking)
                    case _:
                        return await _headless(asking, Surroundings.HEADLESS, "There is no screen here.")
        raise Busy(f"looking took longer than {SECONDS:g} seconds", hint="try again")


async def _display(asking: Asking) -> Scan:
    windows, more_windows = await windows_of(asking)
    elements, more_elements = await elements_of(asking, ELEMENT_SECONDS)
    if not windows and not elements:
        return await _headless(asking, Surroundings.DISPLAY, "No windows could be seen.")
    lines = ["Windows:", *(_window_line(one) for one in windows)]
    if elements:
        lines += ["", "What is in them:", *(_element_line(one) for one in elements)]
    text, cut = _told([*lines, *_sources(asking)])
    return Scan(
        surroundings=Surroundings.DISPLAY,
        text=text,
        windows=windows,
        elements=elements,
        sources=asking.sources,
        truncated=cut or more_windows or more_elements,
    )


async def _headless(asking: Asking, around: Surroundings, why: str) -> Scan:
    """Who is there, and what runs."""
    said = await asking.ask("who") or ""
    sessions = [shown(line) for line in said.splitlines() if line.strip()]
    running, more = await anyio.to_thread.run_sync(running_processes)
    top = sorted(running, key=lambda one: (-one.cpu, -one.mem, one.pid))[:TOP_PROCESSES]
    lines = [why, "", "Sessions:" if sessions else "Nobody is logged in on a terminal.", *sessions[:MOST_SESSIONS]]
    lines += ["", f"Top processes of {len(running)}:", "USER PID CPU% MEM% COMMAND"]
    lines += (f"{one.user} {one.pid} {one.cpu} {one.mem} {one.command}" for one in top)
    text, cut = _told([*lines, *_sources(asking)])
    return Scan(
        surroundings=around,
        text=text,
        sessions=sessions[:MOST_SESSIONS],
        processes=top,
        sources=asking.sources,
        truncated=cut or more or len(sessions) > MOST_SESSIONS,
    )


async def _front_window(asking: Asking) -> Scan:
    said = await asking.ask("osascript", "-e", _APPLE_SCRIPT, seconds=SECONDS)
    if said is None:
        raise Unavailable(
            f"the front window cannot be seen: {asking.complaints.get('osascript') or asking.sources['osascript']}",
            hint="allow this program to control the computer: System Settings, Privacy & Security, Accessibility",
            details={"reason": "osascript"},
        )
    parts = [line.partition(": ") for line in said.splitlines() if line.strip()]
    named = {kind: shown(name) for kind, _, name in parts[:2] if kind in ("application", "window")}
    elements = [Element(shown(role), shown(name), 1) for role, _, name in parts if role not in named]
    window = Window(id="front", title=named.get("window", ""), app=named.get("application"), active=True)
    text, cut = _told([shown(line) for line in said.splitlines()])
    return Scan(
        surroundings=Surroundings.MACOS,
        text=text,
        windows=[window] if named else [],
        elements=elements,
        sources=asking.sources,
        truncated=cut,
    )


def _window_line(window: Window) -> str:
    place = f" {window.width}x{window.height} at {window.x},{window.y}" if window.width is not None else ""
    owner = f" ({window.app}{f', pid {window.pid}' if window.pid else ''})" if window.app else ""
    return f"{'* ' if window.active else '  '}{window.title or '(no title)'}{owner}{place}"


def _element_line(element: Element) -> str:
    return f"{'  ' * element.depth}{element.role}{f': {element.name}' if element.name else ''}"


def _sources(asking: Asking) -> list[str]:
    missing = [name for name, source in asking.sources.items() if source is Source.MISSING]
    failed = [f"{name} ({said})" for name, said in asking.complaints.items() if asking.sources[name] is not Source.USED]
    lines = [f"Not installed: {', '.join(missing)}."] if missing else []
    return [
        *([""] if missing or failed else []),
        *lines,
        *([f"Without an answer: {', '.join(failed)}."] if failed else []),
    ]


def _told(lines: list[str]) -> tuple[str, bool]:
    text = "\n".join(lines)
    return text[:MOST_CHARACTERS], len(text) > MOST_CHARACTERS
