"""The windows of a display, as far as programs tell them that know how to ask it."""

import re
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.features.workspace.screen.commands import Asking, shown

MOST_WINDOWS: Final = 100
# id, desktop, pid, x, y, width, height, class, host and title, as `wmctrl -lpGx` tells them.
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


async def windows_of(asking: Asking) -> tuple[list[Window], bool]:
    """Those that there are, and whether there are more."""
    active = await _active(asking)
    listed = await asking.ask("wmctrl", "-lpGx") or ""
    found = [window for line in listed.splitlines() if (window := _window(line)) is not None]
    found = found or await _searched(asking)
    known = {int(window.id, 16) for window in found}
    if active is not None and int(active, 16) not in known:
        found.append(Window(id=active, title=await _named(asking, active)))
    marked = [
        replace(one, active=True) if active is not None and int(one.id, 16) == int(active, 16) else one for one in found
    ]
    if active is not None:
        marked = [await _with_class(asking, one) if one.active else one for one in marked]
    return marked[:MOST_WINDOWS], len(marked) > MOST_WINDOWS


async def _active(asking: Asking) -> str | None:
    told = await asking.ask("xprop", "-root", "_NET_ACTIVE_WINDOW")
    match = _ACTIVE.search(told or "")
    if match and int(match[1], 16):
        return match[1]
    told = await asking.ask("xdotool", "getactivewindow")
    return hex(int(told)) if told and told.strip().isdecimal() else None


async def _searched(asking: Asking) -> list[Window]:
    """Without a window manager that lists them: those with a name that can be seen."""
    told = await asking.ask("xdotool", "search", "--onlyvisible", "--name", ".")
    ids = [hex(int(line)) for line in (told or "").split() if line.isdecimal()]
    return [Window(id=one, title=await _named(asking, one)) for one in ids[:MOST_WINDOWS]]


async def _named(asking: Asking, window: str) -> str:
    return shown(await asking.ask("xdotool", "getwindowname", str(int(window, 16))) or "")


async def _with_class(asking: Asking, window: Window) -> Window:
    told = await asking.ask("xprop", "-id", window.id, "WM_CLASS", "_NET_WM_PID")
    if told is None:
        return window
    names = _QUOTED.findall(told)
    pid = re.search(r"_NET_WM_PID\(CARDINAL\) = (\d+)", told)
    return replace(
        window,
        app=window.app or (shown(names[-1]) if names else None),
        pid=window.pid or (int(pid[1]) if pid else None),
    )


def _window(line: str) -> Window | None:
    match = _LISTED.fullmatch(line)
    if match is None:
        return None
    number, desktop, pid, x, y, width, height, app, _, title = match.groups()
    return Window(
        id=number,
        title=shown(title or ""),
        app=shown(app),
        pid=int(pid) or None,
        desktop=int(desktop),
        x=int(x),
        y=int(y),
        width=int(width),
        height=int(height),
    )
