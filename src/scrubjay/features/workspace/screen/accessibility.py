"""What is in the windows, as programs tell those who cannot see it: AT-SPI, over the accessibility bus."""

import re
from collections import deque
from dataclasses import dataclass
from typing import Final

import anyio

from scrubjay.features.workspace.screen.commands import Asking, shown

MOST_ELEMENTS: Final = 60
DEEPEST: Final = 6
_ROOT: Final = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_ACCESSIBLE: Final = "org.a11y.atspi.Accessible"
_CHILD: Final = re.compile(r"\('([^']+)', (?:objectpath )?'([^']+)'\)")
_TEXT: Final = re.compile(r"""\(<?(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")>?,\)""")


@dataclass(frozen=True, slots=True)
class Element:
    """Something in a window: a button, a text, a menu."""

    role: str
    name: str
    depth: int


async def elements_of(asking: Asking, seconds: float) -> tuple[list[Element], bool]:
    """Those that programs tell of in so many seconds, and whether there are more."""
    found: list[Element] = []
    with anyio.move_on_after(seconds):
        address = await _text(asking, ("org.a11y.Bus", "/org/a11y/bus"), "org.a11y.Bus.GetAddress")
        if not address:
            return [], False
        waiting = deque((place, 0) for place in await _children(asking, _ROOT, address))
        while waiting:
            if len(found) >= MOST_ELEMENTS:
                return found, True
            place, depth = waiting.popleft()
            role = await _text(asking, place, f"{_ACCESSIBLE}.GetRoleName", bus=address)
            name = await _text(asking, place, "org.freedesktop.DBus.Properties.Get", _ACCESSIBLE, "Name", bus=address)
            if role is None:  # it has gone meanwhile
                continue
            found.append(Element(shown(role), shown(name or ""), depth))
            if depth < DEEPEST:
                children = await _children(asking, place, address)
                # What is inside comes right after what it is in.
                waiting.extendleft((child, depth + 1) for child in reversed(children))
        return found, False
    return found, True


async def _children(asking: Asking, place: tuple[str, str], bus: str) -> list[tuple[str, str]]:
    told = await _call(asking, place, f"{_ACCESSIBLE}.GetChildren", bus=bus)
    return [(name, path) for name, path in _CHILD.findall(told or "")][:MOST_ELEMENTS]


async def _text(
    asking: Asking, place: tuple[str, str], method: str, *arguments: str, bus: str | None = None
) -> str | None:
    told = await _call(asking, place, method, *arguments, bus=bus)
    match = _TEXT.fullmatch((told or "").strip())
    return None if match is None else re.sub(r"\\(.)", r"\1", match[1] or match[2] or "")


async def _call(
    asking: Asking, place: tuple[str, str], method: str, *arguments: str, bus: str | None = None
) -> str | None:
    at = ["--session"] if bus is None else ["--address", bus]
    name, path = place
    return await asking.ask(
        "gdbus",
        "call",
        *at,
        *("--timeout", "2", "--dest", name, "--object-path", path, "--method", method),
        *arguments,
    )
