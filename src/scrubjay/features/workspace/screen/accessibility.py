"""Elements of windows from AT-SPI, the accessibility interface of Linux desktops."""

import re
from collections import deque
from dataclasses import dataclass
from typing import Final

import anyio

from scrubjay.features.workspace.screen.commands import HelperPrograms, one_line

MAX_ELEMENTS: Final = 60
MAX_DEPTH: Final = 6
_ROOT: Final = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_ACCESSIBLE: Final = "org.a11y.atspi.Accessible"
_CHILD: Final = re.compile(r"\('([^']+)', (?:objectpath )?'([^']+)'\)")
_TEXT: Final = re.compile(r"""\(<?(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")>?,\)""")


@dataclass(frozen=True, slots=True)
class ScreenElement:
    """An element of a window, such as a button, a label or a menu."""

    role: str
    name: str
    depth: int


async def read_elements(helpers: HelperPrograms, seconds: float) -> tuple[list[ScreenElement], bool]:
    """Return the elements that programs report within this time, and True if there may be more."""
    found: list[ScreenElement] = []
    with anyio.move_on_after(seconds):
        address = await _text(helpers, ("org.a11y.Bus", "/org/a11y/bus"), "org.a11y.Bus.GetAddress")
        if not address:
            return [], False
        pending = deque((node, 0) for node in await _children(helpers, _ROOT, address))
        while pending:
            if len(found) >= MAX_ELEMENTS:
                return found, True
            node, depth = pending.popleft()
            role = await _text(helpers, node, f"{_ACCESSIBLE}.GetRoleName", bus=address)
            name = await _text(helpers, node, "org.freedesktop.DBus.Properties.Get", _ACCESSIBLE, "Name", bus=address)
            if role is None:  # the element no longer exists
                continue
            found.append(ScreenElement(one_line(role), one_line(name or ""), depth))
            if depth < MAX_DEPTH:
                children = await _children(helpers, node, address)
                # Depth-first order: children follow their parent.
                pending.extendleft((child, depth + 1) for child in reversed(children))
        return found, False
    return found, True


async def _children(helpers: HelperPrograms, node: tuple[str, str], bus: str) -> list[tuple[str, str]]:
    output = await _call(helpers, node, f"{_ACCESSIBLE}.GetChildren", bus=bus)
    return [(name, path) for name, path in _CHILD.findall(output or "")][:MAX_ELEMENTS]


async def _text(
    helpers: HelperPrograms, node: tuple[str, str], method: str, *arguments: str, bus: str | None = None
) -> str | None:
    output = await _call(helpers, node, method, *arguments, bus=bus)
    match = _TEXT.fullmatch((output or "").strip())
    return None if match is None else re.sub(r"\\(.)", r"\1", match[1] or match[2] or "")


async def _call(
    helpers: HelperPrograms, node: tuple[str, str], method: str, *arguments: str, bus: str | None = None
) -> str | None:
    at = ["--session"] if bus is None else ["--address", bus]
    name, path = node
    return await helpers.run(
        "gdbus",
        "call",
        *at,
        *("--timeout", "2", "--dest", name, "--object-path", path, "--method", method),
        *arguments,
    )
