"""The windows of a display, from wmctrl, xprop and xdotool."""

import re
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.features.workspace.screen.commands import HelperPrograms, one_line

MAX_WINDOWS: Final = 100
# id, desktop, pid, x, y, width, height, class, host and title, as printed by `wmctrl -lpGx`.
_LISTED: Final = re.compile(
    r"(0x[0-9a-f]+)\s+(-?\d+)\s+(\d+)\s+(-?\d+)\s+(-?\d+)\s+(\d+)\s+(\d+)\s+(.+?)\s+(\S+)(?: (.*))?"
)
_ACTIVE: Final = re.compile(r"_NET_ACTIVE_WINDOW\(WINDOW\): window id # (0x[0-9a-f]+)")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A window."""

    id: str
    title: str
    app: str | None = None
    pid: int | None = None
    desktop: int | None = None
    x: int | None = None
    y: int | None = None
    width: int | None = None
    height: int | None = None
    active: bool = False


async def list_windows(helpers: HelperPrograms) -> tuple[list[Window], bool]:
    """Return the windows, and True if there are more than the maximum."""
    active = await _active_window(helpers)
    listed = await helpers.run("wmctrl", "-lpGx") or ""
    found = [window for line in listed.splitlines() if (window := _parse_window(line)) is not None]
    found = found or await _search_windows(helpers)
    known = {int(window.id, 16) for window in found}
    if active is not None and int(active, 16) not in known:
        found.append(Window(id=active, title=await _window_title(helpers, active)))
    marked = [
        replace(window, active=True) if active is not None and int(window.id, 16) == int(active, 16) else window
        for window in found
    ]
    if active is not None:
        marked = [await _with_class(helpers, window) if window.active else window for window in marked]
    return marked[:MAX_WINDOWS], len(marked) > MAX_WINDOWS


async def _active_window(helpers: HelperPrograms) -> str | None:
    output = await helpers.run("xprop", "-root", "_NET_ACTIVE_WINDOW")
    match = _ACTIVE.search(output or "")
    if match and int(match[1], 16):
        return match[1]
    output = await helpers.run("xdotool", "getactivewindow")
    return hex(int(output)) if output and output.strip().isdecimal() else None


async def _search_windows(helpers: HelperPrograms) -> list[Window]:
    """Return visible windows with a name; used if the window manager cannot list windows."""
    output = await helpers.run("xdotool", "search", "--onlyvisible", "--name", ".")
    ids = [hex(int(line)) for line in (output or "").split() if line.isdecimal()]
    return [Window(id=window, title=await _window_title(helpers, window)) for window in ids[:MAX_WINDOWS]]


async def _window_title(helpers: HelperPrograms, window: str) -> str:
    return one_line(await helpers.run("xdotool", "getwindowname", str(int(window, 16))) or "")


async def _with_class(helpers: HelperPrograms, window: Window) -> Window:
    output = await helpers.run("xprop", "-id", window.id, "WM_CLASS", "_NET_WM_PID")
    if output is None:
        return window
    names = _QUOTED.findall(output)
    pid = re.search(r"_NET_WM_PID\(CARDINAL\) = (\d+)", output)
    return replace(
        window,
        app=window.app or (one_line(names[-1]) if names else None),
        pid=window.pid or (int(pid[1]) if pid else None),
    )


def _parse_window(line: str) -> Window | None:
    match = _LISTED.fullmatch(line)
    if match is None:
        return None
    number, desktop, pid, x, y, width, height, app, _, title = match.groups()
    return Window(
        id=number,
        title=one_line(title or ""),
        app=one_line(app),
        pid=int(pid) or None,
        desktop=int(desktop),
        x=int(x),
        y=int(y),
        width=int(width),
        height=int(height),
    )
