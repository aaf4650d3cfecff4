"""Which definitions a change touches: added, removed, renamed, moved, with another signature or only another body."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from scrubjay.code_index.diff.files import FileChange, Side
from scrubjay.code_index.models import Language, Symbol, SymbolKind, qualified_name

_WORD = re.compile(rb"\w+")
# So much of two definitions has to be the same for one to be the other with a new name.
LEAST_ALIKE = 0.6
# Of fewer words everything has to be the same.
FEW_WORDS = 6
MOST_COMPARED = 200
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR})
_TEXT = frozenset({Language.TEXT, Language.MARKDOWN, Language.JSON, Language.YAML, Language.HTML, Language.CSS})


class Touch(StrEnum):
    """How a definition was touched."""

    REMOVED = "removed"
    RENAMED = "renamed"
    MOVED = "moved"
    SIGNATURE = "signature"
    BODY = "body"
    ADDED = "added"
    TOP = "top"
    """What is at the top of a file, outside of every definition."""


@dataclass(frozen=True, slots=True)
class Touched:
    """A definition that a change touches."""

    touch: Touch
    name: str
    """Qualified; as it is called now, or was if it is gone; empty for the top of a file."""
    path: str
    line: int
    kind: SymbolKind | None
    old_name: str = ""
    """Where that is another."""
    old_path: str = ""
    signature: str = ""
    old_signature: str = ""
    exported: bool = True


class _Definition(NamedTuple):
    name: str
    symbol: Symbol
    side: Side
    own: bytes
    """Its text without that of what is in it."""
    within_callable: bool


def touched(changes: Iterable[FileChange]) -> list[Touched]:
    """All definitions that these changes touch, file by file."""
    found: list[Touched] = []
    gone: list[_Definition] = []
    come: list[_Definition] = []
    for change in changes:
        before = _definitions(change.before) if change.before else {}
        after = _definitions(change.after) if change.after else {}
        for key, now in after.items():
            if (was := before.get(key)) is None:
                come.append(now)
            elif (one := _compared(was, now)) is not None:
                found.append(one)
        gone += [was for key, was in before.items() if key not in after]
        if change.before and change.after and _top(change.before) != _top(change.after):
            old_path = change.old_path if change.old_path != change.path else ""
            found.append(Touched(Touch.TOP, "", change.path, 1, None, old_path=old_path))
    found += _renamed(gone, come)
    found += [_gone(was) for was in gone if not was.within_callable]
    found += [_come(now) for now in come if not now.within_callable]
    return found


def _definitions(side: Side) -> dict[tuple[str, SymbolKind, int], _Definition]:
    """By qualified name, kind, and which of several it is."""
    if side.facts.language in _TEXT:
        return {}
    symbols = side.facts.symbols
    names = [qualified_name(symbols, place) for place in range(len(symbols))]
    inner: dict[int, list[Symbol]] = {}
    callables: list[tuple[int, int]] = []
    for symbol in symbols:
        inner.setdefault(symbol.container, []).append(symbol)
        if symbol.kind in _CALLABLE:
            callables.append((symbol.span.start, symbol.span.end))
    found: dict[tuple[str, SymbolKind, int], _Definition] = {}
    counted: Counter[tuple[str, SymbolKind]] = Counter()
    for place, (symbol, name) in enumerate(zip(symbols, names, strict=True)):
        if symbol.kind is SymbolKind.SECTION:
            continue
        key = (name, symbol.kind)
        within = symbol.kind not in _CALLABLE and any(
            start <= symbol.span.start and symbol.span.end <= end for start, end in callables
        )
        own = _without(side.content, symbol.span.start, symbol.span.end, inner.get(place, ()))
        found[*key, counted[key]] = _Definition(name, symbol, side, own, within)
        counted[key] += 1
    return found


def _top(side: Side) -> bytes:
    if side.facts.language in _TEXT:
        return b""
    outer = [symbol for symbol in side.facts.symbols if symbol.container < 0]
    return b" ".join(_without(side.content, 0, len(side.content), outer).split())


def _without(content: bytes, start: int, end: int, inner: Iterable[Symbol]) -> bytes:
    parts: list[bytes] = []
    for symbol in sorted(inner, key=lambda one: one.span.start):
        if symbol.span.start >= start and symbol.span.end <= end:
            parts.append(content[start : symbol.span.start])
            start = symbol.span.end
    return b"".join([*parts, content[start:end]])


def _compared(was: _Definition, now: _Definition) -> Touched | None:
    if was.symbol.signature != now.symbol.signature:
        return _told(Touch.SIGNATURE, was, now)
    if was.within_callable or now.within_callable or was.own.split() == now.own.split():
        return None
    return _told(Touch.BODY, was, now)


def _told(touch: Touch, was: _Definition, now: _Definition) -> Touched:
    return Touched(
        touch,
        now.name,
        now.side.file.path,
        now.symbol.line,
        now.symbol.kind,
        old_name=was.name if was.name != now.name else "",
        old_path=was.side.file.path if was.side.file.path != now.side.file.path else "",
        signature=now.symbol.signature,
        old_signature=was.symbol.signature if was.symbol.signature != now.symbol.signature else "",
        exported=was.symbol.exported or now.symbol.exported,
    )


def _gone(was: _Definition) -> Touched:
    symbol = was.symbol
    path = was.side.file.path
    return Touched(
        Touch.REMOVED,
        was.name,
        path,
        symbol.line,
        symbol.kind,
        old_signature=symbol.signature,
        exported=symbol.exported,
    )


def _come(now: _Definition) -> Touched:
    symbol = now.symbol
    path = now.side.file.path
    return Touched(
        Touch.ADDED, now.name, path, symbol.line, symbol.kind, signature=symbol.signature, exported=symbol.exported
    )


def _renamed(gone: list[_Definition], come: list[_Definition]) -> list[Touched]:
    """Those that are now somewhere else, or are called otherwise; they are taken out of both lists."""
    found: list[Touched] = []
    if len(gone) > MOST_COMPARED or len(come) > MOST_COMPARED:
        return found
    outer: dict[tuple[str, str], str] = {}
    """By path now and name now, what those that contain others were called."""
    words = {id(one): Counter(_WORD.findall(one.own)) for one in (*gone, *come)}
    alike = sorted(
        (
            (share, was.symbol.name == now.symbol.name, was, now)
            for was in gone
            for now in come
            if was.symbol.kind is now.symbol.kind
            and (share := _share(was, now, words[id(was)], words[id(now)])) >= LEAST_ALIKE
        ),
        key=lambda one: (-one[1], -one[0], one[3].name.count("."), one[3].name),
    )
    taken: set[int] = set()
    for _, _, was, now in alike:
        if id(was) in taken or id(now) in taken:
            continue
        taken |= {id(was), id(now)}
        touch = Touch.MOVED if was.symbol.name == now.symbol.name else Touch.RENAMED
        outer[now.side.file.path, now.name] = was.name
        found.append(_told(touch, was, now))
    gone[:] = [one for one in gone if id(one) not in taken]
    come[:] = [one for one in come if id(one) not in taken]
    # What only came along with what it is in is told by that, unless it has another signature.
    return [one for one in found if not _came_along(one, outer)]


def _came_along(one: Touched, outer: Mapping[tuple[str, str], str]) -> bool:
    around, _, _ = one.name.rpartition(".")
    return one.touch is Touch.MOVED and not one.old_signature and (one.path, around) in outer


def _share(was: _Definition, now: _Definition, first: Counter[bytes], second: Counter[bytes]) -> float:
    """How much of two definitions is the same, their names aside."""
    same_file = was.side.file.path == now.side.file.path or was.symbol.name == now.symbol.name
    if not same_file and was.symbol.name != now.symbol.name:
        return 0.0
    first, second = (
        Counter({word: count for word, count in counts.items() if word != one.symbol.name.encode()})
        for one, counts in ((was, first), (now, second))
    )
    total = first.total() + second.total()
    if was.symbol.name != now.symbol.name and total < 2 * FEW_WORDS:
        return 1.0 if first == second and total else 0.0
    return 2 * (first & second).total() / total if total else 1.0
